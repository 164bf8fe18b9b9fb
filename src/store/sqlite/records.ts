/**
 * Secrets and receipts: reads, and writes inside a batch's transaction.
 *
 * The form of the statements is the safety argument. A claim and a burn are one UPDATE each that holds the whole condition, so
 * exactly one can match (P1, P7), and the same statement sets the state and erases (P6). Only a delete changes a row's size (see
 * 001-records.sql).
 *
 * A read's statements have ended when it returns (see reader.ts). A read changes nothing (P4), and a look-up runs the same
 * statements whatever became of the secret (P17).
 */
import type { Database } from 'bun:sqlite';
import type { AccountId } from '../../core/account.ts';
import type { ReceiptId, SecretId } from '../../core/keys.ts';
import type { ClaimTarget } from '../../core/ports.ts';
import { rootKidOf } from '../../core/root-store.ts';
import {
  type Burner,
  isWaiting,
  type ListedReceipt,
  type NewRecord,
  type ReceiptRecord,
  type StoredDelivery,
  type StoredReceipt,
  type StoredSecret,
} from '../../core/secret.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { bitsOf } from '../marks.ts';
import { lifeOf, type ReceiptRow, receiptOf, toSecret } from '../record-rows.ts';
import { deliveryAt } from '../store.ts';
import type { Deciding, LocatedClaim } from './decisions.ts';
import { hintOf, type Locator, rowAmong } from './locator.ts';
import { eraseLook, holdsLook } from './looks.ts';
import {
  createMailWrites,
  createMemoWrites,
  type DeliveryColumns,
  deliveryColumns,
  deliveryOf,
  joinDeliveries,
  joinMemos,
  letterAtCreation,
  memoBoxOf,
  memoColumns,
} from './mail.ts';
import { createRootUses, namedRoot } from './roots.ts';
import { type PlacedSecretRow, secretColumns } from './secret-rows.ts';

interface KeptReceipt extends DeliveryColumns, ReceiptRow {
  viewed_at: UnixSeconds;
  recent_box: Uint8Array | null;
  memo_box: Uint8Array | null;
}

interface SealedReceiptRow extends KeptReceipt {
  sealed_secret: Uint8Array;
  creator_box: Uint8Array;
}

const selectSecret = `
  SELECT ${secretColumns} FROM records
  WHERE position = ?1 AND secret_id = ?2 AND state = 'w' AND expires_at > ?3`;

const receiptColumns = `
  r.position, r.state, r.owner, r.created_at, r.expires_at, r.receipt_expires_at, r.viewed_at, r.marks,
  r.secret_id, r.receipt_id, r.share_domain, r.details_box, r.recent_box, ${deliveryColumns}, ${memoColumns}`;

const selectReceipt = `
  SELECT ${receiptColumns}, r.sealed_secret, r.creator_box FROM records r ${joinDeliveries} ${joinMemos}
  WHERE r.position = ?1 AND r.receipt_id = ?2 AND r.receipt_expires_at > ?3
    AND (?4 IS NULL OR r.owner IS NULL OR r.owner = ?4)`;

const selectOwned = `
  SELECT ${receiptColumns} FROM records r ${joinDeliveries} ${joinMemos}
  WHERE r.position = ?1 AND r.owner = ?2 AND r.receipt_expires_at > ?3`;

/** Through the index first: `CROSS JOIN` keeps the order in which the tables are named. */
const selectIndexed = `
  SELECT ${receiptColumns} FROM owner_index o CROSS JOIN records r ON r.position = o.position AND r.owner = o.owner
  ${joinDeliveries} ${joinMemos}
  WHERE o.owner = ?1 AND o.position < ?2 AND r.receipt_expires_at > ?3 ORDER BY o.position DESC LIMIT ?4`;

/** A cursor is the position of the receipt that it is of. */
const cursorForm = /^[1-9][0-9]{0,15}$/;

export interface RecordReads {
  findSecret(id: SecretId, now: UnixSeconds): StoredSecret | null;
  /** Where the secret's row is, known without a look-up for what `findSecret` gave. A position is never reused. */
  knownPlaceOf(target: ClaimTarget): number | undefined;
  /** @param manager `null` finds every receipt */
  findReceipt(id: ReceiptId, manager: AccountId | null, now: UnixSeconds): StoredReceipt | null;
  listReceipts(
    owner: AccountId,
    page: { readonly limit: number; readonly after: string | null },
    now: UnixSeconds,
  ): ListedReceipt[] | null;
}

export function createRecordReads(db: Database, locator: Locator): RecordReads {
  const secret = db.query<PlacedSecretRow, [number, Uint8Array, number]>(selectSecret);
  const receipt = db.query<SealedReceiptRow, [number, Uint8Array, number, number | null]>(selectReceipt);
  const owned = db.query<KeptReceipt, [number, number, number]>(selectOwned);
  const indexed = db.query<KeptReceipt, [number, number, number, number]>(selectIndexed);
  const places = new WeakMap<ClaimTarget, number>();

  /** The newest of the account's rows before a position. One may be found in memory and in the index. */
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
    findSecret(id, now) {
      const row = rowAmong(locator.placesOfSecret(id), (place) => secret.get(place, id, now));
      if (row === null) return null;
      const found = toSecret(id, row);
      places.set(found, row.position);
      return found;
    },
    knownPlaceOf: (target) => places.get(target),
    findReceipt(id, manager, now) {
      const row = rowAmong(locator.placesOfReceipt(id), (place) => receipt.get(place, id, now, manager));
      return row === null ? null : { ...toReceipt(row, now), ...sealedPartsOf(row, now) };
    },
    listReceipts(owner, { limit, after }, now) {
      if (after !== null && !cursorForm.test(after)) return null;
      const before = after === null ? Number.MAX_SAFE_INTEGER : Number(after);
      return newestOf(owner, before, limit, now).map((row) => ({
        ...toReceipt(row, now),
        cursor: String(row.position),
      }));
    },
  };
}

/** What is erased is zeros, and what is about to be is not shown. */
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
    // A time that has not come yet is kept as a later one (see 001-records.sql).
    viewedAt: row.viewed_at < row.receipt_expires_at ? row.viewed_at : null,
    endedAt: life.state === 'waiting' ? null : row.ended_at,
    burnedBy: burnerOf(row),
    // Erased with its account: no sealed box is all zeros.
    recentBox: row.recent_box?.some((byte) => byte !== 0) ? row.recent_box : null,
    memoBox: memoBoxOf(row.memo_box),
    delivery: toDelivery(row, isWaiting(life, now), now),
  };
}

/** The address goes with the secret (P11). */
function toDelivery(row: KeptReceipt, waits: boolean, now: UnixSeconds): StoredDelivery | null {
  const delivery = deliveryAt(deliveryOf(row), now);
  return delivery === null || waits ? delivery : { ...delivery, addressBox: null };
}

export type RecordWrites = Deciding<
  | 'burn'
  | 'burnFound'
  | 'burnAll'
  | 'markViewed'
  | 'setExpiry'
  | 'replaceWrapping'
  | 'setMemo'
  | 'queueDelivery'
  | 'setDelivery'
  | 'takeDueNotices'
> & {
  /** The position of the new row; `null`, and nothing stored, when its account is not there or its root was closed. */
  put(record: NewRecord): number | null;
  /** That a record is under the root which these sealed bytes name. */
  noteRoot(sealed: Uint8Array, until: UnixSeconds): void;
  /** Whether this claim took the secret. */
  claim(now: UnixSeconds, target: LocatedClaim): boolean;
  /** What was kept in memory about a transaction is void: it was rolled back. */
  forget(): void;
};

const insertRecord = `
  INSERT INTO records (state, row_version, owner, created_at, expires_at, receipt_expires_at, ended_at, viewed_at,
    sweep_at, delivery, delivery_at, marks, root_kid, secret_hint, receipt_hint, secret_id, receipt_id,
    share_domain, details_box, recent_box, creator_box, sealed_secret)
  SELECT 'w', 1, ?1, ?2, ?3, ?4, ?3, ?4, ?3, ?5, ?2, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, x'', ?15
  WHERE ?7 >= (SELECT kid FROM root_floor)`;

/**
 * Who burned it, in the same step and without another column: one of the record's own later times in `delivery_at`, where the time of
 * its creation was, so that the row keeps its size (see looks.ts). Burns by neither of the two, and by earlier versions, leave it.
 */
const burnerTimes: Readonly<Record<Burner, string>> = {
  creator: 'expires_at',
  recipient: 'receipt_expires_at',
};

export type OwnTimes = Pick<KeptReceipt, 'state' | 'delivery_at' | 'expires_at' | 'receipt_expires_at'>;

export function burnerOf({
  state,
  delivery_at: at,
  expires_at,
  receipt_expires_at,
}: OwnTimes): Burner | null {
  if (state !== 'b') return null;
  return at === receipt_expires_at ? 'recipient' : at === expires_at ? 'creator' : null;
}

/** The one way a waiting secret ends before its time, at `?1`; the condition is the caller's. */
export const endRecord = (state: 'r' | 'b', burner: Burner | null = null) => `
  UPDATE records SET state = '${state}', ended_at = ?1,${burner === null ? '' : ` delivery_at = ${burnerTimes[burner]},`}
    creator_box = zeroblob(length(creator_box)), sealed_secret = zeroblob(length(sealed_secret))`;

const claimRecord = `${endRecord('r')}
  WHERE position = ?2 AND secret_id = ?3 AND row_version = ?4 AND state = 'w' AND expires_at > ?1`;

const burnRecord = `${endRecord('b', 'creator')}
  WHERE position = ?2 AND receipt_id = ?3 AND state = 'w' AND expires_at > ?1`;

const burnFoundRecord = `${endRecord('b', 'recipient')}
  WHERE position = ?2 AND secret_id = ?3 AND row_version = ?4 AND state = 'w' AND expires_at > ?1`;

const endLookAtReceipt = `${eraseLook} WHERE position = ?1 AND receipt_id = ?2 AND ${holdsLook}`;

const selectBatch = `
  SELECT max(position) AS upto, count(*) AS looked
  FROM (SELECT position FROM records WHERE position > ?1 ORDER BY position LIMIT ?2)`;

const burnBatch = `${endRecord('b')}
  WHERE position > ?2 AND position <= ?3 AND state = 'w' AND expires_at > ?4`;

const endLooksInBatch = `${eraseLook} WHERE position > ?1 AND position <= ?2 AND ${holdsLook}`;

const viewRecord = `
  UPDATE records SET viewed_at = min(viewed_at, ?1)
  WHERE position = ?2 AND receipt_id = ?3 AND state = 'w' AND expires_at > ?1
  RETURNING viewed_at`;

/** A row that would change its size, or has another root by now, is left alone (see 001-records.sql). */
const changeExpiry = `
  UPDATE records SET expires_at = ?5, ended_at = ?5, sweep_at = ?5, receipt_expires_at = ?6,
    viewed_at = iif(viewed_at = receipt_expires_at, ?6, viewed_at), sealed_secret = ?7
  WHERE position = ?2 AND receipt_id = ?3 AND state = 'w' AND expires_at > ?1 AND expires_at = ?4
    AND length(sealed_secret) = length(?7) AND ${namedRoot} = substr(?7, 2, 2)
  RETURNING secret_id`;

/** `row_version` stays: whoever has proven a link by the bytes before still claims (P3). */
const changeWrapping = `
  UPDATE records SET sealed_secret = ?4
  WHERE position = ?1 AND secret_id = ?2 AND (state = 'w' OR (${holdsLook}))
    AND sealed_secret = ?3 AND length(?4) = length(?3)
  RETURNING expires_at`;

export function createRecordWrites(db: Database): RecordWrites {
  const insert = db.query(insertRecord);
  const owner = db.query('SELECT 1 FROM accounts WHERE id = ?1');
  const claim = db.query(claimRecord);
  const burn = db.query(burnRecord);
  const burnFound = db.query(burnFoundRecord);
  const endLook = db.query(endLookAtReceipt);
  const endLooks = db.query(endLooksInBatch);
  const batch = db.query<{ upto: number | null; looked: number }, [number, number]>(selectBatch);
  const burnTogether = db.query(burnBatch);
  const view = db.query<{ viewed_at: UnixSeconds }, [number, number, Uint8Array]>(viewRecord);
  const expiry = db.query<
    { secret_id: Uint8Array },
    [number, number, Uint8Array, number, number, number, Uint8Array]
  >(changeExpiry);
  const wrapping = db.query<{ expires_at: UnixSeconds }, [number, Uint8Array, Uint8Array, Uint8Array]>(
    changeWrapping,
  );
  const closing = db.query('SELECT 1 FROM root_floor WHERE kid > ?1');
  const guesses = db.query('UPDATE attempt_lives SET ends_at = ?1 WHERE secret_id = ?2');
  const { queue, keepNotice, forgetNotice, queueDelivery, setDelivery, takeDueNotices } =
    createMailWrites(db);
  const { keepMemo, setMemo } = createMemoWrites(db);
  const rootUses = createRootUses(db);

  return {
    put(record) {
      if (record.owner !== null && owner.get(record.owner) === null) return null;
      const kid = rootKidOf(record.sealedSecret) ?? 0;
      const { changes, lastInsertRowid } = insert.run(
        record.owner,
        record.createdAt,
        record.expiresAt,
        record.receiptExpiresAt,
        letterAtCreation(record.deliveryStaleAt),
        bitsOf(record),
        kid,
        hintOf(record.secretId),
        hintOf(record.receiptId),
        record.secretId,
        record.receiptId,
        record.shareDomain,
        record.detailsBox,
        record.recentBox,
        record.sealedSecret,
      );
      if (changes === 0) return null;
      rootUses.note(kid, record.expiresAt);
      const position = Number(lastInsertRowid);
      if (record.deliveryStaleAt !== null) queue(position, record.createdAt, record.deliveryStaleAt);
      if (record.noticeDueAt !== null) keepNotice(position, record.noticeDueAt);
      if (record.memoBox !== null) keepMemo(position, record.memoBox);
      return position;
    },
    noteRoot: (sealed, until) => rootUses.note(rootKidOf(sealed) ?? 0, until),
    claim: (now, { position, secretId, rowVersion }) =>
      claim.run(now, position, secretId, rowVersion).changes === 1,
    burn(now, { position, id }) {
      if (burn.run(now, position, id).changes === 1) return now;
      endLook.run(position, id);
      return null;
    },
    burnFound: (now, { position, id }, rowVersion) =>
      burnFound.run(now, position, id, rowVersion).changes === 1 ? now : null,
    burnAll(now, after, limit, earliest) {
      const { upto = null, looked = 0 } = batch.get(after, limit) ?? {};
      const burned = upto === null ? 0 : Number(burnTogether.run(now, after, upto, earliest).changes);
      if (upto !== null) endLooks.run(after, upto);
      return { burned, next: looked === limit ? upto : null };
    },
    markViewed: (now, { position, id }) => view.get(now, position, id)?.viewed_at ?? null,
    setExpiry(now, { position, id }, from, { expiresAt, receiptExpiresAt, noticeDueAt, sealedSecret }) {
      const changed = expiry.get(now, position, id, from, expiresAt, receiptExpiresAt, sealedSecret);
      if (changed === null) return false;
      rootUses.note(rootKidOf(sealedSecret) ?? 0, expiresAt);
      guesses.run(expiresAt, changed.secret_id);
      if (noticeDueAt === null) forgetNotice(position);
      else keepNotice(position, noticeDueAt);
      return true;
    },
    replaceWrapping(_now, { position, id }, from, to) {
      const kid = rootKidOf(to) ?? 0;
      if (closing.get(kid) !== null) return null;
      const replaced = wrapping.get(position, id, from, to);
      if (replaced !== null) rootUses.note(kid, replaced.expires_at);
      return replaced !== null;
    },
    setMemo,
    queueDelivery,
    setDelivery,
    takeDueNotices,
    forget: rootUses.forget,
  };
}
