/**
 * Checks of the second look: the same opener may have the answer again, three answers in all within a minute; nobody else may, and
 * whatever ends it ends it for good.
 */

import { strict as assert } from 'node:assert';
import { lookRow } from '../../../src/core/ports/looks.ts';
import { lookAnswers, lookSeconds } from '../../../src/protocol/limits.ts';
import type { Store } from '../../../src/store/store.ts';
import { deleteWhole, personNamed } from './account-fixtures.ts';
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
  refusalOf,
  ttlSeconds,
  unconfirmedCheck,
} from './check.ts';
import {
  askAgain,
  assertEnded,
  assertReceived,
  claimWithLook,
  foundAs,
  lookOf,
  newLook,
  newTag,
  opened,
} from './look-fixtures.ts';
import { lookRowChecks } from './look-rows.ts';

const further = lookAnswers - 1;

const openerChecks: readonly ConformanceCheck[] = [
  check(
    'P1',
    'a claim with a look leaves it to its opener, and the link finds nothing',
    async ({ store }) => {
      const { account } = await personNamed(store, 'ann@example.org');
      const record = fullRecord(store.now(), account.id);
      await store.put(record);
      const other = await putNew(store);
      const secret = await found(store, record.secretId);
      const opener = await claimWithLook(store, record);
      assert.deepEqual(await lookOf(store, opener), foundAs(opener));
      assert.equal(await store.findSecret(record.secretId), null, 'both forms are alive');
      assert.equal(await store.claim(secret, clientStays), 'gone');
      assert.equal(await store.claim(secret, clientStays, newLook(secret, store.now(), newTag())), 'gone');
      assert.deepEqual(await lookOf(store, opener), foundAs(opener));
      await assertReceived(store, record);
      assert.equal(await lookOf(store, { ...opener, record: other }), null);
      await found(store, other.secretId);
    },
  ),

  check('P1', 'a claim without a look leaves none', async ({ store }) => {
    const record = await putNew(store);
    assert.equal(await store.claim(await found(store, record.secretId), clientStays), 'won');
    assert.equal(await store.findAnyLook(record.secretId), null);
    for (const tag of [newTag(), new Uint8Array(lookRow.tagBytes)]) {
      assert.equal(await store.findLook(record.secretId, tag), null);
      assert.equal(await store.takeAnswer(record.secretId, tag, clientStays), 'gone');
    }
  }),

  check('P4', 'a waiting secret has no look', async ({ store }) => {
    const { secretId } = await putNew(store);
    for (const id of [secretId, newSecretId()]) {
      assert.equal(await store.findAnyLook(id), null);
      assert.equal(await store.findLook(id, newTag()), null);
      assert.equal(await store.takeAnswer(id, newTag(), clientStays), 'gone');
      await store.endLook(id, newTag());
    }
    await found(store, secretId);
  }),

  check('P1', 'another nonce finds no look, gets no answer and ends nothing', async ({ store }) => {
    const opener = await opened(store);
    const { record } = opener;
    const almost = opener.tag.slice();
    almost[lookRow.tagBytes - 1] = (almost[lookRow.tagBytes - 1] ?? 0) ^ 1;
    for (const tag of [newTag(), almost, new Uint8Array(lookRow.tagBytes), new Uint8Array(0)]) {
      const other = { ...opener, tag };
      assert.equal(await lookOf(store, other), null, 'another nonce has found a look');
      assert.equal(await askAgain(store, other), 'gone', 'another nonce was answered');
      await store.endLook(record.secretId, tag);
    }
    assert.deepEqual(await lookOf(store, opener), foundAs(opener));
    for (let n = 0; n < further; n += 1) assert.equal(await askAgain(store, opener), 'answered');
  }),

  check(
    'P1',
    'of a hundred openers at once one wins, and only its nonce is answered again',
    async ({ store }) => {
      const record = await putNew(store);
      const secret = await found(store, record.secretId);
      const openers = Array.from({ length: 100 }, newTag);
      const outcomes = await Promise.all(
        openers.map((tag) => store.claim(secret, clientStays, newLook(secret, store.now(), tag))),
      );
      assert.equal(countOf(outcomes, 'won'), 1);
      const again = await Promise.all(
        openers.map((tag) => store.takeAnswer(record.secretId, tag, clientStays)),
      );
      assert.deepEqual(
        again.map((each) => each === 'answered'),
        outcomes.map((each) => each === 'won'),
      );
    },
  ),

  check(
    'P1',
    'two further answers are given and not a third, also to many who ask at once',
    async ({ store }) => {
      const [one, other] = [await opened(store), await opened(store)];
      for (let n = 0; n < further; n += 1) {
        assert.ok((await lookOf(store, one)) !== null);
        assert.equal(await askAgain(store, one), 'answered');
      }
      await assertEnded(store, one, 'a look outlives its last answer');
      const asked = await Promise.all(Array.from({ length: 50 }, () => askAgain(store, other)));
      assert.equal(countOf(asked, 'answered'), further);
      await assertEnded(store, other, 'a look outlives its last answer');
      await assertReceived(store, one.record);
    },
  ),

  check('P1', 'a look ends a minute after its claim and not a second later', async ({ store, wallClock }) => {
    const opener = await opened(store);
    wallClock.advance(lookSeconds - 1);
    assert.deepEqual(await lookOf(store, opener), foundAs(opener));
    assert.equal(await askAgain(store, opener), 'answered');
    wallClock.advance(1);
    await assertEnded(store, opener, 'a look outlives its minute');
    await assertReceived(store, opener.record);
  }),

  check('P8', 'a look ends with its secret’s life', async ({ store, wallClock }) => {
    const record = await putNew(store);
    wallClock.advance(ttlSeconds - 10);
    const opener = await claimWithLook(store, record);
    assert.equal(opener.look.until, record.expiresAt);
    wallClock.advance(9);
    assert.equal(await askAgain(store, opener), 'answered');
    wallClock.advance(1);
    await assertEnded(store, opener, 'a look outlives its secret');
  }),

  check('P3', 'an answer to a client that has left is not counted', async ({ store }) => {
    const opener = await opened(store);
    const { record, tag } = opener;
    for (let n = 0; n < 5; n += 1)
      assert.equal(await store.takeAnswer(record.secretId, tag, () => true), 'abandoned');
    for (let n = 0; n < further; n += 1) assert.equal(await askAgain(store, opener), 'answered');
    const left = await putNew(store);
    const secret = await found(store, left.secretId);
    const look = newLook(secret, store.now(), tag);
    assert.equal(await store.claim(secret, () => true, look), 'abandoned');
    assert.deepEqual(await found(store, left.secretId), secret);
    assert.equal(await store.findAnyLook(left.secretId), null);
  }),

  heldCheck(
    'P3',
    'a claim with a look, or an answer, that had to wait takes nothing for a client that left meanwhile',
    async ({ store }, hold) => {
      const opener = await opened(store);
      const record = await putNew(store);
      const secret = await found(store, record.secretId);
      const release = hold();
      const earlier = putNew(store);
      for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve));
      let hasLeft = false;
      const waiting = [
        store.claim(secret, () => hasLeft, newLook(secret, store.now(), newTag())),
        store.takeAnswer(opener.record.secretId, opener.tag, () => hasLeft),
      ];
      const later = putNew(store);
      for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve));
      hasLeft = true;
      release();
      await earlier;
      assert.deepEqual(await Promise.all(waiting), ['abandoned', 'abandoned']);
      await found(store, (await later).secretId);
      assert.deepEqual(await found(store, record.secretId), secret);
      assert.deepEqual(await lookOf(store, opener), foundAs(opener));
    },
  ),

  unconfirmedCheck(
    'P2',
    'neither an unconfirmed claim nor an unconfirmed answer releases a look',
    async ({ store }, holdClaims) => {
      for (const fate of ['undo', 'confirm'] as const) {
        const record = await putNew(store);
        const secret = await found(store, record.secretId);
        const tag = newTag();
        const opener = { record, tag, look: newLook(secret, store.now(), tag) };
        const claiming = holdClaims();
        await refusalOf(store.claim(secret, clientStays, opener.look), 'an unconfirmed claim was answered');
        await refusalOf(lookOf(store, opener), 'the look of an unconfirmed claim was found');
        await claiming.confirm();
        const answering = holdClaims();
        for (let n = 0; n < 3; n += 1)
          await refusalOf(askAgain(store, opener), 'an unconfirmed answer was released');
        await refusalOf(lookOf(store, opener), 'a look was found under an unconfirmed answer');
        await answering[fate]();
        const left = fate === 'undo' ? further : further - 1;
        const asked = [
          await askAgain(store, opener),
          await askAgain(store, opener),
          await askAgain(store, opener),
        ];
        assert.equal(countOf(asked, 'answered'), left);
      }
    },
  ),
];

const endChecks: readonly ConformanceCheck[] = [
  check('P10', 'done ends a look at once, and no other', async ({ store }) => {
    const [one, other] = [await opened(store), await opened(store)];
    await store.endLook(one.record.secretId, one.tag);
    await assertEnded(store, one, 'a look outlives done');
    await store.endLook(one.record.secretId, one.tag);
    assert.deepEqual(await lookOf(store, other), foundAs(other));
  }),

  check(
    'P7',
    'a burn after a read ends the look, and is told that there is nothing to burn',
    async ({ store }) => {
      const [one, other] = [await opened(store), await opened(store)];
      assert.equal(await store.burn(one.record.receiptId, clientStays), null);
      await assertEnded(store, one, 'a look outlives a burn');
      await assertReceived(store, one.record);
      assert.deepEqual(await lookOf(store, other), foundAs(other));
    },
  ),

  check('P10', 'burning all ends every look, and counts what waited', async ({ store }) => {
    const openers = [await opened(store), await opened(store), await opened(store)];
    await putNew(store);
    openers.push(await opened(store));
    let burned = 0;
    for (let after: string | null = null; ; ) {
      const batch: Awaited<ReturnType<Store['burnAll']>> = await store.burnAll(after, 2);
      burned += batch.burned;
      if (batch.next === null) break;
      after = batch.next;
    }
    assert.equal(burned, 1);
    for (const opener of openers)
      await assertEnded(store, opener, 'a look outlives the burning of everything');
  }),

  check(
    'P10',
    'the deletion of an account ends the looks at its secrets, and no other',
    async ({ store }) => {
      const { account } = await personNamed(store, 'ann@example.org');
      const own = [await opened(store, { owner: account.id }), await opened(store, { owner: account.id })];
      const other = await opened(store);
      await putNew(store, { owner: account.id });
      assert.equal(await deleteWhole(store, account.id), 1);
      for (const opener of own) await assertEnded(store, opener, 'a look outlives its account');
      assert.deepEqual(await lookOf(store, other), foundAs(other));
    },
  ),

  check('P10', 'a sweep erases looks that have ended, and none that lives', async ({ store, wallClock }) => {
    const ended = [await opened(store), await opened(store)];
    wallClock.advance(30);
    const living = await opened(store);
    assert.equal(await store.sweep(10), 0);
    wallClock.advance(30);
    assert.equal(await store.sweep(10), ended.length);
    assert.equal(await store.sweep(10), 0);
    assert.deepEqual(await lookOf(store, living), foundAs(living));
    assert.equal(await askAgain(store, living), 'answered');
    for (const opener of ended) await assertEnded(store, opener, 'a look outlives the sweep');
    wallClock.advance(30);
    assert.equal(await store.sweep(10), 1);
    for (const { record } of [...ended, living]) {
      await assertReceived(store, { ...record, createdAt: record.createdAt });
    }
    // Where a look ends and an expiry comes later, the record is still deleted with its receipt.
    wallClock.advance(2 * ttlSeconds);
    while ((await store.sweep(10)) > 0);
    for (const { record } of ended) assert.equal(await store.findReceipt(record.receiptId), null);
  }),

  check('P8', 'a time that is set back ends every look', async ({ store, wallClock }) => {
    const opener = await opened(store, {
      expiresAt: store.now() + 10 * ttlSeconds,
      receiptExpiresAt: store.now() + 20 * ttlSeconds,
    });
    wallClock.jump(-ttlSeconds);
    await store.setTime();
    assert.ok(store.now() < opener.record.createdAt);
    assert.equal(await lookOf(store, opener), null);
    assert.equal(await askAgain(store, opener), 'gone');
  }),
];

export const lookChecks: readonly ConformanceCheck[] = [...openerChecks, ...endChecks, ...lookRowChecks];
