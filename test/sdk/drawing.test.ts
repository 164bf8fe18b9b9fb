/** What the client draws: the same characters and lengths as the server, each character equally likely. */
import { describe, expect, it } from 'bun:test';
import { generateValue } from '../../sdk/drawing.ts';
import { allCharacterSets, characterSets, generatedLength } from '../../src/protocol/drawing.ts';
import { chiSquare, chiSquareBound } from '../support/seeded-random.ts';

describe('a value drawn by the client', () => {
  it('has the lengths of the server, and refuses others', () => {
    expect(generateValue()).toHaveLength(generatedLength.default);
    for (const length of [generatedLength.min, generatedLength.max])
      expect(generateValue(length)).toHaveLength(length);
    for (const length of [generatedLength.min - 1, generatedLength.max + 1, 12.5, Number.NaN])
      expect(() => generateValue(length)).toThrow('length');
    expect(generateValue(4, ['digits', 'digits'])).toMatch(/^[2-9]{4}$/);
    for (const wrong of [[], ['digits', 'runes']])
      expect(() => generateValue(4, wrong as typeof allCharacterSets)).toThrow('charset');
  });

  it('is uniform over each set, and has one of each that was chosen (20,000 values)', () => {
    const text = Array.from({ length: 20_000 }, () => generateValue()).join('');
    for (const name of allCharacterSets) {
      const counts = [...characterSets[name]].map((character) => text.split(character).length - 1);
      expect(chiSquare(counts)).toBeLessThan(chiSquareBound(counts.length));
    }
    for (let tries = 0; tries < 500; tries += 1) {
      const value = generateValue(4);
      for (const name of allCharacterSets)
        expect([...value].some((character) => characterSets[name].includes(character))).toBe(true);
    }
  });
});
