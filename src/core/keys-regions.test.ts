/**
 * Proves that only the whole key reveals which region made it (P13), and that nothing changes without regions. The keys
 * in `test/vectors/regions.json` are frozen; `test/vectors/reference.ts` reads them independently.
 */
import { describe, expect, it } from 'bun:test';
import { chiSquare, chiSquareBound, seededRandom } from '../../test/support/seeded-random.ts';
import * as reference from '../../test/vectors/reference.ts';
import vector from '../../test/vectors/regions.json';
import { systemRandom } from '../crypto/random.ts';
import {
  generateMetadataKey,
  generateSecretKey,
  parseMetadataKey,
  parseRegionLabel,
  parseSecretKey,
  type RegionLabel,
  regionOfKey,
  regionTag,
} from './keys.ts';

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyz';
const everyLabel = [...alphabet].flatMap((first) => [...alphabet].map((second) => labelOf(first + second)));
const [us, eu] = [labelOf('us'), labelOf('eu')];

function labelOf(text: string): RegionLabel {
  const label = parseRegionLabel(text);
  if (label === null) throw new Error(`${text} is no label`);
  return label;
}

function keyOf(text: string) {
  const key = parseSecretKey(text);
  if (key === null) throw new Error(`${text} is no key`);
  return key;
}

const markAt = (key: string) => key.slice(29);

/** Pearson's chi-square statistic of the region tags of `keys` over all 1,296 tags. */
function markStatistic(keys: readonly string[]): number {
  const counts = new Map(everyLabel.map((label): [string, number] => [label, 0]));
  for (const key of keys) counts.set(markAt(key), (counts.get(markAt(key)) ?? 0) + 1);
  return chiSquare([...counts.values()]);
}

function drawHeads(count: number, seed: string): string[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => generateSecretKey(random, null).slice(0, 29));
}

describe('the tag of a region', () => {
  it('is read back from both keys, for every label there can be', () => {
    const random = seededRandom('marks');
    for (const label of everyLabel) {
      expect(regionOfKey(generateSecretKey(random, label))).toBe(label);
      expect(regionOfKey(generateMetadataKey(random, label))).toBe(label);
    }
  });

  it('differs for each label after the same head: no two regions collide', () => {
    for (const head of drawHeads(20, 'heads')) {
      expect(new Set(everyLabel.map((label) => regionTag(head, label))).size).toBe(1_296);
    }
  });

  it('leaves a key its form: 31 characters, parsed as any other', () => {
    for (let count = 0; count < 1_000; count += 1) {
      const key = generateMetadataKey(systemRandom, us);
      expect(parseMetadataKey(key)).toBe(key);
      expect(parseSecretKey(key)).not.toBeNull();
    }
  });

  it('leaves a key 149 bits that are drawn', () => expect(29 * Math.log2(36)).toBeGreaterThan(149.9));

  it('looks random to anyone who holds nothing else of the key (seed "marks of us", 60,000 keys)', () => {
    const random = seededRandom('marks of us');
    const keys = Array.from({ length: 60_000 }, () => generateSecretKey(random, us));
    expect(markStatistic(keys)).toBeLessThan(chiSquareBound(1_296));
  });

  it('self-test: a label that is not masked, or masked alike in every key, is noticed', () => {
    const heads = drawHeads(60_000, 'marks of us');
    const bare = heads.map((head) => head + us);
    const shifted = heads.map((head) => head + regionTag('fixed', us));
    for (const keys of [bare, shifted]) expect(markStatistic(keys)).toBeGreaterThan(chiSquareBound(1_296));
  });

  it('self-test: a mask that depends on only a few characters lets their holder read the label', () => {
    const partly = (head: string) => head + regionTag(head.slice(0, 1), us);
    const sameFirst = drawHeads(20_000, 'partly').filter((head) => head.startsWith('a'));
    expect(markStatistic(sameFirst.map(partly))).toBeGreaterThan(chiSquareBound(1_296));
    expect(markStatistic(sameFirst.map((head) => head + regionTag(head, us)))).toBeLessThan(
      chiSquareBound(1_296),
    );
  });

  it('changes with every character of the head: one that is wrong gives another label almost always', () => {
    const key = generateSecretKey(seededRandom('avalanche'), eu);
    const labels = Array.from({ length: 29 }, (_, at) => {
      const other = key[at] === 'a' ? 'b' : 'a';
      return regionOfKey(keyOf(key.slice(0, at) + other + key.slice(at + 1)));
    });
    expect(labels.filter((label) => label === eu).length).toBeLessThan(3);
  });

  it('of a key that no region made is any of the 1,296 (seed "unmarked", 60,000 keys)', () => {
    const random = seededRandom('unmarked');
    const counts = new Map(everyLabel.map((label) => [label, 0]));
    for (let count = 0; count < 60_000; count += 1) {
      const label = regionOfKey(generateSecretKey(random, null));
      counts.set(label, (counts.get(label) ?? 0) + 1);
    }
    expect(chiSquare([...counts.values()])).toBeLessThan(chiSquareBound(1_296));
  });
});

describe('the vectors of keys with a region', () => {
  for (const { region, random, secret_key, metadata_key } of vector.keys) {
    it(`are the frozen ones in ${region ?? 'no region'}, by the product and by the reference`, () => {
      const draws = random.map((text) => new Uint8Array(Buffer.from(text, 'hex')));
      const next = () => draws.shift() ?? new Uint8Array(0);
      const label = region === null ? null : labelOf(region);
      expect(generateSecretKey(next, label)).toBe(keyOf(secret_key));
      expect(String(generateMetadataKey(next, label))).toBe(metadata_key);
      if (region === null) return;
      for (const key of [secret_key, metadata_key]) {
        expect(reference.regionLabelOf(key)).toBe(region);
        expect(String(regionOfKey(keyOf(key)))).toBe(region);
      }
    });
  }

  it('agree between product and reference for every key, marked or not', () => {
    const random = seededRandom('both readings');
    for (let count = 0; count < 2_000; count += 1) {
      const key = generateSecretKey(random, null);
      expect(String(regionOfKey(key))).toBe(reference.regionLabelOf(key));
    }
  });
});

describe('a label', () => {
  it('is two characters of [0-9a-z], and nothing else', () => {
    for (const text of ['us', 'eu', '00', 'z9']) expect(String(parseRegionLabel(text))).toBe(text);
    for (const text of ['', 'u', 'usa', 'US', 'u-', 'ü1', ' us', 'us\n'])
      expect(parseRegionLabel(text)).toBeNull();
  });
});
