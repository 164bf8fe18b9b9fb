import { describe, expect, it } from 'bun:test';
import { allowanceAfter, exhaustionOf, lockOf, mayKeepTicket } from './store.ts';

const limits = {
  windowSeconds: 600,
  perClient: 2,
  perNetwork: 3,
  perSecret: 3,
  keptForNewcomers: 0,
  perLife: 5,
};
const counted = { ofSecret: [], ofClient: [], ofNetwork: [], inLife: 0, lifeEndsAt: 5_000 };
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

  it('P14: allow a network its own limit, which is shared by its clients', () => {
    const many = { perSecret: 9, perLife: 9 };
    const ofNetwork = [500, 600, 700];
    const told = exhaustionOf({ ...counted, ofNetwork, ofSecret: ofNetwork }, { ...limits, ...many }, 1_000);
    expect(told).toEqual({ outcome: 'exhausted', retryAfterSeconds: 100, needsCreator: false });
  });

  it('P14: leave the kept places to those in whose network nobody has guessed', () => {
    const keeping = { ...limits, keptForNewcomers: 1 };
    const ofSecret = [500, 600];
    const waitOf = (ofNetwork: readonly number[]) =>
      exhaustionOf({ ...counted, ofSecret, ofNetwork }, keeping, 1_000)?.retryAfterSeconds ?? null;
    expect([waitOf([]), waitOf([600])]).toEqual([null, 100]);
  });

  it('P14: tell of a lock only when it would refuse a newcomer, and until when', () => {
    const keeping = { ...limits, keptForNewcomers: 2 };
    const lockAt = (ofSecret: readonly number[], inLife: number) =>
      lockOf({ ofSecret, inLife }, keeping, 1_000);
    expect([lockAt([500, 600], 4), lockAt([500, 600, 700], 4)]).toEqual([null, { until: 1_100 }]);
    expect([lockAt([], 5), lockAt([500, 600, 700], 5)]).toEqual([{ until: null }, { until: null }]);
  });

  it('P14: count what a lowered limit has left over', () => {
    expect(waitAt(1_000, { ofSecret: [], ofClient: [500, 600, 700] })).toBe(200);
  });
});

describe('what an allowed guess leaves', () => {
  const leftAt = (now: number, changes: Partial<Parameters<typeof allowanceAfter>[0]>) =>
    allowanceAfter({ ...counted, ...changes }, limits, now);

  it('P14: is the least of the limits, this guess counted', () => {
    expect(leftAt(1_000, {})).toMatchObject({ left: 1, moreAfterSeconds: 600 });
    expect(leftAt(1_000, { ofSecret: [500, 600] })).toMatchObject({ left: 0, moreAfterSeconds: 100 });
    expect(leftAt(1_000, { ofSecret: [700], ofClient: [700] })).toMatchObject({
      left: 0,
      moreAfterSeconds: 300,
    });
  });

  it('P14: grows only with the end of the secret when its life leaves the least', () => {
    expect(leftAt(1_000, { inLife: 4 })).toEqual({ left: 0, moreAfterSeconds: 4_000, needsCreator: true });
    expect(leftAt(6_000, { inLife: 4 })).toEqual({ left: 0, moreAfterSeconds: 1, needsCreator: true });
  });

  it('P14: grows, where two limits leave the same, when the later of them gives way', () => {
    expect(leftAt(1_000, { ofSecret: [500, 900], ofClient: [900] })).toEqual({
      left: 0,
      moreAfterSeconds: 500,
      needsCreator: false,
    });
  });

  it('P14: is never less than none', () => {
    expect(leftAt(1_000, { ofClient: [700, 800, 900] }).left).toBe(0);
  });
});

describe('the bounds on mailed links', () => {
  const ticketLimits = { maxLive: 2, windowSeconds: 1_000, quietSeconds: [10, 100] };
  const ticket = (createdAt: number, expiresAt = 5_000) => ({ createdAt, expiresAt });
  const mayKeep = (createdAt: number, ...earlier: ReturnType<typeof ticket>[]) =>
    mayKeepTicket(ticket(createdAt), earlier, ticketLimits, createdAt);

  it('are so many that live at a time', () => {
    expect(mayKeep(4_000, ticket(1_000))).toBe(true);
    expect(mayKeep(4_000, ticket(1_000), ticket(2_000))).toBe(false);
    expect(mayKeep(4_000, ticket(1_000), ticket(2_000, 4_001))).toBe(false);
    expect(mayKeep(4_000, ticket(1_000), ticket(2_000, 4_000))).toBe(true);
  });

  it('are further apart, the more of them were sent lately', () => {
    expect(mayKeep(1_009, ticket(1_000, 0))).toBe(false);
    expect(mayKeep(1_010, ticket(1_000, 0))).toBe(true);
    expect(mayKeep(1_109, ticket(1_000, 0), ticket(1_010, 0))).toBe(false);
    expect(mayKeep(1_110, ticket(1_000, 0), ticket(1_010, 0))).toBe(true);
    expect(mayKeep(1_129, ticket(1_000, 0), ticket(1_010, 0), ticket(1_030, 0))).toBe(false);
    expect(mayKeep(2_010, ticket(1_000, 0), ticket(2_000, 0))).toBe(true);
    expect(mayKeep(2_010, ticket(1_010, 0), ticket(2_000, 0))).toBe(true);
    expect(mayKeep(2_009, ticket(1_010, 0), ticket(1_990, 0))).toBe(false);
  });
});
