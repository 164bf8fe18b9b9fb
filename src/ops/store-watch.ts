/**
 * Watches whether the store works and has room for new secrets (P21, P23). Logs the cause of an outage once, and its end. Anything but an
 * outage is a bug, and ends the process.
 */
import { ServiceError, StoreMovedError } from '../core/errors.ts';
import type { RoomStore, SecretStore } from '../core/ports/secrets.ts';
import type { After } from '../core/time.ts';
import type { Log } from './log.ts';

export interface StoreWatchDeps {
  /** Resolves if secrets can be read and burned now; otherwise rejects with the cause. @param isDoubted whether the last try failed */
  readonly assertAble: (isDoubted: boolean) => Promise<void>;
  /** How long an outage may last before it counts: long enough for a failover. */
  readonly patienceMs: number;
  readonly log: Log;
  readonly after: After;
  readonly nowMs: () => number;
}

export interface StoreWatch {
  isAble(): boolean;
  /** Whether another process has locked the embedded store. */
  isLocked(): boolean;
  stop(): void;
}

export const storePollMs = 1_000;

/** Returns the code of the first cause: SQLite's, PostgreSQL's or the system's. */
export function outageCodeOf(error: unknown): string {
  let code = 'UNAVAILABLE';
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('reason' in cause) code = String(cause.reason).toUpperCase();
    else if ('code' in cause && !(cause instanceof ServiceError) && cause.code !== '')
      code = String(cause.code);
  }
  return code;
}

/** Checks immediately, then a second after each check ends, at no cost to requests. */
export function watchStore({ assertAble, patienceMs, log, after, nowMs }: StoreWatchDeps): StoreWatch {
  let failing: { readonly sinceMs: number; readonly code: string } | null = null;
  let said: string | null = null;
  let [isStopped, callOff] = [false, () => {}];

  function fail(sinceMs: number, error: unknown): void {
    const code = error instanceof StoreMovedError ? 'MOVED' : outageCodeOf(error);
    failing = { sinceMs: failing?.sinceMs ?? sinceMs, code };
    if (said !== null || nowMs() - failing.sinceMs < patienceMs) return;
    said = code;
    log(code === 'MOVED' ? { event: 'store_moved' } : { event: 'store_failed', code });
  }

  async function check(): Promise<void> {
    const sinceMs = nowMs();
    try {
      await assertAble(failing !== null);
      if (isStopped) return;
      if (said !== null) log({ event: 'store_back' });
      [failing, said] = [null, null];
    } catch (error) {
      if (isStopped) return;
      if (!(error instanceof ServiceError)) throw error;
      fail(sinceMs, error);
    }
    callOff = after(storePollMs, () => void check());
  }

  void check();
  return {
    isAble: () => said === null,
    isLocked: () => said !== null && failing?.code.startsWith('SQLITE_BUSY') === true,
    stop() {
      isStopped = true;
      callOff();
    },
  };
}

export interface RoomWatch extends Pick<SecretStore, 'put'> {
  isFull(): boolean;
  /** Never rejects: a check that fails for any reason other than lack of room changes nothing. */
  check(): Promise<void>;
}

function saysFull(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'storage_full';
}

/**
 * Logs once per change, however many secrets are refused. A refusal counts immediately; free room counts only at a check, every 20 s, so
 * that a store at its limit cannot flood the log.
 */
export function createRoomWatch(store: RoomStore & Pick<SecretStore, 'put'>, log: Log): RoomWatch {
  let isFull = false;

  function report(now: boolean): void {
    if (now === isFull) return;
    isFull = now;
    log({ event: now ? 'storage_full' : 'storage_free' });
  }

  return {
    isFull: () => isFull,
    async check() {
      try {
        await store.assertRoom();
        report(false);
      } catch (error) {
        if (saysFull(error)) report(true);
      }
    },
    async put(record) {
      try {
        await store.put(record);
      } catch (error) {
        if (saysFull(error)) report(true);
        throw error;
      }
    },
  };
}
