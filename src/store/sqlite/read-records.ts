/**
 * Reads of secrets and receipts, on the event loop's own connection.
 *
 * Owns: the look-ups and the way from a row to a domain record. Invariant: each read is one statement, finished when it
 * returns, so that no snapshot outlives it and a scrub is never kept waiting; a read changes nothing (P4).
 */
import type { Database } from 'bun:sqlite';
import type { AccountId } from '../../domain/accounts.ts';
import type { ReceiptId, SecretId } from '../../domain/keys.ts';
import {
  type Delivery,
  type DeliveryState,
  isWaiting,
  type StoredReceipt,
  type StoredSecret,
  type StoredState,
} from '../../domain/secret.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import { deliveryAt } from '../store.ts';
import type { Locator } from './locator.ts';

interface SecretRow {
  position: number;
  row_version: number;
  owner: AccountId | null;
  created_at: UnixSeconds;
  expires_at: UnixSeconds;
  has_passphrase: number;
  share_domain: string;
  sealed_secret: Uint8Array;
}

interface ReceiptRow {
  position: number;
  state: string;
  owner: AccountId | null;
  created_at: UnixSeconds;
  expires_at: UnixSeconds;
  receipt_expires_at: UnixSeconds;
  ended_at: UnixSeconds;
  viewed_at: UnixSeconds;
  delivery: string;
  delivery_at: UnixSeconds;
  has_passphrase: number;
  secret_id: Uint8Array;
  receipt_id: Uint8Array;
  share_domain: string;
  details_box: Uint8Array | null;
  recent_box: Uint8Array | null;
  creator_box: Uint8Array;
}

const states: Readonly<Record<string, StoredState>> = { w: 'waiting', r: 'received', b: 'burned' };
const deliveries: Readonly<Record<string, DeliveryState>> = {
  q: 'queued',
  a: 'accepted',
  r: 'refused',
  n: 'not_sent',
};

const selectSecret = `
  SELECT position, row_version, owner, created_at, expires_at, has_passphrase, share_domain, sealed_secret
  FROM records WHERE position = ?1 AND state = 'w' AND expires_at > ?2`;

const receiptColumns = `
  position, state, owner, created_at, expires_at, receipt_expires_at, ended_at, viewed_at, delivery, delivery_at,
  has_passphrase, secret_id, receipt_id, share_domain, details_box, recent_box, creator_box`;

const selectReceipt = `
  SELECT ${receiptColumns} FROM records WHERE position = ?1 AND receipt_expires_at > ?2`;

const selectRecent = `
  SELECT ${receiptColumns} FROM records
  WHERE owner = ?1 AND position < ?2 AND receipt_expires_at > ?3 ORDER BY position DESC LIMIT ?4`;

export interface RecordReads {
  findSecret(id: SecretId, now: UnixSeconds): StoredSecret | null;
  findReceipt(id: ReceiptId, now: UnixSeconds): StoredReceipt | null;
  listReceipts(
    owner: AccountId,
    page: { limit: number; beforePosition?: number },
    now: UnixSeconds,
  ): StoredReceipt[];
}

export function createRecordReads(db: Database, locator: Locator): RecordReads {
  const secret = db.query<SecretRow, [number, number]>(selectSecret);
  const receipt = db.query<ReceiptRow, [number, number]>(selectReceipt);
  const recent = db.query<ReceiptRow, [number, number, number, number]>(selectRecent);
  return {
    findSecret(id, now) {
      const position = locator.ofSecret(id);
      const row = position === null ? null : secret.get(position, now);
      return row === null ? null : toSecret(id, row);
    },
    findReceipt(id, now) {
      const position = locator.ofReceipt(id);
      const row = position === null ? null : receipt.get(position, now);
      return row === null ? null : toReceipt(row, now);
    },
    listReceipts: (owner, page, now) =>
      recent
        .all(owner, page.beforePosition ?? Number.MAX_SAFE_INTEGER, now, page.limit)
        .map((row) => toReceipt(row, now)),
  };
}

function toSecret(id: SecretId, row: SecretRow): StoredSecret {
  return {
    secretId: id.slice() as SecretId,
    position: row.position,
    rowVersion: row.row_version,
    owner: row.owner,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    hasPassphrase: row.has_passphrase === 1,
    shareDomain: row.share_domain,
    sealedSecret: row.sealed_secret,
  };
}

function toReceipt(row: ReceiptRow, now: UnixSeconds): StoredReceipt {
  const life = { state: states[row.state] ?? 'burned', expiresAt: row.expires_at };
  return {
    ...life,
    receiptId: row.receipt_id as ReceiptId,
    secretId: row.secret_id as SecretId,
    position: row.position,
    owner: row.owner,
    createdAt: row.created_at,
    receiptExpiresAt: row.receipt_expires_at,
    // A time that has not come yet is kept as a later one (see 001-records.sql).
    viewedAt: row.viewed_at < row.receipt_expires_at ? row.viewed_at : null,
    endedAt: life.state === 'waiting' ? null : row.ended_at,
    hasPassphrase: row.has_passphrase === 1,
    shareDomain: row.share_domain,
    // What is erased is zeros, and what is about to be is not shown.
    creatorBox: isWaiting(life, now) ? row.creator_box : null,
    detailsBox: row.details_box,
    // Erased with its account: no sealed box is all zeros.
    recentBox: row.recent_box?.some((byte) => byte !== 0) ? row.recent_box : null,
    delivery: deliveryAt(toDelivery(row), now),
  };
}

function toDelivery(row: ReceiptRow): Delivery | null {
  const state = deliveries[row.delivery];
  return state === undefined ? null : { state, at: row.delivery_at };
}
