/** Stores that trust the wall clock in one way too many: the self-tests of the clock's promises (see `defects.ts`). */

import type { Store } from '../../src/store/store.ts';
import { steadyClock } from '../support/clocks.ts';
import type { SeededDefect } from './defects.ts';
import { createMemoryAttempts } from './memory/attempts.ts';
import { createMemorySecrets } from './memory/secrets.ts';
import { createMemoryStore } from './memory.ts';

/** Store time is the highest reading of the wall clock ever seen. */
const withHighWaterMark: SeededDefect['seed'] = (store, { wallClock }) => {
  let highest = 0;
  const now = (): number => {
    highest = Math.max(highest, wallClock.read());
    return highest;
  };
  const records = createMemorySecrets({ now, earliest: now }, () => true);
  const attempts = createMemoryAttempts({ now }, records.lifeOf);
  // Its `clock()` still gives the real verdict.
  return { ...store, ...records.store, ...attempts.store };
};

const followsEveryJump: SeededDefect['seed'] = (_store, { wallClock }) =>
  createMemoryStore({ clock: steadyClock(wallClock.read) });

/** Records judged only by store time. */
function unjudged(parts: (records: Store) => Partial<Store>): SeededDefect['seed'] {
  return (store) => {
    const { now } = store;
    const records = createMemorySecrets({ now, earliest: now }, () => true);
    return { ...store, ...records.store, ...parts({ ...store, ...records.store }) };
  };
}

export const clockDefects: readonly SeededDefect[] = [
  {
    defect: 'a forward jump of the wall clock is believed',
    caughtBy: 'a wall clock that jumps, either way, expires nothing and sweeps nothing',
    seed: followsEveryJump,
  },
  {
    defect: 'a sweep goes on while the clocks disagree',
    caughtBy: 'what is made while the wall clock is wrong can be read, and ends after its lifetime',
    seed: unjudged(() => ({})),
  },
  {
    defect: 'what has expired by the wall clock alone is released',
    caughtBy:
      'what has expired by one clock only is neither released nor called gone, and its creator can burn it',
    seed: unjudged(() => ({})),
  },
  {
    defect: 'store time is the highest reading of the wall clock',
    caughtBy: 'a wall clock that jumps neither moves nor stops store time',
    seed: withHighWaterMark,
  },
  {
    defect: 'store time is told a second ahead',
    caughtBy: 'store time is never told ahead of the time by which the store decides, nor steps back',
    seed: (store) => ({ ...store, now: () => store.now() + 1 }),
  },
  {
    defect: 'store time as told follows the wall clock back',
    caughtBy: 'store time is never told ahead of the time by which the store decides, nor steps back',
    seed: (store, { wallClock }) => ({ ...store, now: () => Math.min(store.now(), wallClock.read()) }),
  },
  {
    defect: 'the window of guesses follows the wall clock',
    caughtBy: 'the window of guesses slides while the wall clock is wrong',
    seed: withHighWaterMark,
  },
  {
    defect: 'what an operator sets brings expired secrets back',
    caughtBy: 'time that an operator sets holds, forward and back',
    seed: (store, { wallClock }) => ({
      ...store,
      async setTime() {
        wallClock.jump(3 * 86_400);
        await store.setTime();
        wallClock.jump(-3 * 86_400);
      },
    }),
  },
];
