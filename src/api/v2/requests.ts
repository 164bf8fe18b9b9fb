/**
 * What API v2 takes: one schema for each body, query and header set.
 *
 * Owns: the names, types and ranges on the wire; `decode.ts` validates with these and the OpenAPI document shows them.
 * Invariant: a schema only looks, it never changes a text: values and passphrases arrive byte for byte. Unknown fields
 * are ignored here, and named in the answer. What depends on the caller's plan (sizes, lifetimes) is the core's to judge.
 */

import { z } from 'zod';
import { noticeKinds } from '../../core/accounts/accounts.ts';

export const nothingToShare = 'You did not provide anything to share';
const notText = 'Must be a text';
const illFormed = 'Must be well-formed Unicode text';
const notTtl = 'Must be a whole number of seconds, or a string of its digits';
const notRecipient = 'Must be one e-mail address';
const notNotify = 'Must name one or more of read, burned, expiring, or be none';
const notLength = 'Must be a whole number from 4 to 128';
const notCharset = 'Must name one or more of lower, upper, digits, symbols';

/** Lone surrogates have no UTF-8 form, so they could not be given back as they came. */
const text = z.string(notText).refine((value) => value.isWellFormed(), illFormed);
const optionalText = text.nullish();

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

const passphrase = optionalText.meta({
  description:
    'Needed to read the secret; also part of its encryption key. 1 to 1,024 bytes; empty means none.',
});

/** Not `z.int()`, which stops at the safe integers: what is larger is clamped too. */
const wholeNumber = z
  .number(notTtl)
  .min(0, notTtl)
  .refine(Number.isInteger, notTtl)
  .meta({ type: 'integer' });

const ttl = z
  .union([wholeNumber, z.string().regex(/^[0-9]*$/, notTtl), z.null()], notTtl)
  .optional()
  .meta({
    description:
      "Lifetime in seconds. Outside of the plan's bounds the nearest is granted, and `details.adjusted` says so. " +
      "Absent, empty, null or 0: the plan's default.",
    examples: [3600],
  });

const recipient = z
  .union([text, z.array(text, notRecipient).max(1, notRecipient), z.null()], notRecipient)
  .optional()
  .meta({
    description: 'An e-mail address that is sent the link, never the value. Needs an account.',
    examples: ['alan@example.org'],
  });

const shareDomain = optionalText.meta({
  description: "A share domain of the account's, or the one that the request arrives on, for the link.",
});

const locale = optionalText.meta({
  description:
    "Language of the recipient's mail, a BCP 47 tag. Where it is not offered, the mail is in the nearest or in the " +
    'default language, and `details.adjusted` says so.',
});

const length = z
  .union(
    [
      z.int(notLength).min(4, notLength).max(128, notLength),
      z.string().regex(/^(?:0*(?:[4-9]|[1-9][0-9]|1[01][0-9]|12[0-8]))?$/, notLength),
      z.null(),
    ],
    notLength,
  )
  .optional()
  .meta({ description: 'Characters to generate, 4 to 128; 12 when absent.' });

const characterSet = z.enum(['lower', 'upper', 'digits', 'symbols'], notCharset);

const charset = z
  .union(
    [
      z.array(characterSet, notCharset).min(1, notCharset).max(16, notCharset),
      z
        .string()
        .regex(/^(?:(?:lower|upper|digits|symbols)(?:,(?:lower|upper|digits|symbols)){0,15})?$/, notCharset),
      z.null(),
    ],
    notCharset,
  )
  .optional()
  .meta({
    description:
      'Sets to draw from, as a list or joined by commas; all when absent. At least one character of each.',
    examples: [['lower', 'digits']],
  });

const notify = z
  .union(
    [
      z.array(z.enum(noticeKinds, notNotify), notNotify).max(16, notNotify),
      z.string().regex(/^(?:none|(?:read|burned|expiring)(?:,(?:read|burned|expiring)){0,15})?$/, notNotify),
      z.null(),
    ],
    notNotify,
  )
  .optional()
  .meta({
    description:
      'What the account is mailed about this secret, as a list or joined by commas: `read`, `burned`, `expiring` ' +
      '(it is about to expire unread). `none` or an empty list: nothing. As the account has it when absent.',
    examples: [['read']],
  });

const memo = optionalText.meta({
  description:
    'A label for the creator alone, up to 500 characters: in no mail, and nothing that a reader of the secret sees. ' +
    'It stays with the record after the secret is gone. Empty or null: none.',
  examples: ['VPN for Al'],
});

const creationFields = { passphrase, ttl, recipient, share_domain: shareDomain, locale, notify, memo };

export const concealFields = z.object({ secret: value, ...creationFields }).meta({ id: 'ConcealFields' });
export const generateFields = z.object({ ...creationFields, length, charset }).meta({ id: 'GenerateFields' });

/** Nested under `secret`, as existing clients send it, or flat. */
export const concealBody = z.union([
  z.object({ secret: concealFields }).meta({ title: 'nested' }),
  concealFields,
]);

const generation = { ttl: 3600, recipient: 'alan@example.org', length: 20, charset: ['lower', 'digits'] };

export const generateBody = z.union([
  z.object({ secret: generateFields.nullish().meta({ examples: [generation] }) }).meta({ title: 'nested' }),
  generateFields,
]);

const proceed = z
  .union([z.boolean(), z.enum(['true', 'false', '']), z.null()], 'Must be true or false')
  .optional();

export const revealBody = z
  .object({
    passphrase: optionalText.meta({ description: 'Needed when the secret was made with one.' }),
    continue: proceed.meta({
      description: 'false only checks: nothing is consumed and no value is returned.',
    }),
  })
  .meta({ id: 'RevealRequest' });

export const burnBody = z
  .object({ continue: proceed.meta({ description: 'false only checks: nothing is destroyed.' }) })
  .meta({ id: 'BurnRequest' });

export const changeBody = z.object({ memo }).meta({ id: 'ChangeRequest' });

const newRecipient = z
  .union([text, z.array(text, notRecipient).max(1, notRecipient), z.null()], notRecipient)
  .optional()
  .meta({
    description: 'Another address to send the link to; absent: the one that it was last sent to.',
    examples: ['alan@example.org'],
  });

export const deliverBody = z.object({ recipient: newRecipient, locale }).meta({ id: 'DeliverRequest' });

export const mostStatuses = 100;
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
  .meta({ id: 'SecretStatusesRequest' });

/** The passphrase for a look that does not consume; the header is preferred, since URLs end up in histories. */
export const inspectHeaders = z.object({
  'Secret-Passphrase': z.string().optional().meta({
    description: 'The passphrase, percent-encoded UTF-8. Needed when the secret was made with one.',
  }),
});

export const inspectQuery = z.object({
  passphrase: z
    .string()
    .optional()
    .meta({ description: 'The same, for clients that cannot set a header. The header wins.' }),
});

const largestPage = 200;
export const defaultPage = 50;

export const recentQuery = z.object({
  limit: z
    .string()
    .regex(/^(?:0*(?:[1-9]|[1-9][0-9]|1[0-9][0-9]|200))?$/, `Must be a whole number from 1 to ${largestPage}`)
    .optional()
    .meta({
      description: `Records a page, 1 to ${largestPage}; ${defaultPage} when absent.`,
      examples: ['20'],
    }),
  cursor: z.string().optional().meta({ description: "An earlier page's `details.next_cursor`." }),
});

export type ConcealFields = z.output<typeof concealFields>;
export type GenerateFields = z.output<typeof generateFields>;
