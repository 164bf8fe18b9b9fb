/**
 * Whether the folder still names the files that are open.
 *
 * A file that was moved or removed takes writes as before, and what they hold is gone with it at the next start (P5); with
 * another log or another lock file than ours, a second process would write into what we have. Invariant: a file is known
 * by its device and inode, so that the same file put back is itself again, and a copy is not.
 * Source: https://www.sqlite.org/howtocorrupt.html §4
 */
import { statSync } from 'node:fs';
import type { StoreFolder } from './folder.ts';

/** Nothing was begun: what was open is still as it was. */
export class FilesMoved extends Error {
  override readonly name = 'FilesMoved';
}

export interface OpenFiles {
  areInPlace(): boolean;
  /**
   * Looks if it must, and else once in `lookEveryMs`, because a look costs more than a small decision.
   * @throws FilesMoved
   */
  assertInPlace(mustLook: boolean): void;
}

export const lookEveryMs = 1_000;

/**
 * Call it while a connection that has read something is open: SQLite makes its two files beside the database then.
 * @param monotonicMs milliseconds of a clock that only runs forward
 */
export function rememberOpenFiles({ database, wal }: StoreFolder, monotonicMs: () => number): OpenFiles {
  const paths = [database, wal, `${database}-shm`];
  const opened = paths.map(identityOf);
  let lookedAtMs = monotonicMs();
  const areInPlace = () => paths.every((path, n) => identityOf(path) === opened[n]);
  return {
    areInPlace,
    assertInPlace(mustLook) {
      const nowMs = monotonicMs();
      if (!mustLook && nowMs - lookedAtMs < lookEveryMs) return;
      lookedAtMs = nowMs;
      if (!areInPlace()) throw new FilesMoved('the files in the data folder are not those that are open');
    },
  };
}

/** A name that cannot be looked up is not known to be ours. */
function identityOf(path: string): string | null {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return null;
  }
}
