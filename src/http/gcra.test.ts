import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import type { LimitRule } from '../core/ports/limits.ts';
import { Gcra } from './rate-limit.ts';

interface Limit {
  take(client: string): number;
}

/** The most calls that passed in any span of time, minus what the rule allows for it; positive is a breach. */
function worstExcess(
  rule: LimitRule,
  pausesMs: readonly number[],
  build: (nowMs: () => number) => Limit,
): number {
  let nowMs = 1_000;
  const limit = build(() => nowMs);
  const passedAtMs: number[] = [];
  for (const pauseMs of pausesMs) {
    nowMs += pauseMs;
    if (limit.take('client') === 0) passedAtMs.push(nowMs);
  }
  const perMs = rule.limit / (rule.windowSeconds * 1000);
  let worst = Number.NEGATIVE_INFINITY;
  passedAtMs.forEach((fromMs, first) => {
    passedAtMs.slice(first).forEach((toMs, later) => {
      worst = Math.max(worst, later + 1 - rule.burst - (toMs - fromMs) * perMs);
    });
  });
  return worst;
}

/** A counter that resets each window: lets twice the limit through around a window boundary. */
function fixedWindow(rule: LimitRule, nowMs: () => number): Limit {
  let windowAt = -1;
  let count = 0;
  return {
    take() {
      const at = Math.floor(nowMs() / (rule.windowSeconds * 1000));
      count = at === windowAt ? count + 1 : 1;
      windowAt = at;
      return count <= rule.limit ? 0 : 1;
    },
  };
}

const rules = fc.record({
  limit: fc.integer({ min: 1, max: 10_000 }),
  windowSeconds: fc.integer({ min: 1, max: 7_200 }),
  burst: fc.integer({ min: 1, max: 50 }),
});
const pauses = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 2_000 })), { maxLength: 200 });

/** Only for rounding in the test's own division. */
const tolerance = 1e-6;

describe('Gcra', () => {
  it('P21 never lets more than the burst plus the rate times the span through', () => {
    fc.assert(
      fc.property(rules, pauses, (rule, pausesMs) => {
        expect(worstExcess(rule, pausesMs, (nowMs) => new Gcra(rule, nowMs, 10))).toBeLessThanOrEqual(
          tolerance,
        );
      }),
      { numRuns: 300 },
    );
  });

  it('P21 a counter that resets each window breaks that bound (self-test)', () => {
    const rule = { limit: 10, windowSeconds: 10, burst: 10 };
    const aroundTheTurn = [8_990, ...new Array<number>(9).fill(0), 20, ...new Array<number>(9).fill(0)];
    expect(worstExcess(rule, aroundTheTurn, (nowMs) => fixedWindow(rule, nowMs))).toBeGreaterThan(tolerance);
  });

  it('allows the whole burst at once, then one call each interval', () => {
    let nowMs = 0;
    const limit = new Gcra({ limit: 10, windowSeconds: 600, burst: 3 }, () => nowMs, 10);
    expect([1, 2, 3].map(() => limit.take('a'))).toEqual([0, 0, 0]);
    expect(limit.take('a')).toBe(60_000);
    nowMs = 59_999;
    expect(limit.take('a')).toBe(1);
    nowMs = 60_000;
    expect(limit.take('a')).toBe(0);
    expect(limit.take('a')).toBe(60_000);
  });

  it('rounds a fraction of a microsecond up, never down, and tells microseconds apart', () => {
    let nowMs = 0;
    const limit = new Gcra({ limit: 700_000, windowSeconds: 1, burst: 1 }, () => nowMs, 10);
    expect(limit.take('a')).toBe(0);
    nowMs = 0.001;
    expect(limit.take('a')).toBe(0.001);
    nowMs = 0.002;
    expect(limit.take('a')).toBe(0);
  });

  it('says how long to wait, and exactly then allows the call', () => {
    fc.assert(
      fc.property(rules, pauses, (rule, pausesMs) => {
        let nowMs = 0;
        const limit = new Gcra(rule, () => nowMs, 10);
        for (const pauseMs of pausesMs) {
          nowMs += pauseMs;
          const waitMs = limit.take('a');
          if (waitMs > 0) {
            nowMs += Math.ceil(waitMs);
            expect(limit.take('a')).toBe(0);
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  it('does not count a refused call or a glance', () => {
    const limit = new Gcra({ limit: 1, windowSeconds: 60, burst: 1 }, () => 0, 10);
    expect(limit.peek('a')).toBe(0);
    expect(limit.peek('a')).toBe(0);
    expect(limit.take('a')).toBe(0);
    const waitMs = limit.take('a');
    expect([limit.take('a'), limit.peek('a')]).toEqual([waitMs, waitMs]);
  });

  it('gives one call back for each that is refunded, and none to a client that has all of its own', () => {
    const limit = new Gcra({ limit: 10, windowSeconds: 600, burst: 3 }, () => 0, 10);
    limit.refund('a');
    expect([1, 2, 3].map(() => limit.take('a'))).toEqual([0, 0, 0]);
    expect(limit.take('a')).toBeGreaterThan(0);
    limit.refund('a');
    limit.refund('b');
    expect(limit.take('a')).toBe(0);
    expect(limit.take('a')).toBeGreaterThan(0);
    for (let more = 0; more < 9; more++) limit.refund('a');
    expect([1, 2, 3, 4].map(() => limit.take('a') === 0)).toEqual([true, true, true, false]);
  });

  it('forgets a client whose allowance is whole after a refund', () => {
    const limit = new Gcra({ limit: 1, windowSeconds: 60, burst: 2 }, () => 0, 10);
    limit.take('a');
    limit.take('a');
    limit.refund('a');
    expect(limit.size).toBe(1);
    limit.refund('a');
    expect(limit.size).toBe(0);
  });

  /** The worst excess of wrong calls, which stay counted; right ones are refunded in the same instant. */
  function wrongOnes(rule: LimitRule, calls: readonly Call[], refund: (limit: Gcra) => void): number {
    return worstExcess(
      rule,
      calls.map(({ pauseMs }) => pauseMs),
      (nowMs) => {
        const limit = new Gcra(rule, nowMs, 10);
        let at = 0;
        return {
          take(client) {
            const isRight = calls[at++]?.isRight === true;
            const waitMs = limit.take(client);
            if (waitMs === 0 && isRight) refund(limit);
            return isRight ? 1 : waitMs;
          },
        };
      },
    );
  }

  interface Call {
    readonly pauseMs: number;
    readonly isRight: boolean;
  }

  it('P21 refunds of right calls let no more wrong ones through than without any right ones', () => {
    const pauseMs = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 2_000 }));
    const calls = fc.array(fc.record({ pauseMs, isRight: fc.boolean() }), { maxLength: 200 });
    fc.assert(
      fc.property(rules, calls, (rule, sequence) => {
        expect(wrongOnes(rule, sequence, (limit) => limit.refund('client'))).toBeLessThanOrEqual(tolerance);
      }),
      { numRuns: 300 },
    );
  });

  it('P21 a refund that clears the whole history breaks that bound (self-test)', () => {
    const rule = { limit: 10, windowSeconds: 600, burst: 3 };
    const calls = Array.from({ length: 40 }, (_, at) => ({ pauseMs: 0, isRight: at % 3 === 2 }));
    const clearAll = (limit: Gcra) => {
      for (let call = 0; call < rule.burst; call++) limit.refund('client');
    };
    expect(wrongOnes(rule, calls, clearAll)).toBeGreaterThan(tolerance);
  });

  it('counts each client alone', () => {
    const limit = new Gcra({ limit: 1, windowSeconds: 60, burst: 1 }, () => 0, 10);
    expect([limit.take('a'), limit.take('b'), limit.take(7)]).toEqual([0, 0, 0]);
    expect(limit.take('a')).toBeGreaterThan(0);
  });

  it('P21 never remembers more clients than it may, whoever comes', () => {
    const limit = new Gcra({ limit: 1, windowSeconds: 60, burst: 1 }, () => 0, 100);
    for (let client = 0; client < 5_000; client++) expect(limit.take(client)).toBe(0);
    expect(limit.size).toBe(100);
  });

  it('forgets clients whose allowance is whole again before any that still counts', () => {
    let nowMs = 0;
    const limit = new Gcra({ limit: 1, windowSeconds: 60, burst: 1 }, () => nowMs, 100);
    for (let client = 0; client < 99; client++) limit.take(client);
    nowMs = 60_000;
    limit.take('still counted');
    for (let client = 200; client < 260; client++) limit.take(client);
    expect(limit.size).toBeLessThanOrEqual(100);
    expect(limit.take('still counted')).toBeGreaterThan(0);
  });

  it('shrinks again after a flood has passed', () => {
    let nowMs = 0;
    const limit = new Gcra({ limit: 1, windowSeconds: 60, burst: 1 }, () => nowMs, 10_000);
    for (let client = 0; client < 1_000; client++) limit.take(client);
    nowMs = 120_000;
    for (let client = 5_000; client < 6_100; client++) limit.take(client);
    expect(limit.size).toBeLessThanOrEqual(1_200);
  });

  it('forgets a client at the very instant its allowance is whole', () => {
    let nowMs = 0;
    const limit = new Gcra({ limit: 1, windowSeconds: 60, burst: 1 }, () => nowMs, 100);
    limit.take('a');
    nowMs = 60_000;
    limit.take('b');
    limit.take('c');
    expect(limit.size).toBe(2);
  });

  it('when full, looks for clients to forget before it drops one that still counts', () => {
    // Wherever the search starts, the next three clients still count, and so does the oldest, which would be dropped.
    for (let from = 0; from < 98; from++) {
      let nowMs = 0;
      const limit = new Gcra({ limit: 2, windowSeconds: 120, burst: 2 }, () => nowMs, 100);
      for (let client = 0; client < 100; client++) limit.take(client);
      nowMs = 30_000;
      const counting = new Set([0, from, from + 1, from + 2]);
      for (const client of counting) limit.take(client);
      nowMs = 60_000;
      limit.take('newcomer');
      // Each client that still counts has one call left; a dropped one would have two.
      for (const client of counting) expect([limit.take(client), limit.take(client) > 0]).toEqual([0, true]);
    }
  });
});
