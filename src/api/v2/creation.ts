/** API v2: conceal and generate. */
import { z } from 'zod';
import { type Caller, planOf } from '../../core/account.ts';
import type { SecretKey } from '../../core/keys.ts';
import { unseenWords } from '../../core/mail/recipients.ts';
import type { ConcealInput, GenerateInput, RepeatableOutcome } from '../../core/secrets/outcomes.ts';
import { creationCapBytesFor } from '../../http/body.ts';
import type { Exchange, Reply } from '../../http/operation.ts';
import { creationOptions, illFormed } from '../fields.ts';
import { answerFrom, type Table } from '../version.ts';
import {
  type CreationFields,
  concealBody,
  generateBody,
  generateFields,
  isGiven,
  nothingToShare,
  readConcealed,
} from './creation-fields.ts';
import type { Dialect } from './dialect.ts';
import { creationHeaders, type ReadKey, readKey, repeated } from './idempotency-key.ts';
import { type Api, jsonBody, ok, onCreation, withGuests } from './operation.ts';
import {
  createdSecretRecord,
  custid,
  custidOf,
  encodeCreated,
  encodeMetadata,
  generatedSecretRecord,
  metadataRecord,
  shareDomain,
  success,
} from './records.ts';
import { refusals, refuse, refuseField, refuseInFlight, refuseMails, refuseRate } from './refusals.ts';
import { flawMessage } from './sealed.ts';
import {
  adjusted,
  adjustedLocaleOf,
  adjustedTtl,
  asAsked,
  boundIgnored,
  encodeRemarks,
  type FromBody,
  ignored,
  ignoredIn,
  invalidFields,
  isObject,
  type JsonObject,
  parseFields,
  readGivenObject,
  readObject,
} from './wire.ts';

/** Requested values that may be granted differently. */
interface Asked {
  /** Seconds, or the text as sent if it is not a number. */
  readonly ttl: number | string | null;
  /** A BCP 47 tag, possibly malformed. */
  readonly locale: string | null;
}

export interface Creation<Input> extends FromBody {
  readonly input: Input;
  /** The start of a field's name in the body as sent: `secret.` or nothing. */
  readonly prefix: string;
  readonly asked: Asked;
}

/** @param raw the fields as sent, since the dialect may have changed the ttl before the schema read it */
function askedOf(raw: JsonObject, fields: CreationFields): Asked {
  return { ttl: fields.ttl === null ? null : askedTtl(raw.ttl), locale: fields.locale };
}

function askedTtl(raw: unknown): number | string {
  const given = String(raw);
  const isNumber = typeof raw === 'number' || /^[0-9]+$/.test(given);
  return isNumber ? Math.min(Number(given), Number.MAX_SAFE_INTEGER) : asAsked(given);
}

/** Returns the creation fields, with the ttl as the dialect reads it. */
function inDialect(fields: JsonObject, { readTtl }: Dialect): JsonObject {
  return Object.hasOwn(fields, 'ttl') ? { ...fields, ttl: readTtl(fields.ttl) } : fields;
}

const besideForm = z.object({ secret: z.unknown() });

async function decodeConceal(exchange: Exchange, dialect: Dialect): Promise<Creation<ConcealInput>> {
  const body = await readGivenObject(exchange, dialect);
  const nested = isObject(body.secret) || (typeof body.secret !== 'string' && !isGiven(body.sealed));
  if (nested && isGiven(body.sealed))
    throw invalidFields({ field: 'sealed', message: 'Must be under secret' });
  const beside = nested ? ignoredIn(body, besideForm) : [];
  const form = nested ? nestedFields(body.secret) : body;
  return readConcealForm(form, { exchange, dialect, prefix: nested ? 'secret.' : '', beside });
}

export interface FormPlace {
  readonly exchange: Exchange;
  readonly dialect: Dialect;
  /** @see Creation.prefix */
  readonly prefix: string;
  /** Unknown fields outside the form. */
  readonly beside: readonly string[];
}

export function readConcealForm(
  raw: JsonObject,
  { exchange, dialect, prefix, beside }: FormPlace,
): Creation<ConcealInput> {
  const { fields, content, schema, unknown } = readConcealed(inDialect(raw, dialect), prefix);
  return {
    input: { ...content, ...creationOptions(fields, exchange) },
    prefix,
    asked: askedOf(raw, fields),
    ignored: boundIgnored(beside, ignoredIn(raw, schema, prefix), unknown),
  };
}

/** Reads a missing `secret` as an empty form, and refuses anything else that is not an object. */
function nestedFields(given: unknown): JsonObject {
  if (given === undefined || given === null) return {};
  if (isObject(given)) return given;
  throw invalidFields({ field: 'secret', message: 'Must be an object, or a text in a flat body' });
}

/** Also reads a flat body, since ignoring its passphrase would leave the secret unprotected. */
async function decodeGenerate(exchange: Exchange, dialect: Dialect): Promise<Creation<GenerateInput>> {
  const { secret, ...flat } = await readObject(exchange, dialect);
  const nested = secret !== undefined && secret !== null;
  for (const [form, at] of [
    [flat, ''],
    [secret, 'secret.'],
  ] as const) {
    if (!isObject(form) || !isGiven(form.sealed)) continue;
    throw invalidFields({ field: `${at}sealed`, message: 'Must be absent: the value is generated here' });
  }
  if (nested && !isObject(secret)) {
    throw invalidFields({ field: 'secret', message: 'Must be an object: the value is generated here' });
  }
  const beside = nested ? ignoredIn(flat, besideForm) : [];
  const prefix = nested ? 'secret.' : '';
  return readGenerateForm(nested ? secret : flat, { exchange, dialect, prefix, beside });
}

export function readGenerateForm(
  raw: JsonObject,
  { exchange, dialect, prefix, beside }: FormPlace,
): Creation<GenerateInput> {
  const fields = parseFields(generateFields, inDialect(raw, dialect), prefix);
  return {
    input: { ...creationOptions(fields, exchange), length: fields.length, charset: fields.charset },
    prefix,
    asked: askedOf(raw, fields),
    ignored: boundIgnored(beside, ignoredIn(raw, generateFields, prefix)),
  };
}

function creationAnswer<Secret extends z.ZodType>(kind: 'conceal' | 'generate', secret: Secret) {
  return z.object({
    success,
    custid,
    record: z.object({
      metadata: metadataRecord,
      receipt: metadataRecord,
      secret,
      share_domain: shareDomain,
    }),
    details: z.object({
      kind: z.literal(kind),
      recipient: z.array(z.string()).meta({ description: 'Obfuscated.' }),
      recipient_safe: z.array(z.string()),
      adjusted,
      ignored,
      repeated,
    }),
  });
}

export const concealAnswer = creationAnswer('conceal', createdSecretRecord).meta({ id: 'V2ConcealAnswer' });
export const generateAnswer = creationAnswer('generate', generatedSecretRecord).meta({
  id: 'V2GenerateAnswer',
});

interface Answering {
  readonly creation: Creation<unknown>;
  /** The header's name if it was ignored; otherwise empty. */
  readonly header: readonly string[];
  readonly caller: Caller;
  readonly api: Api;
}

type Created = Extract<RepeatableOutcome, { outcome: 'created' | 'repeated' }>;

function answerCreation(
  kind: 'conceal' | 'generate',
  outcome: RepeatableOutcome,
  answering: Answering,
): Reply {
  if (outcome.outcome !== 'created' && outcome.outcome !== 'repeated')
    return answerFrom(creationTable, 'outcome', outcome, answering.creation.prefix);
  const secret = encodeCreated(outcome.receipt, secretKeyOf(outcome));
  if (kind === 'conceal')
    return ok(encodeCreation(kind, outcome, secret, answering) satisfies z.output<typeof concealAnswer>);
  const generated = { ...secret, secret_value: outcome.value?.expose() ?? '' };
  return ok(encodeCreation(kind, outcome, generated, answering) satisfies z.output<typeof generateAnswer>);
}

function secretKeyOf(created: Created): SecretKey {
  const secretKey = created.outcome === 'repeated' ? created.secretKey : created.receipt.secretKey;
  if (secretKey === null) throw new Error('a receipt just created has its secret key');
  return secretKey;
}

function encodeCreation<Kind extends 'conceal' | 'generate', Secret>(
  kind: Kind,
  { receipt, outcome }: Created,
  secret: Secret,
  { creation: { asked, ignored: paths }, header, caller, api: { links, mailLocaleOf } }: Answering,
) {
  const metadata = encodeMetadata(receipt, links);
  const recipients = receipt.recipient === null ? [] : [receipt.recipient];
  const granted = {
    ...adjustedTtl(asked.ttl, receipt.ttlSeconds),
    ...adjustedLocaleOf(asked.locale, mailLocaleOf(asked.locale)),
  };
  return {
    success: true as const,
    custid: custidOf(caller),
    record: { metadata, receipt: metadata, secret, share_domain: receipt.shareDomain },
    details: {
      kind,
      recipient: recipients,
      recipient_safe: recipients,
      ...encodeRemarks({ adjusted: granted, ignored: boundIgnored(header, paths) }),
      ...(outcome === 'repeated' && { repeated: true as const }),
    },
  };
}

/** Creates a secret, or returns the one that an equal request created. */
export async function answerConceal(
  creation: Creation<ConcealInput>,
  caller: Caller,
  api: Api,
  { once, ignored: header }: ReadKey,
): Promise<Reply> {
  const { input } = creation;
  const outcome =
    once === null
      ? await api.service.conceal(input, caller)
      : await api.service.concealOnce(input, once.idempotency, once.caller);
  return answerCreation('conceal', outcome, { creation, header, caller, api });
}

/** Like `answerConceal`, for a generated value. */
export async function answerGenerate(
  creation: Creation<GenerateInput>,
  caller: Caller,
  api: Api,
  { once, ignored: header }: ReadKey,
): Promise<Reply> {
  const { input } = creation;
  const outcome =
    once === null
      ? await api.service.generate(input, caller)
      : await api.service.generateOnce(input, once.idempotency, once.caller);
  return answerCreation('generate', outcome, { creation, header, caller, api });
}

export const creationRefuses = [
  'account_required',
  'public_sharing_disabled',
  'unknown_secret',
  'in_flight',
  'idempotency_mismatch',
] as const;

const conceal = withGuests({
  ...onCreation,
  name: 'v2.conceal',
  method: 'POST',
  path: '/secret/conceal',
  bodyCapBytes: (caller: Caller, { plans }: Api) => creationCapBytesFor(plans, planOf(plans, caller)),
  document: {
    summary: 'Create a secret',
    description:
      'Stores a value and answers the two keys: the secret key to give away, and the metadata key to keep. ' +
      'The fields are under `secret`, or flat in the body. An end-to-end secret has `sealed` in place of `secret`; its ' +
      "body may be as large as the plan's `max_sealed_bytes` needs.",
    tag: 'Secrets',
    headers: creationHeaders,
    body: jsonBody(concealBody, true),
  },
  answers: {
    description:
      'The secret waits. `record.receipt` is the same object as `record.metadata`. `details.adjusted` says what was ' +
      'granted instead, and `details.ignored` names unknown fields.',
    schema: concealAnswer,
    refuses: creationRefuses,
  },
  decode: decodeConceal,
  async handle(creation: Creation<ConcealInput>, caller, api, exchange) {
    return answerConceal(creation, caller, api, await readKey(exchange, caller));
  },
});

const generate = withGuests({
  ...onCreation,
  name: 'v2.generate',
  method: 'POST',
  path: '/secret/generate',
  document: {
    summary: 'Generate a secret',
    description: 'Creates a secret with a random value, and answers that value, once.',
    tag: 'Secrets',
    headers: creationHeaders,
    body: jsonBody(generateBody, false),
  },
  answers: {
    description: 'The secret waits; `record.secret.secret_value` is its value.',
    schema: generateAnswer,
    refuses: creationRefuses,
  },
  decode: decodeGenerate,
  async handle(creation: Creation<GenerateInput>, caller, api, exchange) {
    return answerGenerate(creation, caller, api, await readKey(exchange, caller));
  },
});

export const creationOperations = [...conceal, ...generate];

type CreationRefusal = Exclude<RepeatableOutcome, Created>;

export const recipientNeedsAccount = 'An account is required to send emails.';
const undelivered = 'Undeliverable email address';
/** Does not repeat the address: v2 never shows one in full (P18). */
export const undeliverable = ({ recipient }: { readonly recipient: string }) =>
  undelivered + unseenWords(recipient);

export function refuseSize(maxBytes: number) {
  const message = `The secret is larger than the limit of ${maxBytes} bytes`;
  return refuse('too_large', { message, extra: { limit: maxBytes } });
}

/** @param prefix as in `Creation` */
export const sharingRefusals = {
  public_sharing_disabled: ({ shareDomain: name }: DomainWanted) =>
    refuse('public_sharing_disabled', { message: `${refusals.public_sharing_disabled.message}: ${name}` }),
  unknown_share_domain: ({ shareDomain: name }: DomainWanted, prefix = '') =>
    refuseField(`${prefix}share_domain`, `Unknown domain: ${name}`),
};

interface DomainWanted {
  readonly shareDomain: string;
}

const creationTable: Table<CreationRefusal, 'outcome', [prefix: string]> = {
  nothing_to_share: (_, prefix) => refuseField(`${prefix}secret`, nothingToShare),
  sealed_beside: ({ field }, prefix) => refuseField(prefix + field, 'Must not be given beside sealed'),
  sealed_wrongly: ({ flaw }, prefix) => refuseField(`${prefix}sealed`, flawMessage(flaw)),
  sealed_too_large: ({ maxBytes }) => refuseSize(maxBytes),
  ill_formed: ({ field }, prefix) => refuseField(prefix + field, illFormed),
  value_too_large: ({ maxBytes }) => refuseSize(maxBytes),
  passphrase_too_long: ({ maxBytes }, prefix) =>
    refuseField(`${prefix}passphrase`, `Must be at most ${maxBytes} bytes`),
  memo_too_long: ({ maxCharacters }, prefix) =>
    refuseField(`${prefix}memo`, `Must be at most ${maxCharacters} characters`),
  note_too_long: ({ maxCharacters }, prefix) =>
    refuseField(`${prefix}note`, `Must be at most ${maxCharacters} characters`),
  recipient_needs_account: () => refuse('account_required', { message: recipientNeedsAccount }),
  notify_needs_account: () =>
    refuse('account_required', { message: 'An account is required to be notified.' }),
  account_required: () =>
    refuse('account_required', { message: 'An account is required to create secrets.' }),
  verify_refused: ({ why }, prefix) =>
    refuseField(`${prefix}verify`, why === 'off' ? 'Must be absent: no codes are mailed here' : undelivered),
  undeliverable_recipient: (refused, prefix) => refuseField(`${prefix}recipient`, undeliverable(refused)),
  too_many_mails: refuseMails,
  ...sharingRefusals,
  repeated_gone: ({ secretKey, metadataKey }) =>
    refuse('unknown_secret', { extra: { secret_key: secretKey, metadata_key: metadataKey } }),
  in_flight: refuseInFlight,
  idempotency_mismatch: () => refuse('idempotency_mismatch'),
  rate_limited: refuseRate,
};
