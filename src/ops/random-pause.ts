/**
 * Pauses whose length nobody can foresee, for work whose moment would tell something.
 *
 * Invariant: none is longer than its bound; an end cuts all of them short, those to come too, so a stop loses nothing.
 */
import type { RandomBytes } from '../crypto/random.ts';

export interface RandomPauses {
  pause(): Promise<void>;
  end(): void;
}

export interface RandomPauseOptions {
  readonly maxMs: number;
  readonly random: RandomBytes;
  /** Runs a function once, after so many milliseconds; returns how to call it off. */
  readonly after: (milliseconds: number, run: () => void) => () => void;
}

const fractions = 0x1_0000_0000;

export function createRandomPauses({ maxMs, random, after }: RandomPauseOptions): RandomPauses {
  const underWay = new Set<() => void>();
  let hasEnded = false;
  return {
    pause() {
      if (hasEnded) return Promise.resolve();
      const fraction = Buffer.from(random(4)).readUInt32BE() / fractions;
      return new Promise((resolve) => {
        const finish = () => {
          callOff();
          underWay.delete(finish);
          resolve();
        };
        const callOff = after(Math.floor(fraction * maxMs), finish);
        underWay.add(finish);
      });
    },
    end() {
      hasEnded = true;
      for (const finish of [...underWay]) finish();
    },
  };
}
