/**
 * Checks of the keys of epochs: each epoch has one, for everybody, until its day is over by every clock, and never another (P10, P5).
 */
import { strict as assert } from 'node:assert';
import type { Epoch } from '../../../src/core/ports/epochs.ts';
import type { Store } from '../../../src/store/store.ts';
import { type ConformanceCheck, check, putNew, restartCheck } from './check.ts';

const daySeconds = 86_400;
const startOf = (epoch: number) => epoch * daySeconds;
/** The day that the store is in, by itself. */
const today = (store: Store) => Math.floor(store.now() / daySeconds);

async function holds(store: Store, { epoch, key }: Epoch): Promise<boolean> {
  const kept = await store.findEpochKey(epoch);
  return kept !== null && Buffer.from(kept).equals(key);
}

const assertHolds = async (store: Store, epoch: Epoch, otherwise: string) =>
  assert.ok(await holds(store, epoch), otherwise);

export const epochChecks: readonly ConformanceCheck[] = [
  check(
    'P5',
    'of many that ask for the key of one epoch at once, all are given the same',
    async ({ store }) => {
      const epoch = today(store) + 1;
      const times = Array.from({ length: 20 }, (_, n) => startOf(epoch) + n * 4_000);
      const given = await Promise.all(times.map((at) => store.epochFor(at)));
      for (const each of given) assert.deepEqual(each, { epoch, key: given[0]?.key });
      for (const each of given) await assertHolds(store, each, 'the key is not the one that was given');
    },
  ),

  check('P10', 'each day has a key of its own, of 32 bytes', async ({ store }) => {
    const days = [0, 1, 2, 400].map((days) => today(store) + days);
    const given: Epoch[] = [];
    for (const day of days)
      given.push(await store.epochFor(startOf(day)), await store.epochFor(startOf(day + 1) - 1));
    assert.deepEqual(
      given.map(({ epoch }) => epoch),
      days.flatMap((day) => [day, day]),
    );
    assert.equal(new Set(given.map(({ key }) => Buffer.from(key).toString('hex'))).size, days.length);
    assert.ok(given.every(({ key }) => key.length === 32));
    for (const each of given) await assertHolds(store, each, 'a key is not kept');
    assert.equal(await store.findEpochKey(today(store) + 3), null);
  }),

  check(
    'P10',
    'a key is there until its day is over, however often is swept, and not after the next sweep',
    async ({ store, wallClock }) => {
      const [first, next] = [
        await store.epochFor(store.now()),
        await store.epochFor(store.now() + daySeconds),
      ];
      await putNew(store);
      wallClock.set(startOf(next.epoch) - 1);
      for (let sweeps = 0; sweeps < 3; sweeps += 1) await store.sweep(100);
      await assertHolds(store, first, 'a key was destroyed before its day was over');
      wallClock.set(startOf(next.epoch));
      await store.sweep(100);
      assert.equal(await store.findEpochKey(first.epoch), null, 'a key outlived its day');
      await assertHolds(store, next, 'the key of another day was destroyed');
      wallClock.advance(10 * daySeconds);
      await store.sweep(100);
      assert.equal(await store.findEpochKey(next.epoch), null, 'a key outlived its day');
    },
  ),

  check('P8', 'a wall clock that jumps ahead destroys no key', async ({ store, wallClock }) => {
    const epoch = await store.epochFor(store.now() + daySeconds);
    for (const days of [3, 300]) {
      wallClock.jump(days * daySeconds);
      await store.sweep(100);
      await assertHolds(store, epoch, 'a key was destroyed by a clock that jumped');
      wallClock.jump(-days * daySeconds);
    }
    await store.sweep(100);
    await assertHolds(store, epoch, 'a key was destroyed by a clock that had jumped');
  }),

  check(
    'P10',
    'an epoch whose key was destroyed never has another, also when the time is set back',
    async ({ store, wallClock }) => {
      const gone = await store.epochFor(store.now());
      const kept = await store.epochFor(store.now() + 5 * daySeconds);
      wallClock.advance(2 * daySeconds);
      await store.sweep(100);
      wallClock.jump(-2 * daySeconds);
      await store.setTime();
      assert.equal(today(store), gone.epoch);
      const given = await store.epochFor(store.now() + 60);
      assert.ok(given.epoch > gone.epoch, 'a destroyed epoch has a key again');
      await assertHolds(store, given, 'what replaces a destroyed epoch is not kept');
      await assertHolds(store, kept, 'a key was lost when the time was set');
      assert.equal(await store.findEpochKey(gone.epoch), null);
    },
  ),

  restartCheck(
    'P5',
    'a key that was given is there after a crash, and one that was destroyed is not',
    async ({ store, wallClock }, reopen) => {
      const [first, next] = [
        await store.epochFor(store.now()),
        await store.epochFor(store.now() + daySeconds),
      ];
      const other = await reopen();
      for (const each of [first, next]) await assertHolds(other, each, 'a key was lost');
      wallClock.set(startOf(next.epoch));
      await other.sweep(100);
      const last = await reopen();
      assert.equal(await last.findEpochKey(first.epoch), null);
      await assertHolds(last, next, 'a key was lost');
      assert.deepEqual(await last.epochFor(startOf(next.epoch)), next);
    },
  ),
];
