/**
 * A record's row, in the form that both stores share: it contains the receipt, and the secret or, later, a look. Columns have the names of
 * the fields that they become.
 */
import type { SecretId } from '../core/keys.ts';
import type { ReceiptLife, ReceiptRecord, StoredSecret, StoredState } from '../core/secret.ts';
import { flagsIn, type RecordFlags } from './flags.ts';

export interface SecretRow extends Omit<StoredSecret, 'secretId' | keyof RecordFlags> {
  readonly marks: number;
}

/** All columns of a `SecretRow` but the sealed bytes, which are read only if needed. */
export const secretColumns = `
  row_version AS "rowVersion", owner, created_at AS "createdAt", expires_at AS "expiresAt", marks, share_domain AS "shareDomain"`;

export function toSecret(secretId: SecretId, row: SecretRow): StoredSecret {
  const { rowVersion, owner, createdAt, expiresAt, marks, shareDomain, sealedSecret } = row;
  return { secretId, rowVersion, owner, createdAt, expiresAt, ...flagsIn(marks), shareDomain, sealedSecret };
}

type FactsOfReceipt = 'receiptId' | 'owner' | 'createdAt' | 'expiresAt' | 'receiptExpiresAt' | 'shareDomain';

export interface ReceiptRow extends Pick<ReceiptRecord, FactsOfReceipt | 'detailsBox' | 'recentBox'> {
  readonly secret_id: Uint8Array;
  readonly state: string;
  readonly position: number;
  readonly marks: number;
}

/** Columns of `records r` in a `LifeRow`, without its `state`. */
export const lifeColumns =
  'r.created_at AS "createdAt", r.expires_at AS "expiresAt", r.receipt_expires_at AS "receiptExpiresAt"';

/** Columns of `records r` in a `ReceiptRow`, without its `state` and `secret_id`. */
export const receiptColumns = `
  r.position, r.receipt_id AS "receiptId", r.owner, ${lifeColumns}, r.marks, r.share_domain AS "shareDomain",
  r.details_box AS "detailsBox", r.recent_box AS "recentBox"`;

const states: Readonly<Record<string, StoredState>> = { w: 'waiting', r: 'received', b: 'burned' };

export type LifeRow = Pick<ReceiptRow, 'state' | Exclude<keyof ReceiptLife, 'state'>>;

export function lifeOf({ state, createdAt, expiresAt, receiptExpiresAt }: LifeRow): ReceiptLife {
  return { state: states[state] ?? 'burned', createdAt, expiresAt, receiptExpiresAt };
}

export function receiptOf(row: ReceiptRow) {
  const { receiptId, owner, marks, shareDomain, detailsBox, recentBox } = row;
  const secretId = row.secret_id as SecretId;
  return {
    ...lifeOf(row),
    receiptId,
    secretId,
    owner,
    ...flagsIn(marks),
    shareDomain,
    detailsBox,
    recentBox,
  };
}
