/** API v2: requests for secrets on the wire, and their answers. */
import { z } from 'zod';
import { freePlaces, mostPlaces, requestStateOf, termsBytes, wrappedBytes } from '../../core/request.ts';
import type { AnswerView, FoundRequest } from '../../core/requests/mailbox.ts';
import type { Look } from '../../core/requests/service.ts';
import { proofBytes } from '../../core/secrets/end-to-end.ts';
import { toBase64Url } from '../../protocol/base64url.ts';
import { keyForm } from '../../protocol/link.ts';
import { requestStates } from '../../protocol/vocabulary.ts';
import { key, numberWithin, optionalText, seconds, time, ttl } from '../fields.ts';
import { createdStates, custid, shareDomain, success } from './records.ts';
import { base64url, notHash, proofExample, sealedFields } from './sealed.ts';
import { adjustedLifetime, ignored, proceed } from './wire.ts';

const notTerms = 'Must be base64url of 272, 528, 784 or 1040 bytes, without padding';
const notWrapped = `Must be base64url of ${wrappedBytes} bytes, without padding`;
const notKey = 'Must be a secret key';

/** For the examples: each proof with its hash, and 272 bytes. */
const [ownerExample, ownerHashExample] = [proofExample, 'rbVWOjui0qRN3Pv0ZrdQNpBOFQjqlliaXl_ObV9uss0'];
const askExample = 'qTYvLkZ8m1cRz3Xw5pQ0aUe7sJhB4nGdV9tFo2yKxWM';
const askHashExample = 'rEZNtRZGUMkODHAQPgW07DlOpo4nJ8rGgbFfk_d9qfY';
const bytesExample = 'A'.repeat(363);

const hash = (description: string, example: string) =>
  base64url(notHash, proofBytes).meta({ description, examples: [example] });
const ask = hash('Q: proves the whole ask link. 32 bytes in base64url.', askExample);
const owner = hash('O: proves the answers link. 32 bytes in base64url.', ownerExample);
const lifetime = (description: string) =>
  ttl({ refusal: 'Must be a whole number of seconds, or a string of its digits', description });
const places = (description: string) =>
  numberWithin({ min: 1, max: mostPlaces }, { refusal: 'Must be a whole number from 1 to 20', description });

export const askBody = z
  .object({
    terms: base64url(notTerms)
      .refine((bytes) => termsBytes.has(bytes.length), notTerms)
      .meta({ description: 'T: the prompt, sealed by the client.', examples: [bytesExample] }),
    owner_hash: hash('SHA-256 of O, which proves the answers link.', ownerHashExample),
    ask_hash: hash('SHA-256 of Q, which proves the ask link.', askHashExample),
    answers: places('How many answers are wanted, 1 to 20. Absent: 1. Without an account: 1.'),
    ttl: lifetime("Seconds until it ends, as a secret's lifetime. Absent: the plan's default."),
    answer_ttl: lifetime("The lifetime of each answer. Absent: the plan's default."),
    notify: proceed('Whether to email the account when answers come, at most once an hour.'),
    share_domain: optionalText({
      description: "A share domain of the account's, or the one that the request arrives on, for the links.",
    }),
  })
  .meta({ id: 'V2AskRequest' });

export const lookBody = z.object({ ask }).meta({ id: 'V2LookRequest' });
export const ownerBody = z.object({ owner }).meta({ id: 'V2OwnerRequest' });

const sealedExample = {
  ...{ v: 1, ciphertext: bytesExample, passphrase: false },
  ...{ link_hash: askHashExample, proof_hash: ownerHashExample },
};

export const answerBody = z
  .object({
    ask,
    sealed: sealedFields.extend({ passphrase: z.literal(false, 'Must be false') }).meta({
      id: 'V2SealedAnswer',
      description: 'As `sealed` of a creation, without a passphrase.',
      examples: [sealedExample],
    }),
    wrapped: base64url(notWrapped, wrappedBytes).meta({
      description: "W: the end of the answer's link, sealed for the asker.",
      examples: ['A'.repeat(86)],
    }),
  })
  .meta({ id: 'V2AnswerRequest' });

export const changeRequestBody = z
  .object({
    owner: owner.nullish().meta({ ...owner.meta() }),
    close: z
      .union([z.literal(true), z.literal('true'), z.null()], 'Must be true')
      .optional()
      .meta({ description: 'Ends it for ever. The account that asked needs no `owner`.', examples: [true] }),
    ttl: lifetime(
      "Seconds until it ends, from now, at most the plan's longest since its creation. The nearest possible is granted.",
    ),
    answers: places('How many answers are wanted in all, 1 to 20.'),
  })
  .meta({ id: 'V2ChangeRequestRequest', description: '`owner`, and one of the others.' });

export const discardBody = z
  .object({
    owner,
    secret_key: z
      .string(notKey)
      .regex(keyForm, notKey)
      .meta({ ...key.meta(), description: "The answer's." }),
  })
  .meta({ id: 'V2DiscardRequest' });

const facts = {
  identifier: key,
  key: key.meta({ description: 'The request key.' }),
  state: z.enum(requestStates).meta({ description: '`full`: no more answers are wanted now.' }),
  terms: z.string().meta({ description: 'T, in base64url.' }),
  until: time.meta({ description: 'When it ends, or would have ended if it was closed.' }),
  share_domain: shareDomain,
};

const requestRecord = z
  .object({
    ...facts,
    answers: z.int().meta({ description: 'How many answers are wanted in all.' }),
    left: z.int().meta({ description: 'How many more are wanted now.' }),
    created: time,
    updated: time,
    lifespan: seconds.meta({ description: 'Seconds from its creation to `until`.' }),
    answer_ttl: seconds.meta({ description: 'The lifetime of each answer.' }),
    notify: z.boolean(),
  })
  .meta({ id: 'V2RequestRecord' });

const lookRecord = z
  .object({
    ...facts,
    asked_by: z.object({ username: z.string(), since: time }).nullable().meta({
      description: 'The account that asks, and since when it exists; null: without an account.',
    }),
    max_sealed_bytes: z.int().meta({ description: "As in the plan: the largest answer's size in bytes." }),
  })
  .meta({ id: 'V2LookRecord' });

const answerRecord = z
  .object({
    secret_key: key,
    wrapped: z.string().meta({ description: 'W, in base64url.' }),
    link_hash: z.string(),
    created: time,
    size: z.int().meta({ description: 'Bytes of ciphertext.' }),
    state: z.enum([...createdStates, 'unknown']).meta({
      description: '`unknown`: it is gone, and so is its record.',
    }),
    discarded: z.boolean(),
  })
  .meta({ id: 'V2AnswerRecord' });

const details = {
  adjusted: z.object({ ttl: adjustedLifetime, answer_ttl: adjustedLifetime }).optional(),
  ignored,
};

function answered<Parts extends z.ZodRawShape>(id: string, parts: Parts, more: z.ZodRawShape = {}) {
  return z.object({ success, custid, ...parts, details: z.object({ ...more, ignored }) }).meta({ id });
}

export const askAnswer = answered('V2AskAnswer', { record: requestRecord }, details);
export const lookAnswer = answered('V2LookAnswer', { record: lookRecord });
export const reportAnswer = z.object({ success }).meta({ id: 'V2ReportAnswer' });
export const answerAnswer = answered(
  'V2AnswerAnswer',
  { record: z.object({ secret_key: key }) },
  { repeated: z.literal(true).optional() },
);
const list = { records: z.array(answerRecord).meta({ description: 'Oldest first.' }), count: z.int() };
export const answersAnswer = answered('V2AnswersAnswer', { record: requestRecord, ...list }, details);
export const closedAnswer = answered('V2ClosedAnswer', { record: requestRecord });

export function encodeRequest({ requestKey, request }: FoundRequest): z.output<typeof requestRecord> {
  return {
    ...factsOf({ requestKey, request }),
    answers: request.places,
    left: freePlaces(request),
    created: request.createdAt,
    updated: request.updatedAt,
    lifespan: request.until - request.createdAt,
    answer_ttl: request.answerTtlSeconds,
    notify: request.notify,
  };
}

function factsOf({ requestKey, request }: Pick<FoundRequest, 'requestKey' | 'request'>) {
  return {
    identifier: requestKey,
    key: requestKey,
    state: requestStateOf(request),
    terms: toBase64Url(request.terms),
    until: request.until,
    share_domain: request.shareDomain,
  };
}

export function encodeLook(look: Look): z.output<typeof lookRecord> {
  const { askedBy, maxSealedBytes: max_sealed_bytes } = look;
  const asked_by = askedBy && { username: askedBy.username, since: askedBy.createdAt };
  return { ...factsOf(look), asked_by, max_sealed_bytes };
}

export function encodeAnswer(answer: AnswerView): z.output<typeof answerRecord> {
  return {
    secret_key: answer.secretKey,
    wrapped: toBase64Url(answer.wrapped),
    link_hash: toBase64Url(answer.linkHash),
    created: answer.createdAt,
    size: answer.sizeBytes,
    state: answer.state,
    discarded: answer.isDiscarded,
  };
}
