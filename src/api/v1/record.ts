/**
 * v1's responses: schemas (of the documented dialect) and field order. Success is always 200, times are whole Unix seconds, and
 * numbers are JSON numbers; a list never shows a secret key (P16).
 */

import { z } from 'zod';
import type { Links } from '../../core/links.ts';
import type {
  BurnOutcome,
  CreationOutcome,
  ReceiptOutcome,
  ReceiptView,
  RevealOutcome,
} from '../../core/secrets/outcomes.ts';
import { textOf } from '../../core/secrets/reveal.ts';
import type { Reply } from '../../http/operation.ts';
import { receiptStates } from '../../protocol/vocabulary.ts';
import { key, seconds, time } from '../fields.ts';
import type { Dialect } from './dialect.ts';
import { encodeCreationRefusal, encodeKeyRefusal, encodeUnprovenBurn } from './refusals.ts';

const secretKey = key.describe('Opens the secret once. May be shared. Absent once the secret is gone.');

const recordStart = {
  custid: z.string().describe('Username of the account that made the record, or anon.'),
  metadata_key: key.describe("Opens the creator's record. Must not be shared."),
  secret_key: secretKey.optional(),
  ttl: z.int().positive().describe('The lifetime granted, in seconds.'),
  metadata_ttl: seconds.describe('Seconds that remain of this record.'),
  secret_ttl: seconds.optional().describe('Seconds that remain of the secret. Absent once it is gone.'),
};

const state = z
  .enum(receiptStates)
  .describe('viewed: the creator has looked at this record. received: the secret was read.');

const recordEnd = {
  recipient: z.string().optional().describe('The obfuscated address, when one was given.'),
  share_domain: z.string().describe('The domain of the link; empty when it is the default one.'),
  passphrase_required: z.boolean().describe('Whether a passphrase was given at creation.'),
  created: time,
  updated: time,
  received: time.optional().describe('Unix time of the reading; only in state received.'),
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

export interface EncodeDeps {
  readonly dialect: Dialect;
  /** From configuration (P20). */
  readonly links: Pick<Links, 'receiptUrl' | 'linkOrigin'>;
}

type Metadata = z.output<typeof metadataRecord>;

/** A dialect may omit, empty or add these fields. */
type DialectField = 'secret_key' | 'secret_ttl' | 'recipient' | 'passphrase_required';

export function encodeRecord(receipt: ReceiptView, deps: EncodeDeps) {
  const { secretKey, state } = receipt;
  return recordWith(
    secretKey === null ? deps.dialect.secretKeyOfGone(state) : { secret_key: secretKey },
    receipt,
    deps,
  );
}

/** Returns the fields in the contract's order. */
function recordWith(
  key: { readonly secret_key?: string | null },
  receipt: ReceiptView,
  { dialect, links }: EncodeDeps,
) {
  const { state, secretTtlSeconds, hasPassphrase, receivedAt } = receipt;
  const isGone = secretTtlSeconds === null;
  return {
    custid: receipt.custid,
    metadata_key: receipt.metadataKey,
    ...key,
    ttl: receipt.ttlSeconds,
    metadata_ttl: receipt.metadataTtlSeconds,
    ...(isGone ? dialect.secretTtlOfGone(state) : { secret_ttl: secretTtlSeconds }),
    state,
    ...dialect.recipientField(receipt.recipient),
    share_domain: receipt.shareDomain,
    ...(isGone ? dialect.passphraseOfGone(hasPassphrase) : { passphrase_required: hasPassphrase }),
    created: receipt.createdAt,
    updated: receipt.updatedAt,
    ...(state === 'received' && receivedAt !== null ? { received: receivedAt } : {}),
    ...dialect.metadataUrl(() => links.receiptUrl(receipt.metadataKey)),
  } satisfies Omit<Metadata, DialectField>;
}

export function encodeCreation(outcome: CreationOutcome, deps: EncodeDeps): Reply {
  if (outcome.outcome !== 'created') return encodeCreationRefusal(outcome, deps.dialect);
  const record = encodeRecord(outcome.receipt, deps);
  return ok(outcome.value === null ? record : { ...record, value: outcome.value.expose() });
}

export function encodeReveal(
  outcome: RevealOutcome,
  keyAsGiven: string,
  { dialect, links }: EncodeDeps,
): Reply {
  if (outcome.outcome !== 'revealed') return encodeKeyRefusal(outcome, keyAsGiven, dialect);
  return ok({
    secret_key: outcome.secret.secretKey,
    value: textOf(outcome.content),
    share_domain: dialect.revealShareDomain(outcome.secret.shareDomain, links.linkOrigin),
  });
}

export function encodeReceipt(outcome: ReceiptOutcome, keyAsGiven: string, deps: EncodeDeps): Reply {
  if (outcome.outcome !== 'found') return encodeKeyRefusal(outcome, keyAsGiven, deps.dialect);
  return ok(encodeRecord(outcome.receipt, deps));
}

export function encodeBurn(outcome: BurnOutcome, keyAsGiven: string, deps: EncodeDeps): Reply {
  switch (outcome.outcome) {
    case 'burned':
      return ok(burnAnswer(outcome.receipt, deps));
    case 'passphrase_missing':
    case 'passphrase_wrong':
      return encodeUnprovenBurn(deps.dialect);
    default:
      return encodeKeyRefusal(outcome, keyAsGiven, deps.dialect);
  }
}

/** Returns the record with its `status`, and the envelope that the existing service's clients read. */
function burnAnswer(receipt: ReceiptView, deps: EncodeDeps): object {
  const record = encodeRecord(receipt, deps);
  const { state: _, ...withoutState } = record;
  return { ...withoutState, status: 'burned', state: record, secret_shortkey: receipt.secretShortkey };
}

export function encodeRecent(receipts: readonly ReceiptView[], deps: EncodeDeps): Reply {
  return ok(receipts.map((receipt) => recordWith({ secret_key: null }, receipt, deps)));
}

/** The same response for `/status` and `/authcheck`. */
export function encodeNominal(locale: string): Reply {
  return ok({ status: 'nominal', locale });
}

function ok(body: unknown): Reply {
  return { status: 200, body };
}
