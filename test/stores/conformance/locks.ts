/**
 * Checks of locks: what a secret's creator is told when nobody may guess at its passphrase any more, and how more is allowed (P14).
 */
import { strict as assert } from 'node:assert';
import type { Reservation } from '../../../src/core/ports/attempts.ts';
import { limits, newClient, reserved, reserveMany, waitOf } from './attempt-fixtures.ts';
import { type ConformanceCheck, check, newSecretId, putNew } from './check.ts';

export const lockChecks: readonly ConformanceCheck[] = [
  check(
    'P14',
    'its creator allows more: as many guesses as for a new secret, now and in its life, and of no other',
    async ({ store, wallClock }) => {
      const [one, other] = [await putNew(store), await putNew(store)];
      const few = { ...limits, perClient: 2, perLife: 3 };
      const client = newClient();
      const guessAll = ({ secretId }: typeof one) =>
        reserveMany(9, () => store.reserve(secretId, newClient(), few));
      for (const { secretId } of [one, other]) {
        for (let n = 0; n < 2; n += 1) reserved(await store.reserve(secretId, client, few));
        waitOf(await store.reserve(secretId, client, few));
        assert.equal(await guessAll({ secretId } as typeof one), 1);
      }
      for (let round = 0; round < 2; round += 1) {
        await store.allowMore(one.secretId);
        await store.allowMore(one.secretId);
        reserved(await store.reserve(one.secretId, client, few));
        assert.equal(await guessAll(one), 2);
        assert.equal(await guessAll(other), 0);
        wallClock.advance(few.windowSeconds);
        assert.equal(await guessAll(one), 0);
      }
      await store.allowMore(newSecretId());
    },
  ),

  check('P14', 'what was reserved before its creator allowed more is not given back', async ({ store }) => {
    const { secretId } = await putNew(store);
    const three = { ...limits, perLife: 3 };
    const guess = () => store.reserve(secretId, newClient(), three);
    const early = [reserved(await guess()), reserved(await guess())];
    await store.allowMore(secretId);
    assert.equal(await reserveMany(2, guess), 2);
    for (const attempt of early) await store.refund(secretId, attempt);
    assert.equal(await reserveMany(9, guess), 1);
  }),

  check(
    'P14',
    'a lock is told of each secret while nobody may guess at it, until when, and not after more is allowed',
    async ({ store, wallClock }) => {
      const kept = { expiresAt: store.now() + 86_400, receiptExpiresAt: store.now() + 172_800 };
      const [open, busy, spent] = [
        await putNew(store, kept),
        await putNew(store, kept),
        await putNew(store, kept),
      ];
      const few = { ...limits, perSecret: 3, keptForNewcomers: 1, perLife: 4 };
      const locks = () =>
        store.findLocks(
          [spent, open, busy].map(({ secretId }) => secretId),
          few,
        );
      const guess = async ({ secretId }: typeof open) =>
        reserved(await store.reserve(secretId, newClient(), few));
      assert.deepEqual(await locks(), [null, null, null]);
      for (const each of [busy, spent, open, busy, spent]) await guess(each);
      wallClock.advance(10);
      assert.deepEqual(await locks(), [null, null, null]);
      await guess(busy);
      await guess(spent);
      const until = wallClock.read() - 10 + few.windowSeconds;
      assert.deepEqual(await locks(), [{ until }, null, { until }]);
      assert.deepEqual(await store.findLocks([busy.secretId], few), [{ until }]);
      wallClock.set(until - 1);
      assert.deepEqual(await locks(), [{ until }, null, { until }]);
      wallClock.set(until);
      assert.deepEqual(await locks(), [null, null, null]);
      await guess(spent);
      assert.deepEqual(await locks(), [{ until: null }, null, null]);
      wallClock.advance(few.windowSeconds);
      assert.deepEqual(await locks(), [{ until: null }, null, null]);
      await store.allowMore(spent.secretId);
      assert.deepEqual(await locks(), [null, null, null]);
      assert.deepEqual(await store.findLocks([newSecretId()], few), [null]);
      assert.deepEqual(await store.findLocks([], few), []);
    },
  ),

  check('P14', 'only the end of a life needs the creator', async ({ store }) => {
    const [{ secretId }, client] = [await putNew(store), newClient()];
    const needs = (told: Reservation) => told.needsCreator;
    const three = { ...limits, perClient: 2, perLife: 3 };
    const guess = (by: Uint8Array) => store.reserve(secretId, by, three);
    const told = [await guess(client), await guess(client), await guess(client)];
    assert.deepEqual(told.map(needs), [false, false, false]);
    assert.deepEqual([needs(await guess(newClient())), needs(await guess(newClient()))], [true, true]);
    assert.equal(needs(await guess(client)), true);
  }),
];
