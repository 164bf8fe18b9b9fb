/** Proves the transition table (what a creator is told in each state, at each time), and what a fault says. */
import { describe, expect, it } from 'bun:test';
import { ServiceError } from './errors.ts';
import { isWaiting, receiptStateAt, type StoredState, updatedAtOf } from './secret.ts';
import { systemClock } from './time.ts';

const states: readonly StoredState[] = ['waiting', 'received', 'burned'];

describe('the state a creator is told', () => {
  it.each([
    ['waiting', null, 99, 'new', true],
    ['waiting', 50, 99, 'viewed', true],
    ['waiting', null, 100, 'expired', false],
    ['waiting', 50, 100, 'expired', false],
    ['waiting', 50, 101, 'expired', false],
    ['received', null, 99, 'received', false],
    ['received', 50, 101, 'received', false],
    ['burned', null, 99, 'burned', false],
    ['burned', 50, 101, 'burned', false],
  ] as const)('of a record %s, viewed at %p, at %p is %s', (state, viewedAt, now, told, waits) => {
    expect(receiptStateAt({ state, viewedAt, expiresAt: 100 }, now)).toBe(told);
    expect(isWaiting({ state, expiresAt: 100 }, now)).toBe(waits);
  });

  it('never goes back: what has ended stays so at every later time', () => {
    for (const state of states) {
      const told = [0, 99, 100, 1_000].map((now) =>
        receiptStateAt({ state, viewedAt: null, expiresAt: 100 }, now),
      );
      const ended = told.findIndex((each) => each !== 'new');
      expect(new Set(told.slice(ended)).size).toBe(1);
    }
  });
});

describe('the time of the last change', () => {
  const at = (endedAt: number | null, viewedAt: number | null, now: number) =>
    updatedAtOf({ createdAt: 10, expiresAt: 100, endedAt, viewedAt } as never, now);
  it('is the end, else the expiry, else the first look, else the creation', () => {
    expect(at(60, 20, 200)).toBe(60);
    expect(at(null, 20, 100)).toBe(100);
    expect(at(null, 20, 99)).toBe(20);
    expect(at(null, null, 99)).toBe(10);
  });
});

describe('a fault', () => {
  it('carries its code, a time to try again and its cause', () => {
    const cause = new Error('disk');
    const fault = new ServiceError('unavailable', 'no', { retryAfterSeconds: 7, cause });
    expect(fault).toMatchObject({ name: 'ServiceError', code: 'unavailable', retryAfterSeconds: 7, cause });
    expect(new ServiceError('busy', 'no').retryAfterSeconds).toBe(2);
    expect('cause' in new ServiceError('busy', 'no')).toBe(false);
  });
});

describe('the clock', () => {
  it('counts whole seconds', () => {
    const seconds = systemClock();
    expect(Number.isInteger(seconds)).toBe(true);
    expect(Math.abs(seconds - Date.now() / 1000)).toBeLessThan(5);
  });
});
