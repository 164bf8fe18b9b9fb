/** API v2: conceal and generate. */
import { z } from 'zod';
import { type Caller, planOf } from '../../core/account.ts';
import type {
  ConcealInput,
  CreationOptions,
  CreationOutcome,
  GenerateInput,
  ReceiptView,
} from '../../core/secrets/outcomes.ts';
import { creationCapBytesFor } from '../../http/body.ts';
import type { Exchange } from '../../http/operation.ts';
import { illFormed } from '../fields.ts';
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
import { type Api, define, definition, forGuests, jsonBody, ok } from './operation.ts';
import {
  custid,
  custidOf,
  encodeMetadata,
  encodeSecret,
  metadataRecord,
  openedSecretRecord,
  secretRecord,
  shareDomain,
  success,
} from './records.ts';
import { refusals, refuse, refuseFields, refuseMails } from './refusals.ts';
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
  malformed,
  parseFields,
  readGivenObject,
  readObject,
} from './wire.ts';

/** What was asked for and may be granted otherwise. */
interface Asked {
  /** Seconds, or a text that is no number. */
  readonly ttl: number | string | null;
  /** A BCP 47 tag, or what should be one. */
  readonly locale: string | null;
}

interface Creation<Input> extends FromBody {
  readonly input: Input;
  /** What comes before a field's name in the body as sent: `secret.` or nothing. */
  readonly prefix: string;
  readonly asked: Asked;
}

function creationOptions(fields: CreationFields, exchange: Exchange): CreationOptions {
  const { passphrase } = fields;
  return {
    passphrase,
    // Finding it costs, and only hashing a passphrase needs it.
    clientPrefix: passphrase === null ? null : exchange.clientPrefix,
    ttlSeconds: fields.ttl,
    recipient: fields.recipient,
    shareDomain: fields.share_domain,
    notify: fields.notify,
    memo: fields.memo,
    arrivedOn: exchange.request.headers.get('host'),
    locale: fields.locale,
  };
}

/** @param raw the fields as they came, whose ttl the schema may not have seen */
function askedOf(raw: JsonObject, fields: CreationFields): Asked {
  return { ttl: fields.ttl === null ? null : askedTtl(raw.ttl), locale: fields.locale };
}

function askedTtl(raw: unknown): number | string {
  const given = String(raw);
  const isNumber = typeof raw === 'number' || /^[0-9]+$/.test(given);
  return isNumber ? Math.min(Number(given), Number.MAX_SAFE_INTEGER) : asAsked(given);
}

/** The creation fields, with the ttl as the dialect reads it. */
function inDialect(fields: JsonObject, { readTtl }: Dialect): JsonObject {
  return Object.hasOwn(fields, 'ttl') ? { ...fields, ttl: readTtl(fields.ttl) } : fields;
}

/** What a body may have beside its form. */
const besideForm = z.object({ secret: z.unknown() });

async function decodeConceal(exchange: Exchange, dialect: Dialect): Promise<Creation<ConcealInput>> {
  const body = await readGivenObject(exchange, dialect);
  if (body === undefined) throw malformed('A JSON body is needed');
  const nested = isObject(body.secret) || (typeof body.secret !== 'string' && !isGiven(body.sealed));
  if (nested && isGiven(body.sealed))
    throw invalidFields({ field: 'sealed', message: 'Must be under secret' });
  const prefix = nested ? 'secret.' : '';
  const raw = nested ? nestedFields(body.secret) : body;
  const { fields, content, schema, unknown } = readConcealed(inDialect(raw, dialect), prefix);
  return {
    input: { ...content, ...creationOptions(fields, exchange) },
    prefix,
    asked: askedOf(raw, fields),
    ignored: boundIgnored(nested ? ignoredIn(body, besideForm) : [], ignoredIn(raw, schema, prefix), unknown),
  };
}

/** Nothing under `secret` is an empty form, and anything but an object a mistake. */
function nestedFields(given: unknown): JsonObject {
  if (given === undefined || given === null) return {};
  if (isObject(given)) return given;
  throw invalidFields({ field: 'secret', message: 'Must be an object, or a text in a flat body' });
}

/** A flat body is understood here too: ignoring its passphrase would leave the new secret unprotected. */
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
  const prefix = nested ? 'secret.' : '';
  const raw = nested ? secret : flat;
  const fields = parseFields(generateFields, inDialect(raw, dialect), prefix);
  return {
    input: { ...creationOptions(fields, exchange), length: fields.length, charset: fields.charset },
    prefix,
    asked: askedOf(raw, fields),
    ignored: boundIgnored(nested ? ignoredIn(flat, besideForm) : [], ignoredIn(raw, generateFields, prefix)),
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
    }),
  });
}

export const concealAnswer = creationAnswer('conceal', secretRecord).meta({ id: 'V2ConcealAnswer' });
export const generateAnswer = creationAnswer('generate', openedSecretRecord).meta({ id: 'V2GenerateAnswer' });

/** The secret's record as its creator sees it right after creation. */
function newSecretRecord(receipt: ReceiptView) {
  const { secretKey, secretTtlSeconds } = receipt;
  if (secretKey === null) throw new Error('a receipt just created has its secret key');
  return encodeSecret({
    ...receipt,
    secretKey,
    state: 'new',
    secretTtlSeconds: secretTtlSeconds ?? 0,
  });
}

function encodeCreation<Kind extends 'conceal' | 'generate', Secret>(
  kind: Kind,
  receipt: ReceiptView,
  secret: Secret,
  { asked, ignored: paths }: Creation<unknown>,
  caller: Caller,
  { links, mailLocaleOf }: Api,
) {
  const metadata = encodeMetadata(receipt, links);
  const recipients = receipt.recipient === null ? [] : [receipt.recipient];
  const remarks = {
    adjusted: {
      ...adjustedTtl(asked.ttl, receipt.ttlSeconds),
      ...adjustedLocaleOf(asked.locale, mailLocaleOf(asked.locale)),
    },
    ignored: paths,
  };
  return {
    success: true as const,
    custid: custidOf(caller),
    record: { metadata, receipt: metadata, secret, share_domain: receipt.shareDomain },
    details: { kind, recipient: recipients, recipient_safe: recipients, ...encodeRemarks(remarks) },
  };
}

const creationRefuses = ['account_required', 'public_sharing_disabled'] as const;

const concealing = definition({
  name: 'v2.conceal',
  method: 'POST',
  path: '/secret/conceal',
  access: 'anyone',
  scope: 'create',
  limit: 'create',
  bodyCapBytes: (caller: Caller, { plans }: Api) => creationCapBytesFor(plans, planOf(plans, caller)),
  document: {
    summary: 'Create a secret',
    description:
      'Stores a value and answers the two keys: the secret key to give away, and the metadata key to keep. ' +
      'The fields stand under `secret`, or flat in the body. An end-to-end secret has `sealed` in place of `secret`; its ' +
      "body may be as large as the plan's `max_sealed_bytes` need.",
    tag: 'Secrets',
    body: jsonBody(concealBody, true),
  },
  answers: {
    description:
      'The secret waits. `record.receipt` is the same object as `record.metadata`. `details.adjusted` says what was ' +
      'granted other than asked, and `details.ignored` names unknown fields.',
    schema: concealAnswer,
    refuses: creationRefuses,
  },
  decode: decodeConceal,
  async handle(creation: Creation<ConcealInput>, caller, api) {
    const { input, prefix, asked } = creation;
    const outcome = await api.service.conceal({ ...input, locale: api.mailLocaleOf(asked.locale) }, caller);
    if (outcome.outcome !== 'created') return refuseCreation(outcome, prefix);
    const { receipt } = outcome;
    return ok(
      encodeCreation('conceal', receipt, newSecretRecord(receipt), creation, caller, api) satisfies z.output<
        typeof concealAnswer
      >,
    );
  },
});

export const conceal = define(concealing);
export const guestConceal = forGuests(concealing);

const generating = definition({
  name: 'v2.generate',
  method: 'POST',
  path: '/secret/generate',
  access: 'anyone',
  scope: 'create',
  limit: 'create',
  document: {
    summary: 'Generate a secret',
    description: 'Creates a secret with a random value, and answers that value this once.',
    tag: 'Secrets',
    body: jsonBody(generateBody, false),
  },
  answers: {
    description: 'The secret waits; `record.secret.secret_value` is its value.',
    schema: generateAnswer,
    refuses: creationRefuses,
  },
  decode: decodeGenerate,
  async handle(creation: Creation<GenerateInput>, caller, api) {
    const { input, prefix, asked } = creation;
    const outcome = await api.service.generate({ ...input, locale: api.mailLocaleOf(asked.locale) }, caller);
    if (outcome.outcome !== 'created') return refuseCreation(outcome, prefix);
    const secret = {
      ...newSecretRecord(outcome.receipt),
      secret_value: outcome.value?.expose() ?? '',
    };
    return ok(
      encodeCreation('generate', outcome.receipt, secret, creation, caller, api) satisfies z.output<
        typeof generateAnswer
      >,
    );
  },
});

export const generate = define(generating);
export const guestGenerate = forGuests(generating);

type CreationRefusal = Exclude<CreationOutcome, { outcome: 'created' }>;

export const recipientNeedsAccount = 'An account is required to send emails.';
/** The address is not repeated: v2 never shows one in plain (P18). */
export const undeliverable = 'Undeliverable email address';

/** The server never had the part of an end-to-end secret's link that opens it. */
export const noLinkToMail = 'The link of an end-to-end secret cannot be mailed from here';

function refuseField(field: string, message: string) {
  return refuseFields([{ field, message }]);
}

function refuseSize(maxBytes: number) {
  const message = `The secret is larger than the limit of ${maxBytes} bytes`;
  return refuse('too_large', { message, extra: { limit: maxBytes } });
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
  recipient_needs_account: () => refuse('account_required', { message: recipientNeedsAccount }),
  notify_needs_account: () =>
    refuse('account_required', { message: 'An account is required to be notified.' }),
  account_required: () =>
    refuse('account_required', { message: 'An account is required to create secrets.' }),
  undeliverable_recipient: (_, prefix) => refuseField(`${prefix}recipient`, undeliverable),
  too_many_mails: refuseMails,
  public_sharing_disabled: ({ shareDomain: name }) =>
    refuse('public_sharing_disabled', { message: `${refusals.public_sharing_disabled.message}: ${name}` }),
  unknown_share_domain: ({ shareDomain: name }, prefix) =>
    refuseField(`${prefix}share_domain`, `Unknown domain: ${name}`),
};

function refuseCreation(refusal: CreationRefusal, prefix: string) {
  return answerFrom(creationTable, 'outcome', refusal, prefix);
}
