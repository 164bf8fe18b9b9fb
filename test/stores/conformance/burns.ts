/**
 * Checks of a burn by the link: it excludes claims and the creator's burns, takes only what was found, and a receipt says who burned it.
 */

import { strict as assert } from 'node:assert';
import type { SecretId } from '../../../src/core/keys.ts';
import type { NewRecord } from '../../../src/core/secret.ts';
import { lookAnswers } from '../../../src/protocol/limits.ts';
import type { Store } from '../../../src/store/store.ts';
import { deleteWhole, ownerIn } from './account-fixtures.ts';
import {
  type ConformanceCheck,
  check,
  clientStays,
  countOf,
  found,
  fullRecord,
  heldCheck,
  newSecretId,
  putNew,
  recentOf,
  refusalOf,
  restartCheck,
  unconfirmedCheck,
} from './check.ts';
import { askAgain, opened } from './look-fixtures.ts';

/** What a receipt says of its end. */
async function endOf(store: Store, { receiptId }: NewRecord) {
  const receipt = await store.findReceipt(receiptId);
  return [receipt?.state, receipt?.burnedBy, receipt?.endedAt];
}

const burnByLink = async (store: Store, { secretId }: NewRecord) =>
  store.burnFound(await found(store, secretId), clientStays);

/** Lets pending calls get under way. */
async function turns(): Promise<void> {
  for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve));
}

const decisionChecks: readonly ConformanceCheck[] = [
  check(
    'P7',
    'a burn by the link takes a waiting secret once and says when',
    async ({ store, wallClock }) => {
      const record = await putNew(store);
      const secret = await found(store, record.secretId);
      wallClock.advance(9);
      const burnedAt = record.createdAt + 9;
      assert.equal(await store.burnFound(secret, clientStays), burnedAt);
      wallClock.advance(9);
      assert.equal(await store.burnFound(secret, clientStays), null);
      assert.equal(await store.burn(record.receiptId, clientStays), null);
      assert.equal(await store.claim(secret, clientStays), 'gone');
      assert.equal(await store.findSecret(record.secretId), null);
      assert.deepEqual(await endOf(store, record), ['burned', 'recipient', burnedAt]);
      assert.equal((await store.findReceipt(record.receiptId))?.sealedSecret, null);
    },
  ),

  check('P7', 'of fifty burns by the link at once exactly one wins', async ({ store }) => {
    const record = await putNew(store);
    const secret = await found(store, record.secretId);
    const burns = Array.from({ length: 50 }, () => store.burnFound(secret, clientStays));
    assert.equal(countOf(await Promise.all(burns), null), 49);
    assert.deepEqual(await endOf(store, record), ['burned', 'recipient', record.createdAt]);
  }),

  check('P7', 'a burn by the link leaves what was read, and the second look at it', async ({ store }) => {
    const plain = await putNew(store);
    const secret = await found(store, plain.secretId);
    assert.equal(await store.claim(secret, clientStays), 'won');
    assert.equal(await store.burnFound(secret, clientStays), null, 'what was read is called burned');
    assert.deepEqual(await endOf(store, plain), ['received', null, plain.createdAt]);
    const opener = await opened(store);
    const { createdAt, expiresAt, secretId } = opener.record;
    const target = { secretId, rowVersion: 1, createdAt, expiresAt };
    assert.equal(await store.burnFound(target, clientStays), null);
    for (let n = 1; n < lookAnswers; n += 1) assert.equal(await askAgain(store, opener), 'answered');
    assert.deepEqual(await endOf(store, opener.record), ['received', null, createdAt]);
  }),

  check(
    'P7',
    'of burns of both kinds and claims at once exactly one wins, and the receipt names the winner',
    async ({ store }) => {
      for (let round = 0; round < 20; round += 1) {
        const record = await putNew(store);
        const secret = await found(store, record.secretId);
        const claim = async () => ((await store.claim(secret, clientStays)) === 'won' ? [null] : []);
        const byCreator = async () =>
          (await store.burn(record.receiptId, clientStays)) === null ? [] : ['creator'];
        const byLink = async () =>
          (await store.burnFound(secret, clientStays)) === null ? [] : ['recipient'];
        const contenders = [byLink, byCreator, claim, byLink, byCreator, claim, byCreator, byLink];
        const turned = [...contenders.slice(round % 8), ...contenders.slice(0, round % 8)];
        const winners = (await Promise.all(turned.map((each) => each()))).flat();
        assert.equal(winners.length, 1);
        const state = winners[0] === null ? 'received' : 'burned';
        assert.deepEqual(await endOf(store, record), [state, winners[0], record.createdAt]);
      }
    },
  ),

  check(
    'P7',
    'a burn by the link is decided by the id and version that were found, even in a copy',
    async ({ store }) => {
      const [record, other] = [await putNew(store), await putNew(store)];
      const { rowVersion, createdAt, expiresAt } = await found(store, record.secretId);
      const copy = { secretId: record.secretId.slice() as SecretId, rowVersion, createdAt, expiresAt };
      assert.equal(await store.burnFound({ ...copy, rowVersion: rowVersion + 1 }, clientStays), null);
      assert.equal(await store.burnFound({ ...copy, secretId: newSecretId() }, clientStays), null);
      const asked = store.burnFound(copy, clientStays);
      copy.secretId.fill(0);
      assert.equal(await asked, record.createdAt);
      await found(store, other.secretId);
    },
  ),

  check(
    'P8',
    'a burn by the link decides by store time, not by what was true when the secret was found',
    async ({ store, wallClock }) => {
      const record = await putNew(store);
      const secret = await found(store, record.secretId);
      wallClock.set(record.expiresAt);
      assert.equal(await store.burnFound(secret, clientStays), null);
      assert.deepEqual(await endOf(store, record), ['waiting', null, null]);
    },
  ),

  check('P3', 'a burn by the link whose client has left burns nothing', async ({ store }) => {
    const record = await putNew(store);
    const secret = await found(store, record.secretId);
    assert.equal(await store.burnFound(secret, () => true), 'abandoned');
    assert.deepEqual(await endOf(store, record), ['waiting', null, null]);
    assert.deepEqual(await store.findSecret(record.secretId), secret);
    assert.equal(await store.burnFound(secret, clientStays), store.now());
  }),

  heldCheck(
    'P3',
    'a burn by the link that had to wait for other writes burns nothing for a client that left meanwhile',
    async ({ store }, hold) => {
      const record = await putNew(store);
      const secret = await found(store, record.secretId);
      const release = hold();
      const earlier = putNew(store);
      await turns();
      let hasLeft = false;
      const waiting = store.burnFound(secret, () => hasLeft);
      await turns();
      hasLeft = true;
      release();
      await earlier;
      assert.equal(await waiting, 'abandoned');
      assert.deepEqual(await endOf(store, record), ['waiting', null, null]);
    },
  ),

  unconfirmedCheck(
    'P2',
    'a burn by the link of what an unconfirmed claim holds is not told that there is nothing to burn',
    async ({ store }, holdClaims) => {
      for (const fate of ['undo', 'confirm'] as const) {
        const record = await putNew(store);
        const secret = await found(store, record.secretId);
        const held = holdClaims();
        await refusalOf(store.claim(secret, clientStays), 'an unconfirmed claim was answered');
        const burning = store.burnFound(secret, clientStays);
        await refusalOf(burning, 'what an unconfirmed claim holds was told');
        await held[fate]();
        const burnedAt = await store.burnFound(secret, clientStays);
        assert.equal(burnedAt, fate === 'undo' ? store.now() : null);
        const [state, burner] = await endOf(store, record);
        assert.deepEqual([state, burner], fate === 'undo' ? ['burned', 'recipient'] : ['received', null]);
      }
    },
  ),
];

const receiptChecks: readonly ConformanceCheck[] = [
  check(
    'P6',
    'a receipt, in a list too, says which of the two burned it, whatever is noted later, and tells all else as before',
    async ({ store, wallClock }) => {
      const owner = await ownerIn(store);
      const [byLink, byCreator, read] = [1, 2, 3].map(() => fullRecord(store.now(), owner));
      assert.ok(byLink && byCreator && read);
      for (const record of [byLink, byCreator, read]) await store.put(record);
      await store.markViewed(byLink.receiptId);
      const before = await store.findReceipt(byLink.receiptId);
      wallClock.advance(5);
      await burnByLink(store, byLink);
      await store.burn(byCreator.receiptId, clientStays);
      await store.claim(await found(store, read.secretId), clientStays);
      const ends = { state: 'burned', endedAt: byLink.createdAt + 5, burnedBy: 'recipient' };
      const after = await store.findReceipt(byLink.receiptId);
      assert.deepEqual(after, { ...before, ...ends, sealedSecret: null });
      for (const { receiptId } of [byLink, byCreator, read]) {
        const delivery = { state: 'accepted', staleAt: null, noteBox: null, addressBox: null } as const;
        await store.setDelivery(receiptId, delivery);
        await store.setMemo(receiptId, null);
        await store.burn(receiptId, clientStays);
      }
      wallClock.set(byLink.expiresAt + 1);
      await store.sweep(10);
      const told = (await recentOf(store, owner)).map(({ burnedBy }) => burnedBy);
      assert.deepEqual(told, [null, 'creator', 'recipient']);
      assert.equal((await store.findReceipt(byLink.receiptId))?.burnedBy, 'recipient');
      assert.equal((await store.findReceipt(byCreator.receiptId))?.burnedBy, 'creator');
    },
  ),

  check(
    'P6',
    'a receipt names nobody for what was burned with everything, or with its account',
    async ({ store }) => {
      const owner = await ownerIn(store);
      const [owned, other] = [await putNew(store, { owner }), await putNew(store)];
      assert.equal(await deleteWhole(store, owner), 1);
      await store.burnAll(null, 100);
      for (const record of [owned, other]) {
        assert.deepEqual(await endOf(store, record), ['burned', null, record.createdAt]);
      }
    },
  ),

  check(
    'P6',
    'a receipt says who burned it after another lifetime was set, and of many the right ones',
    async ({ store }) => {
      const records = await Promise.all(Array.from({ length: 30 }, () => putNew(store)));
      for (const { receiptId, expiresAt, sealedSecret } of records) {
        const to = { expiresAt: expiresAt + 50, receiptExpiresAt: expiresAt + 999, noticeDueAt: null };
        assert.ok(await store.setExpiry(receiptId, expiresAt, { ...to, sealedSecret }));
      }
      const ended = await Promise.all(
        records.map((record, n) =>
          n % 2 === 0 ? burnByLink(store, record) : store.burn(record.receiptId, clientStays),
        ),
      );
      assert.equal(countOf(ended, null), 0);
      for (const [n, record] of records.entries()) {
        const [, burnedBy] = await endOf(store, record);
        assert.equal(burnedBy, n % 2 === 0 ? 'recipient' : 'creator');
      }
    },
  ),

  restartCheck('P6', 'who burned it is as durable as that it was burned', async ({ store }, reopen) => {
    const [byLink, byCreator] = [await putNew(store), await putNew(store)];
    await burnByLink(store, byLink);
    await store.burn(byCreator.receiptId, clientStays);
    const again = await reopen();
    assert.deepEqual(await endOf(again, byLink), ['burned', 'recipient', byLink.createdAt]);
    assert.deepEqual(await endOf(again, byCreator), ['burned', 'creator', byCreator.createdAt]);
  }),
];

export const burnChecks: readonly ConformanceCheck[] = [...decisionChecks, ...receiptChecks];
