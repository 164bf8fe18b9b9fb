/**
 * Store time: the clock by which expiry is judged (P8).
 *
 * It starts from what was kept and goes on with the time that passes since the machine started, which nobody can set; the
 * wall clock corrects it within five minutes. So a wall clock that jumps neither expires what waits nor freezes what should
 * end. A suspended machine is no jump: its time since boot counts the sleep.
 *
 * Across a restart of the machine nobody knows how much time has passed: there the wall clock is believed, at once when it
 * is at most an hour ahead, else after ten minutes in which nothing is erased.
 */
import { ServiceError } from '../core/errors.ts';
import type { ClockReport } from '../core/ports/clock.ts';
import type { SecretStore } from '../core/ports/secrets.ts';
import type { MachineClock, UnixSeconds } from '../core/time.ts';

/** Wall clocks that differ by more are in dispute. NTP steps and slews are far below this. */
const toleranceSeconds = 300;
/** After a restart of the machine: how far ahead a wall clock is believed at once, and after how long beyond that. */
const believedAheadSeconds = 3_600;
const provingSeconds = 600;
/** A lead over the wall clock shrinks by one second in so many, so that time neither stands still nor steps back. */
const slewSeconds = 100;
/** When to ask again during a dispute, which ends when somebody sets a clock. */
const disputeRetrySeconds = 60;

/** Store time at one moment of one start of the machine, as a durable store keeps it. */
export interface TimeMark {
  readonly seconds: UnixSeconds;
  /** `null` when unknown: then nothing follows from `sinceBoot`. */
  readonly bootId: string | null;
  readonly sinceBoot: number;
  /** The dispute that was under way; `null` for none. */
  readonly dispute: Dispute | null;
  /** Where machines share a wall clock: what it said then, and the latest time that any of them may have used. */
  readonly shared?: { readonly wall: UnixSeconds; readonly usedUntil: UnixSeconds };
}

export interface Dispute {
  /** Store time when it began: what is created from then on is judged by store time alone. */
  readonly since: UnixSeconds;
  readonly aheadSeconds: number;
}

/** Store time `seconds` at `at` seconds since boot. */
interface Settled {
  readonly kind: 'settled';
  readonly seconds: UnixSeconds;
  readonly at: number;
  /** Seconds passed that have not yet shrunk a lead over the wall clock. */
  readonly owed: number;
}

interface Disputed extends Dispute {
  readonly kind: 'disputed';
  readonly seconds: UnixSeconds;
  readonly at: number;
}

/** After a restart: `kept` or `wall`, at `at` seconds since boot. */
interface Unproven {
  readonly kind: 'unproven';
  readonly kept: UnixSeconds;
  readonly wall: UnixSeconds;
  readonly at: number;
}

type TimeState = Settled | Disputed | Unproven;

function settle(state: Settled | Disputed, expected: UnixSeconds, wall: UnixSeconds, at: number): Settled {
  if (wall >= expected) return { kind: 'settled', seconds: wall, at, owed: 0 };
  const lead = expected - wall;
  // Both clocks are cut to whole seconds, so one second is no lead.
  if (lead === 1) return { kind: 'settled', seconds: Math.max(state.seconds, wall), at, owed: 0 };
  const owed = (state.kind === 'settled' ? state.owed : 0) + (at - state.at);
  const dropped = Math.min(lead, Math.floor(owed / slewSeconds));
  return { kind: 'settled', seconds: expected - dropped, at, owed: owed - dropped * slewSeconds };
}

/** @param others the dispute that other machines with the same wall clock are in */
function dispute(
  state: Settled | Disputed,
  expected: UnixSeconds,
  ahead: number,
  at: number,
  others: Dispute | null,
): Disputed {
  const isThis = (known: Dispute) => Math.abs(ahead - known.aheadSeconds) <= toleranceSeconds;
  const shared = others !== null && isThis(others) ? others.since : Number.POSITIVE_INFINITY;
  if (state.kind === 'disputed' && isThis(state))
    return { ...state, seconds: expected, at, since: Math.min(state.since, shared) };
  // A second of its own, so that its times tell what was created before from what is created during it.
  const since = Math.min(expected + 1, shared);
  return { kind: 'disputed', seconds: Math.max(expected, since), at, since, aheadSeconds: ahead };
}

function prove(state: Unproven, wall: UnixSeconds, sinceBoot: number): TimeState {
  const elapsed = sinceBoot - state.at;
  const tentative = state.wall + elapsed;
  // It was set meanwhile, so what it said at the start proves nothing.
  if (Math.abs(wall - tentative) > toleranceSeconds)
    return afterRestart(state.kept + elapsed, wall, sinceBoot);
  if (elapsed < provingSeconds) return state;
  return { kind: 'settled', seconds: Math.max(wall, tentative), at: sinceBoot, owed: 0 };
}

/** What the clocks say now, after what was known. */
function observe(
  state: TimeState,
  wall: UnixSeconds,
  sinceBoot: number,
  others: Dispute | null = null,
): TimeState {
  if (state.kind === 'unproven') return prove(state, wall, sinceBoot);
  const at = Math.max(state.at, sinceBoot);
  const expected = state.seconds + (at - state.at);
  const ahead = wall - expected;
  return Math.abs(ahead) <= toleranceSeconds
    ? settle(state, expected, wall, at)
    : dispute(state, expected, ahead, at, others);
}

function afterRestart(kept: UnixSeconds, wall: UnixSeconds, at: number): TimeState {
  if (wall > kept + believedAheadSeconds) return { kind: 'unproven', kept, wall, at };
  const seconds = Math.max(kept, wall);
  return observe({ kind: 'settled', seconds, at, owed: 0 }, wall, at);
}

/** Seconds since the mark, by what nobody sets; else by the shared wall clock, if that says an hour or less; else `null`. */
function elapsedSince(mark: TimeMark, { wall, sinceBoot, bootId }: MachineClock): number | null {
  const sinceMark = sinceBoot() - mark.sinceBoot;
  if (bootId !== null && mark.bootId === bootId && sinceMark >= 0) return sinceMark;
  if (mark.shared === undefined) return null;
  const byWall = wall() - mark.shared.wall;
  return byWall >= 0 && byWall <= believedAheadSeconds ? byWall : null;
}

function resume(mark: TimeMark | null, clock: MachineClock): TimeState {
  const [wall, at] = [clock.wall(), clock.sinceBoot()];
  if (mark === null || mark.seconds === 0) return { kind: 'settled', seconds: wall, at, owed: 0 };
  const elapsed = elapsedSince(mark, clock);
  if (elapsed === null) return afterRestart(mark.shared?.usedUntil ?? mark.seconds, wall, at);
  const { seconds, dispute: underWay } = mark;
  const known: TimeState =
    underWay === null
      ? { kind: 'settled', seconds, at: at - elapsed, owed: 0 }
      : { kind: 'disputed', seconds, at: at - elapsed, ...underWay };
  return observe(known, wall, at);
}

/** Whether it is known how much time has passed since the mark. */
export function isAccountedFor(mark: TimeMark, clock: MachineClock): boolean {
  return elapsedSince(mark, clock) !== null;
}

/** What time it is at least, by what was kept: within one boot what has passed since counts, less what a lead may have shrunk. */
export function leastTimeBy(kept: TimeMark, { sinceBoot, bootId }: MachineClock): UnixSeconds {
  if (bootId === null || kept.bootId !== bootId) return kept.seconds;
  const passed = Math.max(0, sinceBoot() - kept.sinceBoot);
  return kept.seconds + passed - Math.ceil(passed / slewSeconds);
}

/** When a secret was made and when it expires, in store time. */
interface Lifetime {
  readonly createdAt: UnixSeconds;
  readonly expiresAt: UnixSeconds;
}

export interface StoreTime {
  now(): UnixSeconds;
  /** What has expired by this has expired by every clock. Never after `now`. */
  earliest(): UnixSeconds;
  /**
   * Whether it has not expired by any clock. Throws `ServiceError('unavailable')` when it has expired by one of two that
   * disagree.
   */
  isLive(secret: Lifetime): boolean;
  /** Throws as `isLive` where the wall clock is believed for the present only, so that it could turn out to live. */
  assertProven(secret: Lifetime): void;
  /** Whether what has expired may be erased. */
  maySweep(): boolean;
  report(): ClockReport;
  /** What may be kept; `null` while the wall clock is unproven. */
  mark(): TimeMark | null;
  /** Store time is at least `seconds` from now on: another process has used it, and is in this dispute. */
  raiseTo(seconds: UnixSeconds, dispute?: Dispute | null): void;
  /** Takes over what another process has kept, also backwards. */
  adopt(mark: TimeMark): void;
}

function inDoubt(retryAfterSeconds: number): ServiceError {
  return new ServiceError('unavailable', 'The wall clock is in doubt.', { retryAfterSeconds });
}

/** @param kept what a durable store has kept; `null` for nothing */
export function createStoreTime(clock: MachineClock, kept: TimeMark | null): StoreTime {
  let state = resume(kept, clock);
  let [wallSeen, sinceBootSeen] = [-1, -1];
  let others: Dispute | null = null;

  function look(): TimeState {
    const [wall, sinceBoot] = [clock.wall(), clock.sinceBoot()];
    // Asked several times a request, and most of the time it is still the same second.
    if (wall === wallSeen && sinceBoot === sinceBootSeen) return state;
    [wallSeen, sinceBootSeen] = [wall, sinceBoot];
    state = observe(state, wall, sinceBoot, others);
    return state;
  }

  const passedSince = (at: number): number => Math.max(0, clock.sinceBoot() - at);
  const nowOf = (known: TimeState): UnixSeconds =>
    known.kind === 'unproven' ? known.wall + passedSince(known.at) : known.seconds;
  const earliestOf = (known: TimeState): UnixSeconds =>
    known.kind === 'unproven' ? known.kept + passedSince(known.at) : known.seconds;

  /** By both clocks, unless it was made while they disagreed. */
  function verdictOn(known: TimeState, { createdAt, expiresAt }: Lifetime): 'live' | 'expired' | 'doubtful' {
    const now = nowOf(known);
    const since = known.kind === 'unproven' ? known.wall : known.kind === 'disputed' ? known.since : 0;
    if (createdAt >= since) return expiresAt > now ? 'live' : 'expired';
    const latest = known.kind === 'disputed' ? Math.max(now, clock.wall()) : now;
    if (expiresAt > latest) return 'live';
    return expiresAt > earliestOf(known) ? 'doubtful' : 'expired';
  }

  function assertKnown(known: TimeState, secret: Lifetime): 'live' | 'expired' {
    const verdict = verdictOn(known, secret);
    if (verdict !== 'doubtful') return verdict;
    throw inDoubt(
      known.kind === 'unproven' ? Math.max(1, provingSeconds - passedSince(known.at)) : disputeRetrySeconds,
    );
  }

  return {
    now: () => nowOf(look()),
    earliest: () => earliestOf(look()),
    isLive: (secret) => assertKnown(look(), secret) === 'live',
    assertProven(secret) {
      const known = look();
      if (known.kind === 'unproven') assertKnown(known, secret);
    },
    maySweep: () => look().kind === 'settled',
    report() {
      const known = look();
      const wall = clock.wall();
      const verdict = known.kind === 'settled' ? 'agreed' : known.kind;
      return { verdict, storeTime: nowOf(known), wall, aheadSeconds: wall - earliestOf(known) };
    },
    mark() {
      const known = look();
      if (known.kind === 'unproven') return null;
      const { seconds, at: sinceBoot } = known;
      const underWay =
        known.kind === 'disputed' ? { since: known.since, aheadSeconds: known.aheadSeconds } : null;
      return { seconds, bootId: clock.bootId, sinceBoot, dispute: underWay };
    },
    raiseTo(seconds, dispute = null) {
      if (dispute?.since !== others?.since) [others, wallSeen] = [dispute, -1];
      const known = look();
      if (known.kind !== 'unproven' && seconds > known.seconds) state = { ...known, seconds };
    },
    adopt(mark) {
      // By the clocks as they are now, so that the next look has nothing to add until they go on.
      state = resume(mark, clock);
    },
  };
}

/** @param records gives out every secret and receipt that has not expired by `time.earliest()` */
export function judgeByStoreTime(records: SecretStore, time: StoreTime): SecretStore {
  return {
    ...records,
    async findSecret(id) {
      const secret = await records.findSecret(id);
      return secret !== null && time.isLive(secret) ? secret : null;
    },
    claim: async (target, ...rest) => (time.isLive(target) ? records.claim(target, ...rest) : 'gone'),
    burnFound: async (target, ...rest) => (time.isLive(target) ? records.burnFound(target, ...rest) : null),
    async findReceipt(...args) {
      const receipt = await records.findReceipt(...args);
      if (receipt === null) return null;
      const { createdAt, receiptExpiresAt } = receipt;
      if (receipt.state === 'waiting') time.assertProven(receipt);
      time.assertProven({ createdAt, expiresAt: receiptExpiresAt });
      return receipt;
    },
    sweep: async (limit) => (time.maySweep() ? records.sweep(limit) : 0),
  };
}
