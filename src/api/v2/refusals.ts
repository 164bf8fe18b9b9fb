/**
 * Every v2 refusal, by its stable code: `{"success":false,"error":code,"message":…}`. Only this file assigns a refusal's status.
 * Unknown, read, burned and expired secrets get the same response (P17). A refusal reveals nothing about a fault (P18).
 */
import { z } from 'zod';
import type { NoGuessLeft } from '../../core/secrets/outcomes.ts';
import type { Answer, Reply } from '../../http/operation.ts';
import type { FieldError, Problem } from '../../http/problem.ts';
import { hint } from '../elsewhere.ts';
import { answerFrom, type Table } from '../version.ts';
import { metadataRecord } from './records.ts';

export interface Refusal {
  readonly status: number;
  readonly message: string;
  /** Fields in addition to `success`, `error` and `message`. */
  readonly extra?: z.ZodRawShape;
  /** An example message with more detail than `message`. */
  readonly sample?: string;
}

const count = (description: string, example: number) =>
  z
    .int()
    .min(1)
    .meta({ description, examples: [example] });
const limit = count('The limit, in bytes.', 10_000);
const fieldName = z.string().meta({
  description: 'A dotted path, `secret.ttl`; empty for the body as a whole.',
  examples: ['secret.ttl'],
});

export const refusals = {
  malformed: {
    status: 400,
    message: 'The request cannot be read',
    sample: 'The body is not valid JSON',
  },
  not_authorized: { status: 401, message: 'Not authorized' },
  account_required: { status: 401, message: 'An account is required' },
  insufficient_scope: {
    status: 403,
    message: 'This API token may not do that',
    sample: 'This API token may not do that: it lacks the scope "manage"',
  },
  plan_required: { status: 403, message: 'The plan of the account has no custom domains' },
  requests_disabled: { status: 403, message: 'Requests for secrets are not allowed here' },
  public_sharing_disabled: {
    status: 403,
    message: 'Public sharing disabled for domain',
    sample: 'Public sharing disabled for domain: secrets.example.com',
  },
  cross_site: { status: 403, message: 'Requests from other sites are not allowed' },
  not_found: { status: 404, message: 'Not Found' },
  unknown_secret: {
    status: 404,
    message: 'Unknown secret',
    extra: {
      secret_key: z
        .string()
        .optional()
        .meta({
          description: 'The key as given, where a secret key was.',
          examples: ['4k1zq0v9x7c2m8t5w3h6j0n4b1d7f2g'],
        }),
      metadata_key: z
        .string()
        .optional()
        .meta({ description: 'The key as given, where a metadata key was.' }),
      hint,
    },
  },
  unknown_request: {
    status: 404,
    message: 'Unknown request',
    extra: { request_key: z.string().meta({ description: 'As given.' }), hint },
  },
  unknown_domain: {
    status: 404,
    message: 'Domain not found',
    extra: { domain: z.string().meta({ description: 'As given.', examples: ['secrets.example.com'] }) },
  },
  method_not_allowed: { status: 405, message: 'Method Not Allowed' },
  already_gone: {
    status: 409,
    message: 'The secret was read, burned or has expired',
    extra: { record: metadataRecord },
  },
  domain_taken: { status: 409, message: 'The domain is verified for another account' },
  too_many_domains: {
    status: 409,
    message: 'The account has as many domains as its plan allows',
    extra: { max: count('How many domains the plan allows.', 20) },
  },
  request_full: { status: 409, message: 'The request has all the answers it asked for' },
  request_ended: { status: 409, message: 'The request has ended' },
  too_many_places: {
    status: 409,
    message: 'The open requests of the account have as many places for answers as its plan allows',
    extra: { max: count('How many places the plan allows.', 40) },
  },
  delivery_in_flight: { status: 409, message: 'A mail of this secret is being sent already' },
  in_flight: { status: 409, message: 'An equal request is being answered; please try again' },
  too_large: {
    status: 413,
    message: 'Too large',
    extra: { limit },
    sample: 'The secret is larger than the limit of 10000 bytes',
  },
  unsupported_media_type: { status: 415, message: 'The body is of a content type that is not taken here' },
  incorrect_passphrase: { status: 422, message: 'Incorrect passphrase' },
  incomplete_link: { status: 422, message: 'This secret is end-to-end encrypted: its full link is needed' },
  not_sealed: { status: 422, message: 'This secret is not end-to-end encrypted' },
  code_required: { status: 422, message: 'This secret opens only with a code: ask for one by email' },
  incorrect_code: {
    status: 422,
    message: 'Incorrect code',
    extra: {
      attempts_left: z
        .int()
        .min(0)
        .meta({ description: 'How many more may be tried now.', examples: [4] }),
    },
  },
  needs_no_code: { status: 422, message: 'This secret asks for no code' },
  idempotency_mismatch: { status: 422, message: 'This Idempotency-Key was sent with another request' },
  invalid_field: {
    status: 422,
    message: 'A field is not valid',
    extra: {
      field: fieldName.optional(),
      errors: z
        .array(z.object({ field: fieldName, message: z.string() }))
        .min(2)
        .optional()
        .meta({ description: 'In place of `field`, when several are not valid.' }),
    },
    sample: 'Must be a whole number of seconds, or a string of its digits',
  },
  rate_limited: { status: 429, message: 'Too many requests; please try again later' },
  too_many_attempts: {
    status: 429,
    message: 'Too many wrong passphrases were tried on this secret',
    sample: 'Too many wrong codes were tried on this secret; please try again in 10 minutes',
  },
  internal: {
    status: 500,
    message: 'An unexpected error occurred',
    extra: {
      request_id: z
        .string()
        .meta({ description: 'To quote to the operator.', examples: ['5f0c9b1e7a3d8264c1e0'] }),
    },
  },
  unavailable: { status: 503, message: 'Temporarily unavailable; please try again' },
} as const satisfies Record<string, Refusal>;

export type RefusalCode = keyof typeof refusals;
export const refusalCodes = Object.keys(refusals) as [RefusalCode, ...RefusalCode[]];

interface Details {
  /** Replaces the table's message. */
  readonly message?: string;
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export function refuse(code: RefusalCode, details: Details = {}): Reply {
  const { status, message } = refusals[code];
  return {
    status,
    body: { success: false, error: code, message: details.message ?? message, ...details.extra },
    ...(details.headers && { headers: details.headers }),
  };
}

/** Names a single wrong field directly, and several in a list. */
export function refuseFields(errors: readonly FieldError[]): Reply {
  const [first] = errors;
  if (first === undefined) return refuse('invalid_field');
  if (errors.length === 1)
    return refuse('invalid_field', { message: first.message, extra: { field: first.field } });
  return refuse('invalid_field', { message: 'Several fields are not valid', extra: { errors } });
}

export function refuseField(field: string, message: string): Reply {
  return refuseFields([{ field, message }]);
}

function later(seconds: number) {
  return { 'Retry-After': String(Math.max(1, Math.ceil(seconds))) };
}

export function refuseAttempts({
  outcome,
  retryAfterSeconds,
  needsCreator,
}: NoGuessLeft<'attempts_exhausted' | 'codes_exhausted'>): Reply {
  const what = outcome === 'codes_exhausted' ? 'codes' : 'passphrases';
  const minutes = Math.ceil(retryAfterSeconds / 60);
  const until = needsCreator
    ? 'it stays locked until its creator allows more: ask them'
    : `please try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;
  const message = `Too many wrong ${what} were tried on this secret; ${until}`;
  return refuse('too_many_attempts', { message, headers: later(retryAfterSeconds) });
}

const refuseNow =
  (code: RefusalCode, details: Details = {}) =>
  ({ retryAfterSeconds }: { readonly retryAfterSeconds: number }): Reply =>
    refuse(code, { ...details, headers: later(retryAfterSeconds) });

export const refuseInFlight = refuseNow('in_flight');
export const refuseRate = refuseNow('rate_limited');
export const refuseMails = refuseNow('rate_limited', { message: 'Too many mails; please try again later' });

export const codeOfProblem = {
  malformed: 'malformed',
  invalid_fields: 'invalid_field',
  not_authorized: 'not_authorized',
  scope_missing: 'insufficient_scope',
  cross_site: 'cross_site',
  not_found: 'not_found',
  method_not_allowed: 'method_not_allowed',
  body_too_large: 'too_large',
  unsupported_media_type: 'unsupported_media_type',
  rate_limited: 'rate_limited',
  internal: 'internal',
  unavailable: 'unavailable',
  storage_full: 'unavailable',
} as const satisfies Record<Problem['problem'], RefusalCode>;

const plainly = ({ problem }: Problem) => refuse(codeOfProblem[problem]);

const problemTable: Table<Problem, 'problem'> = {
  malformed: ({ message }) => refuse('malformed', { message }),
  invalid_fields: ({ errors }) => refuseFields(errors),
  not_authorized: plainly,
  scope_missing: ({ scope }) =>
    refuse('insufficient_scope', {
      message: `${refusals.insufficient_scope.message}: it lacks the scope "${scope}"`,
    }),
  cross_site: plainly,
  not_found: plainly,
  method_not_allowed: plainly,
  body_too_large: ({ capBytes }) =>
    refuse('too_large', {
      message: `The body is larger than ${capBytes} bytes`,
      extra: { limit: capBytes },
    }),
  unsupported_media_type: ({ isEncoded }) =>
    refuse('unsupported_media_type', {
      message: isEncoded
        ? 'The body must be sent as it is, without a Content-Encoding'
        : 'The body must be JSON, sent as application/json',
    }),
  rate_limited: plainly,
  internal: ({ requestId }) => refuse('internal', { extra: { request_id: requestId } }),
  unavailable: plainly,
  storage_full: () =>
    refuse('unavailable', { message: 'There is no room for another secret; please try again later' }),
};

/** The pipeline adds the headers that the status requires. */
export function encodeProblem(problem: Problem): Reply {
  return answerFrom(problemTable, 'problem', problem);
}

function schemaOf(code: RefusalCode): z.ZodObject {
  const { message, extra, sample = message }: Refusal = refusals[code];
  return z
    .object({
      success: z.literal(false),
      error: z.literal(code),
      message: z.string().meta({ examples: [sample] }),
      ...extra,
    })
    .meta({ id: `V2Refusal_${code}`, title: code });
}

const schemas = new Map<string, z.ZodType>();

/** Returns the documented responses for these codes, by status. */
export function refusalResponses(codes: readonly RefusalCode[]): Record<number, Answer> {
  const byStatus = Map.groupBy(new Set(codes), (code) => refusals[code].status);
  return Object.fromEntries(
    Array.from(byStatus, ([status, group]) => [
      status,
      {
        description: group.map((code) => `\`${code}\`: ${refusals[code].message}.`).join(' '),
        schema: schemaOfAll(group),
      },
    ]),
  );
}

/** Returns the same schema for the same codes, so that it appears only once in the document. */
function schemaOfAll(codes: readonly RefusalCode[]): z.ZodType {
  const name = codes.join();
  const [first] = codes;
  const made =
    schemas.get(name) ??
    (first !== undefined && codes.length === 1
      ? schemaOf(first)
      : z.union(codes.map((code) => schemaOfAll([code]))));
  schemas.set(name, made);
  return made;
}
