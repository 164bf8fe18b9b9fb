/** The order in which regions are tried for requests that belong to none yet. */
import { describe, expect, it } from 'bun:test';
import { chiSquare, chiSquareBound, seededRandom } from '../../test/support/seeded-random.ts';
import { parseRegionLabel } from '../core/keys.ts';
import { routerRegions } from './fleet.ts';
import { byPreference } from './router.ts';

const regions = routerRegions(
  ['us', 'eu', 'ap'].flatMap((text) => {
    const label = parseRegionLabel(text);
    return label === null ? [] : [{ label, baseUrl: `https://${text}.example.com` }];
  }),
  [],
);
const random = seededRandom('preference');
const order = (weights: Record<string, number> | null) =>
  byPreference(regions, { weights, random }).map((region): string => region.label);

describe('the preference', () => {
  it('is the operator’s order where there are no weights', () =>
    expect(order(null)).toEqual(['us', 'eu', 'ap']));

  it('spreads by weight, and has an alternative (seed "preference", 8,000 draws)', () => {
    const firsts = Array.from({ length: 8_000 }, () => order({ us: 1, eu: 3 }));
    expect(firsts.every((drawn) => drawn.length === 2)).toBe(true);
    const eu = firsts.filter(([first]) => first === 'eu').length;
    // The expected ratio is 1:3, so `eu` counts as three of four equal shares.
    expect(chiSquare([8_000 - eu, eu / 3, eu / 3, eu / 3])).toBeLessThan(chiSquareBound(4));
  });

  it('gives nothing new to a region of weight 0 or without one', () => {
    for (let count = 0; count < 100; count += 1) expect(order({ us: 0, eu: 2 })).toEqual(['eu']);
  });

  it('has none when no region is healthy', () =>
    expect(byPreference([], { weights: { us: 1 }, random })).toEqual([]));
});
