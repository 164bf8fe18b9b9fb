/** API v2: inspecting a secret by its key, which changes nothing (P4); `reveal.ts` consumes it. */
import { z } from 'zod';
import type { Caller } from '../../core/account.ts';
import { nonceIn } from '../../core/secrets/look.ts';
import type { Abandoned, InspectInput, InspectOutcome, SecretRefusal } from '../../core/secrets/outcomes.ts';
import { Sensitive } from '../../core/sensitive.ts';
import type { Exchange, Reply } from '../../http/operation.ts';
import { clientLeft } from '../../http/problem.ts';
import { sixteenBytesForm } from '../../protocol/base64url.ts';
import { hint } from '../elsewhere.ts';
import { illFormed, key, locale, time } from '../fields.ts';
import { answerFrom, type Table } from '../version.ts';
import type { Dialect } from './dialect.ts';
import { define, jsonBody, ok, onSecret, withGuests } from './operation.ts';
import { custid, custidOf, encodeSecret, remaining, secretRecord, success } from './records.ts';
import { encodeProblem, refuse, refuseAttempts, refuseMails } from './refusals.ts';
import { proofFields } from './sealed.ts';
import {
  adjustedLocaleOf,
  encodeIgnored,
  encodeRemarks,
  ignored,
  invalidFields,
  keyOf,
  localeAdjusted,
  parseFields,
  percentDecoded,
  queryText,
  readFields,
  readGivenObject,
} from './wire.ts';

export const flag = z.boolean();
export const params = { key: 'The secret key.' };

const secretTable: Table<SecretRefusal | Abandoned, 'outcome', [secretKey: string]> = {
  abandoned: () => encodeProblem(clientLeft),
  unknown: (_, secretKey) => refuse('unknown_secret', { extra: { secret_key: secretKey } }),
  passphrase_missing: () => refuse('incorrect_passphrase'),
  passphrase_wrong: () => refuse('incorrect_passphrase'),
  attempts_exhausted: refuseAttempts,
  code_required: () => refuse('code_required'),
  code_wrong: ({ attemptsLeft }) => refuse('incorrect_code', { extra: { attempts_left: attemptsLeft } }),
  codes_exhausted: refuseAttempts,
  incomplete_link: () => refuse('incomplete_link'),
  not_sealed: () => refuse('not_sealed'),
};

export function refuseSecret(refusal: SecretRefusal | Abandoned, secretKey: string): Reply {
  return answerFrom(secretTable, 'outcome', refusal, secretKey);
}

const notLook = 'Must be 16 random bytes as base64url: 22 characters';

export const look = (description: string) =>
  z
    .string(notLook)
    .regex(sixteenBytesForm, notLook)
    .meta({ description, examples: ['rZ5vTqk0o1l8VYdJ3mXc2A'] })
    .transform(nonceIn);

export const lookDetails = { continue: flag, is_owner: flag, show_secret: flag, correct_passphrase: flag };

export const inspectAnswer = z
  .object({ success, custid, record: secretRecord, details: z.object({ ...lookDetails, ignored }) })
  .meta({ id: 'V2InspectAnswer' });

export function answerInspected(
  outcome: InspectOutcome,
  secretKey: string,
  caller: Caller,
  ignoredPaths: readonly string[] = [],
): Reply {
  if (outcome.outcome !== 'waiting') return refuseSecret(outcome, secretKey);
  const { secret, isProven } = outcome;
  return ok({
    success: true,
    custid: custidOf(caller),
    record: encodeSecret(secret),
    details: {
      continue: false,
      is_owner: secret.isOwner,
      show_secret: false,
      correct_passphrase: isProven || !secret.hasPassphrase,
      ...encodeIgnored(ignoredPaths),
    },
  } satisfies z.output<typeof inspectAnswer>);
}

/** A header is preferable to the query, since URLs end up in histories. */
const inspectHeaders = z.object({
  'Secret-Passphrase': z.string().optional().meta({
    description: 'The passphrase, percent-encoded UTF-8. Needed when the secret was made with one.',
  }),
});

const inspectQuery = z.object({
  passphrase: z
    .string()
    .optional()
    .meta({ description: 'The same, for clients that cannot set a header. The header wins.' }),
});

function decodeInspect(exchange: Exchange): InspectInput {
  const fromHeader = exchange.request.headers.get('secret-passphrase');
  const passphrase =
    fromHeader === null
      ? queryText(exchange.rawQuery, 'passphrase')
      : percentDecoded(fromHeader, 'Secret-Passphrase');
  return {
    secretKey: keyOf(exchange),
    clientPrefix: exchange.clientPrefix,
    passphrase: passphrase === undefined || passphrase === '' ? null : new Sensitive(passphrase),
    proofs: null,
  };
}

const inspect = withGuests({
  ...onSecret,
  name: 'v2.inspect',
  method: 'GET',
  path: '/secret/:key',
  document: {
    summary: 'Look at a secret without reading it',
    description:
      'Needs the passphrase if the secret has one, and never consumes. Wrong passphrases are counted. An end-to-end secret ' +
      'needs none: `record.sealed` says that it is one. (An installation in the dialect `upstream` refuses only a wrong passphrase.)',
    tag: 'Secrets',
    params,
    query: inspectQuery,
    headers: inspectHeaders,
  },
  answers: {
    description: 'The secret waits and the passphrase, if it has one, was right.',
    schema: inspectAnswer,
    refuses: ['unknown_secret', 'incorrect_passphrase', 'too_many_attempts'],
  },
  decode: decodeInspect,
  async handle(input, caller, { service, dialect }) {
    const outcome = await service.inspect(input, caller);
    const isShown = outcome.outcome === 'passphrase_missing' && dialect.looksWithoutPassphrase;
    const found = isShown ? await service.secretStatus(input, caller) : outcome;
    const looked = found.outcome === 'waiting' ? { isProven: false, ...found } : found;
    return answerInspected(looked, input.secretKey, caller);
  },
});

/** The same record for unknown, read, burned and expired secrets (P17). */
const unknownSecretRecord = z
  .object({
    identifier: z.string().meta({ description: 'As given.' }),
    key: z.string().meta({ description: 'As given.' }),
    state: z.literal('unknown'),
    hint,
  })
  .meta({ id: 'V2UnknownSecretRecord' });

const unknownRecord = (key: string) => ({ identifier: key, key, state: 'unknown' as const });

export const statusAnswer = z
  .object({
    success,
    custid,
    record: secretRecord,
    details: z.object({ realttl: remaining('secret') }),
  })
  .meta({ id: 'V2SecretStatusAnswer' });

/** Returned instead of 404 in the `upstream` dialect. */
export const unknownStatusAnswer = z
  .object({ success, custid, record: unknownSecretRecord })
  .meta({ id: 'V2UnknownSecretStatusAnswer' });

const secretStatus = define({
  ...onSecret,
  name: 'v2.secretStatus',
  method: 'GET',
  path: '/secret/:key/status',
  document: {
    summary: 'Ask whether a secret still waits',
    description: 'Needs no passphrase and changes nothing.',
    tag: 'Secrets',
    params,
  },
  answers: {
    description:
      'The secret waits. (An installation in the dialect `upstream` answers `unknown` too, in place of 404.)',
    schema: statusAnswer.or(unknownStatusAnswer),
    refuses: ['unknown_secret'],
  },
  decode: keyOf,
  async handle(secretKey: string, caller, { service, dialect }) {
    const outcome = await service.secretStatus({ secretKey }, caller);
    const start = { success: true, custid: custidOf(caller) } as const;
    if (outcome.outcome === 'waiting') {
      const { secret } = outcome;
      const details = { realttl: secret.secretTtlSeconds };
      return ok({ ...start, record: encodeSecret(secret), details } satisfies z.output<typeof statusAnswer>);
    }
    if (!dialect.unknownStatusIsAnswered) return refuseSecret(outcome, secretKey);
    const record = unknownRecord(secretKey);
    return ok({ ...start, record } satisfies z.output<typeof unknownStatusAnswer>);
  },
});

const mostStatuses = 100;
const notIdentifiers = `Must be secret keys, joined by commas; at most ${mostStatuses}`;

export const statusesBody = z
  .object({
    identifiers: z
      .string(notIdentifiers)
      .min(1, notIdentifiers)
      .refine((given) => given.isWellFormed(), illFormed)
      .meta({
        description: `Secret keys, joined by commas; at most ${mostStatuses}.`,
        examples: ['4k1zq0v9x7c2m8t5w3h6j0n4b1d7f2g'],
      }),
  })
  .meta({ id: 'V2SecretStatusesRequest' });

export const statusesAnswer = z
  .object({
    success,
    records: z
      .array(secretRecord.or(unknownSecretRecord))
      .meta({ description: 'One for each key asked about, in that order.' }),
  })
  .meta({ id: 'V2SecretStatusesAnswer' });

const secretStatuses = define({
  ...onSecret,
  name: 'v2.secretStatuses',
  method: 'POST',
  path: '/secret/status',
  document: {
    summary: 'Ask which of several secrets still wait',
    description:
      'Needs no passphrase and changes nothing. Where there are regions, each answers for its own secrets: one of ' +
      'another region is `unknown` here.',
    tag: 'Secrets',
    body: jsonBody(statusesBody, true),
  },
  answers: { description: 'One record for each.', schema: statusesAnswer, refuses: [] },
  async decode(exchange: Exchange, dialect: Dialect) {
    const body = await readGivenObject(exchange, dialect);
    const keys = parseFields(statusesBody, body, '').identifiers.split(',');
    if (keys.length <= mostStatuses) return keys;
    throw invalidFields({ field: 'identifiers', message: `Must be at most ${mostStatuses} keys` });
  },
  async handle(secretKeys: readonly string[], caller, { service }) {
    const recordOf = async (secretKey: string) => {
      const outcome = await service.secretStatus({ secretKey }, caller);
      return outcome.outcome === 'waiting' ? encodeSecret(outcome.secret) : unknownRecord(secretKey);
    };
    const found = new Map(Array.from(new Set(secretKeys), (key) => [key, recordOf(key)]));
    const records = await Promise.all(secretKeys.map((key) => found.get(key) ?? unknownRecord(key)));
    return ok({ success: true, records } satisfies z.output<typeof statusesAnswer>);
  },
});

export const noteBody = z.object({ link_proof: proofFields.link_proof }).meta({ id: 'V2NoteRequest' });

export const noteAnswer = z
  .object({
    success,
    record: z
      .object({
        key,
        sealed: flag,
        note: z
          .string()
          .nullable()
          .meta({
            description:
              "The sender's words, not to be trusted; of an end-to-end secret sealed, in base64url.",
            examples: ['For Ana: the Wi-Fi of ward 4'],
          }),
      })
      .meta({ id: 'V2NoteRecord' }),
    details: z.object({ ignored }),
  })
  .meta({ id: 'V2NoteAnswer' });

export const note = define({
  ...onSecret,
  name: 'v2.note',
  method: 'POST',
  path: '/secret/:key/note',
  document: {
    summary: "Read the sender's note",
    description:
      'Changes and counts nothing, and needs no passphrase. An end-to-end secret takes `link_proof`, which is refused for any other.',
    tag: 'Secrets',
    params,
    body: jsonBody(noteBody, false),
  },
  answers: {
    description: 'The secret waits, with or without a note.',
    schema: noteAnswer,
    refuses: ['unknown_secret', 'incomplete_link', 'not_sealed'],
  },
  async decode(exchange: Exchange, dialect: Dialect) {
    const { fields, ignored: paths } = await readFields(exchange, noteBody, dialect);
    return { secretKey: keyOf(exchange), linkProof: fields.link_proof ?? null, paths };
  },
  async handle({ paths, ...input }, _caller, { service }) {
    const found = await service.readNote(input);
    if (found.outcome !== 'found') return refuseSecret(found, input.secretKey);
    const record = { key: input.secretKey, sealed: found.sealed, note: found.note?.expose() ?? null };
    return ok({ success: true, record, details: encodeIgnored(paths) } satisfies z.output<typeof noteAnswer>);
  },
});

export const codeBody = z
  .object({
    look: look('A nonce that the caller draws for this secret, and opens it with.'),
    link_proof: proofFields.link_proof,
    locale,
  })
  .meta({ id: 'V2CodeRequest' });

export const codeAnswer = z
  .object({
    success,
    record: z.object({ sent_to: z.string().meta({ description: 'Obfuscated.' }), until: time }),
    details: z.object({ adjusted: localeAdjusted, ignored }),
  })
  .meta({ id: 'V2CodeAnswer' });

const mailCode = define({
  ...onSecret,
  name: 'v2.mailCode',
  method: 'POST',
  path: '/secret/:key/code',
  document: {
    summary: 'Have a code mailed',
    description:
      'Where `verify` is true: mails six digits, good for ten minutes and for a reveal or burn with the same `look`, in place of ' +
      'earlier ones for it. An end-to-end secret takes `link_proof`. Without `locale`, `Accept-Language` counts.',
    tag: 'Secrets',
    params,
    body: jsonBody(codeBody, true),
  },
  answers: {
    description: 'The mail is being sent. The answer does not wait for the mail server.',
    schema: codeAnswer,
    refuses: ['unknown_secret', 'incomplete_link', 'not_sealed', 'needs_no_code'],
  },
  async decode(exchange: Exchange, dialect: Dialect) {
    const { fields, ignored: paths } = await readFields(exchange, codeBody, dialect);
    const { look: nonce, link_proof: linkProof = null, locale: asked } = fields;
    const input = { secretKey: keyOf(exchange), look: nonce, linkProof, clientPrefix: exchange.clientPrefix };
    return { input, asked, accepted: exchange.request.headers.get('accept-language'), paths };
  },
  async handle({ input, asked, accepted, paths }, _caller, { service, mailLocaleOf }) {
    const granted = mailLocaleOf(asked, accepted);
    const outcome = await service.mailCode({ ...input, locale: granted });
    if (outcome.outcome === 'too_many_mails') return refuseMails(outcome);
    if (outcome.outcome === 'needs_no_code') return refuse('needs_no_code');
    if (outcome.outcome !== 'queued') return refuseSecret(outcome, input.secretKey);
    const record = { sent_to: outcome.sentTo, until: outcome.until };
    const details = encodeRemarks({ adjusted: adjustedLocaleOf(asked, granted), ignored: paths });
    return ok({ success: true, record, details } satisfies z.output<typeof codeAnswer>);
  },
});

export const secretOperations = [...inspect, secretStatus, secretStatuses, mailCode];
