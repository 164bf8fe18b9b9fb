import type { StoredTicket, TicketLimits } from '../core/account.ts';
import type { AccountStore } from '../core/ports/accounts.ts';
import type { AttemptLimits, AttemptStore, Exhausted, Lock } from '../core/ports/attempts.ts';
import type { StoreClock } from '../core/ports/clock.ts';
import { type CodeStore, codeSeconds, type StoredCode } from '../core/ports/codes.ts';
import type { CreationStore } from '../core/ports/creations.ts';
import type { DomainStore } from '../core/ports/domains.ts';
import type { EpochStore } from '../core/ports/epochs.ts';
import type { RequestStore } from '../core/ports/requests.ts';
import type { RootStore, RotationStore } from '../core/ports/roots.ts';
import type { RoomStore, SecretStore } from '../core/ports/secrets.ts';
import type { StoredDelivery } from '../core/secret.ts';
import type { UnixSeconds } from '../core/time.ts';

export interface Store
  extends SecretStore,
    AttemptStore,
    CodeStore,
    AccountStore,
    DomainStore,
    RootStore,
    RotationStore,
    RoomStore,
    CreationStore,
    RequestStore,
    EpochStore,
    StoreClock {
  /** Excludes reusable free space; 0 for a store without a limit. */
  usedBytes(): Promise<number>;
}

/** A stale `queued` delivery has outlived its process, so nothing will send it: the receipt shows `not_sent`. */
export function deliveryAt(delivery: StoredDelivery | null, now: UnixSeconds): StoredDelivery | null {
  if (delivery?.state !== 'queued') return delivery;
  const staleAt = delivery.staleAt ?? delivery.at;
  return now < staleAt ? delivery : { ...delivery, state: 'not_sent', at: staleAt, staleAt: null };
}

/** Works like `deliveryAt`: no mail with a code that has ended is still sent. */
export const codeAt = ({ at, state }: StoredCode, now: UnixSeconds): StoredCode => ({
  at,
  state: state === 'queued' && now >= at + codeSeconds ? 'not_sent' : state,
});

/** How long a finished deletion is kept, so that late callers still get the full count. */
export const finishedDeletionSeconds = 3_600;

/**
 * - `network_filesystem`: the folder's file system has unreliable locks and fsync.
 * - `unsafe_setting`: a durability or erasure setting did not take effect.
 * - `newer_schema`: a later version of this service wrote the data.
 * - `foreign_database`: another program's database.
 * - `not_a_store`: a backup in place of a store, or the reverse.
 * - `damaged`: not an intact database.
 * - `not_writable`: the folder or the file cannot be created, read or written.
 * - `older_server`: a server of an earlier version is running on the store, and would not follow the upgrade.
 * - `away`: the engine's server is unreachable or does not confirm commits; this may resolve by itself.
 * - `standby`: the address leads to a standby, as during a failover.
 * - `unreachable`: the engine's server denies us access.
 * - `restored`: a restored backup or a copy, whose waiting secrets may have been opened since.
 */
export type RefusalReason =
  | 'network_filesystem'
  | 'unsafe_setting'
  | 'newer_schema'
  | 'foreign_database'
  | 'not_a_store'
  | 'damaged'
  | 'not_writable'
  | 'older_server'
  | 'away'
  | 'standby'
  | 'unreachable'
  | 'restored';

/** The message tells the operator what to do. An unsafe store is refused with a named reason (P25). */
export class StoreRefusal extends Error {
  override readonly name = 'StoreRefusal';
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.reason = reason;
  }
}

/** Explains why no server opens a store that a move has closed or is filling. @param where such as `in the data folder` */
export const fencedWords = (where: string) => ({
  filling:
    `The store ${where} is not whole yet: mayfly migrate-store is filling it. Run that command again with --finish, or serve ` +
    'from the store that is being moved.',
  closed:
    `The store ${where} was closed by mayfly migrate-store, and another is taking its place. Serve from that one: set ` +
    'MAYFLY_STORE or MAYFLY_DATA_DIR. If the move was cut short, run the command again with --finish.',
});

export const mayPass = ({ reason }: StoreRefusal): boolean => reason === 'away' || reason === 'standby';

export interface CountedAttempts {
  /** Times of attempts within the window, oldest first. */
  readonly ofSecret: readonly UnixSeconds[];
  readonly ofClient: readonly UnixSeconds[];
  readonly ofNetwork: readonly UnixSeconds[];
  readonly inLife: number;
  readonly lifeEndsAt: UnixSeconds;
}

type Bound = readonly [times: readonly UnixSeconds[], limit: number];

/** A client whose network has already guessed leaves the reserved attempts to others. */
function boundsOf(
  { ofClient, ofNetwork, ofSecret }: Pick<CountedAttempts, 'ofClient' | 'ofNetwork' | 'ofSecret'>,
  { perClient, perNetwork, perSecret, keptForNewcomers }: AttemptLimits,
): readonly Bound[] {
  return [
    [ofClient, perClient],
    [ofNetwork, perNetwork],
    [ofSecret, ofNetwork.length === 0 ? perSecret : perSecret - keptForNewcomers],
  ];
}

/** Returns `null` if one more attempt is allowed. */
export function exhaustionOf(
  counted: CountedAttempts,
  limits: AttemptLimits,
  now: UnixSeconds,
): Exhausted | null {
  const needsCreator = counted.inLife >= limits.perLife;
  const waits = [
    ...boundsOf(counted, limits)
      .filter(([times, limit]) => times.length >= limit)
      .map((bound) => waitFor(bound, limits, now)),
    ...(needsCreator ? [counted.lifeEndsAt - now] : []),
  ];
  if (waits.length === 0) return null;
  return { outcome: 'exhausted', retryAfterSeconds: Math.max(1, ...waits), needsCreator };
}

/** Returns the lock that refuses even a client that has not guessed yet. */
export function lockOf(
  { ofSecret, inLife }: Pick<CountedAttempts, 'ofSecret' | 'inLife'>,
  limits: AttemptLimits,
  now: UnixSeconds,
): Lock | null {
  const newcomer = { ofSecret, inLife, ofClient: [], ofNetwork: [], lifeEndsAt: now };
  const exhausted = exhaustionOf(newcomer, limits, now);
  return exhausted && { until: exhausted.needsCreator ? null : now + exhausted.retryAfterSeconds };
}

/**
 * Returns the fewest attempts that any limit leaves after one more, made now and allowed by `exhaustionOf`, and when that number
 * grows. If several limits leave equally few, the last of them to grow counts.
 */
export function allowanceAfter(counted: CountedAttempts, limits: AttemptLimits, now: UnixSeconds) {
  const after = {
    ofClient: [...counted.ofClient, now],
    ofNetwork: [...counted.ofNetwork, now],
    ofSecret: [...counted.ofSecret, now],
  };
  const leftInLife = Math.max(0, limits.perLife - counted.inLife - 1);
  const allowances = [
    ...boundsOf(after, limits).map((bound) => ({
      left: Math.max(0, bound[1] - bound[0].length),
      moreAfterSeconds: waitFor(bound, limits, now),
    })),
    { left: leftInLife, moreAfterSeconds: counted.lifeEndsAt - now },
  ];
  const left = Math.min(...allowances.map((each) => each.left));
  const waits = allowances.filter((each) => each.left === left).map((each) => each.moreAfterSeconds);
  return { left, moreAfterSeconds: Math.max(1, ...waits), needsCreator: leftInLife === 0 };
}

/** If more attempts than the limit are counted, it is not enough for the oldest to leave the window. */
function waitFor([times, limit]: Bound, { windowSeconds }: AttemptLimits, now: UnixSeconds): number {
  return (times[Math.max(0, times.length - limit)] ?? now) + windowSeconds - now;
}

type Times = Pick<StoredTicket, 'createdAt' | 'expiresAt'>;

/** @param earlier all known tickets of its kind and username; used or voided ones have expired */
export function mayKeepTicket(
  { createdAt }: Times,
  earlier: readonly Times[],
  limits: TicketLimits,
  now: UnixSeconds,
): boolean {
  if (earlier.filter(({ expiresAt }) => now < expiresAt).length >= limits.maxLive) return false;
  const lately = earlier.map((each) => each.createdAt).filter((at) => createdAt - at < limits.windowSeconds);
  const quietSeconds = limits.quietSeconds[lately.length - 1] ?? limits.quietSeconds.at(-1) ?? 0;
  return lately.every((at) => createdAt - at >= quietSeconds);
}

/** Returns until when the ticket counts, used or not. */
export function countsUntil({ createdAt, expiresAt }: Times, { windowSeconds }: TicketLimits): UnixSeconds {
  return Math.max(expiresAt, createdAt + windowSeconds);
}
