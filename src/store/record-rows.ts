/** A record's row, in the form that both stores share. It contains the receipt, and the secret or, later, a look. */
import type { AccountId } from '../core/account.ts';
import type { ReceiptId, SecretId } from '../core/keys.ts';
import type { StoredSecret, StoredState } from '../core/secret.ts';
import type { UnixSeconds } from '../core/time.ts';
import { flagsIn } from './flags.ts';

export interface SecretRow {
  readonly row_version: number;
  readonly owner: AccountId | null;
  readonly created_at: UnixSeconds;
  readonly expires_at: UnixSeconds;
  readonly marks: number;
  readonly share_domain: string;
  readonly sealed_secret: Uint8Array;
}

export function toSecret(secretId: SecretId, row: SecretRow): StoredSecret {
  return {
    secretId,
    rowVersion: row.row_version,
    owner: row.owner,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    ...flagsIn(row.marks),
    shareDomain: row.share_domain,
    sealedSecret: row.sealed_secret,
  };
}

export interface ReceiptRow {
  readonly receipt_id: Uint8Array;
  readonly secret_id: Uint8Array;
  readonly position: number;
  readonly state: string;
  readonly owner: AccountId | null;
  readonly created_at: UnixSeconds;
  readonly expires_at: UnixSeconds;
  readonly receipt_expires_at: UnixSeconds;
  readonly marks: number;
  readonly share_domain: string;
  readonly details_box: Uint8Array | null;
}

const states: Readonly<Record<string, StoredState>> = { w: 'waiting', r: 'received', b: 'burned' };

export function lifeOf(row: Pick<ReceiptRow, 'state' | 'expires_at'>) {
  return { state: states[row.state] ?? 'burned', expiresAt: row.expires_at };
}

export function receiptOf(row: ReceiptRow) {
  return {
    ...lifeOf(row),
    receiptId: row.receipt_id as ReceiptId,
    secretId: row.secret_id as SecretId,
    owner: row.owner,
    createdAt: row.created_at,
    receiptExpiresAt: row.receipt_expires_at,
    ...flagsIn(row.marks),
    shareDomain: row.share_domain,
    detailsBox: row.details_box,
  };
}
