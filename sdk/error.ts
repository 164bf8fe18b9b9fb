/** The client's errors. No message quotes a value, a passphrase, a key or a token. */

/** Error codes of API v2: see the error table in its OpenAPI document. */
export const serverCodes = [
  /** The secret never existed, was read or burned, or has expired; or the receipt belongs to another account. */
  'unknown_secret',
  /** The passphrase is missing or wrong. The secret is not consumed. */
  'incorrect_passphrase',
  /** The secret asks for a code, and none came or it has expired: see `sendCode`. The secret is not consumed. */
  'code_required',
  /** See `attemptsLeft`. The secret is not consumed. */
  'incorrect_code',
  /** `sendCode` of a secret that asks for no code. */
  'needs_no_code',
  /** The part of an end-to-end secret's link after `#` is missing or wrong. The secret is not consumed. */
  'incomplete_link',
  /** The link is for an end-to-end secret, but the secret is plain. The secret is not consumed. */
  'not_sealed',
  /** Too many wrong passphrases or codes: wait `retryAfterSeconds`. */
  'too_many_attempts',
  'rate_limited',
  /** Missing or wrong credentials. */
  'not_authorized',
  /** The API token lacks the scope. */
  'insufficient_scope',
  /** Only accounts may do this, such as naming a recipient. */
  'account_required',
  /** See `field` and `fieldErrors`. */
  'invalid_field',
  /** See `limitBytes`. */
  'too_large',
  /** The secret was read or burned, or has expired. */
  'already_gone',
  /** A creation with this `idempotencyKey` is in progress or was cut off: send it again after `retryAfterSeconds`. */
  'in_flight',
  /** This `idempotencyKey` was used for a different creation. */
  'idempotency_mismatch',
  /** An email for this secret is already being sent. */
  'delivery_in_flight',
  /** The account's plan has no share domains. */
  'plan_required',
  /** Not a share domain of the account. */
  'unknown_domain',
  /** Another account has verified this share domain. */
  'domain_taken',
  /** The account has as many share domains as its plan allows. */
  'too_many_domains',
  /** The request never existed or is no longer kept, or the link is not its asker's. */
  'unknown_request',
  /** The request has all the answers it asked for. */
  'request_full',
  'request_ended',
  /** This server does not let anyone ask for secrets. */
  'requests_disabled',
  /** The account's open requests have as many places for answers as its plan allows. */
  'too_many_places',
  /** Only the owner may share on this domain. */
  'public_sharing_disabled',
  /** Nothing was consumed: retry after `retryAfterSeconds`. */
  'unavailable',
  'malformed',
  'not_found',
  'method_not_allowed',
  'unsupported_media_type',
  'cross_site',
  'internal',
] as const;

/** Errors that the client itself detects. */
const clientCodes = [
  /** The text is neither a link nor a key; nothing was sent. */
  'invalid_key',
  /** The server did not respond. After a reveal, the secret may have been consumed. */
  'unreachable',
  'timed_out',
  /** Aborted by the call's `signal`, whose reason is the `cause`. */
  'aborted',
  /** An end-to-end secret needs https, or a server on this machine; nothing was sent. */
  'insecure_address',
  /** The runtime lacks X25519, which requests need; nothing was sent. Or the server does not know `verify`: the secret was burned. */
  'unsupported',
  /** A module of the client could not be loaded or run: see `cause`. Nothing was consumed. */
  'not_loaded',
  /** The answer is not from this API. */
  'unexpected_answer',
  /** The end-to-end secret was altered, or sealed by a later version. */
  'unreadable',
] as const;

export type MayflyErrorCode = (typeof serverCodes)[number] | (typeof clientCodes)[number];

export interface FieldError {
  /** A dotted path in the request's body. */
  readonly field: string;
  readonly message: string;
}

export class MayflyError extends Error {
  override readonly name = 'MayflyError';
  readonly code: MayflyErrorCode;
  /** The HTTP status; `null` if the server did not respond. */
  readonly status: number | null = null;
  readonly retryAfterSeconds: number | null = null;
  /** The refused field, as a dotted path in the request's body; also `null` if there are several. */
  readonly field: string | null = null;
  /** All refused fields, if there are several. */
  readonly fieldErrors: readonly FieldError[] = [];
  /** How many more wrong codes are allowed for now. */
  readonly attemptsLeft: number | null = null;
  /** The largest value allowed, in bytes of UTF-8. */
  readonly limitBytes: number | null = null;
  /** Identifies the request in the server's log. */
  readonly requestId: string | null = null;
  /** Where to send the request instead, if another region created the key. */
  readonly hint: string | null = null;

  constructor(code: MayflyErrorCode, message: string, { cause, ...details }: MayflyErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    Object.assign(this, details);
  }
}

export type MayflyErrorDetails = Partial<Omit<MayflyError, 'code' | 'name' | 'message' | 'stack'>>;

export function detailsOf({ status, headers }: Response) {
  return { status, retryAfterSeconds: retryAfterOf(headers), requestId: headers.get('X-Request-Id') };
}

/** Reads only the form in seconds (RFC 9110 §10.2.3): the API sends no dates. */
function retryAfterOf(headers: Headers): number | null {
  const text = headers.get('Retry-After');
  return text !== null && /^[0-9]{1,9}$/.test(text) ? Number(text) : null;
}

export function invalid(field: string, message: string): MayflyError {
  return new MayflyError('invalid_field', message, { field });
}

export function notLoaded(cause: unknown): never {
  throw new MayflyError('not_loaded', 'A module of the client could not be loaded.', { cause });
}

export function unexpectedFrom(response: Response): MayflyError {
  const message = `The server answered ${response.status}, and not as Mayfly’s API does.`;
  return new MayflyError('unexpected_answer', message, detailsOf(response));
}
