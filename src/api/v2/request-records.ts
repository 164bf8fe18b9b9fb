/** API v2: requests for secrets on the wire, and their answers. */
import { z } from 'zod';
import type { AnswerView, LookView, RequestView } from '../../core/requests/outcomes.ts';
import { toBase64Url } from '../../protocol/base64url.ts';
import { keyForm } from '../../protocol/link.ts';
import { requestStates } from '../../protocol/vocabulary.ts';
import { key, numberWithin, optionalText, seconds, time, ttl } from '../fields.ts';
import { custid, shareDomain, success } from './records.ts';
import { base64url, notHash, proofExample, sealedFields } from './sealed.ts';
import { adjustedLifetime, ignored, proceed } from './wire.ts';

const flag = z.boolean();

const termsBytes: ReadonlySet<number> = new Set([272, 528, 784, 1_040]);
const wrappedBytes = 64;
const placesRange = { min: 1, max: 20 };
const notTerms = 'Must be base64url of 272, 528, 784 or 1040 bytes, without padding';
const notKey = 'Must be a secret key';
const notWrapped = `Must be base64url of ${wrappedBytes} bytes, without padding`;

/** For the examples: each proof, and its hash. */
const [ownerExample, ownerHashExample] = [proofExample, 'rbVWOjui0qRN3Pv0ZrdQNpBOFQjqlliaXl_ObV9uss0'];
const askExample = 'qTYvLkZ8m1cRz3Xw5pQ0aUe7sJhB4nGdV9tFo2yKxWM';
const askHashExample = 'rEZNtRZGUMkODHAQPgW07DlOpo4nJ8rGgbFfk_d9qfY';
/** Of the shortest terms, and of the shortest ciphertext. */
const sample272 = toBase64Url(new Uint8Array(272));

const hash = (description: string, example: string) =>
  base64url(notHash, 32).meta({ description, examples: [example] });
const ask = base64url(notHash, 32).meta({
  description: 'Q: proves the whole ask link. 32 bytes in base64url.',
  examples: [askExample],
});
const owner = base64url(notHash, 32).meta({
  description: 'O: proves the answers link. 32 bytes in base64url.',
  examples: [ownerExample],
});
const lifetime = (description: string, examples?: number[]) =>
  ttl({
    refusal: 'Must be a whole number of seconds, or a string of its digits',
    description,
    ...(examples && { examples }),
  });
const places = (description: string) =>
  numberWithin(placesRange, {
    refusal: `Must be a whole number from ${placesRange.min} to ${placesRange.max}`,
    description,
  });

export const askBody = z
  .object({
    terms: base64url(notTerms)
      .refine((bytes) => termsBytes.has(bytes.length), notTerms)
      .meta({ description: 'T: the prompt, sealed by the client.', examples: [sample272] }),
    owner_hash: hash('SHA-256 of O, which proves the answers link.', ownerHashExample),
    ask_hash: hash('SHA-256 of Q, which proves the ask link.', askHashExample),
    answers: places('How many answers are wanted, 1 to 20. Absent: 1. Without an account: 1.'),
    ttl: lifetime("Seconds until it ends, as a secret's lifetime. Absent: the plan's default.", [86_400]),
    answer_ttl: lifetime("The lifetime of each answer. Absent: the plan's default."),
    notify: proceed('Whether to email the account when answers come, at most once an hour.'),
    share_domain: optionalText({
      description: "A share domain of the account's, or the one that the request arrives on, for the links.",
    }),
  })
  .meta({ id: 'V2AskRequest' });

export const lookBody = z.object({ ask }).meta({ id: 'V2LookRequest' });
export const ownerBody = z.object({ owner }).meta({ id: 'V2OwnerRequest' });

export const answerBody = z
  .object({
    ask,
    sealed: sealedFields.extend({ passphrase: z.literal(false, 'Must be false') }).meta({
      id: 'V2SealedAnswer',
      description: 'As `sealed` of a creation, without a passphrase.',
      examples: [
        {
          v: 1,
          ciphertext: sample272,
          link_hash: askHashExample,
          proof_hash: ownerHashExample,
          passphrase: false,
        },
      ],
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
      .meta({
        description: 'Ends it for ever. The account that asked may close it without `owner`.',
        examples: [true],
      }),
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
      .meta({
        description: "The answer's.",
        examples: ['4k1zq0v9x7c2m8t5w3h6j0n4b1d7f2g'],
      }),
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

export const requestRecord = z
  .object({
    ...facts,
    answers: z.int().meta({ description: 'How many answers are wanted in all.' }),
    left: z.int().meta({ description: 'How many more are wanted now.' }),
    created: time,
    updated: time,
    lifespan: seconds.meta({ description: 'Seconds from its creation to `until`.' }),
    answer_ttl: seconds.meta({ description: 'The lifetime of each answer.' }),
    notify: flag,
  })
  .meta({ id: 'V2RequestRecord' });

const lookRecord = z
  .object({
    ...facts,
    asked_by: z
      .object({ username: z.string(), since: time })
      .nullable()
      .meta({ description: 'The account that asks, and since when it exists; null: without an account.' }),
    max_sealed_bytes: z.int().meta({
      description: 'The largest answer: bytes of a text, or of a file with its name and media type.',
    }),
  })
  .meta({ id: 'V2LookRecord' });

const answerRecord = z
  .object({
    secret_key: key,
    wrapped: z.string().meta({ description: 'W, in base64url.' }),
    link_hash: z.string(),
    created: time,
    size: z.int().meta({ description: 'Bytes of ciphertext.' }),
    state: z
      .enum(['new', 'received', 'burned', 'expired', 'unknown'])
      .meta({ description: '`unknown`: it is gone, and so is its record.' }),
    discarded: flag,
  })
  .meta({ id: 'V2AnswerRecord' });

const answerList = {
  records: z.array(answerRecord).meta({ description: 'Oldest first.' }),
  count: z.int(),
};
const remarks = z.object({
  adjusted: z.object({ ttl: adjustedLifetime, answer_ttl: adjustedLifetime }).optional(),
  ignored,
});
const details = z.object({ ignored });

export const askAnswer = z
  .object({ success, custid, record: requestRecord, details: remarks })
  .meta({ id: 'V2AskAnswer' });
export const lookAnswer = z
  .object({ success, custid, record: lookRecord, details })
  .meta({ id: 'V2LookAnswer' });
export const reportAnswer = z.object({ success }).meta({ id: 'V2ReportAnswer' });
export const answeredAnswer = z
  .object({
    success,
    custid,
    record: z.object({ secret_key: key }),
    details: z.object({ repeated: z.literal(true).optional(), ignored }),
  })
  .meta({ id: 'V2AnsweredAnswer' });
export const answersAnswer = z
  .object({ success, custid, record: requestRecord, ...answerList, details: remarks })
  .meta({ id: 'V2AnswersAnswer' });
export const closedAnswer = z
  .object({ success, custid, record: requestRecord, details })
  .meta({ id: 'V2ClosedAnswer' });

export function encodeRequest(request: RequestView): z.output<typeof requestRecord> {
  return {
    ...encodeFacts(request),
    answers: request.places,
    left: request.left,
    created: request.createdAt,
    updated: request.updatedAt,
    lifespan: request.until - request.createdAt,
    answer_ttl: request.answerTtlSeconds,
    notify: request.notify,
  };
}

function encodeFacts({ requestKey, terms, state, until, shareDomain: domain }: RequestView | LookView) {
  const texts = { terms: toBase64Url(terms), share_domain: domain };
  return { identifier: requestKey, key: requestKey, state, until, ...texts };
}

export function encodeLook(request: LookView): z.output<typeof lookRecord> {
  const { askedBy, maxSealedBytes: max_sealed_bytes } = request;
  const asked_by = askedBy && { username: askedBy.username, since: askedBy.createdAt };
  return { ...encodeFacts(request), asked_by, max_sealed_bytes };
}

function encodeAnswer(answer: AnswerView): z.output<typeof answerRecord> {
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

export const encodeAnswers = (answers: readonly AnswerView[]) => ({
  records: answers.map(encodeAnswer),
  count: answers.length,
});
