/** Proves that numbers are uniform. Texts and values: `core/secrets/generated-value.test.ts` and `test/sdk/drawing.test.ts`. */
import { describe, expect, it } from 'bun:test';
import { chiSquare, chiSquareBound, seededRandom } from '../../test/support/seeded-random.ts';
import { randomBelow } from './drawing.ts';

describe('a random number', () => {
  const drawn = (bound: number, draw: () => number) => {
    const counts = Array<number>(bound).fill(0);
    for (let count = 0; count < 100 * bound; count += 1) {
      const number = draw();
      counts[number] = (counts[number] ?? Number.NaN) + 1;
    }
    return counts;
  };

  it('is below its bound and each equally often (seed "numbers", 777,600 numbers below 7,776)', () => {
    const random = seededRandom('numbers');
    const counts = drawn(7_776, () => randomBelow(7_776, random));
    expect(counts).toHaveLength(7_776);
    expect(chiSquare(counts)).toBeLessThan(chiSquareBound(7_776));
  });

  it('would be told apart from 16 bits modulo the bound (self-test)', () => {
    const random = seededRandom('numbers');
    const biased = () => {
      const [high = 0, low = 0] = random(2);
      return (high * 256 + low) % 7_776;
    };
    expect(chiSquare(drawn(7_776, biased))).toBeGreaterThan(chiSquareBound(7_776));
  });

  it('is drawn again when it is outside the largest multiple of the bound', () => {
    // 2^32 is 2,560 (0xa00) above a multiple of 7,776, so every number from 0xfffff600 on is rejected.
    const draws = [[255, 255, 255, 255], [255, 255, 246, 0], [255, 255, 245, 255], []];
    expect(2 ** 32 % 7_776).toBe(0xa00);
    expect(randomBelow(7_776, () => Uint8Array.from(draws.shift() ?? []))).toBe(7_775);
    expect(draws).toEqual([[]]);
  });

  it('is any of 2^32, or the only one below 1', () => {
    expect(randomBelow(2 ** 32, () => Uint8Array.of(255, 255, 255, 255))).toBe(2 ** 32 - 1);
    expect(randomBelow(1, () => Uint8Array.of(255, 255, 255, 255))).toBe(0);
  });
});
