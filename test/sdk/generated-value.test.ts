/** What the client draws is what the server would: the same characters, each equally likely. */
import { describe, expect, it } from 'bun:test';
import { drawValue, characterSets as ours } from '../../sdk/generated-value.ts';
import { allCharacterSets, characterSets, generatedLength } from '../../src/core/secrets/generated-value.ts';
import { chiSquare, chiSquareBound } from '../support/seeded-random.ts';

describe('a value drawn by the client', () => {
  it('has the characters and the lengths of the server', () => {
    expect([ours as object, Object.keys(ours)]).toEqual([characterSets, [...allCharacterSets]]);
    expect(drawValue()).toHaveLength(generatedLength.default);
    for (const length of [generatedLength.min, generatedLength.max])
      expect(drawValue(length)).toHaveLength(length);
    for (const length of [generatedLength.min - 1, generatedLength.max + 1, 12.5, Number.NaN])
      expect(() => drawValue(length)).toThrow('length');
    expect(drawValue(4, ['digits', 'digits'])).toMatch(/^[2-9]{4}$/);
  });

  it('is uniform over each set, and has one of each that was chosen (20,000 values)', () => {
    const text = Array.from({ length: 20_000 }, () => drawValue()).join('');
    for (const name of allCharacterSets) {
      const counts = [...ours[name]].map((character) => text.split(character).length - 1);
      expect(chiSquare(counts)).toBeLessThan(chiSquareBound(counts.length));
    }
    for (let tries = 0; tries < 500; tries += 1) {
      const value = drawValue(4);
      for (const name of allCharacterSets)
        expect([...value].some((character) => ours[name].includes(character))).toBe(true);
    }
  });
});
