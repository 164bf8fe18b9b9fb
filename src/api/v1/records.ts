/**
 * The schemas of v1: parameters as a form gives them, and every answer.
 *
 * Owns: what the OpenAPI document says of v1's bodies. Invariant: strict objects with every field described; tests hold
 * each answer of the running service against its schema. The documented dialect is the one described.
 */
import { z } from 'zod';

const unixSeconds = z.int().nonnegative();
const key = z.string().regex(/^[0-9a-z]{31}$/);
const secretKey = key.describe('Opens the secret once. May be shared. Absent once the secret is gone.');

/** A form has only texts; a JSON object may have the number. */
const wholeNumber = z.union([z.string().regex(/^\d*$/), z.int().nonnegative()]);

const creationParameters = {
  passphrase: z.string().optional().describe('The recipient must know it; 1 to 1,024 bytes. Empty: none.'),
  ttl: wholeNumber
    .optional()
    .describe("Lifetime in whole seconds, clamped to the plan's bounds. Absent, empty or zero: the default."),
  recipient: z.string().optional().describe('One e-mail address that is sent the link. Needs an account.'),
  share_domain: z
    .string()
    .optional()
    .describe(
      "A share domain of the caller's account, or the one that the request arrives on, for the link.",
    ),
  notify: z
    .string()
    .optional()
    .describe(
      'What the account is mailed about this secret: a comma list of read, burned, expiring, or none. ' +
        'As the account has it when absent.',
    ),
};

export const concealForm = z
  .object({ secret: z.string().min(1).describe('The value, kept byte for byte.'), ...creationParameters })
  .meta({ id: 'V1ConcealForm' });

export const generateForm = z
  .object({
    ...creationParameters,
    length: wholeNumber.optional().describe('4 to 128 characters; 12 when absent.'),
    charset: z
      .string()
      .optional()
      .describe(
        'A comma list of lower, upper, digits, symbols; all when absent. At least one character of each.',
      ),
  })
  .meta({ id: 'V1GenerateForm' });

export const passphraseForm = z
  .object({ passphrase: z.string().optional().describe('Where the secret was created with one.') })
  .meta({ id: 'V1PassphraseForm' });

const recordStart = {
  custid: z.string().describe('Username of the account that made the record, or anon.'),
  metadata_key: key.describe("Opens the creator's record. Must not be shared."),
  secret_key: secretKey.optional(),
  ttl: z.int().positive().describe('The lifetime granted, in seconds.'),
  metadata_ttl: z.int().nonnegative().describe('Seconds that remain of this record.'),
  secret_ttl: z
    .int()
    .nonnegative()
    .optional()
    .describe('Seconds that remain of the secret. Absent once it is gone.'),
};

const state = z
  .enum(['new', 'viewed', 'received', 'burned', 'expired'])
  .describe('viewed: the creator has looked at this record. received: the secret was read.');

const recordEnd = {
  recipient: z.string().optional().describe('The obfuscated address, when one was given.'),
  share_domain: z.string().describe('The domain of the link; empty when it is the default one.'),
  passphrase_required: z.boolean().describe('Whether a passphrase was given at creation.'),
  created: unixSeconds.describe('Unix time, seconds.'),
  updated: unixSeconds.describe('Unix time, seconds.'),
  received: unixSeconds.optional().describe('Unix time of the reading; only in state received.'),
};

export const metadataRecord = z
  .strictObject({ ...recordStart, state, ...recordEnd })
  .meta({ id: 'V1Metadata' });

export const generatedRecord = z
  .strictObject({
    ...recordStart,
    state,
    ...recordEnd,
    value: z.string().describe('The generated value, once.'),
  })
  .meta({ id: 'V1Generated' });

export const burnedRecord = z
  .strictObject({
    ...recordStart,
    ...recordEnd,
    status: z.literal('burned'),
    state: metadataRecord.describe('The same record, in the place where existing clients look for it.'),
    secret_shortkey: z.string().describe('The first six characters of the secret key.'),
  })
  .meta({ id: 'V1Burned' });

export const recentRecords = z
  .array(
    z.strictObject({
      ...recordStart,
      secret_key: z.null().describe('Always null here.'),
      state,
      ...recordEnd,
    }),
  )
  .max(1_000)
  .meta({ id: 'V1Recent' });

export const revealedSecret = z
  .strictObject({
    secret_key: key,
    value: z.string().describe('The value, this one time.'),
    share_domain: z.string().describe('The domain of the link; empty when it is the default one.'),
  })
  .meta({ id: 'V1Revealed' });

export const nominalStatus = z
  .strictObject({ status: z.literal('nominal'), locale: z.string() })
  .meta({ id: 'V1Status' });

export const refusalBody = z.strictObject({ message: z.string() }).meta({ id: 'V1Refusal' });

export const unknownSecretBody = z
  .strictObject({
    message: z.literal('Unknown secret'),
    secret_key: z.string().describe('The key of the path as given; for metadata, the metadata key.'),
  })
  .meta({ id: 'V1UnknownSecret' });

export const faultBody = z
  .strictObject({ message: z.string(), request_id: z.string().describe('Names this request in the log.') })
  .meta({ id: 'V1Fault' });
