/** Checks of a second look's bytes: whether they fit their secret, other wrappings of them, copies, and restarts. */

import { strict as assert } from 'node:assert';
import type { SecretId } from '../../../src/core/keys.ts';
import { lookRow } from '../../../src/core/ports/looks.ts';
import { lookSeconds } from '../../../src/protocol/limits.ts';
import {
  type ConformanceCheck,
  check,
  clientStays,
  found,
  putNew,
  refusalOf,
  restartCheck,
} from './check.ts';
import {
  askAgain,
  assertEnded,
  assertReceived,
  claimWithLook,
  foundAs,
  lookBytes,
  lookOf,
  newLook,
  newTag,
  opened,
} from './look-fixtures.ts';

export const lookRowChecks: readonly ConformanceCheck[] = [
  check(
    'P3',
    'a look that does not fit its secret any more is refused, and takes nothing',
    async ({ store }) => {
      const record = await putNew(store, {}, 2);
      const secret = await found(store, record.secretId);
      const now = store.now();
      const length = record.sealedSecret.length;
      const misfits = [
        { sealedLook: lookBytes(length - 1, newTag(), 2), until: now + lookSeconds },
        { sealedLook: lookBytes(length + 1, newTag(), 2), until: now + lookSeconds },
        { sealedLook: lookBytes(length, newTag(), 1), until: now + lookSeconds },
        { sealedLook: lookBytes(length, newTag(), 2), until: now + lookSeconds + 1 },
        { sealedLook: lookBytes(length, newTag(), 2), until: record.expiresAt + 1 },
      ];
      for (const look of misfits) {
        await refusalOf(store.claim(secret, clientStays, look), 'a look that does not fit was taken');
        assert.deepEqual(await found(store, record.secretId), secret);
        assert.equal(await store.findAnyLook(record.secretId), null);
      }
      await claimWithLook(store, record, 3);
      await store.closeRootsBefore(3);
      assert.deepEqual(await store.rootKidsInUse(), [3]);
    },
  ),

  check(
    'P3',
    'who has proven a link before it is re-wrapped still takes the secret with a look',
    async ({ store }) => {
      const record = await putNew(store, {}, 1);
      const before = await found(store, record.secretId);
      const to = new Uint8Array(record.sealedSecret);
      to.set([2, 0, 2]);
      assert.equal(await store.replaceWrapping(record.secretId, record.sealedSecret, to), true);
      const look = newLook(before, store.now(), newTag(), 2);
      assert.equal(await store.claim(before, clientStays, look), 'won');
    },
  ),

  check(
    'P12',
    'a look under an older root is listed, re-wrapped and then as it was',
    async ({ store, wallClock }) => {
      const opener = await opened(store);
      const { record, tag, look } = opener;
      assert.equal(await askAgain(store, opener), 'answered');
      const listed = await store.listUnderOlderRoots(2, null, 10);
      assert.deepEqual(listed.secretIds, [record.secretId]);
      assert.deepEqual(await store.rootKidsInUse(), [1]);
      const kept = (await store.findAnyLook(record.secretId))?.sealedSecret ?? new Uint8Array();
      assert.notDeepEqual(kept, look.sealedLook);
      const to = lookBytes(kept.length, tag, 2);
      to[lookRow.answersAt] = kept[lookRow.answersAt] ?? 0;
      assert.equal(await store.replaceWrapping(record.secretId, look.sealedLook, to), false);
      assert.equal(await store.replaceWrapping(record.secretId, record.sealedSecret, to), false);
      assert.equal(await store.replaceWrapping(record.secretId, new Uint8Array(kept.length), to), false);
      assert.equal(await store.replaceWrapping(record.secretId, kept, to.slice(1)), false);
      assert.equal(await store.replaceWrapping(record.secretId, kept, to), true);
      assert.deepEqual((await lookOf(store, opener))?.sealedSecret, to);
      assert.deepEqual((await store.listUnderOlderRoots(2, null, 10)).secretIds, []);
      await store.closeRootsBefore(2);
      assert.deepEqual(await store.rootKidsInUse(), [2]);
      await assertReceived(store, record);
      assert.equal(await askAgain(store, opener), 'answered');
      assert.equal(await askAgain(store, opener), 'gone');
      wallClock.advance(lookSeconds);
      await store.closeRootsBefore(3);
      assert.deepEqual(await store.rootKidsInUse(), []);
    },
  ),

  check('P12', 'an ended look is under no root, and gets no new wrapping', async ({ store, wallClock }) => {
    const [finished, late] = [await opened(store), await opened(store)];
    await store.endLook(finished.record.secretId, finished.tag);
    wallClock.advance(lookSeconds);
    assert.deepEqual((await store.listUnderOlderRoots(9, null, 10)).secretIds, []);
    await store.closeRootsBefore(2);
    assert.deepEqual(await store.rootKidsInUse(), []);
    const { sealedLook } = finished.look;
    for (const from of [sealedLook, new Uint8Array(sealedLook.length)]) {
      const to = lookBytes(from.length, finished.tag, 2);
      assert.equal(await store.replaceWrapping(finished.record.secretId, from, to), false);
    }
    await assertEnded(store, late, 'a look outlives its minute');
    await assertEnded(store, finished, 'a look outlives done');
  }),

  check('port', 'a store keeps its own copy of a look and of its tag', async ({ store }) => {
    const record = await putNew(store);
    const secret = await found(store, record.secretId);
    const tag = newTag();
    const look = newLook(secret, store.now(), tag);
    const opener = { record, tag, look: structuredClone(look) };
    const claiming = store.claim(secret, clientStays, look);
    look.sealedLook.fill(0);
    assert.equal(await claiming, 'won');
    const [id, given] = [record.secretId.slice() as SecretId, tag.slice()];
    const finding = store.findLook(id, given);
    given.fill(0);
    assert.deepEqual(await finding, foundAs(opener));
    (await lookOf(store, opener))?.sealedSecret.fill(0);
    const asked = tag.slice();
    const answering = store.takeAnswer(id, asked, clientStays);
    asked.fill(0);
    assert.equal(await answering, 'answered');
    const ended = tag.slice();
    const ending = store.endLook(id, ended);
    ended.fill(0);
    await ending;
    await assertEnded(store, opener, 'a look outlives done');
  }),

  restartCheck(
    'P1',
    'a look and its count outlive a restart, and its end does too',
    async ({ store, wallClock }, reopen) => {
      const [one, other, late] = [await opened(store), await opened(store), await opened(store)];
      assert.equal(await askAgain(store, one), 'answered');
      await store.endLook(other.record.secretId, other.tag);
      const again = await reopen();
      assert.equal(await askAgain(again, one), 'answered');
      assert.equal(await askAgain(again, one), 'gone');
      await assertEnded(again, other, 'a look outlives done');
      assert.deepEqual(await lookOf(again, late), foundAs(late));
      wallClock.advance(lookSeconds);
      await assertEnded(await reopen(), late, 'a look outlives its minute');
    },
  ),
];
