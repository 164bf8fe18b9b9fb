import { mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Containers often have 64 MiB; the largest store in these tests takes a tenth of it. */
const leastMemoryBytes = 48 * 1024 * 1024;

function hasMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize >= leastMemoryBytes;
  } catch {
    return false;
  }
}

/**
 * A new folder, in memory if there is room: a store's answers do not depend on the disk, and syncing to one would take
 * most of a test's time. What does depend on the disk is tested in test/faults.
 */
export function makeMemoryFolder(): string {
  return mkdtempSync(join(hasMemory() ? '/dev/shm' : tmpdir(), 'mayfly-'));
}
