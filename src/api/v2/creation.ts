/** API v2: conceal and generate. */
import { z } from 'zod';
import type { Caller } from '../../core/account.ts';
import type {
  ConcealInput,
  CreationOptions,
  CreationOutcome,
  GenerateInput,
  ReceiptView,
} from '../../core/secrets/outcomes.ts';
import { Sensitive } from '../../core/sensitive.ts';
import type { Exchange } from '../../http/operation.ts';
import {
  charset,
  charsetNames,
  illFormed,
  length,
  lengthWords,
  locale,
  memoWords,
  noticeNames,
  notify,
  notLength,
  notRecipient,
  notText,
  optionalText,
  recipient,
  sensitiveText,
  ttl,
} from '../fields.ts';
import { answerFrom, type Table } from '../version.ts';
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

const nothingToShare = 'You did not provide anything to share';

const value = z
  .string({
    error: (issue) => (issue.input === undefined || issue.input === null ? nothingToShare : notText),
  })
  .min(1, nothingToShare)
  .refine((given) => given.isWellFormed(), illFormed)
  .meta({
    description:
      'The text to share. Its largest size in bytes of UTF-8 depends on the plan; it is never cut.',
    examples: ['correct horse battery staple'],
  });

const creationFields = {
  passphrase: sensitiveText({
    description:
      'Needed to read the secret; also part of its encryption key. 1 to 1,024 bytes; empty means none.',
  }),
  ttl: ttl({
    refusal: 'Must be a whole number of seconds, or a string of its digits',
    description:
      "Lifetime in seconds. Outside of the plan's bounds the nearest is granted, and `details.adjusted` says so. " +
      "Absent, empty, null or 0: the plan's default.",
    examples: [3600],
  }),
  recipient: recipient({
    refusal: notRecipient,
    description: 'An e-mail address that is sent the link, never the value. Needs an account.',
    examples: ['alan@example.org'],
  }),
  share_domain: optionalText({
    description: "A share domain of the account's, or the one that the request arrives on, for the link.",
  }),
  locale,
  notify: notify({
    refusal: `Must name one or more of ${noticeNames}, or be none`,
    description:
      'What the account is mailed about this secret, as a list or joined by commas: `read`, `burned`, `expiring` ' +
      '(it is about to expire unread). `none` or an empty list: nothing. As the account has it when absent.',
    examples: [['read']],
  }),
  memo: sensitiveText(memoWords),
};

type CreationFields = z.output<z.ZodObject<typeof creationFields>>;

export const concealFields = z.object({ secret: value, ...creationFields }).meta({ id: 'V2ConcealFields' });

export const generateFields = z
  .object({
    ...creationFields,
    length: length({ refusal: `Must be ${notLength}`, ...lengthWords }),
    charset: charset({
      refusal: `Must name one or more of ${charsetNames}`,
      description:
        'Sets to draw from, as a list or joined by commas; all when absent. At least one character of each.',
      examples: [['lower', 'digits']],
    }),
  })
  .meta({ id: 'V2GenerateFields' });

/** Nested under `secret`, as existing clients send it, or flat. */
const concealBody = z.union([z.object({ secret: concealFields }).meta({ title: 'nested' }), concealFields]);

const generation = { ttl: 3600, recipient: 'alan@example.org', length: 20, charset: ['lower', 'digits'] };

const generateBody = z.union([
  z.object({ secret: generateFields.nullish().meta({ examples: [generation] }) }).meta({ title: 'nested' }),
  generateFields,
]);

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
  const nested = typeof body.secret !== 'string';
  const prefix = nested ? 'secret.' : '';
  const raw = nested ? nestedFields(body.secret) : body;
  const fields = parseFields(concealFields, inDialect(raw, dialect), prefix);
  return {
    input: { value: new Sensitive(fields.secret), ...creationOptions(fields, exchange) },
    prefix,
    asked: askedOf(raw, fields),
    ignored: boundIgnored(nested ? ignoredIn(body, besideForm) : [], ignoredIn(raw, concealFields, prefix)),
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
  document: {
    summary: 'Create a secret',
    description:
      'Stores a value and answers the two keys: the secret key to give away, and the metadata key to keep. ' +
      'The fields stand under `secret`, or flat in the body.',
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

function refuseField(field: string, message: string) {
  return refuseFields([{ field, message }]);
}

const creationTable: Table<CreationRefusal, 'outcome', [prefix: string]> = {
  nothing_to_share: (_, prefix) => refuseField(`${prefix}secret`, nothingToShare),
  ill_formed: ({ field }, prefix) => refuseField(prefix + field, illFormed),
  value_too_large: ({ maxBytes }) =>
    refuse('too_large', {
      message: `The secret is larger than the limit of ${maxBytes} bytes`,
      extra: { limit: maxBytes },
    }),
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
