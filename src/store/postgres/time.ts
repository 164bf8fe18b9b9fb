/**
 * Store time on an engine shared by many nodes (P8), kept by a lease. All nodes use the server's clock as the wall
 * clock, but each measures elapsed time itself. So if that clock jumps, or the new server's differs after a failover,
 * every running node disputes it. About once a second one node saves the time along with the server's clock, so that a
 * starting node knows how much time has passed. It also saves how far ahead decisions may go before the next save. So
 * time is never behind a decision, whichever server is promoted, and never ahead of elapsed time by more than a lease.
 */
import type { MachineClock, UnixSeconds } from '../../core/time.ts';
import {
  createStoreTime,
  isAccountedFor,
  leastTimeBy,
  type StoreTime,
  type TimeAnchor,
} from '../store-time.ts';
import { heardEarlySeconds, type KnownTime } from './restores.ts';
import { type Statement, statement } from './statement.ts';

/** How far ahead of the saved time decisions may go, and how long a time heard from the server may be used. */
export const leaseSeconds = 3;

/** The saved time, with the server's clock at the time of the read in fractional seconds. */
export interface TimeRow {
  readonly seconds: UnixSeconds;
  readonly used_until: UnixSeconds;
  readonly boot_id: string | null;
  readonly since_boot: number;
  readonly server_clock: UnixSeconds;
  readonly disputed_since: UnixSeconds | null;
  readonly disputed_ahead: number | null;
  readonly times_set: number;
  readonly server_now: number;
}

/** The saved time as last read on this primary. */
interface KeptTime {
  readonly anchor: TimeAnchor;
  readonly usedUntil: UnixSeconds;
  readonly timesSet: number;
}

function keptIn(row: TimeRow): KeptTime {
  const { seconds, used_until: usedUntil, disputed_since: since, disputed_ahead: aheadSeconds } = row;
  const dispute = since === null || aheadSeconds === null ? null : { since, aheadSeconds };
  const shared = { wall: row.server_clock, usedUntil };
  const anchor = { seconds, bootId: row.boot_id, sinceBoot: row.since_boot, dispute, shared };
  return { anchor, usedUntil, timesSet: row.times_set };
}

/** The server's clock as last read, plus the time elapsed on this node since. */
export interface ServerClock extends MachineClock {
  /** @param serverNow in fractional seconds */
  hear(serverNow: number): void;
}

/** @param own only its time since boot is used */
export function createServerClock(own: MachineClock, nowMs: () => number): ServerClock {
  let [serverMs, heardMs, heardSinceBoot] = [0, 0, 0];
  const { sinceBoot, bootId } = own;
  return {
    bootId,
    sinceBoot,
    wall() {
      // The node's millisecond clock stops while it is suspended.
      const atLeastMs = (sinceBoot() - heardSinceBoot - 1) * 1000;
      return Math.floor((serverMs + Math.max(nowMs() - heardMs, atLeastMs)) / 1000);
    },
    hear(serverNow) {
      [serverMs, heardMs, heardSinceBoot] = [serverNow * 1000, nowMs(), sinceBoot()];
    },
  };
}

/** Whether the time is later than the saved one, or in the same second with a changed dispute. Never if the node missed a change. */
const isNews = `times_set = $1 AND ($2 > seconds OR ($2 = seconds AND disputed_since IS DISTINCT FROM $7))`;

/**
 * Always writes, so that once it is confirmed, everything seen before is durable. It never overwrites a time that went
 * back: that would hide a restore.
 */
const keepTime = statement(`
  UPDATE mayfly_store.store_time SET
    used_until = CASE WHEN times_set = $1::bigint THEN greatest(used_until, $3::bigint) ELSE used_until END,
    seconds = CASE WHEN ${isNews} THEN $2::bigint ELSE seconds END,
    boot_id = CASE WHEN ${isNews} THEN $4::text ELSE boot_id END,
    since_boot = CASE WHEN ${isNews} THEN $5::bigint ELSE since_boot END,
    server_clock = CASE WHEN ${isNews} THEN $6::bigint ELSE server_clock END,
    disputed_since = CASE WHEN ${isNews} THEN $7::bigint ELSE disputed_since END,
    disputed_ahead = CASE WHEN ${isNews} THEN $8::bigint ELSE disputed_ahead END
  WHERE times_set > $9::bigint OR (times_set = $9::bigint AND seconds >= $10::bigint - ${heardEarlySeconds})`);

/** Each call passes the row it gets to `hear` before it resolves. */
export interface TimeKeeping {
  /** 0 if a test drives the time: then each second is saved before a decision, and fetched before a read. */
  readonly leaseSeconds: number;
  read(): Promise<void>;
  known(): KnownTime;
  /** Whether this node must save the time even if others do. */
  isDue(): boolean;
  /** Resolves once the write is confirmed. */
  write(statement: Statement, values: readonly unknown[]): Promise<void>;
}

export interface SharedTime extends StoreTime {
  /** Takes in a row read on the primary. */
  hear(row: TimeRow): void;
  /** Returns `null` if there is nothing to wait for. */
  beforeRead(): Promise<void> | null;
  beforeDecision(): Promise<void> | null;
  /** A decision's first parameters. */
  ofDecision(): readonly [UnixSeconds, number];
  /** Once this resolves, everything seen on the primary before is durable. */
  keep(): Promise<void>;
  /** Like `keep`, but joins a save already in flight. */
  keepNow(): Promise<void>;
  /** How often the time has been set, as far as this node knows. */
  timesSet(): number;
  machine(): readonly [wall: UnixSeconds, bootId: string | null, sinceBoot: number];
  /** Called about once a second. Saves the time if no other node does. */
  tick(): Promise<void>;
}

export function createSharedTime(
  clock: MachineClock | ServerClock,
  first: TimeRow,
  { leaseSeconds: lease, read, known, isDue, write }: TimeKeeping,
): SharedTime {
  if ('hear' in clock) clock.hear(first.server_now);
  let kept = keptIn(first);
  const time = createStoreTime(clock, kept.anchor);
  let heardAt = [clock.wall(), clock.sinceBoot()] as const;
  let ownDispute = kept.anchor.dispute?.since;
  let keeping: Promise<void> | null = null;
  let reading: Promise<void> | null = null;

  function hear(row: TimeRow): void {
    const heard = keptIn(row);
    // This answer was in flight while the time was set.
    if (heard.timesSet < kept.timesSet) return;
    const isKnown = heard.timesSet === kept.timesSet && time.anchor() !== null;
    // A dispute that others noticed first is not a new one.
    if (isKnown) time.raiseTo(leastTimeBy(heard.anchor, clock), heard.anchor.dispute);
    if ('hear' in clock) clock.hear(row.server_now);
    if (heard.timesSet > kept.timesSet || (!isKnown && isAccountedFor(heard.anchor, clock)))
      time.adopt(heard.anchor);
    kept = heard;
    heardAt = [clock.wall(), clock.sinceBoot()];
  }

  async function keep(): Promise<void> {
    const anchor = time.anchor();
    const { seconds, bootId, sinceBoot, dispute } = anchor ?? kept.anchor;
    const until = anchor === null ? kept.usedUntil : seconds + lease;
    const shared = [until, bootId, sinceBoot, clock.wall()];
    const { times_set: timesSet, seconds: knownSeconds } = known();
    await write(keepTime, [
      kept.timesSet,
      seconds,
      ...shared,
      dispute?.since ?? null,
      dispute?.aheadSeconds ?? null,
      timesSet,
      knownSeconds,
    ]);
    ownDispute = dispute?.since;
  }

  const keepOnce = (): Promise<void> => {
    keeping ??= keep().finally(() => {
      keeping = null;
    });
    return keeping;
  };
  const readNow = (): Promise<void> => {
    reading ??= read().finally(() => {
      reading = null;
    });
    return reading;
  };

  function mustKeep(): boolean {
    const anchor = time.anchor();
    return anchor !== null && (anchor.seconds > kept.usedUntil || anchor.dispute?.since !== ownDispute);
  }
  function isStale(): boolean {
    const [wall, sinceBoot] = heardAt;
    return Math.max(Math.abs(clock.wall() - wall), Math.abs(clock.sinceBoot() - sinceBoot)) > lease;
  }
  async function hearAndKeep(): Promise<void> {
    if (isStale()) await readNow();
    if (mustKeep()) await keepOnce();
  }

  return {
    ...time,
    hear,
    keep,
    keepNow: keepOnce,
    beforeRead: () => (isStale() ? readNow() : null),
    beforeDecision: () => (isStale() || mustKeep() ? hearAndKeep() : null),
    // Even after a wait, a decision must not go beyond the lease that applied before it.
    ofDecision: () => [
      time.anchor() === null ? time.now() : Math.min(time.now(), kept.usedUntil),
      kept.timesSet,
    ],
    timesSet: () => kept.timesSet,
    machine: () => [clock.wall(), clock.bootId, clock.sinceBoot()],
    async tick() {
      await readNow();
      const isEnding = time.anchor() !== null && time.now() > kept.usedUntil - lease + 1;
      if (isEnding || mustKeep() || isDue()) await keepOnce();
    },
  };
}
