/**
 * Every refusal of v1: which status and which words.
 *
 * Owns: the table of refused outcomes and the table of the transport's problems. Invariant: what P17 calls the same
 * (unknown, read, burned, expired, a wrong or missing passphrase) is one row, so its answers are the same bytes; no row
 * repeats a value, a passphrase or a token (P18). Clients of the existing service match "Unknown secret", "Not
 * authorized", "Not Found" and "You did not provide anything to share" letter by letter.
 */
import type { BurnOutcome, CreationOutcome, RevealOutcome } from '../../core/secrets/outcomes.ts';
import type { Reply } from '../../http/operation.ts';
import { clientLeft, type Problem } from '../../http/problem.ts';
import type { Dialect } from './dialect.ts';

type CreationRefusal = Exclude<CreationOutcome, { outcome: 'created' }>;
type KeyRefusal = Exclude<RevealOutcome | BurnOutcome, { outcome: 'revealed' | 'burned' }>;

/** One entry for each member of a union. */
type Table<Union, Tag extends keyof Union, Rest extends readonly unknown[] = []> = {
  readonly [Name in Union[Tag] & string]: (
    refused: Extract<Union, Record<Tag, Name>>,
    ...rest: Rest
  ) => Reply;
};

const creationTable: Table<CreationRefusal, 'outcome', [dialect: Dialect]> = {
  nothing_to_share: () => refusal(400, 'You did not provide anything to share'),
  ill_formed: ({ field }) => refusal(400, `The parameter "${field}" is not well-formed text.`),
  value_too_large: ({ maxBytes }) =>
    refusal(413, `The secret is too large: at most ${maxBytes} bytes (UTF-8) are allowed.`),
  passphrase_too_long: ({ maxBytes }) =>
    refusal(400, `The passphrase is too long: at most ${maxBytes} bytes (UTF-8) are allowed.`),
  memo_too_long: ({ maxCharacters }) =>
    refusal(400, `The memo is too long: at most ${maxCharacters} characters are allowed.`),
  recipient_needs_account: () => refusal(401, 'An account is required to send emails.'),
  account_required: () => refusal(401, 'An account is required to create secrets.'),
  undeliverable_recipient: ({ recipient }) => refusal(400, `Undeliverable email address: ${recipient}`),
  notify_needs_account: () => refusal(401, 'An account is required to be notified.'),
  too_many_mails: ({ retryAfterSeconds }) =>
    later(429, 'Too many emails were sent. Wait, then try again', retryAfterSeconds),
  public_sharing_disabled: ({ shareDomain }, { sharingDisabledStatus }) =>
    refusal(sharingDisabledStatus, `Public sharing disabled for domain: ${shareDomain}`),
  unknown_share_domain: ({ shareDomain }) => refusal(400, `Unknown domain: ${shareDomain}`),
};

const keyTable: Table<KeyRefusal, 'outcome', [keyAsGiven: string]> = {
  unknown: (_, key) => unknownSecret(key),
  already_gone: (_, key) => unknownSecret(key),
  abandoned: () => refusal(400, clientLeft.message),
  passphrase_missing: (_, key) => unknownSecret(key),
  passphrase_wrong: (_, key) => unknownSecret(key),
  attempts_exhausted: ({ retryAfterSeconds }) =>
    later(
      429,
      'Too many wrong passphrases were tried on this secret. Wait, then try again',
      retryAfterSeconds,
    ),
};

const problemTable: Table<Problem, 'problem', [dialect: Dialect]> = {
  malformed: ({ message }) => refusal(400, message),
  invalid_fields: ({ errors }) => refusal(400, errors.map((error) => error.message).join(' ')),
  not_authorized: () => refusal(401, 'Not authorized'),
  scope_missing: ({ scope }, { missingScopeStatus }) =>
    refusal(missingScopeStatus, `This API token may not do that: it lacks the scope "${scope}".`),
  cross_site: () =>
    refusal(403, 'A page of another site may not call this service. Call it from your own program.'),
  not_found: () => ({ status: 404, body: { error: 'Not Found', message: 'Not Found' } }),
  method_not_allowed: () => refusal(405, 'Method Not Allowed'),
  body_too_large: ({ capBytes }) =>
    refusal(413, `The request body is too large: at most ${capBytes} bytes are accepted.`),
  unsupported_media_type: () =>
    refusal(415, 'Send the parameters as a form, multipart, JSON or in the query string.'),
  rate_limited: ({ retryAfterSeconds }) =>
    later(429, 'Too many requests were sent. Wait, then try again', retryAfterSeconds),
  internal: ({ requestId }) => ({
    status: 500,
    body: { message: 'An unexpected error occurred', request_id: requestId },
  }),
  unavailable: ({ retryAfterSeconds }) =>
    later(
      503,
      'The service cannot confirm the request just now. Nothing was consumed: try again',
      retryAfterSeconds,
    ),
  storage_full: ({ retryAfterSeconds }) =>
    later(
      503,
      'There is no room for another secret just now. Nothing was stored: try again',
      retryAfterSeconds,
    ),
};

export function encodeCreationRefusal(refused: CreationRefusal, dialect: Dialect): Reply {
  // The entry for a tag takes exactly the member with that tag, which the type of an indexed table cannot say.
  return inDialect(creationTable[refused.outcome](refused as never, dialect), dialect);
}

/** @param keyAsGiven the secret or metadata key of the path, echoed to the caller. */
export function encodeKeyRefusal(refused: KeyRefusal, keyAsGiven: string, dialect: Dialect): Reply {
  return inDialect(keyTable[refused.outcome](refused as never, keyAsGiven), dialect);
}

/** A burn that needs the passphrase of the secret and did not get it. */
export function encodeUnprovenBurn(dialect: Dialect): Reply {
  return inDialect(refusal(400, 'Double check that passphrase'), dialect);
}

export function encodeProblem(problem: Problem, dialect: Dialect): Reply {
  return inDialect(problemTable[problem.problem](problem as never, dialect), dialect);
}

function unknownSecret(keyAsGiven: string): Reply {
  return { status: 404, body: { message: 'Unknown secret', secret_key: keyAsGiven } };
}

function refusal(status: number, message: string): Reply {
  return { status, body: { message } };
}

/** The header stands here too, because an outcome does not pass where the transport adds it to its own problems. */
function later(status: number, sentence: string, seconds: number): Reply {
  const message = `${sentence} in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`;
  return { status, body: { message }, headers: { 'retry-after': String(seconds) } };
}

function inDialect(reply: Reply, dialect: Dialect): Reply {
  return { ...reply, status: dialect.refusalStatus(reply.status) };
}
