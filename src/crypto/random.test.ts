/** Proves that drawn text is uniform and that no random byte is handed out twice. */
import { describe, expect, it } from 'bun:test';
import { chiSquare, chiSquareBound, seededRandom } from '../../test/support/seeded-random.ts';
import { hex } from './bytes.ts';
import { type RandomBytes, randomText, systemRandom } from './random.ts';

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyz';

function countsOf(text: string, letters: string): number[] {
  const counts = new Map([...letters].map((letter) => [letter, 0]));
  for (const letter of text) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  return [...counts.values()];
}

/** The defect the check must notice: 256 is not a multiple of 36, so the first four letters come up too often. */
function biasedText(letters: string, length: number, random: RandomBytes): string {
  return Array.from(random(length), (byte) => letters[byte % letters.length] ?? '').join('');
}

describe('random text', () => {
  it('has every letter equally often (P13; seed "uniform", 720,000 letters)', () => {
    const text = randomText(alphabet, 720_000, seededRandom('uniform'));
    expect(text).toHaveLength(720_000);
    expect(chiSquare(countsOf(text, alphabet))).toBeLessThan(chiSquareBound(alphabet.length));
  });

  it('would be told apart from text with a modulo bias', () => {
    const text = biasedText(alphabet, 720_000, seededRandom('uniform'));
    expect(chiSquare(countsOf(text, alphabet))).toBeGreaterThan(chiSquareBound(alphabet.length));
  });

  it('draws again when a byte is outside the largest multiple of the alphabet', () => {
    const draws = [Uint8Array.of(255, 254, 253, 252, 251), Uint8Array.of(35, 0, 1)];
    expect(randomText(alphabet, 3, () => draws.shift() ?? new Uint8Array(0))).toBe('zz0');
  });

  it('takes alphabets from 2 to 256 letters', () => {
    const all = String.fromCharCode(...Array.from({ length: 256 }, (_, code) => code));
    expect(randomText(all, 4, () => Uint8Array.of(0, 127, 128, 255))).toBe('\u0000\u007f\u0080\u00ff');
    expect(randomText('ab', 4, () => Uint8Array.of(0, 1, 254, 255))).toBe('abab');
  });
});

describe('the system’s randomness', () => {
  it('gives the length asked for, at the edges of its pool too', () => {
    for (const length of [0, 1, 32, 4095, 4096, 4097, 10_000])
      expect(systemRandom(length)).toHaveLength(length);
  });

  it('never hands out the same bytes twice, across the pool’s refills', () => {
    const drawn = Array.from({ length: 2000 }, () => hex(systemRandom(32)));
    expect(new Set(drawn).size).toBe(drawn.length);
  });

  it('does not change bytes already handed out when the next are drawn, and shares no memory', () => {
    const first = systemRandom(32);
    const before = hex(first);
    for (let draw = 0; draw < 300; draw += 1) systemRandom(32).fill(0);
    expect(hex(first)).toBe(before);
    expect(first.buffer.byteLength).toBe(32);
  });

  it('is random from its first byte on', async () => {
    // Separate module instances that have drawn nothing yet.
    const fresh = await Promise.all(Array.from({ length: 20 }, (_, n) => import(`./random.ts?fresh=${n}`)));
    const first = (fresh as typeof import('./random.ts')[]).map((each) => each.systemRandom(1)[0]);
    expect(new Set(first).size).toBeGreaterThan(1);
  });
});
