/**
 * Background work: the sweeper, the daily check of share domains, and random pauses for work whose timing would leak information.
 *
 * Within 60 s of an erasure no copy is left in the store's files (P10), or the log reports that a reader is blocking this. Expiry never
 * waits for the sweeper: the store checks it on every read (P8), and a disputed wall clock suspends erasing. Runs never overlap; a fault is
 * logged and the run retried. Shutdown waits only briefly for running checks: the next run repeats them. Shutdown also ends current and
 * later pauses early, so no email is lost.
 */
import type { AccountService } from '../core/accounts/service.ts';
import { StoreMovedError } from '../core/errors.ts';
import type { ClockVerdict, StoreClock } from '../core/ports/clock.ts';
import type { SecretStore } from '../core/ports/secrets.ts';
import type { SecretService } from '../core/secrets/service.ts';
import type { DomainService } from '../core/share-domains/service.ts';
import type { After } from '../core/time.ts';
import type { RandomBytes } from '../crypto/random.ts';
import type { Log } from './log.ts';

export interface SweeperDeps {
  readonly store: Pick<SecretStore, 'sweep' | 'scrub'> & Pick<StoreClock, 'clock'>;
  readonly finishDeletions: AccountService['finishDeletions'];
  readonly sendDueNotices: SecretService['sendDueNotices'];
  /** Never rejects: the other steps report what is wrong with the store. */
  readonly checkRoom: () => Promise<void>;
  readonly log: Log;
  readonly monotonicMs: () => number;
  readonly after: After;
}

export interface Sweeper {
  stop(): Promise<void>;
}

/** A third of the promised 60 s: one run may fail and the next still keeps the promise. */
export const sweepIntervalMs = 20_000;
const retryMs = 5_000;
const promisedMs = 60_000;
const sliceRecords = 500;

/** Starts sweeping immediately, because secrets that expired during downtime are overdue. */
export function startSweeper(deps: SweeperDeps): Sweeper {
  let stopped = false;
  let callOff = (): void => {};
  let running: Promise<void> = Promise.resolve();
  let unscrubbedSinceMs: number | null = null;
  let nextReportMs = promisedMs;
  let loggedVerdict: ClockVerdict = 'agreed';

  function pause(milliseconds: number): Promise<void> {
    return new Promise((resume) => {
      const cancel = deps.after(milliseconds, resume);
      callOff = () => {
        cancel();
        resume();
      };
    });
  }

  /** Leaves half of the time to requests for a third of the promised 60 s; then erasing takes priority, to keep that promise. */
  async function sweep(): Promise<void> {
    const startMs = deps.monotonicMs();
    let records = 0;
    let touched = sliceRecords;
    while (touched >= sliceRecords && !stopped) {
      const sliceMs = deps.monotonicMs();
      touched = await deps.store.sweep(sliceRecords);
      records += touched;
      const nowMs = deps.monotonicMs();
      const spareMs = Math.max(0, startMs + sweepIntervalMs - nowMs);
      if (touched >= sliceRecords && !stopped) await pause(Math.min(nowMs - sliceMs, spareMs));
    }
    if (records > 0) deps.log({ event: 'swept', records, durationMs: deps.monotonicMs() - startMs });
  }

  async function scrub(): Promise<boolean> {
    const isDone = await deps.store.scrub();
    const nowMs = deps.monotonicMs();
    unscrubbedSinceMs = isDone ? null : (unscrubbedSinceMs ?? nowMs);
    const waitedMs = unscrubbedSinceMs === null ? 0 : nowMs - unscrubbedSinceMs;
    if (isDone) nextReportMs = promisedMs;
    else if (waitedMs > promisedMs && waitedMs >= nextReportMs) {
      deps.log({ event: 'scrub_waiting', durationMs: waitedMs });
      // A program such as Litestream keeps its place in the store's log for as long as it runs, so reports become rarer.
      nextReportMs = 2 * waitedMs;
    }
    return isDone;
  }

  async function attempt(
    where: 'deletions' | 'sweep' | 'scrub' | 'notices',
    step: () => Promise<unknown>,
  ): Promise<boolean> {
    try {
      return (await step()) !== false;
    } catch (error) {
      if (!(error instanceof StoreMovedError)) deps.log({ event: 'fault', where, error });
      return false;
    }
  }

  /** Logs each change once: an unreliable clock explains why nothing is being swept. */
  async function logClock(): Promise<void> {
    const { verdict, aheadSeconds } = deps.store.clock();
    if (verdict === loggedVerdict) return;
    loggedVerdict = verdict;
    if (verdict === 'agreed') deps.log({ event: 'clock_agreed' });
    else {
      const direction = aheadSeconds >= 0 ? 'ahead' : 'behind';
      deps.log({ event: `clock_${verdict}`, direction, seconds: Math.abs(aheadSeconds) });
    }
  }

  async function run(): Promise<void> {
    await attempt('sweep', logClock);
    // Deletions and sweeps run before the scrub, which cleans up after both.
    const isDeleted = await attempt('deletions', () => deps.finishDeletions(() => !stopped));
    const isSwept = !stopped && (await attempt('sweep', sweep));
    const isScrubbed = !stopped && (await attempt('scrub', scrub));
    // Last, so that an email never delays an erasure.
    const isNotified = !stopped && (await attempt('notices', deps.sendDueNotices));
    if (!stopped) await deps.checkRoom();
    if (stopped) return;
    callOff = deps.after(isDeleted && isSwept && isScrubbed && isNotified ? sweepIntervalMs : retryMs, start);
  }

  function start(): void {
    running = run();
  }

  callOff = deps.after(0, start);
  return {
    async stop() {
      stopped = true;
      callOff();
      await running;
    },
  };
}

export interface DomainCheckerDeps {
  readonly domains: Pick<DomainService, 'checkDue'>;
  readonly log: Log;
  readonly after: After;
}

/** Late enough to leave startup, and the readers who waited for it, undisturbed. */
export const firstRunMs = 30_000;
/** Each domain is checked daily; a check may be this late. */
export const runIntervalMs = 600_000;
/** Shutdown gets ten seconds in total, mostly for requests. */
const stopGraceMs = 1_000;

export function startDomainChecker({ domains, log, after }: DomainCheckerDeps): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();

  async function run(): Promise<void> {
    try {
      await domains.checkDue(stopping.signal);
    } catch (error) {
      // During shutdown the store closes while a late check may still be running.
      if (!stopping.signal.aborted) log({ event: 'fault', where: 'domains', error });
    }
    if (!stopping.signal.aborted) callOff = after(runIntervalMs, start);
  }

  function start(): void {
    running = run();
  }

  let callOff = after(firstRunMs, start);
  return {
    async stop() {
      stopping.abort();
      callOff();
      const grace = Promise.withResolvers<void>();
      const callOffGrace = after(stopGraceMs, grace.resolve);
      await Promise.race([running, grace.promise]);
      callOffGrace();
    },
  };
}

export interface RandomPauses {
  pause(): Promise<void>;
  end(): void;
}

export interface RandomPauseOptions {
  readonly maxMs: number;
  readonly random: RandomBytes;
  readonly after: After;
}

const fractions = 0x1_0000_0000;

export function createRandomPauses({ maxMs, random, after }: RandomPauseOptions): RandomPauses {
  const underWay = new Set<() => void>();
  let hasEnded = false;
  return {
    pause() {
      if (hasEnded) return Promise.resolve();
      const fraction = Buffer.from(random(4)).readUInt32BE() / fractions;
      return new Promise((resolve) => {
        const finish = () => {
          callOff();
          underWay.delete(finish);
          resolve();
        };
        const callOff = after(Math.floor(fraction * maxMs), finish);
        underWay.add(finish);
      });
    },
    end() {
      hasEnded = true;
      for (const finish of [...underWay]) finish();
    },
  };
}
