/**
 * Checks of the answers to requests: of any number of them, at once or one after the other, as many are stored as were wanted, each
 * once, with its secret (P5).
 */
import { strict as assert } from 'node:assert';
import { maxAnswers, type NewAnswer } from '../../../src/core/request.ts';
import { ownerIn } from './account-fixtures.ts';
import { type ConformanceCheck, check, clientStays, countOf, found, refusalOf } from './check.ts';
import {
  answer,
  answerTtlSeconds,
  ask,
  assertStored,
  kept,
  knownRequest,
  many,
  newAnswer,
  newRequest,
  openSeconds,
  outcomeOf,
  stored,
  waiting,
} from './request-fixtures.ts';

export const answerChecks: readonly ConformanceCheck[] = [
  check('P5', 'of a hundred answers at once a request takes as many as were wanted', async ({ store }) => {
    const owner = await ownerIn(store);
    for (const places of [1, 3]) {
      const request = await ask(store, { owner, places });
      assert.equal(
        await assertStored(
          store,
          request,
          many(100, () => newAnswer(store, request)),
        ),
        places,
      );
      assert.equal(await outcomeOf(store, request), 'full');
      const { taken, answered } = await knownRequest(store, request);
      assert.deepEqual([taken, answered], [places, places]);
    }
  }),

  check('P5', 'an answer that is sent again is stored once, also many times at once', async ({ store }) => {
    for (const places of [1, 20]) {
      const request = await ask(store, { places });
      const first = newAnswer(store, request);
      const again = many(50, () => ({ ...newAnswer(store, request), id: first.id }));
      const outcomes = await Promise.all(again.map((each) => store.putAnswer(each)));
      assert.equal(countOf(outcomes, 'stored'), 1);
      const won = again[outcomes.indexOf('stored')];
      assert.ok(won !== undefined);
      for (const outcome of outcomes) if (outcome !== 'stored') assert.deepEqual(outcome, stored(won));
      assert.deepEqual(await store.putAnswer({ ...newAnswer(store, request), id: first.id }), stored(won));
      assert.deepEqual(await waiting(store, again), [won]);
      assert.deepEqual(await store.listAnswers(request.id), [stored(won)]);
      assert.equal((await knownRequest(store, request)).answered, 1);
    }
  }),

  check(
    'P5',
    'an answer is known as long as its request: read, discarded, expired, after close and end',
    async ({ store, wallClock }) => {
      const request = await ask(store, { places: 3 });
      const sent = [await answer(store, request), await answer(store, request), await answer(store, request)];
      const [read, discarded] = sent;
      assert.ok(read !== undefined && discarded !== undefined);
      const assertKnown = async (after: string) => {
        for (const each of sent) {
          const known = stored(each, each === discarded);
          assert.deepEqual(
            await store.putAnswer({ ...newAnswer(store, request), id: each.id }),
            known,
            after,
          );
          assert.deepEqual(await store.findAnswer(request.id, each.id), known, after);
        }
        assert.deepEqual(
          await store.listAnswers(request.id),
          sent.map((each) => stored(each, each === discarded)),
        );
      };
      await store.claim(await found(store, read.record.secretId), clientStays);
      await store.discardAnswer(request.id, discarded.id);
      await assertKnown('read and discarded');
      wallClock.advance(answerTtlSeconds);
      await store.sweep(100);
      await assertKnown('expired');
      assert.equal(await store.changeRequest(request.id, { close: true }, null), 'changed');
      await assertKnown('closed');
      wallClock.set(request.until - 1);
      await store.sweep(100);
      await assertKnown('just before the end');
      wallClock.set(request.until);
      assert.equal(await store.findAnswer(request.id, read.id), null);
      assert.deepEqual(await store.listAnswers(request.id), []);
      assert.equal(await store.putAnswer({ ...newAnswer(store, request), id: read.id }), 'unknown');
    },
  ),

  check('port', 'answers are listed oldest first, and belong to their request alone', async ({ store }) => {
    const [one, other] = [await ask(store, { places: 20 }), await ask(store, { places: 20 })];
    const [ofOne, ofOther] = [[] as NewAnswer[], [] as NewAnswer[]];
    for (let n = 0; n < 6; n += 1) {
      ofOne.push(await answer(store, one));
      ofOther.push(await answer(store, other));
    }
    const [foreign] = ofOther;
    assert.ok(foreign !== undefined);
    assert.deepEqual(
      await store.listAnswers(one.id),
      ofOne.map((each) => stored(each)),
    );
    assert.deepEqual(
      await store.listAnswers(other.id),
      ofOther.map((each) => stored(each)),
    );
    assert.equal(await store.findAnswer(one.id, foreign.id), null);
    assert.equal(await store.discardAnswer(one.id, foreign.id), false);
    assert.deepEqual(await store.findAnswer(other.id, foreign.id), stored(foreign));
    assert.deepEqual(await store.listAnswers(newRequest(store).id), []);
  }),

  check('P5', 'an answer that is refused takes no place and leaves nothing', async ({ store }) => {
    const request = await ask(store);
    const unknown = newRequest(store);
    assert.equal(await assertStored(store, unknown, [newAnswer(store, unknown)]), 0);
    await store.closeRootsBefore(2);
    const underClosed = newAnswer(store, request);
    await refusalOf(store.putAnswer(underClosed), 'an answer was stored under a closed root');
    assert.deepEqual(await store.listAnswers(request.id), []);
    assert.deepEqual(await store.findRequest(request.id), kept(request));
    const sealedSecret = newAnswer(store, request).record.sealedSecret.fill(2, 2, 3);
    const next = { ...underClosed, record: { ...underClosed.record, sealedSecret } };
    assert.equal(await assertStored(store, request, [next]), 1);
  }),

  check('P8', 'a request takes answers until its end, by store time', async ({ store, wallClock }) => {
    const request = await ask(store, { places: 20 });
    wallClock.set(request.until - 60);
    await answer(store, request);
    for (const jump of [-10 * openSeconds, 10 * openSeconds]) {
      wallClock.jump(jump);
      assert.equal(await outcomeOf(store, request), 'stored');
      wallClock.jump(-jump);
    }
    wallClock.advance(60);
    assert.equal(await outcomeOf(store, request), 'ended');
    assert.equal((await knownRequest(store, request)).isEnded, true);
    for (const change of [{ until: store.now() + openSeconds }, { places: 20 }])
      assert.equal(await store.changeRequest(request.id, change, null), 'ended');
    assert.equal(await store.changeRequest(request.id, { close: true }, null), 'changed');
  }),

  check('P5', 'a discarded answer gives its place back, once', async ({ store }) => {
    const request = await ask(store);
    const first = await answer(store, request);
    const discards = await Promise.all(many(20, () => store.discardAnswer(request.id, first.id)));
    assert.equal(countOf(discards, true), 1);
    assert.equal(
      await assertStored(
        store,
        request,
        many(10, () => newAnswer(store, request)),
      ),
      1,
    );
    assert.equal(await store.discardAnswer(request.id, first.id), false);
    assert.equal(await outcomeOf(store, request), 'full');
    const { taken, answered } = await knownRequest(store, request);
    assert.deepEqual([taken, answered], [1, 2]);
  }),

  check('port', 'a request has a hundred answers in its life', async ({ store }) => {
    const request = await ask(store, { places: 20 });
    for (let n = 0; n < maxAnswers; n += 20) {
      const batch = many(20, () => newAnswer(store, request));
      assert.equal(await assertStored(store, request, batch), 20);
      await Promise.all(batch.map(({ id }) => store.discardAnswer(request.id, id)));
    }
    assert.equal(await outcomeOf(store, request), 'full');
    assert.equal((await knownRequest(store, request)).taken, 0);
  }),

  check('P5', 'after a close no answer is stored, whatever is on its way', async ({ store }) => {
    for (let round = 0; round < 5; round += 1) {
      const request = await ask(store, { places: 20 });
      const sent = many(10, () => newAnswer(store, request));
      const before = assertStored(store, request, sent);
      await store.changeRequest(request.id, { close: true }, null);
      assert.equal(await outcomeOf(store, request), 'ended');
      const { taken } = await knownRequest(store, request);
      assert.equal(await before, taken);
    }
  }),
];
