/**
 * From outcomes to v1's answers.
 *
 * Owns: the metadata record, its order of fields, and the answers made of it. Invariant: success is exactly 200, times
 * are whole Unix seconds, numbers are JSON numbers; a list never shows a secret key (P16).
 */
import type {
  BurnOutcome,
  CreationOutcome,
  ReceiptOutcome,
  ReceiptView,
  RevealOutcome,
} from '../../domain/outcomes.ts';
import type { Reply } from '../../http/operation.ts';
import type { Dialect } from './dialect.ts';
import { encodeCreationRefusal, encodeKeyRefusal, encodeUnprovenBurn } from './refusals.ts';

/** The metadata record of the wire. */
export interface MetadataRecord {
  custid: string;
  metadata_key: string;
  secret_key: string | null;
  ttl: number;
  metadata_ttl: number;
  secret_ttl: number | null;
  state: string;
  recipient?: string | readonly string[];
  share_domain: string;
  passphrase_required?: boolean;
  created: number;
  updated: number;
  received?: number;
}

/** Fields in the order that the contract gives them. */
export function encodeRecord(receipt: ReceiptView, dialect: Dialect): MetadataRecord {
  return {
    custid: receipt.custid,
    metadata_key: receipt.metadataKey,
    secret_key: receipt.secretKey,
    ttl: receipt.ttlSeconds,
    metadata_ttl: receipt.metadataTtlSeconds,
    secret_ttl: receipt.secretTtlSeconds,
    state: receipt.state,
    ...dialect.recipientField(receipt.recipient),
    share_domain: receipt.shareDomain,
    ...(receipt.secretTtlSeconds === null ? {} : { passphrase_required: receipt.hasPassphrase }),
    created: receipt.createdAt,
    updated: receipt.updatedAt,
    ...(receipt.state === 'received' && receipt.receivedAt !== null ? { received: receipt.receivedAt } : {}),
  };
}

export function encodeCreation(outcome: CreationOutcome, dialect: Dialect): Reply {
  if (outcome.outcome !== 'created') return encodeCreationRefusal(outcome, dialect);
  const record = encodeRecord(outcome.receipt, dialect);
  return ok(outcome.value === null ? record : { ...record, value: outcome.value.expose() });
}

/** @param linkOrigin origin of the links on a share domain, from configuration (P20). */
export function encodeReveal(
  outcome: RevealOutcome,
  keyAsGiven: string,
  dialect: Dialect,
  linkOrigin: (shareDomain: string) => string,
): Reply {
  if (outcome.outcome !== 'revealed') return encodeKeyRefusal(outcome, keyAsGiven, dialect);
  return ok({
    secret_key: outcome.secret.secretKey,
    value: outcome.value.expose(),
    share_domain: dialect.revealShareDomain(outcome.secret.shareDomain, linkOrigin),
  });
}

export function encodeReceipt(outcome: ReceiptOutcome, keyAsGiven: string, dialect: Dialect): Reply {
  if (outcome.outcome !== 'found') return encodeKeyRefusal(outcome, keyAsGiven, dialect);
  return ok(encodeRecord(outcome.receipt, dialect));
}

export function encodeBurn(outcome: BurnOutcome, keyAsGiven: string, dialect: Dialect): Reply {
  switch (outcome.outcome) {
    case 'burned':
      return ok(burnAnswer(outcome.receipt, dialect));
    case 'passphrase_missing':
    case 'passphrase_wrong':
      return encodeUnprovenBurn(dialect);
    default:
      return encodeKeyRefusal(outcome, keyAsGiven, dialect);
  }
}

/** The record with its `status`, and beside it the envelope that clients of the existing service read. */
function burnAnswer(receipt: ReceiptView, dialect: Dialect): object {
  const record = encodeRecord(receipt, dialect);
  const { state: _, ...withoutState } = record;
  return { ...withoutState, status: 'burned', state: record, secret_shortkey: receipt.secretShortkey };
}

export function encodeRecent(receipts: readonly ReceiptView[], dialect: Dialect): Reply {
  return ok(receipts.map((receipt) => ({ ...encodeRecord(receipt, dialect), secret_key: null })));
}

/** The same for `/status` and `/authcheck`. */
export function encodeNominal(): Reply {
  return ok({ status: 'nominal', locale: 'en' });
}

function ok(body: unknown): Reply {
  return { status: 200, body };
}
