/**
 * P8 while a machine's clocks disagree: a wall clock that jumps loses nothing, releases nothing expired, and keeps
 * nothing alive that should end.
 */
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import type { NewRecord } from '../../../src/core/secret.ts';
import type { Store } from '../../../src/store/store.ts';
import { limits as attemptLimits } from './attempt-fixtures.ts';
import {
  type ConformanceCheck,
  check,
  clientStays,
  found,
  putNew,
  refusalOf as refusedAsUnavailable,
  restartCheck,
  ttlSeconds,
} from './check.ts';

const hourSeconds = 3_600;
const daySeconds = 86_400;
const wrongBy = [30 * daySeconds, -30 * daySeconds, hourSeconds, -hourSeconds] as const;
const limits = { ...attemptLimits, perClient: 1 };

function putLasting(store: Store, seconds: number): Promise<NewRecord> {
  const expiresAt = store.now() + seconds;
  return putNew(store, { expiresAt, receiptExpiresAt: expiresAt + seconds });
}

const refusalOf = (asking: Promise<unknown>) =>
  refusedAsUnavailable(asking, 'it was answered, though the clocks disagree');

/** Over a network an idle process hears of the others' time with its next call. */
const hearing = (store: Store) => store.hasAccounts();

export const clockChecks: readonly ConformanceCheck[] = [
  check(
    'P8',
    'a wall clock that jumps, either way, expires nothing and sweeps nothing',
    async ({ store, wallClock }) => {
      for (const jump of wrongBy) {
        const record = await putLasting(store, 60 * daySeconds);
        wallClock.jump(jump);
        assert.equal(store.clock().verdict, 'disputed');
        assert.equal(await store.sweep(100), 0);
        assert.deepEqual((await found(store, record.secretId)).sealedSecret, record.sealedSecret);
        assert.equal((await store.findReceipt(record.receiptId))?.state, 'waiting');
        wallClock.jump(-jump);
        assert.equal(store.clock().verdict, 'agreed');
        assert.equal(await store.claim(await found(store, record.secretId), clientStays), 'won');
      }
    },
  ),

  check('P8', 'a wall clock that jumps neither moves nor stops store time', async ({ store, wallClock }) => {
    for (const jump of wrongBy) {
      const before = store.now();
      wallClock.jump(jump);
      // A dispute starts on a new second.
      assert.equal(store.now(), before + 1);
      wallClock.advance(61);
      assert.equal(store.now(), before + 62);
      wallClock.jump(-jump);
      assert.equal(store.now(), before + 62);
    }
  }),

  check(
    'P8',
    'store time is never told ahead of the time by which the store decides, nor steps back',
    async ({ store, wallClock }) => {
      let highest = 0;
      const moves = [
        ...[0, 1, 61].map((seconds) => () => wallClock.advance(seconds)),
        ...[200, -200, ...wrongBy].map((seconds) => () => wallClock.jump(seconds)),
      ];
      for (const move of [...moves, ...moves]) {
        const { receiptId } = await putNew(store);
        move();
        const told = store.now();
        const decided = await store.burn(receiptId, clientStays);
        assert.ok(typeof decided === 'number', 'a waiting secret was not burned');
        assert.ok(told <= decided, 'store time was told ahead');
        assert.ok(told >= highest, 'store time stepped back');
        highest = decided;
      }
    },
  ),

  check(
    'P8',
    'what is made while the wall clock is wrong can be read, and ends after its lifetime',
    async ({ store, wallClock }) => {
      for (const jump of wrongBy) {
        wallClock.jump(jump);
        const [read, unread] = [await putNew(store), await putNew(store)];
        assert.equal(await store.claim(await found(store, read.secretId), clientStays), 'won');
        wallClock.advance(ttlSeconds - 1);
        const late = await found(store, unread.secretId);
        wallClock.advance(1);
        assert.equal(await store.findSecret(unread.secretId), null);
        assert.equal(await store.claim(late, clientStays), 'gone');
        assert.equal(await store.sweep(100), 0, 'it was erased while the clocks disagreed');
        wallClock.jump(-jump);
        assert.equal(await store.findSecret(unread.secretId), null);
        assert.ok((await store.sweep(100)) >= 1, 'it was not erased once the clocks agreed');
        assert.equal(await store.sweep(100), 0);
      }
    },
  ),

  check(
    'P8',
    'what has expired by one clock only is neither released nor called gone, and its creator can burn it',
    async ({ store, wallClock }) => {
      const [kept, burned] = [await putNew(store), await putNew(store)];
      const secret = await found(store, kept.secretId);
      wallClock.jump(30 * daySeconds);
      const refusal = await refusalOf(store.findSecret(kept.secretId));
      assert.ok(refusal.retryAfterSeconds >= 1);
      await refusalOf(store.claim(secret, clientStays));
      await refusalOf(store.burnFound(secret, clientStays));
      assert.notEqual(await store.burn(burned.receiptId, clientStays), null);
      wallClock.jump(-30 * daySeconds);
      assert.equal(await store.claim(await found(store, kept.secretId), clientStays), 'won');
    },
  ),

  check('P14', 'the window of guesses slides while the wall clock is wrong', async ({ store, wallClock }) => {
    for (const jump of wrongBy) {
      const { secretId } = await putNew(store);
      const client = new Uint8Array(randomBytes(16));
      wallClock.jump(jump);
      assert.equal((await store.reserve(secretId, client, limits)).outcome, 'reserved');
      wallClock.advance(599);
      assert.deepEqual(await store.reserve(secretId, client, limits), {
        outcome: 'exhausted',
        retryAfterSeconds: 1,
        needsCreator: false,
      });
      wallClock.advance(1);
      assert.equal((await store.reserve(secretId, client, limits)).outcome, 'reserved');
      wallClock.jump(-jump);
    }
  }),

  check(
    'P8',
    'a suspended machine is no jump: what has expired meanwhile is gone',
    async ({ store, wallClock }) => {
      const [short, long] = [await putNew(store), await putLasting(store, daySeconds)];
      wallClock.advance(8 * hourSeconds);
      assert.equal(store.clock().verdict, 'agreed');
      assert.equal(await store.findSecret(short.secretId), null);
      assert.equal(await store.sweep(100), 1);
      await found(store, long.secretId);
    },
  ),

  check(
    'P8',
    'a wall clock that is corrected by a few minutes is followed, and a lead over it shrinks',
    async ({ store, wallClock }) => {
      wallClock.jump(200);
      assert.equal(store.now(), wallClock.read());
      wallClock.jump(-200);
      assert.equal(store.now(), wallClock.read() + 200);
      const before = store.now();
      for (let passed = 0; passed < 20_000; passed += 1) {
        wallClock.advance(1);
        const lead = store.now() - wallClock.read();
        assert.ok(lead >= 0 && lead <= 200 - Math.floor(passed / 101), 'the lead does not shrink');
      }
      assert.ok(store.now() >= before + 19_790);
      assert.ok(store.now() - wallClock.read() <= 1);
    },
  ),

  check('port', 'time that an operator sets holds, forward and back', async ({ store, wallClock }) => {
    const before = store.now();
    wallClock.jump(daySeconds);
    assert.equal(await store.countExpiringBy(wallClock.read()), 0);
    const record = await putNew(store);
    await putLasting(store, 60 * daySeconds);
    assert.equal(await store.countExpiringBy(wallClock.read()), 1);
    await store.setTime();
    assert.deepEqual([store.now(), store.clock().verdict], [before + daySeconds, 'agreed']);
    assert.equal(await store.findSecret(record.secretId), null);
    wallClock.jump(-2 * daySeconds);
    await store.setTime();
    assert.deepEqual([store.now(), store.clock().verdict], [before - daySeconds, 'agreed']);
    assert.equal(await store.findSecret(record.secretId), null, 'what had expired came back');
  }),

  restartCheck(
    'P8',
    'a wall clock that jumps loses and freezes nothing over a restart of the process either',
    async ({ store, wallClock }, reopen) => {
      const [dying, living] = [await putNew(store), await putLasting(store, 60 * daySeconds)];
      const before = store.now();
      wallClock.jump(30 * daySeconds);
      const during = await putNew(store);
      wallClock.advance(10);
      const again = await reopen();
      assert.deepEqual([again.now(), again.clock().verdict], [before + 11, 'disputed']);
      assert.equal(await again.sweep(100), 0);
      await found(again, living.secretId);
      await found(again, during.secretId);
      await refusalOf(again.findSecret(dying.secretId));
      wallClock.jump(-30 * daySeconds);
      wallClock.advance(ttlSeconds);
      assert.equal(await again.findSecret(during.secretId), null);
      assert.equal(await again.findSecret(dying.secretId), null);
      await found(again, living.secretId);
    },
  ),

  restartCheck(
    'P8',
    'after a restart of the machine, an hour away is believed at once',
    async ({ store, wallClock }, reopen) => {
      const record = await putNew(store);
      wallClock.restart(ttlSeconds);
      const again = await reopen();
      assert.deepEqual([again.now(), again.clock().verdict], [wallClock.read(), 'agreed']);
      assert.equal(await again.findSecret(record.secretId), null);
      assert.equal(await again.sweep(100), 1);
    },
  ),

  restartCheck(
    'P8',
    'after a restart of the machine, a longer time away is believed after ten minutes without a sweep',
    async ({ store, wallClock }, reopen) => {
      const [dying, living] = [await putNew(store), await putLasting(store, 60 * daySeconds)];
      wallClock.restart(8 * hourSeconds);
      const again = await reopen();
      assert.deepEqual([again.now(), again.clock().verdict], [wallClock.read(), 'unproven']);
      const fresh = await putNew(again);
      await found(again, living.secretId);
      await found(again, fresh.secretId);
      const refusal = await refusalOf(again.findSecret(dying.secretId));
      assert.equal(refusal.retryAfterSeconds, 600);
      await refusalOf(again.findReceipt(dying.receiptId));
      await refusalOf(again.findLives([living.receiptId, dying.receiptId]));
      assert.equal((await again.findLives([living.receiptId])).length, 1);
      wallClock.advance(599);
      assert.equal(again.now(), wallClock.read());
      assert.equal((await refusalOf(again.findSecret(dying.secretId))).retryAfterSeconds, 1);
      assert.equal(await again.sweep(100), 0);
      wallClock.advance(1);
      assert.equal(again.clock().verdict, 'agreed');
      assert.equal(await again.findSecret(dying.secretId), null);
      assert.equal(await again.sweep(100), 1);
      await found(again, fresh.secretId);
    },
  ),

  restartCheck(
    'P8',
    'a wall clock that was wrong at the start of the machine and is put right has cost nothing',
    async ({ store, wallClock }, reopen) => {
      const record = await putNew(store);
      wallClock.restart(60);
      wallClock.jump(30 * daySeconds);
      const again = await reopen();
      await refusalOf(again.findSecret(record.secretId));
      wallClock.advance(120);
      assert.equal(await again.sweep(100), 0);
      wallClock.jump(-30 * daySeconds);
      assert.deepEqual([again.now(), again.clock().verdict], [wallClock.read(), 'agreed']);
      assert.equal(await again.claim(await found(again, record.secretId), clientStays), 'won');
    },
  ),

  restartCheck(
    'P8',
    'after a restart of the machine with a wall clock that is behind, time goes on from what was kept',
    async ({ store, wallClock }, reopen) => {
      const record = await putNew(store);
      const before = store.now();
      wallClock.restart(60);
      wallClock.jump(-30 * daySeconds);
      const again = await reopen();
      assert.deepEqual([again.now(), again.clock().verdict], [before + 1, 'disputed']);
      await found(again, record.secretId);
      wallClock.advance(ttlSeconds);
      assert.equal(await again.findSecret(record.secretId), null);
      assert.equal(await again.sweep(100), 0);
      await again.setTime();
      assert.deepEqual([again.now(), again.clock().verdict], [wallClock.read(), 'agreed']);
      assert.equal(await again.findSecret(record.secretId), null, 'what had expired came back');
    },
  ),

  restartCheck(
    'P8',
    'what one process has proven of the wall clock, the others on the same data believe',
    async ({ store, wallClock }, reopen) => {
      await putNew(store);
      wallClock.restart(8 * hourSeconds);
      const first = await reopen();
      assert.equal(first.clock().verdict, 'unproven');
      wallClock.advance(300);
      const second = await reopen();
      assert.equal(second.clock().verdict, 'unproven');
      wallClock.advance(300);
      await putNew(first);
      assert.equal(first.clock().verdict, 'agreed');
      wallClock.advance(1);
      await hearing(second);
      assert.deepEqual([second.clock().verdict, second.now()], ['agreed', wallClock.read()]);
    },
  ),

  restartCheck(
    'P8',
    'no process on the same data is behind what another has judged by',
    async ({ store, wallClock }, reopen) => {
      const other = await reopen();
      // After this, `other` is idle and does not read the clock.
      await putNew(other);
      const before = other.now();
      wallClock.jump(200);
      await putNew(store);
      wallClock.jump(-200);
      wallClock.advance(9);
      await hearing(other);
      assert.equal(store.now(), before + 209);
      assert.ok(other.now() >= store.now() - 1, 'it is behind');
    },
  ),

  restartCheck(
    'P8',
    'every process on the same data hears of the time that one of them sets',
    async ({ store, wallClock }, reopen) => {
      const other = await reopen();
      const set = store.now() - 30 * daySeconds;
      wallClock.jump(-30 * daySeconds);
      await putNew(other);
      await store.setTime();
      // `other` has read the time within this second, so it has not noticed the change yet.
      await putNew(other);
      assert.equal((await reopen()).now(), set);
      wallClock.advance(1);
      await Promise.all([hearing(store), hearing(other)]);
      assert.deepEqual([store.now(), other.now()], [set + 1, set + 1]);
    },
  ),
];
