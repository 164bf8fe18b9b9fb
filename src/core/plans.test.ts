/** Proves that grants stay within the plan, and that the built-in table is the contract's. */
import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import { builtInPlans, grantTtl, type Plan } from './plans.ts';

const plan = fc.tuple(fc.integer({ min: 1, max: 1e6 }), fc.nat(1e6), fc.nat(1e6)).map(
  ([min, toDefault, toMax]): Plan => ({
    maxValueBytes: 1,
    maxSealedBytes: 1,
    ttlMinSeconds: min,
    ttlDefaultSeconds: min + Math.min(toDefault, toMax),
    ttlMaxSeconds: min + toMax,
    maxDomains: 0,
    maxPlaces: 1,
  }),
);

describe('the lifetime granted', () => {
  it('always lies within the plan, and is what was asked wherever that does', () => {
    fc.assert(
      fc.property(plan, fc.integer({ min: 1, max: 3e6 }), (within, seconds) => {
        const granted = grantTtl(within, seconds);
        expect(granted).toBeGreaterThanOrEqual(within.ttlMinSeconds);
        expect(granted).toBeLessThanOrEqual(within.ttlMaxSeconds);
        const fits = seconds >= within.ttlMinSeconds && seconds <= within.ttlMaxSeconds;
        if (fits) expect(granted).toBe(seconds);
      }),
      { numRuns: 1000 },
    );
  });

  it('is the plan’s default when nothing is asked', () => {
    expect(grantTtl(builtInPlans.basic, null)).toBe(604_800);
  });
});

describe('the built-in plans', () => {
  it('are those of the contract', () => {
    const row = ({ maxValueBytes, maxSealedBytes, ttlMinSeconds, ttlDefaultSeconds, ttlMaxSeconds }: Plan) =>
      [maxValueBytes, maxSealedBytes, ttlMinSeconds, ttlDefaultSeconds, ttlMaxSeconds] as const;
    expect(row(builtInPlans.anonymous)).toEqual([10_000, 100_000, 60, 604_800, 604_800]);
    expect(row(builtInPlans.basic)).toEqual([10_000, 1_000_000, 60, 604_800, 1_209_600]);
    expect(row(builtInPlans.identity)).toEqual([10_000, 1_000_000, 60, 604_800, 2_592_000]);
  });
});
