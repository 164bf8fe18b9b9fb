/** The ballast has exactly the configured size; once released, it is restored only where it leaves room. */
import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { giveUpBallast, holdBallast, isBallastHeld, isDiskFull } from './files.ts';

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
      expect([isBallastHeld(path, size), holdBallast(path, size)]).toEqual([false, true]);
      expect([isBallastHeld(path, size), isDiskFull(path)]).toEqual([true, false]);
      const stats = statSync(path);
      expect([stats.size, stats.mode & 0o777]).toEqual([size, 0o600]);
      // With the right size, it is kept as it is at the next start.
      expect(holdBallast(path, size)).toBe(true);
      expect(statSync(path).mtimeMs).toBe(stats.mtimeMs);
    },
  );

  it('P23: of another size is replaced', () => {
    writeFileSync(path, 'too short');
    expect([isBallastHeld(path, 1_000), holdBallast(path, 1_000)]).toEqual([false, true]);
    expect(statSync(path).size).toBe(1_000);
  });

  it('P23: is put back when it was given up, and there is room', () => {
    holdBallast(path, 1_000);
    giveUpBallast(path);
    expect(existsSync(path)).toBe(false);
    expect(holdBallast(path, 1_000)).toBe(true);
    expect(statSync(path).size).toBe(1_000);
  });

  it('P23: is not put back where it would take the room that it is for', () => {
    expect([holdBallast(path, 2 ** 50), existsSync(path)]).toEqual([false, false]);
  });
});
