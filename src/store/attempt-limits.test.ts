import { describe, expect, it } from 'bun:test';
import { allowanceAfter, exhaustionOf } from './store.ts';

const limits = { windowSeconds: 600, perClient: 2, perSecret: 3, perLife: 5 };
const counted = { ofSecret: [], ofClient: [], inLife: 0, lifeEndsAt: 5_000 };
const waitAt = (now: number, changes: Partial<Parameters<typeof exhaustionOf>[0]>) =>
  exhaustionOf({ ...counted, ...changes }, limits, now)?.retryAfterSeconds ?? null;

describe('the bounds on guesses', () => {
  it('P14: allow an attempt below every limit', () => {
    expect(waitAt(1_000, { ofSecret: [500, 600], ofClient: [500], inLife: 4 })).toBeNull();
  });

  it('P14: wait until the oldest of the client’s attempts leaves the window', () => {
    expect(waitAt(1_000, { ofSecret: [500, 900], ofClient: [500, 900] })).toBe(100);
  });

  it('P14: wait until the oldest of the secret’s attempts leaves the window', () => {
    expect(waitAt(1_000, { ofSecret: [600, 700, 800], ofClient: [] })).toBe(200);
  });

  it('P14: wait for the rest of the secret’s life when its life is used up', () => {
    expect(waitAt(1_000, { inLife: 5 })).toBe(4_000);
  });

  it('P14: wait for the longest of several reasons, and a second at least', () => {
    expect(waitAt(1_000, { ofSecret: [500, 600, 700], ofClient: [600, 700] })).toBe(200);
    expect(waitAt(6_000, { inLife: 5 })).toBe(1);
  });

  it('P14: count what a lowered limit has left over', () => {
    expect(waitAt(1_000, { ofSecret: [], ofClient: [500, 600, 700] })).toBe(200);
  });
});

describe('what an allowed guess leaves', () => {
  const leftAt = (now: number, changes: Partial<Parameters<typeof allowanceAfter>[0]>) =>
    allowanceAfter({ ...counted, ...changes }, limits, now);

  it('P14: is the least of the limits, this guess counted', () => {
    expect(leftAt(1_000, {})).toEqual({ left: 1, moreAfterSeconds: 600 });
    expect(leftAt(1_000, { ofSecret: [500, 600] })).toEqual({ left: 0, moreAfterSeconds: 100 });
    expect(leftAt(1_000, { ofSecret: [700], ofClient: [700] })).toEqual({ left: 0, moreAfterSeconds: 300 });
  });

  it('P14: grows only with the end of the secret when its life leaves the least', () => {
    expect(leftAt(1_000, { inLife: 4 })).toEqual({ left: 0, moreAfterSeconds: 4_000 });
    expect(leftAt(6_000, { inLife: 4 })).toEqual({ left: 0, moreAfterSeconds: 1 });
  });

  it('P14: grows, where two limits leave the same, when the later of them gives way', () => {
    expect(leftAt(1_000, { ofSecret: [500, 900], ofClient: [900] })).toEqual({
      left: 0,
      moreAfterSeconds: 500,
    });
  });

  it('P14: is never less than none', () => {
    expect(leftAt(1_000, { ofClient: [700, 800, 900] }).left).toBe(0);
  });
});
