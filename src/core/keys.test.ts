/** Proves that keys are uniform, have one spelling, and give ids that do not reveal them (P13). */
import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import { chiSquare, chiSquareBound, seededRandom } from '../../test/support/seeded-random.ts';
import { hex } from '../crypto/bytes.ts';
import { systemRandom } from '../crypto/random.ts';
import {
  generateMetadataKey,
  generateSecretKey,
  parseMetadataKey,
  parseSecretKey,
  receiptIdOf,
  secretIdOf,
} from './keys.ts';

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyz';

describe('a key (P13)', () => {
  it('is 31 characters, each uniform at each place (seed "keys", 20,000 keys)', () => {
    const random = seededRandom('keys');
    const keys = Array.from({ length: 20_000 }, () => generateSecretKey(random, null));
    for (let at = 0; at < 31; at += 1) {
      const counts = new Map([...alphabet].map((letter) => [letter, 0]));
      for (const key of keys) counts.set(key[at] ?? '', (counts.get(key[at] ?? '') ?? 0) + 1);
      expect(counts.size).toBe(36);
      expect(chiSquare([...counts.values()])).toBeLessThan(chiSquareBound(36));
    }
  });

  it('has 160 bits', () => expect(31 * Math.log2(alphabet.length)).toBeGreaterThan(160));

  it('is never drawn twice', () => {
    const keys = Array.from({ length: 5_000 }, () => [
      generateSecretKey(systemRandom, null),
      generateMetadataKey(systemRandom, null),
    ]).flat();
    expect(new Set(keys).size).toBe(10_000);
  });

  it('is parsed in the spelling in which it is drawn, and in no other', () => {
    const random = seededRandom('spelling');
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 33 }), (text) => {
        const isKey = text.length === 31 && [...text].every((letter) => alphabet.includes(letter));
        expect(parseSecretKey(text) !== null).toBe(isKey);
        expect(parseMetadataKey(text) !== null).toBe(isKey);
      }),
      { numRuns: 1000 },
    );
    const key = generateSecretKey(random, null);
    expect(parseSecretKey(key)).toBe(key);
    expect(parseSecretKey(`${key}\n`)).toBeNull();
  });

  it('gives ids of 16 bytes that differ between the two kinds of key', () => {
    const key = generateSecretKey(seededRandom('ids'), null);
    const metadataKey = parseMetadataKey(key);
    if (metadataKey === null) throw new Error('not a key');
    expect(secretIdOf(key)).toHaveLength(16);
    expect(hex(secretIdOf(key))).not.toBe(hex(receiptIdOf(metadataKey)));
    expect(hex(secretIdOf(key))).toBe(hex(secretIdOf(key)));
  });
});
