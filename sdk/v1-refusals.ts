/**
 * Where API v1 is, and its refusals as errors. They have no codes, so their sentences decide, and then the status, because in the
 * dialect `upstream` most have 404.
 */
import { detailsOf, MayflyError, type MayflyErrorCode, unexpectedFrom } from './error.ts';
import { isJson, type Json } from './json.ts';
import type { ApiVersion } from './transport.ts';
import { isText } from './wire.ts';

/** The start of each sentence; the first that fits decides. */
const sentences: readonly (readonly [start: string, code: MayflyErrorCode, field?: string])[] = [
  ['Unknown secret', 'unknown_secret'],
  ['Double check that passphrase', 'incorrect_passphrase'],
  ['This secret is end-to-end', 'incomplete_link'],
  ['Too many wrong passphrases', 'too_many_attempts'],
  ['You did not provide anything', 'invalid_field', 'secret'],
  ['Undeliverable email address', 'invalid_field', 'recipient'],
  ['Unknown domain', 'invalid_field', 'share_domain'],
  ['Public sharing disabled', 'public_sharing_disabled'],
  ['An account is required', 'account_required'],
  ['Not authorized', 'not_authorized'],
  ['This API token may not', 'insufficient_scope'],
  ['A page of another site', 'cross_site'],
  ['The secret is too large', 'too_large'],
  ['The request body is too large', 'too_large'],
  ['Not Found', 'not_found'],
  ['Method Not Allowed', 'method_not_allowed'],
];

const statuses: Readonly<Record<number, MayflyErrorCode>> = {
  400: 'malformed',
  // Of the dialect `upstream`: all that is said as 404 and is nothing else.
  404: 'malformed',
  415: 'unsupported_media_type',
  429: 'rate_limited',
  500: 'internal',
  503: 'unavailable',
};

/** A sentence about one parameter. */
const parameterForm = /^The (?:parameter )?"?(\w+)"? (?:must|takes|is too long|is not well-formed)/;

function errorOf(response: Response, body: unknown): MayflyError {
  const { message, hint }: Json = isJson(body) ? body : {};
  if (!isText(message)) return unexpectedFrom(response);
  const [, code, field] = sentences.find(([start]) => message.startsWith(start)) ?? [];
  const parameter = code === undefined ? parameterForm.exec(message)?.[1] : undefined;
  const decided = code ?? (parameter === undefined ? statuses[response.status] : 'invalid_field');
  if (decided === undefined) return unexpectedFrom(response);
  const limitBytes = Number(/ at most ([0-9]+) bytes/.exec(message)?.[1]);
  return new MayflyError(decided, message, {
    ...detailsOf(response),
    field: field ?? parameter ?? null,
    hint: isText(hint) ? hint : null,
    limitBytes: decided === 'too_large' && limitBytes > 0 ? limitBytes : null,
  });
}

export const v1: ApiVersion = { path: '/api/v1', errorOf };
