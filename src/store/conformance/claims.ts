/**
 * Checks of the exactly-once decision: claim, burn, and each against the other.
 */
import { strict as assert } from 'node:assert';
import { type ConformanceCheck, check, countOf, found, putNew, restartCheck } from './check.ts';

export const claimChecks: readonly ConformanceCheck[] = [
  check('P1', 'a secret is claimed once', async ({ store }) => {
    const { secretId } = await putNew(store);
    const secret = await found(store, secretId);
    assert.equal(await store.claim(secret), 'won');
    assert.equal(await store.claim(secret), 'gone');
    assert.equal(await store.findSecret(secretId), null);
  }),

  check('P1', 'of fifty claims at once exactly one wins', async ({ store }) => {
    const { secretId } = await putNew(store);
    const claimOnce = async () => store.claim(await found(store, secretId));
    const secret = await found(store, secretId);
    const claims = Array.from({ length: 50 }, (_, n) => (n % 2 === 0 ? store.claim(secret) : claimOnce()));
    const outcomes = (await Promise.allSettled(claims)).map((each) =>
      each.status === 'fulfilled' ? each.value : 'gone',
    );
    assert.equal(countOf(outcomes, 'won'), 1);
  }),

  check('P1', 'a claim takes only the version that was found', async ({ store }) => {
    const { secretId } = await putNew(store);
    const secret = await found(store, secretId);
    assert.equal(await store.claim({ ...secret, rowVersion: secret.rowVersion + 1 }), 'gone');
    assert.equal(await store.claim(secret), 'won');
  }),

  check('P1', 'a claim leaves every other secret as it was', async ({ store }) => {
    const records = await Promise.all(Array.from({ length: 10 }, () => putNew(store)));
    for (const [n, record] of records.entries()) {
      if (n % 2 === 0) assert.equal(await store.claim(await found(store, record.secretId)), 'won');
    }
    for (const [n, record] of records.entries()) {
      assert.equal((await store.findSecret(record.secretId)) === null, n % 2 === 0);
    }
  }),

  check(
    'P6',
    'a receipt says received, at the time of the claim, as soon as the claim is won',
    async ({ store, wallClock }) => {
      const record = await putNew(store);
      const secret = await found(store, record.secretId);
      wallClock.advance(5);
      assert.equal(await store.claim(secret), 'won');
      wallClock.advance(5);
      const receipt = await store.findReceipt(record.receiptId);
      assert.equal(receipt?.state, 'received');
      assert.equal(receipt?.endedAt, record.createdAt + 5);
      assert.equal(receipt?.creatorBox, null);
    },
  ),

  check('P7', 'a burn takes a waiting secret once and says when', async ({ store, wallClock }) => {
    const record = await putNew(store);
    const secret = await found(store, record.secretId);
    wallClock.advance(9);
    assert.equal(await store.burn(record.receiptId), record.createdAt + 9);
    assert.equal(await store.burn(record.receiptId), null);
    assert.equal(await store.claim(secret), 'gone');
    assert.equal(await store.findSecret(record.secretId), null);
    const receipt = await store.findReceipt(record.receiptId);
    assert.equal(receipt?.state, 'burned');
    assert.equal(receipt?.endedAt, record.createdAt + 9);
    assert.equal(receipt?.creatorBox, null);
  }),

  check('P7', 'a burn after a read is told that there is nothing to burn', async ({ store }) => {
    const record = await putNew(store);
    assert.equal(await store.claim(await found(store, record.secretId)), 'won');
    assert.equal(await store.burn(record.receiptId), null);
    assert.equal((await store.findReceipt(record.receiptId))?.state, 'received');
  }),

  check(
    'P7',
    'of burns and claims at once exactly one wins, and the receipt names the winner',
    async ({ store }) => {
      for (let round = 0; round < 20; round += 1) {
        const record = await putNew(store);
        const secret = await found(store, record.secretId);
        const claim = async () => ((await store.claim(secret)) === 'won' ? 'received' : null);
        const burn = async () => ((await store.burn(record.receiptId)) === null ? null : 'burned');
        const contenders = [claim, burn, claim, burn, burn, claim];
        const racing = (round % 2 === 0 ? contenders : contenders.reverse()).map((each) => each());
        const winners = (await Promise.all(racing)).filter((outcome) => outcome !== null);
        assert.equal(winners.length, 1);
        assert.equal((await store.findReceipt(record.receiptId))?.state, winners[0]);
      }
    },
  ),

  check(
    'P8',
    'a claim decides by store time, not by what was true when the secret was found',
    async ({ store, wallClock }) => {
      const record = await putNew(store);
      const secret = await found(store, record.secretId);
      wallClock.set(record.expiresAt);
      assert.equal(await store.claim(secret), 'gone');
      assert.equal((await store.findReceipt(record.receiptId))?.state, 'waiting');
    },
  ),

  restartCheck(
    'P1',
    'two openings of the same data have one winner between them',
    async ({ store }, reopen) => {
      const other = await reopen();
      for (let round = 0; round < 10; round += 1) {
        const record = await putNew(round % 2 === 0 ? store : other);
        const secrets = [await found(store, record.secretId), await found(other, record.secretId)] as const;
        const outcomes = await Promise.all([
          store.claim(secrets[0]),
          other.claim(secrets[1]),
          store.claim(secrets[0]),
        ]);
        assert.equal(countOf(outcomes, 'won'), 1);
        assert.equal(await store.findSecret(record.secretId), null);
        assert.equal(await other.findSecret(record.secretId), null);
      }
    },
  ),
];
