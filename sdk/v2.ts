/** Where API v2 is, and its refusals as errors. */
import { detailsOf, type FieldError, MayflyError, serverCodes, unexpectedFrom } from './error.ts';
import { isJson, type Json } from './json.ts';
import type { ApiVersion } from './transport.ts';
import { isText } from './wire.ts';

function isFieldError(value: unknown): value is FieldError {
  return isJson(value) && isText(value.field) && isText(value.message);
}

function errorOf(response: Response, body: unknown): MayflyError {
  const { error, message, field, errors, limit }: Json = isJson(body) ? body : {};
  const code = serverCodes.find((known) => known === error);
  if (code === undefined) return unexpectedFrom(response);
  return new MayflyError(code, isText(message) ? message : code, {
    ...detailsOf(response),
    field: isText(field) ? field : null,
    fieldErrors: Array.isArray(errors) ? errors.filter(isFieldError) : [],
    limitBytes: typeof limit === 'number' ? limit : null,
  });
}

export const v2: ApiVersion = { path: '/api/v2', errorOf };
