/**
 * Store time: the clock that decides expiry (P8).
 *
 * It starts from the saved time and advances with the time since boot, which nothing can set; the wall clock corrects
 * it by at most five minutes. So a jump of the wall clock neither expires waiting secrets nor keeps ended ones alive.
 * Suspension is not a jump: time since boot includes it.
 *
 * After a reboot, the elapsed time is unknown. We then believe the wall clock immediately if it is at most an hour
 * ahead, otherwise after ten minutes without erasure.
 */
import { ServiceError } from '../core/errors.ts';
import type { ClockReport } from '../core/ports/clock.ts';
import type { SecretStore } from '../core/ports/secrets.ts';
import type { ReceiptLife } from '../core/secret.ts';
import type { MachineClock, UnixSeconds } from '../core/time.ts';

/** NTP steps and slews are far smaller. */
const toleranceSeconds = 300;
/** After a reboot: how far ahead a wall clock may be to be believed immediately, and after how long it is believed otherwise. */
const believedAheadSeconds = 3_600;
const provingSeconds = 600;
/** A lead over the wall clock shrinks by one second every `slewSeconds`, so that time neither stops nor steps back. */
const slewSeconds = 100;
/** How soon callers may retry during a dispute, which ends when an operator sets a clock. */
const disputeRetrySeconds = 60;

/** Store time at one moment after a boot of the machine, as a durable store saves it. */
export interface TimeAnchor {
  readonly seconds: UnixSeconds;
  /** `null` if unknown, which makes `sinceBoot` meaningless. */
  readonly bootId: string | null;
  readonly sinceBoot: number;
  readonly dispute: Dispute | null;
  /** For machines that share a wall clock: its reading, and the latest time any of them may have used. */
  readonly shared?: { readonly wall: UnixSeconds; readonly usedUntil: UnixSeconds };
}

export interface Dispute {
  /** Store time when the dispute began: anything created since is judged by store time alone. */
  readonly since: UnixSeconds;
  readonly aheadSeconds: number;
}

/** Store time was `seconds` at `at` seconds since boot. */
interface Settled {
  readonly kind: 'settled';
  readonly seconds: UnixSeconds;
  readonly at: number;
  /** Seconds passed that have not yet gone into shrinking a lead. */
  readonly owed: number;
}

interface Disputed extends Dispute {
  readonly kind: 'disputed';
  readonly seconds: UnixSeconds;
  readonly at: number;
}

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
  // Both clocks are cut to whole seconds, so one second does not count as a lead.
  if (lead === 1) return { kind: 'settled', seconds: Math.max(state.seconds, wall), at, owed: 0 };
  const owed = (state.kind === 'settled' ? state.owed : 0) + (at - state.at);
  const dropped = Math.min(lead, Math.floor(owed / slewSeconds));
  return { kind: 'settled', seconds: expected - dropped, at, owed: owed - dropped * slewSeconds };
}

/** @param others the dispute of other machines that share the wall clock */
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
  // A new second separates what was created before the dispute from what was created during it.
  const since = Math.min(expected + 1, shared);
  return { kind: 'disputed', seconds: Math.max(expected, since), at, since, aheadSeconds: ahead };
}

function prove(state: Unproven, wall: UnixSeconds, sinceBoot: number): TimeState {
  const elapsed = sinceBoot - state.at;
  const tentative = state.wall + elapsed;
  // The wall clock has been set since, so its reading at boot proves nothing.
  if (Math.abs(wall - tentative) > toleranceSeconds)
    return afterRestart(state.kept + elapsed, wall, sinceBoot);
  if (elapsed < provingSeconds) return state;
  return { kind: 'settled', seconds: Math.max(wall, tentative), at: sinceBoot, owed: 0 };
}

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

/** Measures by the boot clock, or by the shared wall clock if that shows an hour or less; otherwise returns `null`. */
function elapsedSince(anchor: TimeAnchor, { wall, sinceBoot, bootId }: MachineClock): number | null {
  const sinceAnchor = sinceBoot() - anchor.sinceBoot;
  if (bootId !== null && anchor.bootId === bootId && sinceAnchor >= 0) return sinceAnchor;
  if (anchor.shared === undefined) return null;
  const byWall = wall() - anchor.shared.wall;
  return byWall >= 0 && byWall <= believedAheadSeconds ? byWall : null;
}

function resume(anchor: TimeAnchor | null, clock: MachineClock): TimeState {
  const [wall, at] = [clock.wall(), clock.sinceBoot()];
  if (anchor === null || anchor.seconds === 0) return { kind: 'settled', seconds: wall, at, owed: 0 };
  const elapsed = elapsedSince(anchor, clock);
  if (elapsed === null) return afterRestart(anchor.shared?.usedUntil ?? anchor.seconds, wall, at);
  const { seconds, dispute: underWay } = anchor;
  const known: TimeState =
    underWay === null
      ? { kind: 'settled', seconds, at: at - elapsed, owed: 0 }
      : { kind: 'disputed', seconds, at: at - elapsed, ...underWay };
  return observe(known, wall, at);
}

export function isAccountedFor(anchor: TimeAnchor, clock: MachineClock): boolean {
  return elapsedSince(anchor, clock) !== null;
}

/** Returns the earliest possible store time. Within one boot, elapsed time counts, minus the most that a lead may have shrunk. */
export function leastTimeBy(kept: TimeAnchor, { sinceBoot, bootId }: MachineClock): UnixSeconds {
  if (bootId === null || kept.bootId !== bootId) return kept.seconds;
  const passed = Math.max(0, sinceBoot() - kept.sinceBoot);
  return kept.seconds + passed - Math.ceil(passed / slewSeconds);
}

interface Lifetime {
  readonly createdAt: UnixSeconds;
  readonly expiresAt: UnixSeconds;
}

export interface StoreTime {
  now(): UnixSeconds;
  /** A time that has passed by every clock. Never after `now`. */
  earliest(): UnixSeconds;
  /** Throws `ServiceError('unavailable')` if two clocks disagree about the secret. */
  isLive(secret: Lifetime): boolean;
  /** Throws like `isLive` while the wall clock is only provisionally believed. */
  assertProven(secret: Lifetime): void;
  maySweep(): boolean;
  report(): ClockReport;
  /** The anchor to save; `null` while the wall clock is unproven. */
  anchor(): TimeAnchor | null;
  /** Notes that another process has used `seconds`, and is in this dispute. */
  raiseTo(seconds: UnixSeconds, dispute?: Dispute | null): void;
  /** Adopts the anchor's time, even if it is earlier. */
  adopt(anchor: TimeAnchor): void;
}

function inDoubt(retryAfterSeconds: number): ServiceError {
  return new ServiceError('unavailable', 'The wall clock is in doubt.', { retryAfterSeconds });
}

export function createStoreTime(clock: MachineClock, kept: TimeAnchor | null): StoreTime {
  let state = resume(kept, clock);
  let [wallSeen, sinceBootSeen] = [-1, -1];
  let others: Dispute | null = null;

  function observeNow(): TimeState {
    const [wall, sinceBoot] = [clock.wall(), clock.sinceBoot()];
    // Usually called several times within the same second.
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

  /** Judges a secret by both clocks, unless it was created while they disagreed. */
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
    now: () => nowOf(observeNow()),
    earliest: () => earliestOf(observeNow()),
    isLive: (secret) => assertKnown(observeNow(), secret) === 'live',
    assertProven(secret) {
      const known = observeNow();
      if (known.kind === 'unproven') assertKnown(known, secret);
    },
    maySweep: () => observeNow().kind === 'settled',
    report() {
      const known = observeNow();
      const wall = clock.wall();
      const verdict = known.kind === 'settled' ? 'agreed' : known.kind;
      return { verdict, storeTime: nowOf(known), wall, aheadSeconds: wall - earliestOf(known) };
    },
    anchor() {
      const known = observeNow();
      if (known.kind === 'unproven') return null;
      const { seconds, at: sinceBoot } = known;
      const underWay =
        known.kind === 'disputed' ? { since: known.since, aheadSeconds: known.aheadSeconds } : null;
      return { seconds, bootId: clock.bootId, sinceBoot, dispute: underWay };
    },
    raiseTo(seconds, dispute = null) {
      if (dispute?.since !== others?.since) [others, wallSeen] = [dispute, -1];
      const known = observeNow();
      if (known.kind !== 'unproven' && seconds > known.seconds) state = { ...known, seconds };
    },
    adopt(anchor) {
      // The next observation adds nothing until the clocks advance.
      state = resume(anchor, clock);
    },
  };
}

/** @param records must return everything that has not expired by `time.earliest()` */
export function judgeByStoreTime(records: SecretStore, time: StoreTime): SecretStore {
  function assertProven(receipt: ReceiptLife): void {
    const { createdAt, receiptExpiresAt } = receipt;
    if (receipt.state === 'waiting') time.assertProven(receipt);
    time.assertProven({ createdAt, expiresAt: receiptExpiresAt });
  }
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
      if (receipt !== null) assertProven(receipt);
      return receipt;
    },
    async findLives(ids) {
      const lives = await records.findLives(ids);
      for (const life of lives) if (life !== null) assertProven(life);
      return lives;
    },
    sweep: async (limit) => (time.maySweep() ? records.sweep(limit) : 0),
  };
}
