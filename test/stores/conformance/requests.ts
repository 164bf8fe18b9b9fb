/** Checks of requests for a secret: what an account may have open, when one ends, and when it is erased. */
import { strict as assert } from 'node:assert';
import { requestNoticeSeconds } from '../../../src/core/ports/requests.ts';
import { deleteWhole, ownerIn } from './account-fixtures.ts';
import {
  type ConformanceCheck,
  check,
  clientStays,
  countOf,
  found,
  recentOf,
  refusalOf,
  restartCheck,
} from './check.ts';
import {
  answer,
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
  sweepAll,
  waiting,
} from './request-fixtures.ts';

export const requestChecks: readonly ConformanceCheck[] = [
  check('port', 'a request is found as it was stored, and no other', async ({ store }) => {
    const owner = await ownerIn(store);
    const full = {
      owner,
      places: 20,
      notify: true,
      shareDomain: 'ask.example.org',
      terms: new Uint8Array(1_040).fill(7),
    };
    for (const changes of [{}, full]) {
      const request = await ask(store, changes);
      assert.deepEqual(await store.findRequest(request.id), kept(request));
    }
    assert.equal(await store.findRequest(newRequest(store).id), null);
  }),

  check(
    'port',
    'the open requests of an account have no more places than its plan allows',
    async ({ store }) => {
      const owner = await ownerIn(store);
      const others = await ownerIn(store, 'other@example.org');
      await ask(store, { owner: others, places: 20 });
      await ask(store, { places: 20 });
      const asked = many(30, () => newRequest(store, { owner, places: 2 }));
      const outcomes = await Promise.all(asked.map((each) => store.putRequest(each, 9)));
      assert.deepEqual([countOf(outcomes, 'stored'), countOf(outcomes, 'too_many_places')], [4, 26]);
      const own = asked.filter((_, n) => outcomes[n] === 'stored');
      for (const [n, { id }] of asked.entries())
        assert.equal((await store.findRequest(id)) !== null, outcomes[n] === 'stored');
      const [first, second] = own;
      assert.ok(first !== undefined && second !== undefined);
      const changes = await Promise.all(own.map(({ id }) => store.changeRequest(id, { places: 3 }, 9)));
      assert.deepEqual([countOf(changes, 'changed'), countOf(changes, 'too_many_places')], [1, 3]);
      // Fewer are allowed, also to an account whose plan has become smaller.
      assert.equal(await store.changeRequest(first.id, { places: 1 }, 2), 'changed');
      assert.equal(await store.changeRequest(first.id, { close: true }, 9), 'changed');
      assert.equal(await store.putRequest(newRequest(store, { owner, places: 4 }), 9), 'too_many_places');
      await store.endRequest(second.id);
      assert.equal(await store.putRequest(newRequest(store, { owner, places: 3 }), 9), 'stored');
    },
  ),

  check(
    'port',
    'a request changes as asked, and not below the answers that are there',
    async ({ store, wallClock }) => {
      const request = await ask(store, { places: 2 });
      const sent = await answer(store, request);
      await answer(store, request);
      wallClock.advance(10);
      const until = request.until + 60;
      assert.equal(await store.changeRequest(request.id, { until }, null), 'changed');
      assert.equal(await store.changeRequest(request.id, { places: 1 }, null), 'places_taken');
      await store.discardAnswer(request.id, sent.id);
      assert.equal(await store.changeRequest(request.id, { places: 1 }, null), 'changed');
      const state = { until, places: 1, taken: 1, answered: 2, updatedAt: store.now() };
      assert.deepEqual(await store.findRequest(request.id), kept(request, state));
      wallClock.set(request.until);
      assert.equal(await outcomeOf(store, request), 'full');
      assert.equal(await store.changeRequest(request.id, { places: 2 }, null), 'changed');
      assert.equal(await outcomeOf(store, request), 'stored');
      assert.equal(await store.changeRequest(newRequest(store).id, { close: true }, null), 'unknown');
    },
  ),

  check('P8', 'an end is for ever, also when the time is set back', async ({ store, wallClock }) => {
    const [closed, over] = [await ask(store), await ask(store, { places: 2 })];
    await store.changeRequest(closed.id, { close: true }, null);
    wallClock.set(over.until - 1);
    await answer(store, over);
    wallClock.advance(1);
    assert.equal(await outcomeOf(store, over), 'ended');
    wallClock.jump(-openSeconds);
    await store.setTime();
    for (const { id } of [closed, over]) {
      const request = await store.findRequest(id);
      assert.ok(request === null || request.isEnded, 'an ended request is open again');
      assert.notEqual(await store.changeRequest(id, { places: 9 }, null), 'changed');
    }
    assert.notEqual(await outcomeOf(store, over), 'stored');
  }),

  check('P16', 'no request is made for an account that is locked or gone', async ({ store }) => {
    const owner = await ownerIn(store);
    const put = () => store.putRequest(newRequest(store, { owner }), 40);
    await store.lockAccount(owner);
    await refusalOf(put(), 'a locked account made a request');
    await store.unlockAccount(owner);
    assert.equal(await put(), 'stored');
    await deleteWhole(store, owner);
    await refusalOf(put(), 'a deleted account made a request');
  }),

  check('P16', 'the requests of a locked account are unknown until it is unlocked', async ({ store }) => {
    const owner = await ownerIn(store);
    const request = await ask(store, { owner, places: 2 });
    const sent = await answer(store, request);
    await store.lockAccount(owner);
    assert.equal(await store.findRequest(request.id), null);
    assert.equal(await store.findAnswer(request.id, sent.id), null);
    assert.deepEqual(await store.listAnswers(request.id), []);
    assert.equal(await assertStored(store, request, [newAnswer(store, request)]), 0);
    assert.equal(await store.putAnswer({ ...newAnswer(store, request), id: sent.id }), 'unknown');
    assert.equal(await store.changeRequest(request.id, { close: true }, null), 'unknown');
    assert.equal(await store.discardAnswer(request.id, sent.id), false);
    await store.unlockAccount(owner);
    assert.deepEqual(await store.findRequest(request.id), kept(request, { taken: 1, answered: 1 }));
    assert.equal(await outcomeOf(store, request), 'stored');
  }),

  check(
    'P10',
    'a deleted account takes its requests along, and its answers are burned',
    async ({ store }) => {
      const [owner, other] = [await ownerIn(store), await ownerIn(store, 'other@example.org')];
      const [gone, stays] = [
        await ask(store, { owner, places: 2 }),
        await ask(store, { owner: other, places: 2 }),
      ];
      const [sent, others] = [await answer(store, gone), await answer(store, stays)];
      await store.deleteAccount(owner);
      assert.equal(await store.findRequest(gone.id), null);
      assert.deepEqual(await store.listAnswers(gone.id), []);
      assert.equal(await outcomeOf(store, gone), 'unknown');
      assert.deepEqual(
        (await store.listRequests(10, null)).map(({ id }) => id),
        [stays.id],
      );
      let step = await store.continueDeletion(owner, 1);
      while (step?.outcome === 'more') step = await store.continueDeletion(owner, 1);
      assert.equal(step?.burned, 1);
      assert.deepEqual(await waiting(store, [sent, others]), [others]);
      assert.deepEqual(await store.findRequest(stays.id), kept(stays, { taken: 1, answered: 1 }));
    },
  ),

  check('P16', 'an answer is in no list of receipts', async ({ store }) => {
    const owner = await ownerIn(store);
    await answer(store, await ask(store, { owner }));
    assert.deepEqual(await recentOf(store, owner), []);
  }),

  check(
    'P10',
    'a request is kept until its end and its answers’ have passed, and then erased with them',
    async ({ store, wallClock }) => {
      const [long, short] = [await ask(store, { places: 2 }), await ask(store)];
      const closed = await ask(store);
      await store.changeRequest(closed.id, { close: true }, null);
      const read = await answer(store, long);
      await store.claim(await found(store, read.record.secretId), clientStays);
      wallClock.set(long.until - 1);
      const late = await answer(store, long);
      await sweepAll(store);
      for (const { id } of [long, short, closed]) assert.notEqual(await store.findRequest(id), null);
      wallClock.advance(1);
      await sweepAll(store);
      for (const { id } of [short, closed]) assert.equal(await store.findRequest(id), null);
      const state = { isEnded: true, taken: 2, answered: 2, updatedAt: late.record.createdAt };
      assert.deepEqual(await store.findRequest(long.id), kept(long, state));
      assert.deepEqual(await store.listAnswers(long.id), [stored(read), stored(late)]);
      for (const sweepFirst of [false, true]) {
        wallClock.set(late.record.expiresAt);
        if (sweepFirst) await sweepAll(store);
        assert.equal(await store.findRequest(long.id), null);
        assert.deepEqual(await store.listAnswers(long.id), []);
      }
    },
  ),

  check(
    'port',
    'a notice of a request may be mailed once an hour, if one is wanted',
    async ({ store, wallClock }) => {
      const [request, silent] = [
        await ask(store, { notify: true, until: store.now() + 99_999 }),
        await ask(store, { until: store.now() + 99_999 }),
      ];
      const take = async () =>
        countOf(await Promise.all(many(20, () => store.takeRequestNotice(request.id))), true);
      assert.equal(await take(), 1);
      wallClock.advance(requestNoticeSeconds - 1);
      assert.equal(await take(), 0);
      wallClock.advance(1);
      assert.equal(await take(), 1);
      assert.equal(await store.takeRequestNotice(silent.id), false);
      assert.equal(await store.takeRequestNotice(newRequest(store).id), false);
    },
  ),

  check(
    'port',
    'open requests are listed, the most reported first, page by page',
    async ({ store, wallClock }) => {
      const owner = await ownerIn(store);
      const requests = [];
      for (let n = 0; n < 5; n += 1) {
        requests.push(await ask(store, { owner: n % 2 === 0 ? owner : null }));
        wallClock.advance(1);
      }
      const [oldest, twelve, two, ended, newest] = requests;
      assert.ok(oldest && twelve && two && ended && newest);
      await Promise.all(many(12, () => store.reportRequest(twelve.id)));
      await Promise.all(many(2, () => store.reportRequest(two.id)));
      await store.reportRequest(newRequest(store).id);
      await store.endRequest(ended.id);
      await store.lockAccount(owner);
      const listed = [];
      for (let after: string | null = null; ; ) {
        const page = await store.listRequests(2, after);
        listed.push(...page.map(({ cursor: _cursor, ...request }) => request));
        after = page.at(-1)?.cursor ?? null;
        if (page.length < 2) break;
      }
      const expected = [kept(twelve, { reports: 12 }), kept(two, { reports: 2 }), kept(newest), kept(oldest)];
      assert.deepEqual(listed, expected);
    },
  ),

  check(
    'P7',
    'any request can be ended, and all of them, whoever owns them',
    async ({ store, wallClock }) => {
      const owner = await ownerIn(store);
      const requests = [];
      for (let n = 0; n < 7; n += 1)
        requests.push(await ask(store, { owner: n < 3 ? owner : null, places: 2 }));
      const [first, over] = [requests[0], await ask(store, { until: store.now() + 1 })];
      assert.ok(first !== undefined);
      await store.lockAccount(owner);
      wallClock.advance(1);
      const ends = [await store.endRequest(first.id), await store.endRequest(first.id)];
      assert.deepEqual([...ends, await store.endRequest(over.id)], [true, false, false]);
      assert.deepEqual(
        [await store.endRequests(4), await store.endRequests(4), await store.endRequests(4)],
        [4, 2, 0],
      );
      await store.unlockAccount(owner);
      for (const request of requests) {
        const { isEnded, updatedAt } = await knownRequest(store, request);
        assert.deepEqual([isEnded, updatedAt], [true, store.now()]);
        assert.equal(await outcomeOf(store, request), 'ended');
      }
    },
  ),

  restartCheck('P5', 'requests and their answers survive a restart', async ({ store }, reopen) => {
    const owner = await ownerIn(store);
    const [request, closed] = [await ask(store, { owner, places: 3 }), await ask(store, { owner })];
    const [one, other] = [await answer(store, request), await answer(store, request)];
    await store.discardAnswer(request.id, other.id);
    await store.reportRequest(request.id);
    await store.changeRequest(closed.id, { close: true }, null);
    const again = await reopen();
    const state = { taken: 1, answered: 2, reports: 1 };
    assert.deepEqual(await again.findRequest(request.id), kept(request, state));
    assert.deepEqual(await again.listAnswers(request.id), [stored(one), stored(other, true)]);
    assert.deepEqual(await again.findRequest(closed.id), kept(closed, { isEnded: true }));
    await found(again, one.record.secretId);
  }),
];
