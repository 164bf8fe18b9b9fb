/**
 * Stores and finds secrets, and changes their expiry.
 *
 * A read changes nothing (P4). A look-up runs the same statements regardless of what happened to the secret (P17), and has finished them
 * when it returns (see reader.ts). Only a delete changes a row's size (see 001-records.sql).
 */
import type { Database } from 'bun:sqlite';
import { ServiceError } from '../../core/errors.ts';
import type { ReceiptId, SecretId } from '../../core/keys.ts';
import type { ClaimTarget } from '../../core/ports/claims.ts';
import type { LookStore } from '../../core/ports/looks.ts';
import { rootKidOf } from '../../core/ports/roots.ts';
import type { SecretStore } from '../../core/ports/secrets.ts';
import type { NewRecord, StoredSecret } from '../../core/secret.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { bitsOf } from '../flags.ts';
import { type SecretRow, secretColumns, toSecret } from '../record-rows.ts';
import { claimStore } from './claims.ts';
import type { Deciding } from './decisions.ts';
import { hintOf, type Locator, rowAmong } from './locator.ts';
import { createMailWrites, letterAtCreation, mailStore } from './mail.ts';
import { decideAtReceipt, type Parts } from './parts.ts';
import { createReceiptWrites, receiptStore } from './receipts.ts';
import { namedRoot, type RootUses } from './roots.ts';

const selectSecret = `
  SELECT position, ${secretColumns}, sealed_secret AS sealedSecret FROM records
  WHERE position = ?1 AND secret_id = ?2 AND state = 'w' AND expires_at > ?3`;

export function createSecretReads(db: Database, locator: Locator) {
  const secret = db.query<SecretRow & { position: number }, [number, Uint8Array, number]>(selectSecret);
  const places = new WeakMap<ClaimTarget, number>();
  return {
    findSecret(id: SecretId, now: UnixSeconds): StoredSecret | null {
      const row = rowAmong(locator.placesOfSecret(id), (place) => secret.get(place, id, now));
      if (row === null) return null;
      const found = toSecret(id, row);
      places.set(found, row.position);
      return found;
    },
    /** Returns the position of a secret that `findSecret` returned. Positions are never reused. */
    knownPlaceOf: (target: ClaimTarget) => places.get(target),
  };
}

const insertRecord = `
  INSERT INTO records (state, row_version, owner, created_at, expires_at, receipt_expires_at, ended_at, viewed_at,
    sweep_at, delivery, delivery_at, marks, root_kid, secret_hint, receipt_hint, secret_id, receipt_id,
    share_domain, details_box, recent_box, creator_box, sealed_secret)
  SELECT 'w', 1, ?1, ?2, ?3, ?4, ?3, ?4, ?3, ?5, ?2, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, x'', ?15
  WHERE ?7 >= (SELECT kid FROM root_floor)`;

/** Skips a row whose size would change, or whose root has changed since (see 001-records.sql). */
const changeExpiry = `
  UPDATE records SET expires_at = ?5, ended_at = ?5, sweep_at = ?5, receipt_expires_at = ?6,
    viewed_at = iif(viewed_at = receipt_expires_at, ?6, viewed_at), sealed_secret = ?7
  WHERE position = ?2 AND receipt_id = ?3 AND state = 'w' AND expires_at > ?1 AND expires_at = ?4
    AND length(sealed_secret) = length(?7) AND ${namedRoot} = substr(?7, 2, 2)
  RETURNING secret_id`;

export type SecretWrites = Deciding<'setExpiry'> & {
  /** Returns the new row's position, or `null`, storing nothing, if its account does not exist or its root is closed. */
  put(record: NewRecord): number | null;
};

export function createSecretWrites(db: Database, roots: RootUses): SecretWrites {
  const insert = db.query(insertRecord);
  const owner = db.query('SELECT 1 FROM accounts WHERE id = ?1');
  const expiry = db.query<
    { secret_id: Uint8Array },
    [number, number, Uint8Array, number, number, number, Uint8Array]
  >(changeExpiry);
  const guesses = db.query(
    "UPDATE attempt_lives SET ends_at = ?1 WHERE secret_id BETWEEN ?2 AND CAST(?2 || x'ff' AS BLOB)",
  );
  const { queue, keepNotice, forgetNotice } = createMailWrites(db);
  const { keepMemo } = createReceiptWrites(db);

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
      roots.extend(kid, record.expiresAt);
      const position = Number(lastInsertRowid);
      if (record.deliveryStaleAt !== null) queue(position, record.createdAt, record.deliveryStaleAt);
      if (record.noticeDueAt !== null) keepNotice(position, record.noticeDueAt);
      if (record.memoBox !== null) keepMemo(position, record.memoBox);
      return position;
    },
    setExpiry(now, { position, id }, from, { expiresAt, receiptExpiresAt, noticeDueAt, sealedSecret }) {
      const changed = expiry.get(now, position, id, from, expiresAt, receiptExpiresAt, sealedSecret);
      if (changed === null) return false;
      roots.extend(rootKidOf(sealedSecret) ?? 0, expiresAt);
      guesses.run(expiresAt, changed.secret_id);
      if (noticeDueAt === null) forgetNotice(position);
      else keepNotice(position, noticeDueAt);
      return true;
    },
  };
}

/** Secrets, with their claims, receipts and mail. */
export function secretStore(parts: Parts) {
  const { db, queue, locator, time, reader } = parts;
  const reads = createSecretReads(db, locator);
  return {
    now: time.now,
    ...claimStore(parts, reads.knownPlaceOf),
    ...receiptStore(parts),
    ...mailStore(parts),
    async put(record) {
      if ((await queue.decide('put', copyOf(record))) === null)
        throw new ServiceError('unavailable', 'The store refused the record.');
    },
    // A waiting secret needs no sync: its link was given out only after the sync that stored it.
    findSecret: (asked) =>
      reader.lookUp(
        asked,
        (id) => reads.findSecret(id, time.earliest()),
        (found) => found !== null,
      ),
    setExpiry: decideAtReceipt(parts)('setExpiry', false),
    async sweep(limit) {
      let touched = 0;
      for (let slice = sliceRows; slice === sliceRows && touched < limit; touched += slice)
        slice = await queue.decide('sweep', Math.min(sliceRows, limit - touched));
      return touched;
    },
    scrub: () => queue.decide('scrub'),
  } satisfies Omit<SecretStore, keyof LookStore>;
}

/** A slice blocks the event loop, so each is short (P24). */
const sliceRows = 128;

/** Copies the record, because the caller may wipe its bytes. Lists the fields, because a spread takes six times as long. */
function copyOf(record: NewRecord): NewRecord {
  const { hold } = record;
  return {
    secretId: record.secretId.slice() as SecretId,
    receiptId: record.receiptId.slice() as ReceiptId,
    owner: record.owner,
    createdAt: record.createdAt,
    expiresAt: record.expiresAt,
    receiptExpiresAt: record.receiptExpiresAt,
    hasPassphrase: record.hasPassphrase,
    sealed: record.sealed,
    verify: record.verify,
    shareDomain: record.shareDomain,
    notify: record.notify,
    deliveryStaleAt: record.deliveryStaleAt,
    noticeDueAt: record.noticeDueAt,
    sealedSecret: record.sealedSecret.slice(),
    detailsBox: record.detailsBox?.slice() ?? null,
    recentBox: record.recentBox?.slice() ?? null,
    memoBox: record.memoBox?.slice() ?? null,
    hold: hold && structuredClone(hold),
  };
}
