/** Where API v2 is, and its refusals as errors. */
import {
  detailsOf,
  type FieldError,
  MayflyError,
  type MayflyErrorDetails,
  serverCodes,
  unexpectedFrom,
} from './error.ts';
import { isJson, type Json } from './json.ts';
import type { ApiVersion } from './transport.ts';
import { isText, unexpected } from './wire.ts';

function isFieldError(value: unknown): value is FieldError {
  return isJson(value) && isText(value.field) && isText(value.message);
}

function errorOf(response: Response, body: unknown): MayflyError {
  return errorIn(body, detailsOf(response)) ?? unexpectedFrom(response);
}

/** Why one of a batch was not created. */
export function problemOf(body: Json): MayflyError {
  const { status, retry_after: wait } = body;
  const error = errorIn(body, {
    status: typeof status === 'number' ? status : null,
    retryAfterSeconds: typeof wait === 'number' ? wait : null,
  });
  if (error === null) throw unexpected();
  return error;
}

/** `null`: it is no refusal of this API. */
function errorIn(body: unknown, details: MayflyErrorDetails): MayflyError | null {
  const { error, message, field, errors, limit, hint }: Json = isJson(body) ? body : {};
  const code = serverCodes.find((known) => known === error);
  if (code === undefined) return null;
  return new MayflyError(code, isText(message) ? message : code, {
    ...details,
    field: isText(field) ? field : null,
    hint: isText(hint) ? hint : null,
    fieldErrors: Array.isArray(errors) ? errors.filter(isFieldError) : [],
    limitBytes: typeof limit === 'number' ? limit : null,
  });
}

export const v2: ApiVersion = { path: '/api/v2', errorOf };
