/**
 * All reads of one turn run together, on one snapshot, which takes and gives back a lock. It ends with them, so that a
 * scrub never waits for one. It may show what a power loss would undo, so results are told only when all of that is on
 * the disk (P2).
 */
import type { Database } from 'bun:sqlite';
import { ServiceError, StoreMovedError } from '../../core/errors.ts';

export interface Reader {
  /**
   * Runs by the end of the turn, and may run several statements. If `run` throws, only this read rejects, as
   * `unavailable`: a store in doubt, not a fault of the program.
   * @param mayTellNow whether this result may be told immediately, because a power loss would not make it untrue
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
 * @param hasMoved called in the snapshot: whether the folder has other files, or a move has closed the store. Then
 *   nothing read counts.
 * @param settled resolves when the snapshot is on the disk; `null` if it is
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
      // A failed read may have ended it.
      if (db.inTransaction) end.run();
    } catch (error) {
      for (const { reject } of reads) reject(unread(error));
      // Otherwise no later transaction could begin. COMMIT fails when reading fails.
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
