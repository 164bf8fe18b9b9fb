/**
 * Whether the store works now: tried every second, so that asking costs and changes nothing. Logs the cause of an outage once, and its
 * end.
 *
 * Anything but an outage is a fault of the program, and ends the process (P23).
 */
import { ServiceError, StoreMovedError } from '../core/errors.ts';
import type { Log } from './log.ts';

export interface StoreWatchDeps {
  /** Resolves if secrets can be read and burned now, else rejects with the cause. @param isDoubted whether the last try failed */
  readonly assertAble: (isDoubted: boolean) => Promise<void>;
  /** How long an outage may last before it counts: long enough for a failover. */
  readonly patienceMs: number;
  readonly log: Log;
  /** Runs a function once after that many milliseconds; returns its cancel function. */
  readonly after: (milliseconds: number, run: () => void) => () => void;
  /** Milliseconds of a clock that only runs forward. */
  readonly nowMs: () => number;
}

export interface StoreWatch {
  /** As last found. */
  isAble(): boolean;
  /** Whether another process holds the embedded store. */
  isLocked(): boolean;
  stop(): void;
}

export const storePollMs = 1_000;

/** The code of the first cause: SQLite's, PostgreSQL's or the system's. */
export function outageCodeOf(error: unknown): string {
  let code = 'UNAVAILABLE';
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('reason' in cause) code = String(cause.reason).toUpperCase();
    else if ('code' in cause && !(cause instanceof ServiceError) && cause.code !== '')
      code = String(cause.code);
  }
  return code;
}

/** Tries immediately, then a second after each try ends. */
export function watchStore({ assertAble, patienceMs, log, after, nowMs }: StoreWatchDeps): StoreWatch {
  let failing: { readonly sinceMs: number; readonly code: string } | null = null;
  let said: string | null = null;
  let [isStopped, callOff] = [false, () => {}];

  function note(sinceMs: number, error: unknown): void {
    const code = error instanceof StoreMovedError ? 'MOVED' : outageCodeOf(error);
    failing = { sinceMs: failing?.sinceMs ?? sinceMs, code };
    if (said !== null || nowMs() - failing.sinceMs < patienceMs) return;
    said = code;
    log(code === 'MOVED' ? { event: 'store_moved' } : { event: 'store_failed', code });
  }

  async function look(): Promise<void> {
    const sinceMs = nowMs();
    try {
      await assertAble(failing !== null);
      if (isStopped) return;
      if (said !== null) log({ event: 'store_back' });
      [failing, said] = [null, null];
    } catch (error) {
      if (isStopped) return;
      if (!(error instanceof ServiceError)) throw error;
      note(sinceMs, error);
    }
    callOff = after(storePollMs, () => void look());
  }

  void look();
  return {
    isAble: () => said === null,
    isLocked: () => said !== null && failing?.code.startsWith('SQLITE_BUSY') === true,
    stop() {
      isStopped = true;
      callOff();
    },
  };
}
