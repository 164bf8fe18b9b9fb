/** Receipts, and the creator's memo, in a separate table so that a record's row keeps its size (see 001-records.sql). */
import type { Database } from 'bun:sqlite';
import type { AccountId } from '../../core/account.ts';
import type { ReceiptId } from '../../core/keys.ts';
import type { ReceiptPage, ReceiptStore } from '../../core/ports/receipts.ts';
import {
  isWaiting,
  type ListedReceipt,
  type ReceiptLife,
  type ReceiptRecord,
  type StoredDelivery,
  type StoredReceipt,
} from '../../core/secret.ts';
import type { UnixSeconds } from '../../core/time.ts';
import {
  type LifeRow,
  lifeColumns,
  lifeOf,
  type ReceiptRow,
  receiptColumns,
  receiptOf,
} from '../record-rows.ts';
import { deliveryAt } from '../store.ts';
import { burnerOf } from './claims.ts';
import type { Deciding } from './decisions.ts';
import { type Locator, rowAmong } from './locator.ts';
import { type DeliveryColumns, deliveryColumns, deliveryOf, joinDeliveries } from './mail.ts';
import { decideAtReceipt, type Parts } from './parts.ts';

const joinMemos = 'LEFT JOIN memos m ON m.position = r.position';

interface KeptReceipt extends DeliveryColumns, ReceiptRow {
  viewed_at: UnixSeconds;
  memo_box: Uint8Array | null;
}

interface SealedReceiptRow extends KeptReceipt {
  sealed_secret: Uint8Array;
  creator_box: Uint8Array;
}

const columns = `r.state, r.secret_id, ${receiptColumns}, r.viewed_at, ${deliveryColumns}, m.memo_box`;

const selectReceipt = `
  SELECT ${columns}, r.sealed_secret, r.creator_box FROM records r ${joinDeliveries} ${joinMemos}
  WHERE r.position = ?1 AND r.receipt_id = ?2 AND r.receipt_expires_at > ?3
    AND (?4 IS NULL OR r.owner IS NULL OR r.owner = ?4)`;

const selectLife = `
  SELECT r.state, ${lifeColumns} FROM records r
  WHERE r.position = ?1 AND r.receipt_id = ?2 AND r.receipt_expires_at > ?3`;

const selectOwned = `
  SELECT ${columns} FROM records r ${joinDeliveries} ${joinMemos}
  WHERE r.position = ?1 AND r.owner = ?2 AND r.receipt_expires_at > ?3 AND r.recent_box IS NOT NULL`;

/** Reads the index first: `CROSS JOIN` keeps the tables in this order. */
const selectIndexed = `
  SELECT ${columns} FROM owner_index o CROSS JOIN records r ON r.position = o.position AND r.owner = o.owner
  ${joinDeliveries} ${joinMemos}
  WHERE o.owner = ?1 AND o.position < ?2 AND r.receipt_expires_at > ?3 AND r.recent_box IS NOT NULL
  ORDER BY o.position DESC LIMIT ?4`;

/** A receipt's cursor is its position. */
const cursorForm = /^[1-9][0-9]{0,15}$/;

export function createReceiptReads(db: Database, locator: Locator) {
  const receipt = db.query<SealedReceiptRow, [number, Uint8Array, number, number | null]>(selectReceipt);
  const life = db.query<LifeRow, [number, Uint8Array, number]>(selectLife);
  const owned = db.query<KeptReceipt, [number, number, number]>(selectOwned);
  const indexed = db.query<KeptReceipt, [number, number, number, number]>(selectIndexed);

  /** Returns the account's newest rows before a position. A row may be found both in memory and in the index. */
  function newestOf(owner: AccountId, before: number, limit: number, now: UnixSeconds): KeptReceipt[] {
    const rows = new Map<number, KeptReceipt>();
    for (const place of locator.recentOfOwner(owner)) {
      if (rows.size === limit) break;
      const row = place < before ? owned.get(place, owner, now) : null;
      if (row !== null) rows.set(place, row);
    }
    for (const row of indexed.all(owner, before, now, limit)) rows.set(row.position, row);
    return [...rows.values()].sort((a, b) => b.position - a.position).slice(0, limit);
  }

  return {
    /** @param manager `null` finds any account's receipt */
    findReceipt(id: ReceiptId, manager: AccountId | null, now: UnixSeconds): StoredReceipt | null {
      const row = rowAmong(locator.placesOfReceipt(id), (place) => receipt.get(place, id, now, manager));
      return row === null ? null : { ...toReceipt(row, now), ...sealedPartsOf(row, now) };
    },
    findLife(id: ReceiptId, now: UnixSeconds): ReceiptLife | null {
      const row = rowAmong(locator.placesOfReceipt(id), (place) => life.get(place, id, now));
      return row && lifeOf(row);
    },
    listReceipts(owner: AccountId, { limit, after }: ReceiptPage, now: UnixSeconds): ListedReceipt[] | null {
      if (after !== null && !cursorForm.test(after)) return null;
      const before = after === null ? Number.MAX_SAFE_INTEGER : Number(after);
      return newestOf(owner, before, limit, now).map((row) => ({
        ...toReceipt(row, now),
        cursor: String(row.position),
      }));
    },
  };
}

/** Returns neither erased bytes, which are zeros, nor bytes that are due to be erased. */
function sealedPartsOf(
  row: SealedReceiptRow,
  now: UnixSeconds,
): Pick<StoredReceipt, 'sealedSecret' | 'creatorBox'> {
  if (!isWaiting(lifeOf(row), now)) return { sealedSecret: null, creatorBox: null };
  return {
    sealedSecret: row.sealed_secret,
    creatorBox: row.creator_box.length === 0 ? null : row.creator_box,
  };
}

function toReceipt(row: KeptReceipt, now: UnixSeconds): ReceiptRecord {
  const life = lifeOf(row);
  return {
    ...receiptOf(row),
    // A time that has not come yet is stored as a later one (see 001-records.sql).
    viewedAt: row.viewed_at < row.receiptExpiresAt ? row.viewed_at : null,
    endedAt: life.state === 'waiting' ? null : row.ended_at,
    burnedBy: burnerOf(row.state, row.delivery_at, row),
    recentBox: unlessErased(row.recentBox),
    memoBox: unlessErased(row.memo_box),
    delivery: toDelivery(row, isWaiting(life, now), now),
  };
}

/** Once the secret is gone, so is the address (P11). */
function toDelivery(row: KeptReceipt, waits: boolean, now: UnixSeconds): StoredDelivery | null {
  const delivery = deliveryAt(deliveryOf(row), now);
  return delivery === null || waits ? delivery : { ...delivery, addressBox: null };
}

/** No sealed box is all zeros. */
export const unlessErased = (box: Uint8Array | null): Uint8Array | null =>
  box?.some((byte) => byte !== 0) ? box : null;

const viewRecord = `
  UPDATE records SET viewed_at = min(viewed_at, ?1)
  WHERE position = ?2 AND receipt_id = ?3 AND state = 'w' AND expires_at > ?1
  RETURNING viewed_at`;

const insertMemo = 'INSERT OR REPLACE INTO memos (position, memo_box) VALUES (?1, ?2)';

/** Overwrites a memo of the same length in place. */
const replaceMemo = `
  INSERT INTO memos (position, memo_box) VALUES (?1, ?2)
  ON CONFLICT (position) DO UPDATE SET memo_box = excluded.memo_box`;

export const eraseMemoAt = 'UPDATE memos SET memo_box = zeroblob(length(memo_box)) WHERE position = ?1';

const selectLive =
  'SELECT 1 FROM records WHERE position = ?2 AND receipt_id = ?3 AND receipt_expires_at > ?1';

export interface ReceiptWrites extends Deciding<'markViewed' | 'setMemo'> {
  /** Stores the memo of a new record. */
  keepMemo(position: number, memoBox: Uint8Array): void;
}

export function createReceiptWrites(db: Database): ReceiptWrites {
  const view = db.query<{ viewed_at: UnixSeconds }, [number, number, Uint8Array]>(viewRecord);
  const insert = db.query(insertMemo);
  const replace = db.query(replaceMemo);
  const erase = db.query(eraseMemoAt);
  const live = db.query(selectLive);
  return {
    markViewed: (now, { position, id }) => view.get(now, position, id)?.viewed_at ?? null,
    keepMemo: (position, memoBox) => void insert.run(position, memoBox),
    setMemo(now, { position, id }, memoBox) {
      if (live.get(now, position, id) === null) return false;
      if (memoBox === null) erase.run(position);
      else replace.run(position, memoBox);
      return true;
    },
  };
}

export function receiptStore(parts: Parts): ReceiptStore {
  const { db, locator, reader, time } = parts;
  const reads = createReceiptReads(db, locator);
  const decide = decideAtReceipt(parts);
  return {
    findReceipt: (asked, manager) =>
      reader.lookUp(asked, (id) => reads.findReceipt(id, manager ?? null, time.earliest())),
    findLives(asked) {
      const ids = structuredClone(asked);
      return reader.read(() => ids.map((id) => reads.findLife(id, time.earliest())));
    },
    listReceipts: (owner, page) => reader.read(() => reads.listReceipts(owner, page, time.now())),
    markViewed: decide('markViewed', null),
    setMemo: decide('setMemo', false),
  };
}
