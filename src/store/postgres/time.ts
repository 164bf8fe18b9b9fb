/**
 * Store time over an engine that many nodes share (P8): a lease.
 *
 * The server's clock is the wall clock of all nodes; each node measures the time that passes itself, so a server's clock that jumps,
 * or another server's after a failover, is disputed by every node that was up. About once a second one of them keeps the time, with
 * the server's clock at that moment, so that a node that starts knows how much has passed since; and how far ahead decisions may go
 * before somebody keeps it again. So time is never behind a decision, whichever server is promoted and whichever nodes are up, and
 * never further ahead of the time that has passed than a lease.
 */
import type { MachineClock, UnixSeconds } from '../../core/time.ts';
import {
  createStoreTime,
  isAccountedFor,
  leastTimeBy,
  type StoreTime,
  type TimeMark,
} from '../store-time.ts';
import { heardEarlySeconds, type KnownTime } from './restores.ts';
import { type Statement, statement } from './statement.ts';

/** How far ahead of the kept time decisions may go, and for how long what was heard of it is acted on. */
export const leaseSeconds = 3;

/** The row of `store_time`, and the server's clock as it was when that was read, in seconds with a fraction. */
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

/** The kept time as it was read last on this primary. */
interface KeptTime {
  readonly mark: TimeMark;
  readonly usedUntil: UnixSeconds;
  readonly timesSet: number;
}

function keptIn(row: TimeRow): KeptTime {
  const { seconds, used_until: usedUntil, disputed_since: since, disputed_ahead: aheadSeconds } = row;
  const dispute = since === null || aheadSeconds === null ? null : { since, aheadSeconds };
  const shared = { wall: row.server_clock, usedUntil };
  const mark = { seconds, bootId: row.boot_id, sinceBoot: row.since_boot, dispute, shared };
  return { mark, usedUntil, timesSet: row.times_set };
}

/** A server's clock as a node knows it: as it was read last, and the time that has passed on the node since. */
export interface ServerClock extends MachineClock {
  /** @param serverNow seconds, with a fraction */
  hear(serverNow: number): void;
}

/** @param own the node's; only the time since its boot is used */
export function createServerClock(own: MachineClock, nowMs: () => number): ServerClock {
  let [serverMs, heardMs, heardSinceBoot] = [0, 0, 0];
  const { sinceBoot, bootId } = own;
  return {
    bootId,
    sinceBoot,
    wall() {
      // The node's own milliseconds do not count while it is suspended.
      const atLeastMs = (sinceBoot() - heardSinceBoot - 1) * 1000;
      return Math.floor((serverMs + Math.max(nowMs() - heardMs, atLeastMs)) / 1000);
    },
    hear(serverNow) {
      [serverMs, heardMs, heardSinceBoot] = [serverNow * 1000, nowMs(), sinceBoot()];
    },
  };
}

/** Later than what is kept, or the news of a dispute in the same second; never by a node that has not heard of a setting. */
const isNews = `times_set = $1 AND ($2 > seconds OR ($2 = seconds AND disputed_since IS DISTINCT FROM $7))`;

/**
 * Always writes, so that once it is confirmed everything seen before is durable. But never over a time that went back: that would hide
 * a restore.
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

/** How the time is read and kept: each resolves after `hear` was called with what is kept then. */
export interface TimeKeeping {
  /** `leaseSeconds`; 0 where a test drives the time: then each second is kept before a decision, and heard before a read. */
  readonly leaseSeconds: number;
  read(): Promise<void>;
  /** The time known to have been kept. */
  known(): KnownTime;
  /** Whether this node must keep it now, even if others do. */
  isDue(): boolean;
  /** A confirmed write. */
  write(statement: Statement, values: readonly unknown[]): Promise<void>;
}

export interface SharedTime extends StoreTime {
  /** Takes in what was read on the primary. */
  hear(row: TimeRow): void;
  /** Waited for before a read; `null` when there is nothing to wait for. */
  beforeRead(): Promise<void> | null;
  /** The same before a decision. */
  beforeDecision(): Promise<void> | null;
  /** The first parameters of a decision that is sent now. */
  ofDecision(): readonly [UnixSeconds, number];
  /** Keeps the time in a confirmed write: what was seen on the primary before is durable once this resolves. */
  keep(): Promise<void>;
  /** The same, or waits for the one in flight. */
  keepNow(): Promise<void>;
  /** How often it was set, as far as this node has heard. */
  timesSet(): number;
  /** The clocks as they are now: the server's, and which machine this is, how long after its start. */
  machine(): readonly [wall: UnixSeconds, bootId: string | null, sinceBoot: number];
  /** Hears of the time, and keeps it where nobody else does; called about once a second. */
  tick(): Promise<void>;
}

/** @param first what is kept at the start */
export function createSharedTime(
  clock: MachineClock | ServerClock,
  first: TimeRow,
  { leaseSeconds: lease, read, known, isDue, write }: TimeKeeping,
): SharedTime {
  if ('hear' in clock) clock.hear(first.server_now);
  let kept = keptIn(first);
  const time = createStoreTime(clock, kept.mark);
  let heardAt = [clock.wall(), clock.sinceBoot()] as const;
  let ownDispute = kept.mark.dispute?.since;
  let keeping: Promise<void> | null = null;
  let reading: Promise<void> | null = null;

  function hear(row: TimeRow): void {
    const heard = keptIn(row);
    // An answer that was under way while the time was set.
    if (heard.timesSet < kept.timesSet) return;
    const isKnown = heard.timesSet === kept.timesSet && time.mark() !== null;
    // Before the clock is read again: a dispute that others noticed is theirs, not another one.
    if (isKnown) time.raiseTo(leastTimeBy(heard.mark, clock), heard.mark.dispute);
    if ('hear' in clock) clock.hear(row.server_now);
    if (heard.timesSet > kept.timesSet || (!isKnown && isAccountedFor(heard.mark, clock)))
      time.adopt(heard.mark);
    kept = heard;
    heardAt = [clock.wall(), clock.sinceBoot()];
  }

  async function keep(): Promise<void> {
    const mark = time.mark();
    const { seconds, bootId, sinceBoot, dispute } = mark ?? kept.mark;
    const until = mark === null ? kept.usedUntil : seconds + lease;
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
    const mark = time.mark();
    return mark !== null && (mark.seconds > kept.usedUntil || mark.dispute?.since !== ownDispute);
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
    // What is decided after a wait is decided within the lease that there was before it.
    ofDecision: () => [
      time.mark() === null ? time.now() : Math.min(time.now(), kept.usedUntil),
      kept.timesSet,
    ],
    timesSet: () => kept.timesSet,
    machine: () => [clock.wall(), clock.bootId, clock.sinceBoot()],
    async tick() {
      await readNow();
      const isEnding = time.mark() !== null && time.now() > kept.usedUntil - lease + 1;
      if (isEnding || mustKeep() || isDue()) await keepOnce();
    },
  };
}
