/**
 * Re-checking share domains daily.
 *
 * Owns: when that happens. Invariant: runs never overlap, a run's fault is told and tried again, and a stop begins no
 * further check and waits for those under way no longer than a moment: what they would have noted, the next run finds.
 */
import type { DomainService } from '../core/share-domains/service.ts';
import type { Log } from './logger.ts';

export interface DomainCheckerDeps {
  readonly domains: Pick<DomainService, 'checkDue'>;
  readonly log: Log;
  /** Runs a function once, after so many milliseconds; returns how to call it off. */
  readonly after: (milliseconds: number, run: () => void) => () => void;
}

/** Not in the way of a start, and of the readers who waited for it. */
export const firstRunMs = 30_000;
/** Each domain has its turn once a day; this is how late the turn may be. */
export const runIntervalMs = 600_000;
/** A stop has ten seconds in all, of which requests get most. */
const stopGraceMs = 1_000;

export function startDomainChecker({ domains, log, after }: DomainCheckerDeps): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();

  async function run(): Promise<void> {
    try {
      await domains.checkDue(stopping.signal);
    } catch (error) {
      // After the stop the store closes under a check that is late.
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
