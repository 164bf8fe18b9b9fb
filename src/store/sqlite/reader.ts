/**
 * All reads of one turn of the event loop share one snapshot, because each snapshot takes and releases a lock. It ends
 * with those reads, so that a scrub never waits for it. It may show changes that a power loss would undo, so results are
 * released only once all of these are on disk (P2).
 */
import type { Database } from 'bun:sqlite';
import { ServiceError, StoreMovedError } from '../../core/errors.ts';

export interface Reader {
  /**
   * Runs by the end of the turn, and may execute several statements. If `run` throws, only this read rejects, as
   * `unavailable`: the store is in doubt, not the program.
   * @param mayTellNow whether this result may be released immediately, because a power loss would not make it untrue
   */
  read<Result>(run: () => Result, mayTellNow?: (result: Result) => boolean): Promise<Result>;
  /** Copies the key's bytes now: the caller may wipe them. */
  lookUp<Key extends Uint8Array, Result>(
    key: Key,
    find: (key: Key) => Result,
    mayTellNow?: (result: Result) => boolean,
  ): Promise<Result>;
}

interface Asked {
  readonly settle: () => void;
  readonly reject: (error: ServiceError) => void;
}

/**
 * @param hasMoved called in the snapshot: whether other files have replaced the folder's, or a move has closed the
 *   store. If so, nothing read is valid.
 * @param settled resolves once the snapshot is on disk; returns `null` if it already is
 */
export function createReader(
  db: Database,
  hasMoved: () => boolean,
  settled: () => Promise<void> | null,
): Reader {
  const [begin, end] = [db.query('BEGIN'), db.query('COMMIT')];
  let asked: Asked[] = [];

  function readAll(): void {
    const reads = asked;
    asked = [];
    let hasBegun = false;
    try {
      begin.run();
      hasBegun = true;
      const isMoved = hasMoved();
      for (const { settle, reject } of reads) isMoved ? reject(new StoreMovedError()) : settle();
      // A failed read may have ended the transaction.
      if (db.inTransaction) end.run();
    } catch (error) {
      for (const { reject } of reads) reject(unread(error));
      // Otherwise no later transaction could begin. COMMIT fails if reading fails.
      if (hasBegun && db.inTransaction) db.run('ROLLBACK');
    }
  }

  const read: Reader['read'] = (run, mayTellNow) =>
    new Promise((resolve, reject) => {
      const settle = () => {
        try {
          const result = run();
          const onDisk = mayTellNow?.(result) === true ? null : settled();
          if (onDisk === null) resolve(result);
          else
            onDisk.then(
              () => resolve(result),
              (error) => reject(unread(error)),
            );
        } catch (error) {
          reject(unread(error));
        }
      };
      asked.push({ settle, reject });
      if (asked.length === 1) queueMicrotask(readAll);
    });

  return {
    read,
    lookUp(key, find, mayTellNow) {
      const kept = new Uint8Array(key) as typeof key;
      return read(() => find(kept), mayTellNow);
    },
  };
}

function unread(error: unknown): ServiceError {
  if (error instanceof StoreMovedError) return error;
  return new ServiceError('unavailable', 'The store could not be read.', { cause: error });
}
