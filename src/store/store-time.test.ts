import { expect, it } from 'bun:test';
import { createSettableClock } from '../../test/stores/conformance/check.ts';
import { createStoreTime } from './store-time.ts';

it('P8: a dispute that goes on stays the same, so what was created in it is judged by store time', () => {
  const clock = createSettableClock();
  const time = createStoreTime(clock, null);
  expect(time.now()).toBe(clock.read());
  clock.jump(5_000);
  const secret = { createdAt: time.now(), expiresAt: time.now() + 100 };
  clock.advance(50);
  expect(time.isLive(secret)).toBe(true);
  clock.advance(49);
  expect(time.isLive(secret)).toBe(true);
  clock.advance(1);
  expect(time.isLive(secret)).toBe(false);
});
