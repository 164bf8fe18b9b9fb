/**
 * Checks of the exactly-once decision: claim, burn, and each against the other.
 */
import { strict as assert } from 'node:assert';
import type { SecretId } from '../../../src/core/keys.ts';
import type { IsAbandoned } from '../../../src/core/ports/claims.ts';
import {
  type ConformanceCheck,
  check,
  clientStays,
  countOf,
  found,
  heldCheck,
  newRecord,
  newSecretId,
  putNew,
  refusalOf,
  restartCheck,
  unconfirmedCheck,
} from './check.ts';

const clientHasLeft: IsAbandoned = () => true;

/** Long enough for pending calls to get under way. */
async function turns(): Promise<void> {
  for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve));
}

export const claimChecks: readonly ConformanceCheck[] = [
  check('P1', 'a secret is claimed once', async ({ store }) => {
    const { secretId } = await putNew(store);
    const secret = await found(store, secretId);
    assert.equal(await store.claim(secret, clientStays), 'won');
    assert.equal(await store.claim(secret, clientStays), 'gone');
    assert.equal(await store.findSecret(secretId), null);
  }),

  check('P1', 'of fifty claims at once exactly one wins', async ({ store }) => {
    const { secretId } = await putNew(store);
    const claimOnce = async () => store.claim(await found(store, secretId), clientStays);
    const secret = await found(store, secretId);
    const claims = Array.from({ length: 50 }, (_, n) =>
      n % 2 === 0 ? store.claim(secret, clientStays) : claimOnce(),
    );
    const outcomes = (await Promise.allSettled(claims)).map((each) =>
      each.status === 'fulfilled' ? each.value : 'gone',
    );
    assert.equal(countOf(outcomes, 'won'), 1);
  }),

  check('P1', 'a claim takes only the version that was found', async ({ store }) => {
    const { secretId } = await putNew(store);
    const secret = await found(store, secretId);
    assert.equal(await store.claim({ ...secret, rowVersion: secret.rowVersion + 1 }, clientStays), 'gone');
    assert.equal(await store.claim(secret, clientStays), 'won');
  }),

  check(
    'P1',
    'a claim is decided by the id and version that were found, whoever carries them',
    async ({ store }) => {
      const { secretId } = await putNew(store);
      const { rowVersion, createdAt, expiresAt } = await found(store, secretId);
      const copy = { secretId: secretId.slice() as SecretId, rowVersion, createdAt, expiresAt };
      assert.equal(await store.claim(copy, clientStays), 'won');
      assert.equal(await store.claim(copy, clientStays), 'gone');
      assert.equal(await store.claim({ ...copy, secretId: newSecretId() }, clientStays), 'gone');
    },
  ),

  check('P1', 'a claim leaves every other secret as it was', async ({ store }) => {
    const records = await Promise.all(Array.from({ length: 10 }, () => putNew(store)));
    for (const [n, record] of records.entries()) {
      if (n % 2 === 0)
        assert.equal(await store.claim(await found(store, record.secretId), clientStays), 'won');
    }
    for (const [n, record] of records.entries()) {
      assert.equal((await store.findSecret(record.secretId)) === null, n % 2 === 0);
    }
  }),

  check('P3', 'a claim whose client has left takes nothing', async ({ store }) => {
    const { secretId, receiptId } = await putNew(store);
    const secret = await found(store, secretId);
    assert.equal(await store.claim(secret, clientHasLeft), 'abandoned');
    assert.equal((await store.findReceipt(receiptId))?.state, 'waiting');
    assert.deepEqual(await store.findSecret(secretId), secret);
    assert.equal(await store.claim(secret, clientStays), 'won');
    assert.notEqual(await store.claim(secret, clientHasLeft), 'won');
  }),

  check('P3', 'a burn whose client has left burns nothing', async ({ store }) => {
    const { secretId, receiptId } = await putNew(store);
    assert.equal(await store.burn(receiptId, clientHasLeft), 'abandoned');
    assert.equal((await store.findReceipt(receiptId))?.state, 'waiting');
    assert.ok((await store.findSecret(secretId)) !== null);
    assert.equal(await store.burn(receiptId, clientStays), store.now());
  }),

  check(
    'P3',
    'of claims and burns at once only those go undone whose clients have left',
    async ({ store }) => {
      const records = await Promise.all(Array.from({ length: 40 }, () => putNew(store)));
      const secrets = await Promise.all(records.map(({ secretId }) => found(store, secretId)));
      const hasLeft = (n: number) => n % 3 === 0;
      const ended = secrets.map((secret, n) => {
        const isAbandoned = () => hasLeft(n);
        const { receiptId } = records[n] ?? newRecord(0);
        return n % 2 === 0 ? store.claim(secret, isAbandoned) : store.burn(receiptId, isAbandoned);
      });
      const outcomes = await Promise.all([...ended, putNew(store)]);
      for (const [n, { receiptId }] of records.entries()) {
        const state = hasLeft(n) ? 'waiting' : n % 2 === 0 ? 'received' : 'burned';
        assert.equal((await store.findReceipt(receiptId))?.state, state);
        assert.equal(outcomes[n] === 'abandoned', hasLeft(n));
      }
    },
  ),

  heldCheck(
    'P3',
    'a claim or burn that had to wait for other writes takes nothing for a client that left meanwhile',
    async ({ store }, hold) => {
      const [read, burned] = [await putNew(store), await putNew(store)];
      const secret = await found(store, read.secretId);
      const release = hold();
      const earlier = putNew(store);
      await turns();
      let hasLeft = false;
      const waiting = [store.claim(secret, () => hasLeft), store.burn(burned.receiptId, () => hasLeft)];
      await turns();
      hasLeft = true;
      release();
      await earlier;
      assert.deepEqual(await Promise.all(waiting), ['abandoned', 'abandoned']);
      for (const { receiptId } of [read, burned]) {
        assert.equal((await store.findReceipt(receiptId))?.state, 'waiting');
      }
      assert.equal(await store.claim(secret, clientStays), 'won');
    },
  ),

  check(
    'P6',
    'a receipt says received, at the time of the claim, as soon as the claim is won',
    async ({ store, wallClock }) => {
      const record = await putNew(store);
      const secret = await found(store, record.secretId);
      wallClock.advance(5);
      assert.equal(await store.claim(secret, clientStays), 'won');
      wallClock.advance(5);
      const receipt = await store.findReceipt(record.receiptId);
      assert.equal(receipt?.state, 'received');
      assert.equal(receipt?.endedAt, record.createdAt + 5);
      assert.equal(receipt?.sealedSecret, null);
    },
  ),

  check('P7', 'a burn takes a waiting secret once and says when', async ({ store, wallClock }) => {
    const record = await putNew(store);
    const secret = await found(store, record.secretId);
    wallClock.advance(9);
    assert.equal(await store.burn(record.receiptId, clientStays), record.createdAt + 9);
    assert.equal(await store.burn(record.receiptId, clientStays), null);
    assert.equal(await store.claim(secret, clientStays), 'gone');
    assert.equal(await store.findSecret(record.secretId), null);
    const receipt = await store.findReceipt(record.receiptId);
    assert.equal(receipt?.state, 'burned');
    assert.equal(receipt?.endedAt, record.createdAt + 9);
    assert.equal(receipt?.sealedSecret, null);
  }),

  check('P7', 'a burn after a read is told that there is nothing to burn', async ({ store }) => {
    const record = await putNew(store);
    assert.equal(await store.claim(await found(store, record.secretId), clientStays), 'won');
    assert.equal(await store.burn(record.receiptId, clientStays), null);
    assert.equal((await store.findReceipt(record.receiptId))?.state, 'received');
  }),

  check(
    'P7',
    'of burns and claims at once exactly one wins, and the receipt names the winner',
    async ({ store }) => {
      for (let round = 0; round < 20; round += 1) {
        const record = await putNew(store);
        const secret = await found(store, record.secretId);
        const claim = async () => ((await store.claim(secret, clientStays)) === 'won' ? 'received' : null);
        const burn = async () =>
          (await store.burn(record.receiptId, clientStays)) === null ? null : 'burned';
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
      assert.equal(await store.claim(secret, clientStays), 'gone');
      assert.equal((await store.findReceipt(record.receiptId))?.state, 'waiting');
    },
  ),

  unconfirmedCheck(
    'P2',
    'a secret that an unconfirmed claim holds is neither released nor gone',
    async ({ store }, holdClaims) => {
      for (const fate of ['undo', 'confirm'] as const) {
        const { secretId, receiptId } = await putNew(store);
        const secret = await found(store, secretId);
        const held = holdClaims();
        // The first claim is still undecided when the others arrive.
        for (let n = 0; n < 3; n += 1) {
          await refusalOf(store.claim(secret, clientStays), 'an unconfirmed claim was answered');
        }
        const asked = [
          store.findSecret(secretId),
          store.findReceipt(receiptId),
          store.findLives([receiptId]),
          store.burn(receiptId, clientStays),
        ];
        for (const each of asked) await refusalOf(each, 'what an unconfirmed claim holds was told');
        await held[fate]();
        if (fate === 'undo') assert.deepEqual(await store.findSecret(secretId), secret);
        const state = fate === 'undo' ? 'waiting' : 'received';
        assert.equal((await store.findReceipt(receiptId))?.state, state);
        const claims = await Promise.all([1, 2, 3].map(() => store.claim(secret, clientStays)));
        assert.equal(countOf(claims, 'won'), fate === 'undo' ? 1 : 0);
        assert.equal(countOf(claims, 'gone'), fate === 'undo' ? 2 : 3);
        assert.equal((await store.findReceipt(receiptId))?.state, 'received');
      }
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
          store.claim(secrets[0], clientStays),
          other.claim(secrets[1], clientStays),
          store.claim(secrets[0], clientStays),
        ]);
        assert.equal(countOf(outcomes, 'won'), 1);
        assert.equal(await store.findSecret(record.secretId), null);
        assert.equal(await other.findSecret(record.secretId), null);
      }
    },
  ),
];
