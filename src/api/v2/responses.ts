/**
 * What API v2 answers: one schema for each record and each envelope.
 *
 * Owns: the field names of the existing service's second version, with native types throughout, and beside them the
 * names that newer clients of it read (`identifier` for `key`, `receipt` for `metadata`, `revealed` for `received`,
 * `shortid` for `shortkey`). Invariant: no schema here has a place for a plain recipient address, a passphrase or a
 * value, but `secret_value` of reveal and generate.
 */

import { z } from 'zod';
import { noticeKinds } from '../../core/accounts/accounts.ts';
import { adjusted, ignored, localeAdjusted } from './remarks.ts';

const time = z
  .int()
  .min(0)
  .meta({ description: 'Unix time in seconds, UTC.', examples: [1_746_700_000] });
const timeOrNull = z.union([time, z.null()]);
const seconds = z
  .int()
  .min(0)
  .meta({ examples: [604_800] });
const key = z
  .string()
  .regex(/^[0-9a-z]{31}$/)
  .meta({ examples: ['4k1zq0v9x7c2m8t5w3h6j0n4b1d7f2g'] });
const text = z.string();
const flag = z.boolean();

const shareDomain = text.meta({ description: 'The custom domain of the link; empty when there is none.' });
const lifespan = seconds.meta({ description: 'Seconds that were granted.' });
const remaining = (what: string) => seconds.meta({ description: `Seconds that remain of the ${what}.` });

const delivery = z
  .object({
    state: z.enum(['queued', 'accepted', 'refused', 'given_up', 'not_sent']).meta({
      description:
        '`queued`: being handed over, or waiting for another try. `accepted`: the mail server took it; whether it was ' +
        'read nobody knows. `refused`: the mail server said no for good. `given_up`: it said "later" until the last ' +
        'try, or could not be reached. `not_sent`: it never came to an answer, or the service ended before it did.',
    }),
    at: time,
    reply: text.nullable().meta({
      description:
        'What the mail server said last, in one line; or that it cannot be reached or did not answer. Null when there is nothing to tell.',
      examples: ['550 5.1.1 No such user'],
    }),
  })
  .meta({ id: 'Delivery', description: 'What became of the mail to the recipient.' });

/** The creator's record, called metadata and, by newer clients, receipt. */
export const metadataRecord = z
  .object({
    identifier: key,
    key: key.meta({ description: 'The metadata key. To be kept private by the creator.' }),
    custid: text.meta({ description: "The owner's username, or anon." }),
    state: z.enum(['new', 'viewed', 'received', 'burned', 'expired']),
    secret_key: key.nullable().meta({ description: 'Null once the secret is gone, and always in a list.' }),
    secret_identifier: key.nullable(),
    secret_shortkey: text.meta({
      description: 'The first six characters of the secret key; empty where it is no longer known.',
    }),
    secret_shortid: text,
    secret_state: z.enum(['new']).nullable().meta({ description: 'Null once the secret is gone.' }),
    secret_ttl: seconds.meta({ description: 'Seconds that remain of the secret; 0 once it is gone.' }),
    metadata_ttl: remaining('record'),
    receipt_ttl: remaining('record'),
    lifespan,
    share_domain: shareDomain,
    created: time,
    updated: time,
    shared: z.null(),
    viewed: timeOrNull,
    previewed: timeOrNull,
    received: timeOrNull,
    revealed: timeOrNull,
    burned: timeOrNull,
    recipients: text.meta({ description: 'The obfuscated address; empty when there is none.' }),
    shortkey: text,
    shortid: text,
    show_recipients: flag,
    is_viewed: flag,
    is_previewed: flag,
    is_received: flag,
    is_revealed: flag,
    is_burned: flag,
    is_expired: flag,
    is_orphaned: flag,
    is_destroyed: flag,
    is_truncated: flag,
    has_passphrase: flag,
    delivery: z.union([delivery, z.null()]),
    notify: z
      .array(z.enum(noticeKinds))
      .meta({ description: 'What the account is mailed about this secret.' }),
    memo: text.meta({ description: "The creator's own label; empty when there is none." }),
    natural_expiration: text.meta({ description: 'The lifetime in words.', examples: ['7 days'] }),
    expiration: time,
    expiration_in_seconds: seconds,
    share_path: text.meta({ description: 'Empty where `share_url` is.' }),
    share_url: text.meta({
      description:
        'The link to give away, while the secret waits; empty once it is gone, and always in a list.',
    }),
    burn_path: text,
    burn_url: text,
    metadata_path: text,
    metadata_url: text,
    receipt_path: text,
    receipt_url: text,
  })
  .meta({ id: 'MetadataRecord' });

const secretShape = {
  identifier: key,
  key: key.meta({ description: 'The secret key: whoever holds it can read the secret, once.' }),
  state: z.enum(['new', 'received']),
  secret_ttl: remaining('secret'),
  lifespan,
  share_domain: shareDomain,
  shortkey: text,
  shortid: text,
  has_passphrase: flag,
  verification: flag,
  is_truncated: flag,
  is_viewed: flag,
  is_previewed: flag,
  is_received: flag,
  is_revealed: flag,
  created: time,
  updated: time,
};

const secretValue = text.meta({
  description: 'The value, byte for byte. This is the only answer that has it.',
});

export const secretRecord = z.object(secretShape).meta({ id: 'SecretRecord' });
const openedSecretRecord = z
  .object({ ...secretShape, secret_value: secretValue })
  .meta({ id: 'OpenedSecretRecord' });

const success = z.literal(true);
const custid = text.meta({ description: "The caller's username, or anon." });

function creation<Secret extends z.ZodType>(kind: 'conceal' | 'generate', secret: Secret) {
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
      recipient: z.array(text).meta({ description: 'Obfuscated.' }),
      recipient_safe: z.array(text),
      adjusted,
      ignored,
    }),
  });
}

export const concealAnswer = creation('conceal', secretRecord).meta({ id: 'ConcealAnswer' });
export const generateAnswer = creation('generate', openedSecretRecord).meta({ id: 'GenerateAnswer' });

const lookDetails = { continue: flag, is_owner: flag, show_secret: flag, correct_passphrase: flag };

export const inspectAnswer = z
  .object({ success, custid, record: secretRecord, details: z.object({ ...lookDetails, ignored }) })
  .meta({ id: 'InspectAnswer' });

export const revealAnswer = z
  .object({
    success,
    custid,
    record: openedSecretRecord,
    details: z.object({ ...lookDetails, display_lines: z.int().min(1).max(30), one_liner: flag, ignored }),
  })
  .meta({ id: 'RevealAnswer' });

/** What is said of a key that opens nothing: unknown, read, burned and expired alike. */
const unknownSecretRecord = z
  .object({
    identifier: text.meta({ description: 'As given.' }),
    key: text.meta({ description: 'As given.' }),
    state: z.literal('unknown'),
  })
  .meta({ id: 'UnknownSecretRecord' });

export const statusAnswer = z
  .object({
    success,
    custid,
    record: secretRecord,
    details: z.object({ realttl: remaining('secret') }),
  })
  .meta({ id: 'SecretStatusAnswer' });

/** Where the dialect answers so in place of 404. */
export const unknownStatusAnswer = z
  .object({ success, custid, record: unknownSecretRecord })
  .meta({ id: 'UnknownSecretStatusAnswer' });

export const statusesAnswer = z
  .object({
    success,
    records: z
      .array(secretRecord.or(unknownSecretRecord))
      .meta({ description: 'One for each key asked about, in that order.' }),
  })
  .meta({ id: 'SecretStatusesAnswer' });

const recordDetails = {
  type: z.literal('record'),
  no_cache: flag,
  secret_realttl: seconds.nullable(),
  maxviews: z.int().nullable(),
  has_maxviews: flag,
  view_count: z.null(),
  has_passphrase: flag,
  can_decrypt: flag,
  secret_value: z.null(),
  is_truncated: flag,
  show_secret: flag,
  show_secret_link: flag,
  show_metadata_link: flag,
  show_metadata: flag,
  show_recipients: flag,
  is_orphaned: flag,
};

export const metadataAnswer = z
  .object({ success, custid, record: metadataRecord, details: z.object(recordDetails) })
  .meta({ id: 'MetadataAnswer' });

export const deliverAnswer = z
  .object({
    success,
    custid,
    record: metadataRecord,
    details: z.object({ ...recordDetails, adjusted: localeAdjusted, ignored }),
  })
  .meta({ id: 'DeliverAnswer' });

export const changeAnswer = z
  .object({ success, custid, record: metadataRecord, details: z.object({ ...recordDetails, ignored }) })
  .meta({ id: 'ChangeAnswer' });

export const burnAnswer = z
  .object({
    success,
    custid,
    record: metadataRecord,
    details: z.object({ ...recordDetails, title: text, display_feedback: flag, ignored }),
  })
  .meta({ id: 'BurnAnswer' });

export const recentAnswer = z
  .object({
    success,
    custid,
    count: z.int().min(0).meta({ description: 'Records on this page.' }),
    records: z.array(metadataRecord).meta({ description: 'Newest created first.' }),
    details: z.object({
      type: z.literal('list'),
      since: time.meta({
        description: 'When the oldest record on this page was created; now, when there is none.',
      }),
      now: time,
      has_items: flag,
      received: z.array(metadataRecord).meta({ description: 'Those of this page whose secret is gone.' }),
      notreceived: z.array(metadataRecord).meta({ description: 'Those of this page whose secret waits.' }),
      next_cursor: text.nullable().meta({ description: 'Opaque; null at the end.' }),
    }),
  })
  .meta({ id: 'RecentAnswer' });

const localeTag = text.meta({ examples: ['en'] });

export const serviceStatusAnswer = z
  .object({
    success,
    status: z.literal('nominal'),
    locale: localeTag,
    region: text.optional().meta({
      description: 'Which region answers; absent where there are none.',
      examples: ['eu'],
    }),
  })
  .meta({ id: 'ServiceStatusAnswer' });

export const versionAnswer = z
  .object({
    success,
    version: z
      .array(text)
      .length(3)
      .meta({ description: 'Major, minor, patch.', examples: [['0', '1', '0']] }),
    locale: localeTag,
  })
  .meta({ id: 'VersionAnswer' });

export const localesAnswer = z
  .object({ success, locales: z.array(localeTag), default_locale: localeTag, locale: localeTag })
  .meta({ id: 'LocalesAnswer' });

export const authcheckAnswer = z
  .object({
    success,
    custid,
    record: z.object({
      identifier: text,
      custid: text,
      email: text,
      role: z.literal('customer'),
      active: flag,
      locale: localeTag,
      created: time,
      updated: time,
      plan: z.object({
        identifier: text,
        planid: text,
        options: z
          .object({
            ttl: seconds.meta({ description: 'The longest lifetime of a secret, in seconds.' }),
            size: z.int().min(1).meta({ description: 'The largest value, in bytes of UTF-8.' }),
            api: z.literal(true),
            email: z.literal(true).meta({ description: 'A recipient may be named.' }),
            custom_domains: flag,
          })
          .meta({ description: 'What the plan allows.' }),
      }),
    }),
    details: z.object({ authenticated: flag }),
  })
  .meta({ id: 'AuthcheckAnswer' });

export type MetadataRecord = z.output<typeof metadataRecord>;
export type SecretRecord = z.output<typeof secretRecord>;
export type InspectAnswer = z.output<typeof inspectAnswer>;
export type RevealAnswer = z.output<typeof revealAnswer>;
export type StatusAnswer = z.output<typeof statusAnswer>;
export type UnknownSecretRecord = z.output<typeof unknownSecretRecord>;
export type UnknownStatusAnswer = z.output<typeof unknownStatusAnswer>;
export type StatusesAnswer = z.output<typeof statusesAnswer>;
export type DeliverAnswer = z.output<typeof deliverAnswer>;
export type ConcealAnswer = z.output<typeof concealAnswer>;
export type GenerateAnswer = z.output<typeof generateAnswer>;
export type MetadataAnswer = z.output<typeof metadataAnswer>;
export type ChangeAnswer = z.output<typeof changeAnswer>;
export type BurnAnswer = z.output<typeof burnAnswer>;
export type RecentAnswer = z.output<typeof recentAnswer>;
export type AuthcheckAnswer = z.output<typeof authcheckAnswer>;
