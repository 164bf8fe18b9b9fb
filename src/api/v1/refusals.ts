/**
 * Every v1 refusal, with its status and message.
 *
 * Unknown, read, burned and expired secrets and a wrong or missing passphrase all get the same response, byte for byte (P17). No
 * refusal repeats a value, a passphrase or a token (P18). Clients of the existing service match "Unknown secret", "Not
 * authorized", "Not Found" and "You did not provide anything to share" verbatim.
 */
import { z } from 'zod';
import { unseenWords } from '../../core/mail/recipients.ts';
import type { BurnOutcome, CreationOutcome, RevealOutcome } from '../../core/secrets/outcomes.ts';
import type { Answer, Reply } from '../../http/operation.ts';
import { clientLeft, type Problem } from '../../http/problem.ts';
import { hint } from '../elsewhere.ts';
import { answerFrom, type Table } from '../version.ts';
import { type Dialect, dialectOf, notFoundBody } from './dialect.ts';

type CreationRefusal = Exclude<CreationOutcome, { outcome: 'created' }>;
type KeyRefusal = Exclude<RevealOutcome | BurnOutcome, { outcome: 'revealed' | 'burned' }>;

/** v1 clients cannot decrypt. */
const isEndToEnd =
  'This secret is end-to-end encrypted. Open its full link in a browser or with the mayfly command.';
const asksForCode = 'This secret opens only with a code from an email. Open its link in a browser.';
const notHere = 'The parameter "sealed" must be left out: end-to-end secrets are made with version 2.';

const creationTable: Table<CreationRefusal, 'outcome', [dialect: Dialect]> = {
  nothing_to_share: () => refusal(400, 'You did not provide anything to share'),
  sealed_beside: () => refusal(400, notHere),
  sealed_wrongly: () => refusal(400, notHere),
  sealed_too_large: ({ maxBytes }) =>
    refusal(413, `The secret is too large: at most ${maxBytes} bytes are allowed.`),
  ill_formed: ({ field }) => refusal(400, `The parameter "${field}" is not well-formed text.`),
  value_too_large: ({ maxBytes }) =>
    refusal(413, `The secret is too large: at most ${maxBytes} bytes (UTF-8) are allowed.`),
  passphrase_too_long: ({ maxBytes }) =>
    refusal(400, `The passphrase is too long: at most ${maxBytes} bytes (UTF-8) are allowed.`),
  memo_too_long: ({ maxCharacters }) =>
    refusal(400, `The memo is too long: at most ${maxCharacters} characters are allowed.`),
  note_too_long: () => refusal(400, 'The note is too long.'),
  recipient_needs_account: () => refusal(401, 'An account is required to send emails.'),
  account_required: () => refusal(401, 'An account is required to create secrets.'),
  verify_refused: () => refusal(400, 'The parameter "verify" must be left out.'),
  undeliverable_recipient: ({ recipient }) =>
    refusal(400, `Undeliverable email address: ${recipient}${unseenWords(recipient)}`),
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
  incomplete_link: () => refusal(400, isEndToEnd),
  code_required: () => refusal(400, asksForCode),
  code_wrong: () => refusal(400, asksForCode),
  codes_exhausted: () => refusal(400, asksForCode),
  not_sealed: () => refusal(400, 'This secret is not end-to-end encrypted.'),
  attempts_exhausted: ({ retryAfterSeconds, needsCreator }) => {
    const sentence = 'Too many wrong passphrases were tried on this secret.';
    const told = later(429, `${sentence} Wait, then try again`, retryAfterSeconds);
    return needsCreator
      ? { ...told, body: { message: `${sentence} It stays locked until its creator allows more: ask them.` } }
      : told;
  },
};

/** The document's description of each problem. */
const sentences: Readonly<Record<Problem['problem'], string>> = {
  malformed: 'A parameter is malformed, missing or not allowed.',
  invalid_fields: 'A parameter is malformed, missing or not allowed.',
  not_authorized: 'The credentials are wrong or missing.',
  scope_missing: 'The API token lacks the required scope.',
  cross_site: 'A page of another site sent this.',
  not_found: 'Nothing is served at this path.',
  method_not_allowed: 'The path does not answer this method.',
  body_too_large: 'Too large; the message names the limit.',
  unsupported_media_type: 'The body has a Content-Encoding.',
  rate_limited: 'Too many requests; Retry-After says when to try again.',
  internal: 'An unexpected error; the log has more under the request id.',
  unavailable: 'Not confirmed: nothing consumed, nothing half stored.',
  storage_full: 'Not confirmed: nothing consumed, nothing half stored.',
};

const problemTable: Table<Problem, 'problem', [dialect: Dialect]> = {
  malformed: ({ message }) => refusal(400, message),
  invalid_fields: ({ errors }) => refusal(400, errors.map((error) => error.message).join(' ')),
  not_authorized: () => refusal(401, 'Not authorized'),
  scope_missing: ({ scope }, { missingScopeStatus }) =>
    refusal(missingScopeStatus, `This API token may not do that: it lacks the scope "${scope}".`),
  cross_site: () =>
    refusal(403, 'A page of another site may not call this service. Call it from your own program.'),
  not_found: () => ({ status: 404, body: notFoundBody }),
  method_not_allowed: (_, { wrongMethodBody: body }) => ({ status: 405, body }),
  body_too_large: ({ capBytes }) =>
    refusal(413, `The request body is too large: at most ${capBytes} bytes are accepted.`),
  // A body of any unknown type is read as a form, so only an encoding is refused.
  unsupported_media_type: () => refusal(415, 'Send the body as it is, without a Content-Encoding.'),
  rate_limited: ({ retryAfterSeconds }) =>
    later(429, 'Too many requests were sent. Wait, then try again', retryAfterSeconds),
  internal: ({ requestId }) => ({
    status: 500,
    body: { message: 'An unexpected error occurred', request_id: requestId },
  }),
  unavailable: ({ retryAfterSeconds }) =>
    later(
      503,
      'The service cannot confirm the request right now. Nothing was consumed: try again',
      retryAfterSeconds,
    ),
  storage_full: ({ retryAfterSeconds }) =>
    later(
      503,
      'There is no room for another secret right now. Nothing was stored: try again',
      retryAfterSeconds,
    ),
};

export function encodeCreationRefusal(refused: CreationRefusal, dialect: Dialect): Reply {
  return inDialect(answerFrom(creationTable, 'outcome', refused, dialect), dialect);
}

/** @param keyAsGiven the key from the path, repeated in the response */
export function encodeKeyRefusal(refused: KeyRefusal, keyAsGiven: string, dialect: Dialect): Reply {
  return inDialect(answerFrom(keyTable, 'outcome', refused, keyAsGiven), dialect);
}

/** Refuses a burn that lacks the secret's passphrase. */
export function encodeUnprovenBurn(dialect: Dialect): Reply {
  return inDialect(refusal(400, 'Double check that passphrase'), dialect);
}

export function encodeProblem(problem: Problem, dialect: Dialect): Reply {
  return inDialect(answerFrom(problemTable, 'problem', problem, dialect), dialect);
}

function unknownSecret(keyAsGiven: string): Reply {
  return { status: 404, body: { message: 'Unknown secret', secret_key: keyAsGiven } };
}

function refusal(status: number, message: string): Reply {
  return { status, body: { message } };
}

/** Sets `Retry-After`, which the pipeline adds to problems but not to outcomes. */
function later(status: number, sentence: string, seconds: number): Reply {
  const message = `${sentence} in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`;
  return { status, body: { message }, headers: { 'retry-after': String(seconds) } };
}

function inDialect(reply: Reply, dialect: Dialect): Reply {
  return { ...reply, status: dialect.refusalStatus(reply.status) };
}

const refusalBody = z.strictObject({ message: z.string() }).meta({ id: 'V1Refusal' });

const faultBody = z
  .strictObject({ message: z.string(), request_id: z.string().describe('Names this request in the log.') })
  .meta({ id: 'V1Fault' });

/** A sample of each problem, for the document's examples. */
const sampleProblems: { readonly [Name in Problem['problem']]: Extract<Problem, { problem: Name }> } = {
  malformed: { problem: 'malformed', message: 'The body is not valid JSON.' },
  invalid_fields: {
    problem: 'invalid_fields',
    errors: [
      {
        field: 'ttl',
        message: 'The ttl must be a whole number of seconds, 0 or more, written in digits.',
      },
    ],
  },
  not_authorized: { problem: 'not_authorized' },
  scope_missing: { problem: 'scope_missing', scope: 'manage' },
  cross_site: { problem: 'cross_site' },
  not_found: { problem: 'not_found' },
  method_not_allowed: { problem: 'method_not_allowed', allow: 'POST, OPTIONS' },
  body_too_large: { problem: 'body_too_large', capBytes: 70_240 },
  unsupported_media_type: { problem: 'unsupported_media_type' },
  rate_limited: { problem: 'rate_limited', retryAfterSeconds: 3 },
  internal: { problem: 'internal', requestId: '5f0c9b1e7a3d8264c1e0' },
  unavailable: { problem: 'unavailable', retryAfterSeconds: 1 },
  storage_full: { problem: 'storage_full', retryAfterSeconds: 60 },
};

/** Returns the documented responses to these problems; joins the descriptions that share a status. */
export function answersWith(
  problemNames: readonly Problem['problem'][],
  refusals: Readonly<Record<number, Answer>> = {},
): Record<number, Answer> {
  const answers: Record<number, Answer> = {};
  const add = (status: number, { description, ...rest }: Answer) => {
    const before = answers[status]?.description ?? '';
    const isSaid = before.includes(description);
    answers[status] = { ...rest, description: isSaid ? before : `${before} ${description}`.trim() };
  };
  const dialect = dialectOf('documented');
  for (const name of problemNames) {
    const { status, body: example } = encodeProblem(sampleProblems[name], dialect);
    const schema = name === 'internal' ? faultBody : refusalBody;
    add(status, { description: sentences[name], schema, example });
  }
  for (const [status, answer] of Object.entries(refusals)) add(Number(status), answer);
  return answers;
}

export const sharingDisabled: Readonly<Record<number, Answer>> = {
  403: {
    description: 'Only the owner may share on the domain that the request was sent to.',
    schema: refusalBody,
    example: { message: 'Public sharing disabled for domain: secrets.example.com' },
  },
};

export const endToEnd: Readonly<Record<number, Answer>> = {
  400: {
    description: 'An end-to-end secret, or one that asks for a code: nothing was consumed.',
    schema: refusalBody,
    example: { message: isEndToEnd },
  },
};

export const unknownKey: Record<number, Answer> = {
  404: {
    description: 'Unknown, read, burned or expired, or a wrong passphrase: one answer.',
    schema: z
      .strictObject({
        message: z.literal('Unknown secret'),
        secret_key: z.string().meta({
          description: 'The key of the path as given; for metadata, the metadata key.',
          examples: ['4k1zq0v9x7c2m8t5w3h6j0n4b1d7f2g'],
        }),
        hint,
      })
      .meta({ id: 'V1UnknownSecret' }),
  },
};
