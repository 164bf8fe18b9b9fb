/**
 * Proves that generated values are uniform, complete and without look-alikes, and that offered words are drawn
 * evenly.
 */

import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import { chiSquare, chiSquareBound, seededRandom } from '../../../test/support/seeded-random.ts';
import { createBench } from '../../../test/support/service-bench.ts';
import {
  allCharacterSets,
  type CharacterSet,
  characterSets,
  generatedLength,
} from '../../protocol/drawing.ts';
import { generateValue, suggest } from './generated-value.ts';

function countsIn(texts: readonly string[], set: string): number[] {
  const counts = new Map([...set].map((character) => [character, 0]));
  for (const character of texts.join('')) {
    const count = counts.get(character);
    if (count !== undefined) counts.set(character, count + 1);
  }
  return [...counts.values()];
}

/** The defect: one character of each set, always in the same order. */
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

describe('a suggested value', () => {
  const list = Array.from({ length: 6 * 6 * 6 }, (_, at) => `w${at.toString(6).padStart(3, '0')}`);

  it('of characters is what generate would store', async () => {
    const asked = { style: 'characters', length: 20, charset: ['digits', 'upper'] } as const;
    const value = await createBench().service.suggest(asked);
    expect(value.expose()).toMatch(/^[2-9A-Z]{20}$/);
    expect(value.expose()).toMatch(/[2-9].*[A-Z]|[A-Z].*[2-9]/);
  });

  it.each([3, 4, 12])('of %d words has that many of the list, with hyphens between them', async (count) => {
    const words = (
      await suggest({ random: seededRandom('words'), words: async () => list }, { style: 'words', count })
    )
      .expose()
      .split('-');
    expect(words).toHaveLength(count);
    expect(words.filter((word) => !list.includes(word))).toEqual([]);
  });

  it('has every word equally often at every place (seed "even words", 21,600 values of 3)', async () => {
    const deps = { random: seededRandom('even words'), words: async () => list };
    const counts = [0, 1, 2].map(() => new Map(list.map((word) => [word, 0])));
    for (let count = 0; count < 100 * list.length; count += 1) {
      const value = await suggest(deps, { style: 'words', count: 3 });
      for (const [place, word] of value.expose().split('-').entries())
        counts[place]?.set(word, (counts[place].get(word) ?? 0) + 1);
    }
    for (const place of counts)
      expect(chiSquare([...place.values()])).toBeLessThan(chiSquareBound(list.length));
  });

  it('may have a word twice: what was drawn before says nothing of the next', async () => {
    const deps = { random: () => new Uint8Array(4), words: async () => list };
    expect((await suggest(deps, { style: 'words', count: 3 })).expose()).toBe('w000-w000-w000');
  });

  it('stores nothing, tells nobody, and does not print itself (P18)', async () => {
    const bench = createBench();
    const value = await bench.service.suggest({ style: 'words', count: 4 });
    expect(value.expose()).toMatch(/^[a-z]+(-[a-z]+){3}$/);
    expect(`${value}${Bun.inspect(value)}${JSON.stringify(value)}`).not.toContain(value.expose());
    expect([bench.records, bench.events]).toEqual([[], []]);
  });

  it('is refused where there are no words: better an error than a text of hyphens', async () => {
    const deps = { random: seededRandom('none'), words: async () => [] };
    await expect(suggest(deps, { style: 'words', count: 4 })).rejects.toThrow(RangeError);
  });
});
