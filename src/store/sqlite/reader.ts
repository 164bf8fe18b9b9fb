/**
 * How the connection is read. All reads of one turn of the event loop run together, on one snapshot, which takes and gives back a lock.
 *
 * The snapshot ends when they have run, so that none outlives its reads and a scrub never waits for one. It may show what a power loss
 * would undo, so what was read is told only when all of that is on the disk (P2).
 */
import type { Database } from 'bun:sqlite';
import { ServiceError, StoreMovedError } from '../../core/errors.ts';

export interface Reader {
  /**
   * What `run` returns; it runs by the end of the turn, and may run several statements. Rejects with
   * `ServiceError('unavailable')` when it throws, and it alone: that is a store in doubt, not a fault of the program.
   * @param tellsNoEnd whether this result may be told at once, because a power loss would not make it untrue
   */
  read<Result>(run: () => Result, tellsNoEnd?: (result: Result) => boolean): Promise<Result>;
  /** A read by an id or a hash. Its bytes are taken now: the caller may wipe them. */
  lookUp<Key extends Uint8Array, Result>(
    key: Key,
    find: (key: Key) => Result,
    tellsNoEnd?: (result: Result) => boolean,
  ): Promise<Result>;
}

interface Asked {
  readonly settle: () => void;
  readonly reject: (error: ServiceError) => void;
}

/**
 * @param hasMoved asked in the snapshot of the reads: whether the open files are known not to be those of the folder, or the store
 *   in them was closed by a move. Then nothing read from them counts.
 * @param settled what to wait for until the snapshot is on the disk; `null`: it is
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
      // A read that failed may have ended it.
      if (db.inTransaction) end.run();
    } catch (error) {
      for (const { reject } of reads) reject(unread(error));
      // Otherwise no later transaction could begin. COMMIT fails when reading fails.
      if (hasBegun && db.inTransaction) db.run('ROLLBACK');
    }
  }

  const read: Reader['read'] = (run, tellsNoEnd) =>
    new Promise((resolve, reject) => {
      const settle = () => {
        try {
          const result = run();
          const onDisk = tellsNoEnd?.(result) === true ? null : settled();
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
    lookUp(key, find, tellsNoEnd) {
      const kept = new Uint8Array(key) as typeof key;
      return read(() => find(kept), tellsNoEnd);
    },
  };
}

function unread(error: unknown): ServiceError {
  if (error instanceof StoreMovedError) return error;
  return new ServiceError('unavailable', 'The store could not be read.', { cause: error });
}
