/** The ballast has exactly the configured size; once released, it is restored only where it leaves room. */
import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBallast } from './files.ts';

let directory = '';
let path = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mayfly-'));
  path = join(directory, 'ballast');
});

afterEach(() => rmSync(directory, { recursive: true }));

describe('the ballast', () => {
  it.each([1, 1_000, 65_536, 100_000, 262_144])(
    'P23: of %d bytes takes exactly that many, readable only by its user',
    (size) => {
      const ballast = createBallast(path, size);
      expect([ballast.held(), ballast.diskIsFull()]).toEqual([true, false]);
      const stats = statSync(path);
      expect([stats.size, stats.mode & 0o777]).toEqual([size, 0o600]);
      // With the right size, it is kept as it is at the next start.
      expect(createBallast(path, size).held()).toBe(true);
      expect(statSync(path).mtimeMs).toBe(stats.mtimeMs);
    },
  );

  it('P23: of another size is replaced', () => {
    writeFileSync(path, 'too short');
    expect(createBallast(path, 1_000).held()).toBe(true);
    expect(statSync(path).size).toBe(1_000);
  });

  it('P23: is put back when it was given up, and there is room', () => {
    const ballast = createBallast(path, 1_000);
    ballast.held();
    ballast.release();
    expect(existsSync(path)).toBe(false);
    expect(ballast.held()).toBe(true);
    expect(statSync(path).size).toBe(1_000);
  });

  it('P23: is not put back where it would take the room that it is for', () => {
    const ballast = createBallast(path, 2 ** 50);
    expect([ballast.held(), existsSync(path)]).toEqual([false, false]);
  });
});
