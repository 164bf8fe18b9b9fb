/**
 * Proves that background work neither delays nor fails the call that started it, and that one can wait for it to
 * finish.
 */
import { describe, expect, it } from 'bun:test';
import { createBackground } from './background.ts';

describe('work behind an answer', () => {
  it('begins only after the turn in which it was asked for (P17)', async () => {
    const background = createBackground();
    let hasBegun = false;
    background.begin(async () => {
      hasBegun = true;
    });
    for (let microtask = 0; microtask < 100; microtask += 1) await Promise.resolve();
    expect(hasBegun).toBe(false);
    await background.settled();
    expect(hasBegun).toBe(true);
  });

  it('is waited for, also when it begins more', async () => {
    const background = createBackground();
    const done: string[] = [];
    background.begin(async () => {
      background.begin(async () => void done.push('second'));
      done.push('first');
    });
    await background.settled();
    expect(done).toEqual(['first', 'second']);
  });

  it('fails nothing when it fails, at once or later', async () => {
    const background = createBackground();
    background.begin(() => Promise.reject(new Error('later')));
    background.begin(() => {
      throw new Error('at once');
    });
    await background.settled();
  });
});
