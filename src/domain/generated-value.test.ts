/**
 * Owns: the proof that generated values are uniform, complete and without look-alikes.
 */
import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import { chiSquare, chiSquareBound, seededRandom } from '../../test/support/seeded-random.ts';
import { allCharacterSets, characterSets, generatedLength, generateValue } from './generated-value.ts';
import type { CharacterSet } from './outcomes.ts';

function countsIn(texts: readonly string[], set: string): number[] {
  const counts = new Map([...set].map((character) => [character, 0]));
  for (const character of texts.join('')) {
    const count = counts.get(character);
    if (count !== undefined) counts.set(character, count + 1);
  }
  return [...counts.values()];
}

/** The defect: one character of each set in front, the rest behind. */
function inOrder(random: ReturnType<typeof seededRandom>): string {
  return allCharacterSets
    .map((name) => characterSets[name][(random(1)[0] ?? 0) % characterSets[name].length])
    .join('');
}

describe('character sets', () => {
  it('hold none of the look-alikes, no character twice, and nothing that belongs to another set', () => {
    const all = allCharacterSets.map((name) => characterSets[name]).join('');
    expect(new Set(all).size).toBe(all.length);
    for (const lookAlike of '0Oo1lIi') expect(all).not.toContain(lookAlike);
    expect(characterSets.lower).toMatch(/^[a-z]{23}$/);
    expect(characterSets.upper).toMatch(/^[A-Z]{24}$/);
    expect(characterSets.digits).toMatch(/^[2-9]{8}$/);
    expect(characterSets.symbols).toMatch(/^[^A-Za-z0-9\s]{14}$/);
    expect(all).toMatch(/^[!-~]+$/);
  });

  it('are four, and the lengths those of the contract', () => {
    expect(allCharacterSets).toEqual(['lower', 'upper', 'digits', 'symbols']);
    expect(generatedLength).toEqual({ min: 4, default: 12, max: 128 });
  });
});

describe('a generated value', () => {
  it('has the length and every set that was chosen, and nothing else', () => {
    const random = seededRandom('complete');
    fc.assert(
      fc.property(
        fc.integer({ min: 4, max: 128 }),
        fc.uniqueArray(fc.constantFrom<CharacterSet>(...allCharacterSets), { minLength: 1 }),
        (length, sets) => {
          const value = generateValue(length, sets, random);
          expect(value).toHaveLength(length);
          const alphabet = sets.map((name) => characterSets[name]).join('');
          for (const character of value) expect(alphabet).toContain(character);
          for (const name of sets) {
            expect([...value].some((character) => characterSets[name].includes(character))).toBe(true);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('takes a set named twice for one', () => {
    expect(generateValue(4, ['digits', 'digits'], seededRandom('twice'))).toMatch(/^[2-9]{4}$/);
  });

  it('is uniform over each set (seed "even", 20,000 values of 12)', () => {
    const random = seededRandom('even');
    const values = Array.from({ length: 20_000 }, () => generateValue(12, allCharacterSets, random));
    for (const name of allCharacterSets) {
      const set = characterSets[name];
      expect(chiSquare(countsIn(values, set))).toBeLessThan(chiSquareBound(set.length));
    }
  });

  it('is uniform over the arrangements of the sets (seed "order", 24 orders of 4 characters)', () => {
    const random = seededRandom('order');
    const orderOf = (value: string) =>
      [...value].map((character) =>
        allCharacterSets.findIndex((name) => characterSets[name].includes(character)),
      );
    const counts = (texts: readonly string[]) => {
      const seen = new Map<string, number>();
      for (const text of texts) seen.set(orderOf(text).join(''), (seen.get(orderOf(text).join('')) ?? 0) + 1);
      return [...seen.values(), ...Array<number>(24 - seen.size).fill(0)];
    };
    const values = Array.from({ length: 12_000 }, () => generateValue(4, allCharacterSets, random));
    expect(chiSquare(counts(values))).toBeLessThan(chiSquareBound(24));
    const ordered = Array.from({ length: 12_000 }, () => inOrder(random));
    expect(chiSquare(counts(ordered))).toBeGreaterThan(chiSquareBound(24));
  });

  it('is refused where none can be: no set, or more sets than characters', () => {
    const random = seededRandom('none');
    expect(() => generateValue(12, [], random)).toThrow(RangeError);
    expect(() => generateValue(3, allCharacterSets, random)).toThrow(RangeError);
  });
});
