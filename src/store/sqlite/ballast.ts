/**
 * The ballast: room kept on the disk so that reads and burns still commit when it is full (P23).
 *
 * Owns: one file. Invariant: new secrets are accepted only while the ballast is held; once it had to be given up they
 * are refused until there is room for it, and as much again, so that the room it freed is left to reads and burns.
 */
import { randomFillSync } from 'node:crypto';
import { closeSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';

const chunkBytes = 64 * 1024;

export interface Ballast {
  /** Whether the ballast is on the disk; puts it back when there is room again. */
  held(): boolean;
  /** Gives its room to the database. */
  release(): void;
  /** Whether the file system has next to nothing left. */
  diskIsFull(): boolean;
}

export function createBallast(path: string, sizeBytes: number): Ballast {
  let isHeld = sizeOf(path) === sizeBytes;

  const freeBytes = (): number => {
    const stats = statfsSync(path.slice(0, path.lastIndexOf('/')));
    return Number(stats.bavail) * Number(stats.bsize);
  };

  function release(): void {
    isHeld = false;
    rmSync(path, { force: true });
  }

  function restore(): void {
    if (freeBytes() < 2 * sizeBytes) return;
    try {
      writeBallast(path, sizeBytes);
      isHeld = true;
    } catch {
      // Somebody else was quicker to take the room: it stays given up.
      release();
    }
  }

  return {
    held() {
      if (!isHeld) restore();
      return isHeld;
    },
    release,
    diskIsFull: () => freeBytes() < chunkBytes,
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? -1;
}

/** Random bytes, because zeros take no room on file systems that compress or leave holes. */
function writeBallast(path: string, sizeBytes: number): void {
  const file = openSync(path, 'w', 0o600);
  try {
    const chunk = randomFillSync(new Uint8Array(Math.min(chunkBytes, sizeBytes)));
    for (let written = 0; written < sizeBytes; ) {
      written += writeSync(file, chunk, 0, Math.min(chunk.length, sizeBytes - written));
    }
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
