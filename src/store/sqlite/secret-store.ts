/** Secrets, receipts and looks as the ports ask for them: where a row is, is read first; what becomes of it is decided in a batch. */
import type { Database } from 'bun:sqlite';
import { ServiceError } from '../../core/errors.ts';
import type { ReceiptId, SecretId } from '../../core/keys.ts';
import type { LookStore } from '../../core/look-store.ts';
import type { ClaimTarget, SecretStore } from '../../core/ports.ts';
import type { RotationStore } from '../../core/root-store.ts';
import type { NewRecord } from '../../core/secret.ts';
import type { MachineClock } from '../../core/time.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Locator } from './locator.ts';
import { createLookReads } from './looks.ts';
import type { Reader } from './reader.ts';
import { createRecordReads } from './records.ts';
import type { SharedTime } from './time.ts';

/** Of an open store. */
export interface Parts {
  readonly db: Database;
  readonly queue: CommitQueue;
  readonly locator: Locator;
  readonly clock: MachineClock;
  readonly time: SharedTime;
  readonly reader: Reader;
}

export function recordStore({ db, queue, locator, time, reader }: Parts): Omit<SecretStore, keyof LookStore> {
  const { now } = time;
  const reads = createRecordReads(db, locator);
  const locate = (asked: ReceiptId) =>
    reader.lookUp(asked, (id) => {
      const position = locator.ofReceipt(id);
      return position === null ? null : { id, position };
    });
  /** A target that this process did not find, or a copy of one, has no known place. */
  const placeOf = (target: ClaimTarget, id: SecretId) =>
    reads.knownPlaceOf(target) ?? reader.read(() => locator.ofSecret(id));
  return {
    now,
    async put(record) {
      if ((await queue.decide('put', copyOf(record))) === null)
        throw new ServiceError('unavailable', 'The store refused the record.');
    },
    async claim(target, isAbandoned, look = null) {
      const { rowVersion } = target;
      const secretId = target.secretId.slice() as SecretId;
      const kept = look === null ? {} : { look: structuredClone(look) };
      const position = await placeOf(target, secretId);
      if (position === null) return 'gone';
      const located = { secretId, rowVersion, position, ...kept };
      const outcome = await queue.decideFor(isAbandoned, 'claim', located);
      if (outcome === 'refused') throw new ServiceError('unavailable', 'The store did not take the claim.');
      return outcome;
    },
    // A waiting secret needs no sync: its link was given out after the one that stored it.
    findSecret: (asked) =>
      reader.lookUp(
        asked,
        (id) => reads.findSecret(id, time.earliest()),
        (found) => found !== null,
      ),
    findReceipt: (asked, manager) =>
      reader.lookUp(asked, (id) => reads.findReceipt(id, manager ?? null, time.earliest())),
    listReceipts: (owner, page) => reader.read(() => reads.listReceipts(owner, page, now())),
    async burn(id, isAbandoned) {
      const at = await locate(id);
      return at === null ? null : queue.decideFor(isAbandoned, 'burn', at);
    },
    async burnFound(target, isAbandoned) {
      const { rowVersion } = target;
      const id = target.secretId.slice() as SecretId;
      const position = await placeOf(target, id);
      return position === null
        ? null
        : queue.decideFor(isAbandoned, 'burnFound', { id, position }, rowVersion);
    },
    async burnAll(after, limit) {
      const { burned, next } = await queue.decide('burnAll', Number(after ?? 0), limit, time.earliest());
      return { burned, next: next === null ? null : String(next) };
    },
    async markViewed(id) {
      const at = await locate(id);
      return at === null ? null : queue.decide('markViewed', at);
    },
    async setExpiry(id, from, to) {
      const kept = structuredClone(to);
      const at = await locate(id);
      return at !== null && queue.decide('setExpiry', at, from, kept);
    },
    async setMemo(id, memoBox) {
      const kept = memoBox?.slice() ?? null;
      const at = await locate(id);
      return at !== null && queue.decide('setMemo', at, kept);
    },
    async queueDelivery(id, queued) {
      const kept = structuredClone(queued);
      const at = await locate(id);
      return at === null ? 'gone' : queue.decide('queueDelivery', at, kept);
    },
    async setDelivery(id, delivery) {
      const kept = structuredClone(delivery);
      const at = await locate(id);
      if (at !== null) await queue.decide('setDelivery', at, kept);
    },
    takeDueNotices: (limit) => queue.decide('takeDueNotices', limit),
    async sweep(limit) {
      let touched = 0;
      for (let slice = sliceRows; slice === sliceRows && touched < limit; touched += slice)
        slice = await queue.decide('sweep', Math.min(sliceRows, limit - touched));
      return touched;
    },
    scrub: () => queue.decide('scrub'),
  };
}

/** The event loop stops for a slice, so each is short (P24). */
const sliceRows = 128;

/** The caller may wipe its bytes. Named one by one, because a spread takes six times as long. */
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

export function lookStore({
  db,
  queue,
  locator,
  time,
  reader,
}: Parts): LookStore & Pick<RotationStore, 'findAnyLook'> {
  const reads = createLookReads(db, locator);
  const find = (asked: SecretId, tag: Uint8Array | null) =>
    reader.lookUp(asked, (id) => reads.findLook(id, tag, time.now()));
  const locate = (asked: SecretId) =>
    reader.lookUp(asked, (id) => {
      const position = locator.ofSecret(id);
      return position === null ? null : { id, position };
    });
  return {
    findLook: (id, tag) => find(id, tag.slice()),
    findAnyLook: (id) => find(id, null),
    async takeAnswer(id, tag, isAbandoned) {
      const kept = tag.slice();
      const at = await locate(id);
      const taken = at !== null && (await queue.decideFor(isAbandoned, 'takeAnswer', at, kept));
      return taken === 'abandoned' ? taken : taken ? 'answered' : 'gone';
    },
    async endLook(id, tag) {
      const kept = tag.slice();
      const at = await locate(id);
      if (at !== null) await queue.decide('endLook', at, kept);
    },
  };
}
