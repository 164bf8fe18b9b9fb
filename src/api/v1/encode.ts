/**
 * From outcomes to v1's answers.
 *
 * Owns: the metadata record, its order of fields, and the answers made of it. Invariant: success is exactly 200, times
 * are whole Unix seconds, numbers are JSON numbers; a list never shows a secret key (P16).
 */
import type { Links } from '../../core/links.ts';
import type {
  BurnOutcome,
  CreationOutcome,
  ReceiptOutcome,
  ReceiptView,
  RevealOutcome,
} from '../../core/secrets/outcomes.ts';
import type { Reply } from '../../http/operation.ts';
import type { Dialect } from './dialect.ts';
import { encodeCreationRefusal, encodeKeyRefusal, encodeUnprovenBurn } from './refusals.ts';

/** The metadata record of the wire. */
export interface MetadataRecord {
  custid: string;
  metadata_key: string;
  secret_key?: string | null;
  ttl: number;
  metadata_ttl: number;
  secret_ttl?: number | null;
  state: string;
  recipient?: string | readonly string[];
  share_domain: string;
  passphrase_required?: boolean;
  created: number;
  updated: number;
  received?: number;
  metadata_url?: string;
}

/** What answers are written with. */
export interface EncodeDeps {
  readonly dialect: Dialect;
  /** From configuration (P20). */
  readonly links: Pick<Links, 'receiptUrl' | 'linkOrigin'>;
}

type KeyField = Pick<MetadataRecord, 'secret_key'>;

export function encodeRecord(receipt: ReceiptView, deps: EncodeDeps): MetadataRecord {
  const { secretKey, state } = receipt;
  return recordWith(
    secretKey === null ? deps.dialect.secretKeyOfGone(state) : { secret_key: secretKey },
    receipt,
    deps,
  );
}

/** Fields in the order that the contract gives them. */
function recordWith(key: KeyField, receipt: ReceiptView, { dialect, links }: EncodeDeps): MetadataRecord {
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
    ...dialect.metadataUrl(links.receiptUrl(receipt.metadataKey)),
  };
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
    value: outcome.value.expose(),
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

/** The record with its `status`, and beside it the envelope that clients of the existing service read. */
function burnAnswer(receipt: ReceiptView, deps: EncodeDeps): object {
  const record = encodeRecord(receipt, deps);
  const { state: _, ...withoutState } = record;
  return { ...withoutState, status: 'burned', state: record, secret_shortkey: receipt.secretShortkey };
}

export function encodeRecent(receipts: readonly ReceiptView[], deps: EncodeDeps): Reply {
  return ok(receipts.map((receipt) => recordWith({ secret_key: null }, receipt, deps)));
}

/** The same for `/status` and `/authcheck`. */
export function encodeNominal(locale: string): Reply {
  return ok({ status: 'nominal', locale });
}

function ok(body: unknown): Reply {
  return { status: 200, body };
}
