/**
 * Checks that a sweep takes what has ended and harms nothing that is still live.
 */
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import type { NewRecord } from '../../../src/core/secret.ts';
import type { Store } from '../../../src/store/store.ts';
import { personNamed } from './account-fixtures.ts';
import { limits as attemptLimits } from './attempt-fixtures.ts';
import { type ConformanceCheck, check, found, putNew, ttlSeconds } from './check.ts';

const limits = { ...attemptLimits, perLife: 5 };
const client = new Uint8Array(16).fill(7);
const box = () => new Uint8Array(randomBytes(60));
const refused = () => ({ state: 'refused', staleAt: null, noteBox: box(), addressBox: box() }) as const;

/** Guesses until refused; returns how many were allowed. */
async function guessAll(store: Store, { secretId }: NewRecord, ofLimits = limits): Promise<number> {
  for (let allowed = 0; ; allowed += 1) {
    const { outcome } = await store.reserve(secretId, client, ofLimits);
    if (outcome === 'exhausted') return allowed;
  }
}

async function sweepAll(store: Store): Promise<void> {
  while ((await store.sweep(3)) > 0);
}

/** Lives at least four times as long as the others. */
const longLife = (store: Store) => ({
  expiresAt: store.now() + 4 * ttlSeconds,
  receiptExpiresAt: store.now() + 8 * ttlSeconds,
});

export const sweepChecks: readonly ConformanceCheck[] = [
  check(
    'P5',
    'a sweep leaves the mails and notices of what lives on as they are',
    async ({ store, wallClock }) => {
      const { account } = await personNamed(store, 'ann@example.org');
      const put = (changes: Partial<NewRecord>) => putNew(store, { owner: account.id, ...changes });
      const noticeDueAt = store.now() + 3 * ttlSeconds;
      const living = [await put({ ...longLife(store), noticeDueAt })];
      const dying = [await put({ noticeDueAt }), await put({ noticeDueAt })];
      living.push(await put({ ...longLife(store), noticeDueAt }));
      const newest = await put({});
      const deliveries = living.map(refused);
      for (const [n, { receiptId }] of living.entries())
        await store.setDelivery(receiptId, deliveries[n] ?? refused());
      for (const { receiptId } of [...dying, newest]) await store.setDelivery(receiptId, refused());
      for (const seconds of [ttlSeconds, ttlSeconds]) {
        wallClock.advance(seconds);
        await sweepAll(store);
      }
      for (const [n, { receiptId, secretId, createdAt }] of living.entries()) {
        const receipt = await store.findReceipt(receiptId);
        assert.deepEqual(receipt?.delivery, { ...deliveries[n], at: createdAt });
        await found(store, secretId);
      }
      for (const { receiptId } of dying) assert.equal(await store.findReceipt(receiptId), null);
      wallClock.set(noticeDueAt);
      assert.equal((await store.takeDueNotices(10)).length, living.length);
    },
  ),

  check(
    'P14',
    'a sweep gives no guess back that still counts, in the window or in the life',
    async ({ store, wallClock }) => {
      const ended = await putNew(store, { expiresAt: store.now() + 60 });
      const old = await putNew(store, longLife(store));
      assert.equal(await guessAll(store, ended), limits.perClient);
      assert.equal(await guessAll(store, old), limits.perLife);
      wallClock.advance(limits.windowSeconds - 1);
      const fresh = await putNew(store, longLife(store));
      assert.equal(await guessAll(store, fresh, { ...limits, perLife: 100 }), limits.perClient);
      wallClock.advance(1);
      await sweepAll(store);
      assert.equal(await guessAll(store, old), 0);
      assert.equal(await guessAll(store, fresh, { ...limits, perLife: 100 }), 0);
      wallClock.advance(limits.windowSeconds);
      await sweepAll(store);
      assert.equal(await guessAll(store, old), 0);
      assert.equal(await guessAll(store, fresh, { ...limits, perLife: 100 }), limits.perClient);
    },
  ),
];
