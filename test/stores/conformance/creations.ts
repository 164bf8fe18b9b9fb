/**
 * Checks of creations that may be repeated: of any number of equal requests, at once or one after the other, over crashes too, one
 * stores a record (P5).
 */
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import type { AccountId } from '../../../src/core/account.ts';
import {
  creationSeconds,
  type NewIdempotentCreation,
  takeOverSeconds,
} from '../../../src/core/ports/creations.ts';
import type { CreationHold, CreationId, NewRecord } from '../../../src/core/secret.ts';
import type { Store } from '../../../src/store/store.ts';
import {
  accountNamed,
  deleteWhole,
  newPassword,
  newToken,
  ownerIn,
  personNamed,
} from './account-fixtures.ts';
import { type ConformanceCheck, check, countOf, newRecord, refusalOf, restartCheck } from './check.ts';

const bytes = (length: number) => new Uint8Array(randomBytes(length));
const newCreationId = () => bytes(16) as CreationId;

async function tokenIn(store: Store): Promise<number> {
  const [token] = await store.listTokens(await ownerIn(store));
  assert.ok(token !== undefined);
  return token.tokenId;
}

const newCreation = (tokenId: number, id = newCreationId()): NewIdempotentCreation => ({
  id,
  tokenId,
  wrappedSeed: bytes(83),
  bodyMac: bytes(32),
});

async function reserve(store: Store, tokenId?: number): Promise<NewIdempotentCreation> {
  const creation = newCreation(tokenId ?? (await tokenIn(store)));
  assert.equal(await store.reserveCreation(creation), 'reserved');
  return creation;
}

const reservedRow = (store: Store, { wrappedSeed, bodyMac }: NewIdempotentCreation) => ({
  wrappedSeed,
  bodyMac,
  isDone: false,
  reservedAt: store.now(),
  mismatches: 0,
});

async function putFor(
  store: Store,
  hold: CreationHold,
  changes: Partial<NewRecord> = {},
): Promise<NewRecord> {
  const record = newRecord(store.now(), { ...changes, hold });
  await store.put(record);
  return record;
}

/** Tries to store a record for a reservation that is not held; nothing may come of it. */
async function assertStoresNothing(store: Store, hold: CreationHold, why: string): Promise<void> {
  const record = newRecord(store.now(), { hold });
  await refusalOf(store.put(record), why);
  assert.equal(await store.findSecret(record.secretId), null);
}

const isDone = async (store: Store, { id }: CreationHold) => (await store.findCreation(id))?.isDone;

export const creationChecks: readonly ConformanceCheck[] = [
  check(
    'P5',
    'of fifty that reserve a creation at once one is told so, and the others get its row',
    async ({ store }) => {
      const tokenId = await tokenIn(store);
      for (let round = 0; round < 3; round += 1) {
        const id = newCreationId();
        assert.equal(await store.findCreation(id), null);
        const asked = Array.from({ length: 50 }, () => newCreation(tokenId, id));
        const answers = await Promise.all(asked.map((each) => store.reserveCreation(each)));
        assert.equal(countOf(answers, 'reserved'), 1);
        const won = asked[answers.indexOf('reserved')];
        assert.ok(won !== undefined);
        const row = reservedRow(store, won);
        for (const answer of answers) if (answer !== 'reserved') assert.deepEqual(answer, row);
        assert.deepEqual(await store.findCreation(id), row);
      }
    },
  ),

  check('P5', 'a creation is done as soon as its record is stored, and not before', async ({ store }) => {
    const creation = await reserve(store);
    const changes = { deliveryStaleAt: store.now() + 60, memoBox: bytes(60), hold: creation };
    const record = newRecord(store.now(), changes);
    const stored = store.put(record);
    // In this order, because the two looks may be at different moments.
    if (await isDone(store, creation)) assert.notEqual(await store.findSecret(record.secretId), null);
    await stored;
    assert.notEqual(await store.findSecret(record.secretId), null);
    assert.deepEqual(await store.findCreation(creation.id), {
      ...reservedRow(store, creation),
      isDone: true,
    });
  }),

  check('P5', 'of many records for one reservation at once one is stored', async ({ store }) => {
    const creation = await reserve(store);
    const records = Array.from({ length: 20 }, () => newRecord(store.now(), { hold: creation }));
    const settled = await Promise.allSettled(records.map((record) => store.put(record)));
    assert.equal(settled.filter(({ status }) => status === 'fulfilled').length, 1);
    const found = await Promise.all(records.map(({ secretId }) => store.findSecret(secretId)));
    assert.deepEqual(
      found.map((each) => each !== null),
      settled.map(({ status }) => status === 'fulfilled'),
    );
  }),

  check('P5', 'a creation that is done stores no second record', async ({ store, wallClock }) => {
    const creation = await reserve(store);
    await putFor(store, creation);
    await assertStoresNothing(store, creation, 'a creation that was done stored a record');
    wallClock.advance(takeOverSeconds);
    await assertStoresNothing(store, creation, 'a creation that was done stored a record');
    assert.equal(await store.takeOverCreation(creation, newCreation(0)), false);
    await store.releaseCreation(creation);
    assert.equal(await isDone(store, creation), true);
  }),

  check('P5', 'a record that is refused leaves its reservation as it was', async ({ store }) => {
    const creation = await reserve(store);
    const owner = 9_999 as AccountId;
    await refusalOf(putFor(store, creation, { owner }), 'a record was stored for no account');
    assert.deepEqual(await store.findCreation(creation.id), reservedRow(store, creation));
    await putFor(store, creation);
    assert.equal(await isDone(store, creation), true);
  }),

  check(
    'P5',
    'a reservation is taken over after 30 seconds and not before, by one of many, and only by the seed it has',
    async ({ store, wallClock }) => {
      const first = await reserve(store);
      wallClock.advance(takeOverSeconds - 1);
      const takers = Array.from({ length: 20 }, () => newCreation(first.tokenId, first.id));
      assert.equal(await store.takeOverCreation(first, newCreation(first.tokenId, first.id)), false);
      assert.deepEqual((await store.findCreation(first.id))?.wrappedSeed, first.wrappedSeed);
      wallClock.advance(1);
      assert.equal(await store.takeOverCreation({ id: first.id, wrappedSeed: bytes(83) }, first), false);
      const taken = await Promise.all(takers.map((to) => store.takeOverCreation(first, to)));
      assert.equal(countOf(taken, true), 1);
      const second = takers[taken.indexOf(true)];
      assert.ok(second !== undefined);
      assert.deepEqual(await store.findCreation(first.id), reservedRow(store, second));
      wallClock.advance(creationSeconds - 1);
      assert.notEqual(await store.findCreation(first.id), null);
    },
  ),

  check(
    'P5',
    'whoever lost a reservation stores nothing: taken over, released or never made',
    async ({ store, wallClock }) => {
      const first = await reserve(store);
      const second = newCreation(first.tokenId, first.id);
      wallClock.advance(takeOverSeconds);
      assert.equal(await store.takeOverCreation(first, second), true);
      await assertStoresNothing(store, first, 'a reservation that was taken over stored a record');
      await store.releaseCreation(first);
      await putFor(store, second);
      const released = await reserve(store);
      await store.releaseCreation(released);
      assert.equal(await store.findCreation(released.id), null);
      await assertStoresNothing(store, released, 'a reservation that was released stored a record');
      await assertStoresNothing(store, newCreation(first.tokenId), 'no reservation stored a record');
      assert.equal(await store.reserveCreation({ ...released, wrappedSeed: bytes(83) }), 'reserved');
    },
  ),

  check(
    'P5',
    'a take-over leaves alone another creation that has the same seed',
    async ({ store, wallClock }) => {
      const first = await reserve(store);
      const other = { ...newCreation(first.tokenId), wrappedSeed: first.wrappedSeed };
      assert.equal(await store.reserveCreation(other), 'reserved');
      const row = reservedRow(store, other);
      wallClock.advance(takeOverSeconds);
      assert.equal(await store.takeOverCreation(first, newCreation(first.tokenId, first.id)), true);
      assert.deepEqual(await store.findCreation(other.id), row);
    },
  ),

  check('P5', 'other bodies are counted, also many at once', async ({ store }) => {
    const creation = await reserve(store);
    await Promise.all(Array.from({ length: 15 }, () => store.countMismatch(creation.id)));
    assert.equal((await store.findCreation(creation.id))?.mismatches, 15);
    await putFor(store, creation);
    await store.countMismatch(creation.id);
    assert.equal((await store.findCreation(creation.id))?.mismatches, 16);
    await store.countMismatch(newCreationId());
  }),

  check(
    'P5',
    'a creation is known for 24 hours, swept or not, and may then be made anew',
    async ({ store, wallClock }) => {
      const [kept, swept] = [await reserve(store), await reserve(store)];
      await putFor(store, kept);
      await putFor(store, swept);
      await store.countMismatch(kept.id);
      wallClock.advance(creationSeconds - 1);
      await store.sweep(100);
      assert.equal(await isDone(store, kept), true);
      const again = newCreation(kept.tokenId, kept.id);
      assert.notEqual(await store.reserveCreation(again), 'reserved');
      wallClock.advance(1);
      assert.equal(await store.findCreation(kept.id), null);
      assert.equal(await store.reserveCreation(again), 'reserved');
      assert.deepEqual(await store.findCreation(kept.id), reservedRow(store, again));
      assert.equal(await store.sweep(1), 1);
      assert.equal(await store.findCreation(swept.id), null);
      assert.equal(await isDone(store, again), false);
    },
  ),

  check(
    'P5',
    'a creation goes with its token, however that goes, and none is reserved without one',
    async ({ store }) => {
      const owner = await ownerIn(store);
      const other = await reserve(store);
      const revoked = (await store.addToken(owner, newToken())).tokenId;
      const person = await personNamed(store, 'ann@example.org');
      const ofPerson = (await store.addToken(person.account.id, newToken())).tokenId;
      const leaving = await accountNamed(store, 'bob@example.org');
      const ofLeaving = (await store.listTokens(leaving.id))[0]?.tokenId ?? 0;
      const tokens = [revoked, ofPerson, ofLeaving];
      const creations = [];
      for (const tokenId of tokens) creations.push(await reserve(store, tokenId));
      for (const each of creations.slice(0, 2)) await putFor(store, each);
      assert.equal(await store.revokeToken(owner, revoked), true);
      const changed = await store.changePassword(
        person.account.id,
        person.password.verifier,
        newPassword(),
        0,
        'revoke',
      );
      assert.equal(changed, true);
      assert.equal(await deleteWhole(store, leaving.id), 0);
      for (const each of creations) {
        assert.equal(await store.findCreation(each.id), null);
        await assertStoresNothing(store, each, 'a reservation outlived its token');
        await refusalOf(store.reserveCreation(each), 'a creation was reserved for no token');
      }
      assert.deepEqual(await store.findCreation(other.id), reservedRow(store, other));
    },
  ),

  check(
    'P12',
    'the root of a creation’s seed is in use as long as the creation is known',
    async ({ store, wallClock }) => {
      const seed = new Uint8Array([1, 0, 7, ...bytes(80)]);
      const creation = { ...newCreation(await tokenIn(store)), wrappedSeed: seed };
      await store.reserveCreation(creation);
      await store.closeRootsBefore(9);
      await store.forgetRoots([7]);
      wallClock.advance(creationSeconds - 1);
      assert.deepEqual(await store.rootKidsInUse(), [7]);
      wallClock.advance(1);
      assert.deepEqual(await store.rootKidsInUse(), []);
    },
  ),

  check('port', 'a creation’s bytes may be wiped as soon as it was asked for', async ({ store }) => {
    const creation = newCreation(await tokenIn(store));
    const given = structuredClone(creation);
    const reserving = store.reserveCreation(given);
    for (const each of [given.id, given.wrappedSeed, given.bodyMac]) each.fill(0);
    assert.equal(await reserving, 'reserved');
    const hold = structuredClone(creation);
    const putting = putFor(store, hold);
    hold.id.fill(0);
    hold.wrappedSeed.fill(0);
    await putting;
    assert.equal(await isDone(store, creation), true);
  }),

  restartCheck('P5', 'a creation is known across a restart', async ({ store }, reopen) => {
    const [reserved, done] = [await reserve(store), await reserve(store)];
    await putFor(store, done);
    await store.countMismatch(done.id);
    const again = await reopen();
    assert.deepEqual(await again.findCreation(reserved.id), reservedRow(again, reserved));
    assert.deepEqual(await again.findCreation(done.id), {
      ...reservedRow(again, done),
      isDone: true,
      mismatches: 1,
    });
    await assertStoresNothing(again, done, 'a creation that was done stored a record');
  }),
];
