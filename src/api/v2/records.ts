/**
 * Maps v2's two records, the creator's and the secret's, from the core's names to those on the wire.
 *
 * The names are those of the existing service's second version, with native types, plus those that its newer clients read
 * (`identifier` for `key`, `receipt` for `metadata`, `revealed` for `received`, `shortid` for `shortkey`). A recipient appears only
 * obfuscated, a value only as `secret_value` of reveal and generate, and the secret key and the link only while the secret is waiting.
 * A missing text is sent as an empty one, since existing clients cannot decode null there. Links are built from configuration (P20).
 */

import { z } from 'zod';
import type { Caller } from '../../core/account.ts';
import type { SecretKey } from '../../core/keys.ts';
import type { Links } from '../../core/links.ts';
import type { ReceiptView, SecretView } from '../../core/secrets/outcomes.ts';
import {
  burners,
  deliveryStates,
  lockCauses,
  noticeKinds,
  type ReceiptState,
  receiptStates,
} from '../../protocol/vocabulary.ts';
import { key, seconds, time } from '../fields.ts';
import { sealedContent } from './sealed.ts';

const text = z.string();
const flag = z.boolean();
const timeOrNull = z.union([time, z.null()]);

export const success = z.literal(true);
export const custid = text.meta({ description: "The caller's username, or anon." });

export const shareDomain = text.meta({
  description: 'The custom domain of the link; empty when there is none.',
});
const lifespan = seconds.meta({ description: 'Seconds that were granted.' });
const sealed = flag.meta({
  description: 'Whether it is end-to-end encrypted, so that only its full link opens it.',
});
const verify = flag.meta({
  description: 'Whether opening it takes a code that is mailed to an address which only its creator knows.',
});
export const remaining = (what: string) =>
  seconds.meta({ description: `Seconds that remain of the ${what}.` });

const delivery = z
  .object({
    state: z.enum(deliveryStates).meta({
      description:
        '`queued`: being handed over, or waiting for a retry. `accepted`: the mail server took it; whether it was read is ' +
        'unknown. `refused`: the mail server rejected it permanently. `given_up`: the mail server deferred it until the last ' +
        'try, or was unreachable. `not_sent`: the mail server never answered, or the service ended first.',
    }),
    at: time,
    reply: text.nullable().meta({
      description:
        "The mail server's last reply, in one line; or that it cannot be reached or did not answer. Null when there is none.",
      examples: ['550 5.1.1 No such user'],
    }),
  })
  .meta({ id: 'V2Delivery', description: 'The mail to the recipient.' });

const locked = z
  .object({
    by: z.enum(lockCauses).meta({ description: 'By wrong passphrases or by wrong codes.' }),
    until: timeOrNull.meta({
      description: 'Null: until its creator allows more, with `"attempts": "more"` or `"codes": "more"`.',
    }),
  })
  .meta({ id: 'V2Lock', description: 'Too many guesses were wrong: no more are allowed now.' });

/** The creator's record, called "metadata" or, by newer clients, "receipt". */
export const metadataRecord = z
  .object({
    identifier: key,
    key: key.meta({ description: 'The metadata key. To be kept private by the creator.' }),
    custid: text.meta({ description: "The owner's username, or anon." }),
    state: z.enum(receiptStates),
    secret_key: key.nullable().meta({ description: 'Null once the secret is gone, and always in a list.' }),
    secret_identifier: key.nullable(),
    secret_shortkey: text.meta({
      description:
        'The first six characters of the secret key; empty if an earlier version did not keep them.',
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
    burned_by: z.enum(['', ...burners]).meta({
      description:
        '`creator`: with its metadata key. `recipient`: with its link. Empty while it is not burned, and if something else ' +
        'burned it: the deletion of its account, an operator, a restore, or an earlier version.',
    }),
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
    sealed,
    verify,
    codes: z
      .array(z.object({ at: time, state: delivery.shape.state }).meta({ id: 'V2Code' }))
      .nullable()
      .meta({ description: 'Every code that was mailed to an opener, oldest first; null in a list.' }),
    delivery: z.union([delivery, z.null()]),
    notify: z
      .array(z.enum(noticeKinds))
      .meta({ description: 'The notices that the account gets about this secret.' }),
    memo: text.meta({ description: "The creator's own label; empty when there is none." }),
    locked: z.union([locked, z.null()]),
    natural_expiration: text.meta({ description: 'The lifetime in words.', examples: ['7 days'] }),
    expiration: time,
    expiration_in_seconds: seconds,
    share_path: text.meta({ description: 'Empty if `share_url` is.' }),
    share_url: text.meta({
      description:
        'The link to share, while the secret waits; empty once it is gone, in lists, and for an end-to-end secret, whose ' +
        'whole link only its creator has.',
    }),
    burn_path: text,
    burn_url: text,
    metadata_path: text,
    metadata_url: text,
    receipt_path: text,
    receipt_url: text,
  })
  .meta({ id: 'V2MetadataRecord' });

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
  sealed,
  verify,
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
  description: 'The value, byte for byte. No other answer has it.',
});

export const secretRecord = z.object(secretShape).meta({ id: 'V2SecretRecord' });
/** When a creation is repeated, its secret may be in any of these states. */
export const createdStates = ['new', 'received', 'burned', 'expired'] as const;
export const createdSecretRecord = z
  .object({ ...secretShape, state: z.enum(createdStates) })
  .meta({ id: 'V2CreatedSecretRecord' });
export const generatedSecretRecord = z
  .object({
    ...secretShape,
    state: z.enum(createdStates),
    secret_value: text.meta({
      description: 'The value, byte for byte; empty if the request is repeated and the secret gone.',
    }),
  })
  .meta({ id: 'V2GeneratedSecretRecord' });
export const openedSecretRecord = z
  .object({ ...secretShape, secret_value: secretValue })
  .meta({ id: 'V2OpenedSecretRecord' });

/** An end-to-end secret that has just been read. */
export const unsealedSecretRecord = z
  .object({ ...secretShape, sealed: sealedContent })
  .meta({ id: 'V2SealedSecretRecord' });

type MetadataRecord = z.output<typeof metadataRecord>;
type SecretRecord = z.output<typeof secretRecord>;

const shortKeyLength = 8;

export function custidOf(caller: Caller): string {
  return caller.kind === 'account' ? caller.account.username : 'anon';
}

function isGone(receipt: ReceiptView): boolean {
  return receipt.state !== 'new' && receipt.state !== 'viewed';
}

/** Paths are relative to the site, as in existing clients. A single literal, because copying fields costs more than all the rest. */
export function encodeMetadata(receipt: ReceiptView, links: Links): MetadataRecord {
  const { metadataKey, secretKey, recipient, state, viewedAt, receivedAt } = receipt;
  const isViewed = viewedAt !== null;
  // The server knows only half of an end-to-end secret's link.
  const linkKey = receipt.sealed ? null : secretKey;
  const receiptPath = `receipt/${metadataKey}`;
  const receiptUrl = links.receiptUrl(metadataKey);
  const shortkey = metadataKey.slice(0, shortKeyLength);
  return {
    identifier: metadataKey,
    key: metadataKey,
    custid: receipt.custid,
    state,
    secret_key: secretKey,
    secret_identifier: secretKey,
    secret_shortkey: receipt.secretShortkey,
    secret_shortid: receipt.secretShortkey,
    secret_state: isGone(receipt) ? null : 'new',
    secret_ttl: receipt.secretTtlSeconds ?? 0,
    metadata_ttl: receipt.metadataTtlSeconds,
    receipt_ttl: receipt.metadataTtlSeconds,
    lifespan: receipt.ttlSeconds,
    share_domain: receipt.shareDomain,
    recipients: recipient ?? '',
    shortkey,
    shortid: shortkey,
    show_recipients: recipient !== null,
    has_passphrase: receipt.hasPassphrase,
    sealed: receipt.sealed,
    verify: receipt.verify,
    codes: receipt.codes && [...receipt.codes],
    delivery: receipt.delivery,
    notify: [...receipt.notify],
    memo: receipt.memo,
    locked: receipt.locked && { by: receipt.locked.by, until: receipt.locked.until },
    natural_expiration: naturalDuration(receipt.ttlSeconds),
    expiration: receipt.createdAt + receipt.ttlSeconds,
    expiration_in_seconds: receipt.ttlSeconds,
    created: receipt.createdAt,
    updated: receipt.updatedAt,
    shared: null,
    viewed: viewedAt,
    previewed: viewedAt,
    received: receivedAt,
    revealed: receivedAt,
    burned: receipt.burnedAt,
    burned_by: receipt.burnedBy ?? '',
    is_viewed: isViewed,
    is_previewed: isViewed,
    is_received: state === 'received',
    is_revealed: state === 'received',
    is_burned: state === 'burned',
    is_expired: state === 'expired',
    is_orphaned: false,
    is_destroyed: isGone(receipt),
    is_truncated: false,
    share_path: linkKey === null ? '' : `secret/${linkKey}`,
    share_url: linkKey === null ? '' : links.secretUrl(linkKey, receipt.shareDomain),
    burn_path: `${receiptPath}/burn`,
    burn_url: `${receiptUrl}/burn`,
    metadata_path: receiptPath,
    metadata_url: receiptUrl,
    receipt_path: receiptPath,
    receipt_url: receiptUrl,
  };
}

const minute = 60;
const hour = 3_600;
const day = 86_400;

/** Formats a duration as `60 seconds`, `60 minutes`, `24 hours` or `7 days`, in the smallest unit that fits, truncated. */
export function naturalDuration(ttlSeconds: number): string {
  if (ttlSeconds <= minute) return count(ttlSeconds, 'second');
  if (ttlSeconds <= hour) return count(Math.trunc(ttlSeconds / minute), 'minute');
  if (ttlSeconds <= day) return count(Math.trunc(ttlSeconds / hour), 'hour');
  return count(Math.trunc(ttlSeconds / day), 'day');
}

function count(number: number, unit: string): string {
  return `${number} ${unit}${number === 1 ? '' : 's'}`;
}

function secretFields<State extends ReceiptState>(
  facts: Omit<SecretView, 'secretKey' | 'state' | 'isOwner' | 'secretTtlSeconds'> &
    Pick<ReceiptView, 'secretTtlSeconds'>,
  secretKey: SecretKey,
  state: State,
) {
  const shortkey = secretKey.slice(0, shortKeyLength);
  const isReceived = state === 'received';
  return {
    identifier: secretKey,
    key: secretKey,
    state,
    secret_ttl: facts.secretTtlSeconds ?? 0,
    lifespan: facts.ttlSeconds,
    share_domain: facts.shareDomain,
    shortkey,
    shortid: shortkey,
    has_passphrase: facts.hasPassphrase,
    sealed: facts.sealed,
    verify: facts.verify,
    verification: false,
    is_truncated: false,
    is_viewed: false,
    is_previewed: false,
    is_received: isReceived,
    is_revealed: isReceived,
    created: facts.createdAt,
    updated: facts.updatedAt,
  };
}

export function encodeSecret(secret: SecretView): SecretRecord {
  return secretFields(secret, secret.secretKey, secret.state);
}

/** Encodes a secret for its creator, right after creation or when the request is repeated. */
export function encodeCreated(
  receipt: ReceiptView,
  secretKey: SecretKey,
): z.output<typeof createdSecretRecord> {
  return secretFields(receipt, secretKey, receipt.state === 'viewed' ? 'new' : receipt.state);
}

/** `details` of a creator's record. */
export const recordDetails = {
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

export function encodeDetails(
  receipt: ReceiptView,
  isOwner: boolean,
): z.output<z.ZodObject<typeof recordDetails>> {
  const waits = !isGone(receipt);
  return {
    type: 'record',
    no_cache: true,
    secret_realttl: receipt.secretTtlSeconds,
    maxviews: waits ? 1 : null,
    has_maxviews: waits,
    view_count: null,
    has_passphrase: receipt.hasPassphrase,
    can_decrypt: waits && !receipt.hasPassphrase && !receipt.sealed,
    secret_value: null,
    is_truncated: false,
    show_secret: false,
    show_secret_link: waits && isOwner && receipt.recipient === null && !receipt.sealed,
    show_metadata_link: receipt.state === 'new',
    show_metadata: true,
    show_recipients: receipt.recipient !== null,
    is_orphaned: false,
  };
}
