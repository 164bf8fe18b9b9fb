/**
 * Secrets and their receipts in memory.
 *
 * A secret and its receipt are one record with one state: a receipt cannot disagree with its secret (P6), and a burn and
 * a claim cannot both win (P7). Bytes are copied on the way in and out, because callers wipe theirs.
 */

import type { AccountId } from '../../../src/core/account.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import type { ReceiptId, SecretId } from '../../../src/core/keys.ts';
import type { OwnedCounts } from '../../../src/core/ports/accounts.ts';
import type { ClaimOutcome } from '../../../src/core/ports/claims.ts';
import type { LookStore, NewLook, StoredLook } from '../../../src/core/ports/looks.ts';
import { type OlderRootsBatch, rootKidOf } from '../../../src/core/ports/roots.ts';
import type { SecretStore } from '../../../src/core/ports/secrets.ts';
import {
  isWaiting,
  type NewRecord,
  type ReceiptRecord,
  type StoredDelivery,
  type StoredReceipt,
  type StoredSecret,
  type StoredState,
} from '../../../src/core/secret.ts';
import type { UnixSeconds } from '../../../src/core/time.ts';
import type { Burner } from '../../../src/protocol/vocabulary.ts';
import { deliveryAt } from '../../../src/store/store.ts';
import type { StoreTime } from '../../../src/store/store-time.ts';
import { assertFits, lookMethods, type MemoryLook } from './looks.ts';
import { type IsAccount, takeDueNotices } from './mail.ts';
import { listUnderOlderRoots, replaceWrapping, rootKidsInUse } from './roots.ts';

interface MemoryRecord
  extends Omit<
    NewRecord,
    'sealedSecret' | 'recentBox' | 'memoBox' | 'deliveryStaleAt' | 'noticeDueAt' | 'hold'
  > {
  readonly position: number;
  readonly rowVersion: number;
  state: StoredState;
  sealedSecret: Uint8Array | null;
  look: MemoryLook | null;
  recentBox: Uint8Array | null;
  memoBox: Uint8Array | null;
  viewedAt: UnixSeconds | null;
  endedAt: UnixSeconds | null;
  burnedBy: Burner | null;
  delivery: StoredDelivery | null;
  /** `null` also once it was given out or forgotten. */
  noticeDueAt: UnixSeconds | null;
}

interface Batch {
  readonly after: number;
  readonly limit: number;
}

interface EndedBatch {
  readonly burned: number;
  readonly upto: number;
  readonly isLast: boolean;
}

export interface MemorySecrets {
  readonly store: SecretStore;
  countExpiringBy(at: UnixSeconds): number;
  countOwned(owner: AccountId): OwnedCounts;
  /** `null` for an unknown secret. */
  lifeOf(id: SecretId): Pick<MemoryRecord, 'state' | 'expiresAt'> | null;
  rootKidsInUse(): number[];
  firstOpenRoot(): number;
  listUnderOlderRoots(kid: number, after: string | null, limit: number): OlderRootsBatch;
  findAnyLook(id: SecretId): Promise<StoredLook | null>;
  replaceWrapping(id: SecretId, from: Uint8Array, to: Uint8Array): boolean;
  closeRootsBefore(kid: number): void;
  /** All of them, before the time is set. */
  endLooks(): void;
  /** Burns the waiting secrets in one batch of an account's records, in order, and erases their recent boxes and memos. */
  endOwned(owner: AccountId, batch: Batch): EndedBatch;
}

/** A Map key for an id: bytes do not compare by content. */
const textOf = (id: Uint8Array): string => Buffer.from(id).toString('latin1');
const copyOf = (bytes: Uint8Array | null): Uint8Array | null => (bytes === null ? null : bytes.slice());

function toRecord(record: NewRecord, position: number): MemoryRecord {
  const { deliveryStaleAt, hold: _hold, ...rest } = record;
  return {
    ...rest,
    secretId: record.secretId.slice() as SecretId,
    receiptId: record.receiptId.slice() as ReceiptId,
    sealedSecret: record.sealedSecret.slice(),
    look: null,
    detailsBox: copyOf(record.detailsBox),
    recentBox: copyOf(record.recentBox),
    memoBox: copyOf(record.memoBox),
    position,
    rowVersion: 1,
    state: 'waiting',
    viewedAt: null,
    endedAt: null,
    burnedBy: null,
    delivery: deliveryStaleAt === null ? null : queuedAtCreation(record.createdAt, deliveryStaleAt),
  };
}

const queuedAtCreation = (at: UnixSeconds, staleAt: UnixSeconds): StoredDelivery => {
  return { state: 'queued', at, staleAt, noteBox: null, addressBox: null };
};

function toSecret(record: MemoryRecord, sealedSecret: Uint8Array): StoredSecret {
  const { rowVersion, owner, createdAt, expiresAt, shareDomain, notify } = record;
  const { hasPassphrase, sealed, verify } = record;
  return {
    ...{ rowVersion, owner, createdAt, expiresAt, shareDomain, notify, hasPassphrase, sealed, verify },
    secretId: record.secretId.slice() as SecretId,
    sealedSecret: sealedSecret.slice(),
  };
}

function toReceipt(record: MemoryRecord, now: UnixSeconds): StoredReceipt {
  const { position: _position, rowVersion: _rowVersion, ...known } = record;
  const { noticeDueAt: _noticeDueAt, look: _look, ...rest } = known;
  return {
    ...rest,
    secretId: record.secretId.slice() as SecretId,
    receiptId: record.receiptId.slice() as ReceiptId,
    sealedSecret: isWaiting(record, now) ? copyOf(record.sealedSecret) : null,
    creatorBox: null,
    detailsBox: copyOf(record.detailsBox),
    recentBox: copyOf(record.recentBox),
    memoBox: copyOf(record.memoBox),
    delivery: toDelivery(record, now),
  };
}

function withoutSealed(receipt: StoredReceipt): ReceiptRecord {
  const { sealedSecret: _sealedSecret, creatorBox: _creatorBox, ...listed } = receipt;
  return listed;
}

const cursorOf = ({ position }: MemoryRecord): string => `after ${position}`;

function positionIn(cursor: string): number | null {
  const [, digits] = /^after ([0-9]+)$/.exec(cursor) ?? [];
  return digits === undefined ? null : Number(digits);
}

/** The address goes with the secret (P11). */
function toDelivery(record: MemoryRecord, now: UnixSeconds): StoredDelivery | null {
  const delivery = deliveryAt(record.delivery, now);
  if (delivery === null) return null;
  const addressBox = isWaiting(record, now) ? copyOf(delivery.addressBox) : null;
  return { ...delivery, noteBox: copyOf(delivery.noteBox), addressBox };
}

/** All records, by both of their ids. */
class RecordTable {
  readonly #bySecretId = new Map<string, MemoryRecord>();
  readonly #byReceiptId = new Map<string, MemoryRecord>();
  #lastPosition = 0;
  /** No record is stored under a root before this one. */
  rootFloor = 0;

  closeRootsBefore(kid: number): void {
    this.rootFloor = Math.max(this.rootFloor, kid);
  }

  assertOpen(sealedSecret: Uint8Array): void {
    if ((rootKidOf(sealedSecret) ?? 0) < this.rootFloor)
      throw new ServiceError('unavailable', 'The root of the record was closed.');
  }

  insert(newRecord: NewRecord): void {
    this.#lastPosition += 1;
    const record = toRecord(newRecord, this.#lastPosition);
    this.#bySecretId.set(textOf(record.secretId), record);
    this.#byReceiptId.set(textOf(record.receiptId), record);
  }

  ofSecret(id: SecretId): MemoryRecord | null {
    return this.#bySecretId.get(textOf(id)) ?? null;
  }

  /** The record while its receipt lives. */
  ofReceipt(id: ReceiptId, now: UnixSeconds): MemoryRecord | null {
    const record = this.#byReceiptId.get(textOf(id));
    return record !== undefined && now < record.receiptExpiresAt ? record : null;
  }

  all(): MemoryRecord[] {
    return [...this.#byReceiptId.values()];
  }

  delete(record: MemoryRecord): void {
    this.#bySecretId.delete(textOf(record.secretId));
    this.#byReceiptId.delete(textOf(record.receiptId));
  }
}

/** The only way to end a waiting secret early: state and erasure in one step. Returns the time, or `null`. */
function end(
  record: MemoryRecord | null,
  state: 'received' | 'burned',
  now: UnixSeconds,
  look: NewLook | null = null,
): UnixSeconds | null {
  if (record === null) return null;
  if (state === 'burned') record.look = null;
  if (!isWaiting(record, now)) return null;
  if (look !== null) {
    assertFits(record, look, now);
    record.look = { sealed: look.sealedLook.slice(), until: look.until };
  }
  record.state = state;
  record.endedAt = now;
  record.sealedSecret = null;
  return now;
}

/** Erases what this record may no longer hold at `now`; returns whether there was anything. */
function erase(table: RecordTable, record: MemoryRecord, now: UnixSeconds): boolean {
  if (now >= record.receiptExpiresAt) {
    table.delete(record);
    return true;
  }
  const isLookOver = record.look !== null && now >= record.look.until;
  if (isLookOver) record.look = null;
  if (now < record.expiresAt || record.sealedSecret === null) return isLookOver;
  record.sealedSecret = null;
  return true;
}

function burnBy(burner: Burner, record: MemoryRecord | null, now: UnixSeconds): UnixSeconds | null {
  const burnedAt = end(record, 'burned', now);
  if (record !== null && burnedAt !== null) record.burnedBy = burner;
  return burnedAt;
}

type SecretMethods = LookStore &
  Pick<SecretStore, 'now' | 'put' | 'findSecret' | 'claim' | 'burnFound' | 'sweep' | 'scrub'>;

function secretMethods(
  table: RecordTable,
  time: Pick<StoreTime, 'now' | 'earliest'>,
  isAccount: IsAccount,
): SecretMethods & Pick<MemorySecrets, 'findAnyLook'> {
  return {
    ...lookMethods({ ofSecret: (id) => table.ofSecret(id), toSecret, now: time.now }),
    now: time.now,
    async put(record) {
      if (record.owner !== null && !isAccount(record.owner)) {
        throw new ServiceError('unavailable', 'The account of the record is not there.');
      }
      table.assertOpen(record.sealedSecret);
      table.insert(record);
    },
    async findSecret(id) {
      const record = table.ofSecret(id);
      if (record === null || !isWaiting(record, time.earliest()) || record.sealedSecret === null) return null;
      return toSecret(record, record.sealedSecret);
    },
    async claim(secret, isAbandoned, look = null): Promise<ClaimOutcome> {
      if (isAbandoned()) return 'abandoned';
      const record = table.ofSecret(secret.secretId);
      if (record?.rowVersion !== secret.rowVersion) return 'gone';
      return end(record, 'received', time.now(), look) === null ? 'gone' : 'won';
    },
    async burnFound(secret, isAbandoned) {
      if (isAbandoned()) return 'abandoned';
      const record = table.ofSecret(secret.secretId);
      const waits = record?.state === 'waiting' && record.rowVersion === secret.rowVersion;
      return waits ? burnBy('recipient', record, time.now()) : null;
    },
    async sweep(limit) {
      let touched = 0;
      for (const record of table.all()) {
        if (touched < limit && erase(table, record, time.now())) touched += 1;
      }
      return touched;
    },
    scrub: async () => true,
  };
}

type ReceiptMethods = Omit<SecretStore, keyof SecretMethods>;

function receiptMethods(
  table: RecordTable,
  time: Pick<StoreTime, 'now' | 'earliest'>,
  isAccount: IsAccount,
): ReceiptMethods {
  return {
    async findReceipt(id, manager) {
      const record = table.ofReceipt(id, time.earliest());
      const isOthers = manager !== undefined && record?.owner !== null && record?.owner !== manager;
      return record === null || isOthers ? null : toReceipt(record, time.earliest());
    },
    findLives: async (ids) =>
      ids.map((id) => {
        const record = table.ofReceipt(id, time.earliest());
        if (record === null) return null;
        const { state, createdAt, expiresAt, receiptExpiresAt } = record;
        return { state, createdAt, expiresAt, receiptExpiresAt };
      }),
    async burnAll(after, limit) {
      const later = [...table.all()].filter(({ position }) => position > Number(after ?? 0));
      const batch = later.sort((a, b) => a.position - b.position).slice(0, limit);
      const last = batch.at(-1);
      const next = last === undefined || batch.length < limit ? null : String(last.position);
      const burned = batch.filter((record) => end(record, 'burned', time.earliest()) !== null);
      return { burned: burned.length, next };
    },
    async burn(id, isAbandoned) {
      if (isAbandoned()) return 'abandoned';
      return burnBy('creator', table.ofReceipt(id, time.now()), time.now());
    },
    async markViewed(id) {
      const record = table.ofReceipt(id, time.now());
      if (record === null || !isWaiting(record, time.now())) return null;
      record.viewedAt ??= time.now();
      return record.viewedAt;
    },
    async setExpiry(id, from, to) {
      const record = table.ofReceipt(id, time.now());
      if (record === null || !isWaiting(record, time.now()) || record.expiresAt !== from) return false;
      if (record.sealedSecret === null || rootKidOf(record.sealedSecret) !== rootKidOf(to.sealedSecret))
        return false;
      Object.assign(record, { ...to, sealedSecret: to.sealedSecret.slice() });
      return true;
    },
    async setMemo(id, memoBox) {
      const record = table.ofReceipt(id, time.now());
      if (record === null) return false;
      record.memoBox = copyOf(memoBox);
      return true;
    },
    async queueDelivery(id, { staleAt, noteBox, addressBox }) {
      const now = time.now();
      const record = table.ofReceipt(id, now);
      if (record === null || !isWaiting(record, now)) return 'gone';
      if (deliveryAt(record.delivery, now)?.state === 'queued') return 'in_flight';
      const [note, address] = [copyOf(noteBox), copyOf(addressBox)];
      record.delivery = { state: 'queued', at: now, staleAt, noteBox: note, addressBox: address };
      return 'queued';
    },
    async setDelivery(id, { state, staleAt, noteBox, addressBox }) {
      const record = table.ofReceipt(id, time.now());
      if (record === null) return;
      const [note, address] = [copyOf(noteBox), copyOf(addressBox)];
      record.delivery = { state, at: time.now(), staleAt, noteBox: note, addressBox: address };
    },
    takeDueNotices: async (limit) => takeDueNotices(table.all(), isAccount, limit, time.now()),
    async listReceipts(owner: AccountId, page) {
      const before = page.after === null ? Number.POSITIVE_INFINITY : positionIn(page.after);
      if (before === null) return null;
      const now = time.now();
      return table
        .all()
        .filter(
          (record) =>
            record.owner === owner &&
            record.recentBox !== null &&
            record.position < before &&
            now < record.receiptExpiresAt,
        )
        .sort((a, b) => b.position - a.position)
        .slice(0, page.limit)
        .map((record) => ({ ...withoutSealed(toReceipt(record, now)), cursor: cursorOf(record) }));
    },
  };
}

function endOwned(
  table: RecordTable,
  owner: AccountId,
  { after, limit }: Batch,
  now: UnixSeconds,
): EndedBatch {
  const batch = table
    .all()
    .filter((record) => record.owner === owner && record.position > after)
    .sort((a, b) => a.position - b.position)
    .slice(0, limit);
  for (const record of batch) {
    record.recentBox = null;
    record.memoBox = null;
  }
  const burned = batch.filter((record) => end(record, 'burned', now) !== null).length;
  return { burned, upto: batch.at(-1)?.position ?? after, isLast: batch.length < limit };
}

export function createMemorySecrets(
  time: Pick<StoreTime, 'now' | 'earliest'>,
  isAccount: IsAccount,
): MemorySecrets {
  const table = new RecordTable();
  const { findAnyLook, ...secrets } = secretMethods(table, time, isAccount);
  return {
    store: { ...secrets, ...receiptMethods(table, time, isAccount) },
    findAnyLook,
    countExpiringBy: (at) =>
      table.all().filter((each) => isWaiting(each, time.now()) && !isWaiting(each, at)).length,
    countOwned(owner) {
      const owned = table.all().filter((each) => each.owner === owner);
      const waiting = owned.filter((each) => isWaiting(each, time.now()));
      return { waiting: waiting.length, receipts: owned.length };
    },
    lifeOf: (id) => table.ofSecret(id),
    rootKidsInUse: () => rootKidsInUse(table.all(), time.earliest()),
    firstOpenRoot: () => table.rootFloor,
    listUnderOlderRoots: (kid, after, limit) =>
      listUnderOlderRoots(table.all(), kid, { after: Number(after ?? 0), limit }, time.earliest()),
    replaceWrapping(id, from, to) {
      table.assertOpen(to);
      return replaceWrapping(table.ofSecret(id), from, to);
    },
    endLooks() {
      for (const record of table.all()) record.look = null;
    },
    closeRootsBefore: (kid) => table.closeRootsBefore(kid),
    endOwned: (owner, batch) => endOwned(table, owner, batch, time.now()),
  };
}
