/**
 * What a conformance check is, and the fixtures that all checks share. Every record has its own random bytes.
 */
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import type { AccountId } from '../../../src/core/account.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import type { ReceiptId, SecretId } from '../../../src/core/keys.ts';
import type { IsAbandoned } from '../../../src/core/ports/claims.ts';
import type { NewRecord, ReceiptRecord, StoredSecret } from '../../../src/core/secret.ts';
import type { Clock, MachineClock, UnixSeconds } from '../../../src/core/time.ts';
import type { Store } from '../../../src/store/store.ts';

/** A freshly opened, empty store and the means to drive it. */
export interface StoreUnderTest {
  readonly store: Store;
  readonly wallClock: SettableClock;
  /**
   * Opens the same data again without closing it first, as after a crash; absent for a store in memory. `close` closes
   * these too.
   */
  reopen?(): Promise<Store>;
  /**
   * Holds writes until the returned function is called, as when another process is writing; absent for a store where
   * nothing waits.
   */
  holdWrites?(): () => void;
  /** Opens the same data a second time, as another server would. `close` closes these too. */
  openSecond?(): Promise<Store>;
  /**
   * From now on claims are made but not confirmed, as when a replica does not answer; absent for a store in which a
   * claim is either durable or not made.
   */
  holdClaims?(): HeldClaims;
  close(): Promise<void>;
}

/** Decides the claims made in the meantime; from then on claims are confirmed at once. */
export interface HeldClaims {
  confirm(): Promise<void>;
  undo(): Promise<void>;
}

/** Optional abilities of a store under test, which some checks need. */
export type Means = 'reopen' | 'openSecond' | 'holdWrites' | 'holdClaims';

export type OpenStore = () => Promise<StoreUnderTest>;

export interface ConformanceCheck {
  /** A sentence that is true of every store. */
  readonly name: string;
  readonly promise: `P${number}` | 'port';
  readonly needs: readonly Means[];
  /** Rejects when the store breaks the promise. */
  run(open: OpenStore): Promise<void>;
}

/** The clocks of a machine, as a test moves them. */
export interface SettableClock extends MachineClock {
  readonly read: Clock;
  /** Moves both clocks forward. */
  advance(seconds: number): void;
  /** Moves both clocks forward until the wall clock reads `seconds`; refuses the past. */
  set(seconds: UnixSeconds): void;
  /** Moves only the wall clock, forward or back. */
  jump(seconds: number): void;
  /** Restarts the machine, which is back after `downSeconds`. */
  restart(downSeconds: number): void;
}

export const startOfTest: UnixSeconds = 1_800_000_000;
/** Uptime of a test's machine at the start. */
const upSeconds = 5_000;

export function createSettableClock(start: UnixSeconds = startOfTest): SettableClock {
  let [wall, sinceBoot, boots] = [start, upSeconds, 1];
  const advance = (seconds: number): void => {
    if (seconds < 0) throw new RangeError('time does not pass backwards: jump');
    wall += seconds;
    sinceBoot += seconds;
  };
  return {
    wall: () => wall,
    read: () => wall,
    sinceBoot: () => sinceBoot,
    get bootId() {
      return `boot ${boots}`;
    },
    advance,
    set: (seconds) => advance(seconds - wall),
    jump(seconds) {
      wall += seconds;
    },
    restart(downSeconds) {
      wall += downSeconds;
      sinceBoot = 1;
      boots += 1;
    },
  };
}

/** A check of one store, which is closed at the end. */
export function check(
  promise: ConformanceCheck['promise'],
  name: string,
  body: (subject: StoreUnderTest) => Promise<void>,
): ConformanceCheck {
  return { name, promise, needs: [], run: (open) => withStore(open, body) };
}

function checkWith<M extends Means>(needed: M) {
  return (
    promise: ConformanceCheck['promise'],
    name: string,
    body: (subject: StoreUnderTest, means: NonNullable<StoreUnderTest[M]>) => Promise<void>,
  ): ConformanceCheck => {
    const run = (open: OpenStore) => withStore(open, (subject) => body(subject, meansOf(subject, needed)));
    return { name, promise, needs: [needed], run };
  };
}

function meansOf<M extends Means>(subject: StoreUnderTest, needed: M): NonNullable<StoreUnderTest[M]> {
  const means = subject[needed];
  if (means === undefined || means === null) throw new Error(`this check needs a store with ${needed}`);
  return means;
}

/** A check that also reopens the data. */
export const restartCheck = checkWith('reopen');
/** A check that holds writes; the function that `hold` returns releases them. */
export const heldCheck = checkWith('holdWrites');
/** A check of claims that are not confirmed. */
export const unconfirmedCheck = checkWith('holdClaims');

/** The same check through two handles on the same data. */
export function throughTwo(single: ConformanceCheck): ConformanceCheck {
  return {
    ...single,
    name: `${single.name}, through two handles`,
    needs: [...single.needs, 'openSecond'],
    run: (open) =>
      single.run(async () => {
        const subject = await open();
        return { ...subject, store: inTurn(subject.store, await meansOf(subject, 'openSecond')()) };
      }),
  };
}

/** Alternates calls in Thue–Morse order: it has no period, so both stores get calls of every kind. */
function inTurn(one: Store, other: Store): Store {
  let calls = 0;
  const get = (_target: Store, name: string | symbol): unknown => {
    const ones = calls.toString(2).replaceAll('0', '').length;
    calls += 1;
    return Reflect.get(ones % 2 === 0 ? one : other, name);
  };
  return new Proxy(one, { get });
}

async function withStore(open: OpenStore, body: (subject: StoreUnderTest) => Promise<void>): Promise<void> {
  const subject = await open();
  try {
    await body(subject);
  } finally {
    await subject.close();
  }
}

/** Expects a refusal as `unavailable`, and returns it. */
export async function refusalOf(asking: Promise<unknown>, otherwise: string): Promise<ServiceError> {
  const error = await asking.then(
    () => null,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ServiceError, otherwise);
  assert.equal(error.code, 'unavailable');
  return error;
}

/** For a claim or burn whose client stays connected. */
export const clientStays: IsAbandoned = () => false;

export const newSecretId = (): SecretId => new Uint8Array(randomBytes(16)) as SecretId;
export const newReceiptId = (): ReceiptId => new Uint8Array(randomBytes(16)) as ReceiptId;

export const ttlSeconds = 3_600;

/** A record as creation makes it, with a recent box if it has an owner, wrapped under root `kid`, expiring `ttlSeconds` after `now`. */
export function newRecord(now: UnixSeconds, changes: Partial<NewRecord> = {}, kid = 1): NewRecord {
  return {
    secretId: newSecretId(),
    receiptId: newReceiptId(),
    owner: null,
    createdAt: now,
    expiresAt: now + ttlSeconds,
    receiptExpiresAt: now + 2 * ttlSeconds,
    hasPassphrase: false,
    sealed: false,
    verify: false,
    shareDomain: '',
    sealedSecret: new Uint8Array([2, kid >> 8, kid & 255, ...randomBytes(300)]),
    detailsBox: null,
    recentBox: changes.owner == null ? null : new Uint8Array(randomBytes(120)),
    memoBox: null,
    deliveryStaleAt: null,
    notify: [],
    noticeDueAt: null,
    hold: null,
    ...changes,
  };
}

/** A record with every optional part set. */
export function fullRecord(now: UnixSeconds, owner: AccountId): NewRecord {
  return newRecord(now, {
    owner,
    hasPassphrase: true,
    sealed: true,
    verify: true,
    shareDomain: 'share.example.org',
    detailsBox: new Uint8Array(randomBytes(60)),
    recentBox: new Uint8Array(randomBytes(120)),
    memoBox: new Uint8Array(randomBytes(300)),
    deliveryStaleAt: now + 60,
    notify: ['read', 'expiring'],
    noticeDueAt: now + ttlSeconds / 2,
  });
}

/** Stores a fresh record and returns it. */
export async function putNew(store: Store, changes: Partial<NewRecord> = {}, kid = 1): Promise<NewRecord> {
  const record = newRecord(store.now(), changes, kid);
  await store.put(record);
  return record;
}

/** The live secret; rejects when it cannot be found. */
export async function found(store: Store, id: SecretId): Promise<StoredSecret> {
  const secret = await store.findSecret(id);
  assert.ok(secret !== null, 'a live secret was not found');
  return secret;
}

/** The newest receipts of an account, without their cursors; rejects when the store refuses to list them. */
export async function recentOf(
  store: Pick<Store, 'listReceipts'>,
  owner: AccountId,
  limit = 10,
): Promise<ReceiptRecord[]> {
  const listed = await store.listReceipts(owner, { limit, after: null });
  assert.ok(listed !== null, 'the first page of a recent list was refused');
  return listed.map(({ cursor: _cursor, ...receipt }) => receipt);
}

export const countOf = <T>(items: readonly T[], wanted: T): number =>
  items.filter((item) => item === wanted).length;
