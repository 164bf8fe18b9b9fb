/**
 * Checks of sessions: when they begin, how long they live, and what ends them.
 */
import { strict as assert } from 'node:assert';
import type { AccountId } from '../../../src/core/account.ts';
import type { NewSession } from '../../../src/core/ports/sessions.ts';
import type { Store } from '../../../src/store/store.ts';
import {
  areFound,
  logIn,
  newAccount,
  newPassword,
  newSession,
  newToken,
  personNamed,
  sessionSeconds,
  ticketFor,
  ticketSeconds,
} from './account-fixtures.ts';
import { type ConformanceCheck, check, restartCheck } from './check.ts';

const newSessions = (count: number): NewSession[] => Array.from({ length: count }, () => newSession());

/** Logs in before, during and after a password change, which starts `steps` microtasks after the first log-in. */
async function logInsAgainstChange(store: Store, steps: number): Promise<void> {
  const ann = await personNamed(store, `ann${steps}@example.org`);
  const { id } = ann.account;
  const kept = await logIn(store, ann);
  const begin = () => {
    const session = newSession(store.now());
    return { session, begun: store.addSession(id, ann.password.verifier, session) };
  };
  const before = Array.from({ length: 5 }, begin);
  for (let step = 0; step < steps; step += 1) await Promise.resolve();
  const changed = store.changePassword(id, ann.password.verifier, newPassword(), kept.sessionId, 'keep');
  const after = Array.from({ length: 5 }, begin);
  assert.equal(await changed, true);
  await Promise.all([...before, ...after].map(({ begun }) => begun));
  const late = begin();
  assert.equal(await late.begun, null);
  const all = [...before, ...after, late].map(({ session }) => session);
  assert.equal((await areFound(store, all)).includes(true), false);
  assert.deepEqual(await store.listSessions(id), [kept]);
}

export const sessionChecks: readonly ConformanceCheck[] = [
  check('port', 'a session is found by its hash, with its account', async ({ store }) => {
    const ann = await personNamed(store, 'ann@example.org');
    const session = newSession(store.now());
    const begun = await logIn(store, ann, session);
    const { sessionId } = begun;
    const stored = { ...session, sessionId, accountId: ann.account.id, lastUsedAt: session.createdAt };
    assert.deepEqual(begun, stored);
    assert.deepEqual(await store.findSession(session.sessionHash), { account: ann.account, session: stored });
    assert.equal(await store.findSession(newSession().sessionHash), null);
  }),

  check(
    'P8',
    'a session lives until the instant of its expiry, and neither a use nor the wall clock revives it',
    async ({ store, wallClock }) => {
      const ann = await personNamed(store, 'ann@example.org');
      const session = await logIn(store, ann);
      wallClock.set(session.expiresAt - 1);
      assert.deepEqual(await areFound(store, [session]), [true]);
      wallClock.set(session.expiresAt);
      assert.deepEqual(await areFound(store, [session]), [false]);
      await store.noteSessionUse(session.sessionId, store.now(), store.now() + sessionSeconds);
      wallClock.jump(-100);
      assert.deepEqual(await areFound(store, [session]), [false]);
      assert.deepEqual(await store.listSessions(ann.account.id), []);
      assert.equal(await store.endSession(ann.account.id, session.sessionId), false);
    },
  ),

  check(
    'port',
    'a use moves a session’s last use and expiry on, and neither ever back',
    async ({ store, wallClock }) => {
      const ann = await personNamed(store, 'ann@example.org');
      const session = await logIn(store, ann);
      wallClock.advance(1_000);
      const now = store.now();
      await store.noteSessionUse(session.sessionId, now, now + sessionSeconds);
      await store.noteSessionUse(session.sessionId, now - 500, now + sessionSeconds - 500);
      await store.noteSessionUse(session.sessionId + 99, now, now + sessionSeconds);
      const found = await store.findSession(session.sessionHash);
      assert.deepEqual(found?.session, { ...session, lastUsedAt: now, expiresAt: now + sessionSeconds });
      wallClock.set(session.expiresAt);
      assert.deepEqual(await areFound(store, [session]), [true]);
    },
  ),

  check(
    'port',
    'the live sessions of an account are listed, the last used first',
    async ({ store, wallClock }) => {
      const [ann, bob] = [
        await personNamed(store, 'ann@example.org'),
        await personNamed(store, 'bob@example.org'),
      ];
      const short = { ...newSession(store.now(), 'short'), expiresAt: store.now() + 100 };
      const first = await logIn(store, ann, newSession(store.now(), 'first'));
      await logIn(store, ann, short);
      await logIn(store, bob);
      wallClock.advance(100);
      const second = await logIn(store, ann, newSession(store.now(), 'second'));
      assert.deepEqual(await store.listSessions(ann.account.id), [second, first]);
      await store.noteSessionUse(first.sessionId, store.now() + 1, first.expiresAt);
      const labels = (await store.listSessions(ann.account.id)).map((each) => each.label);
      assert.deepEqual(labels, ['first', 'second']);
      assert.deepEqual(await store.listSessions(99 as AccountId), []);
    },
  ),

  check('P16', 'a session is ended once, and only by its own account', async ({ store }) => {
    const [ann, bob] = [
      await personNamed(store, 'ann@example.org'),
      await personNamed(store, 'bob@example.org'),
    ];
    const [session, other] = [await logIn(store, ann), await logIn(store, ann)];
    assert.equal(await store.endSession(bob.account.id, session.sessionId), false);
    assert.deepEqual(await areFound(store, [session]), [true]);
    assert.equal(await store.endSession(ann.account.id, session.sessionId), true);
    assert.equal(await store.endSession(ann.account.id, session.sessionId), false);
    assert.deepEqual(await areFound(store, [session, other]), [false, true]);
  }),

  check('port', 'a log-in that began before a change of password does not outlive it', async ({ store }) => {
    // Different delays, so that one of them hits any gap between a check and its write.
    for (const steps of [0, 1, 2, 4, 8, 16]) await logInsAgainstChange(store, steps);
  }),

  check('port', 'a log-in that began before a reset does not outlive it', async ({ store }) => {
    const ann = await personNamed(store, 'ann@example.org');
    const { ticketHash } = await ticketFor(store, 'reset', 'ann@example.org');
    const [early, late] = [newSessions(3), newSessions(3)];
    const begin = (session: NewSession) => store.addSession(ann.account.id, ann.password.verifier, session);
    const before = early.map(begin);
    const reset = store.redeemReset(ticketHash, newPassword(), 'keep');
    const after = late.map(begin);
    assert.deepEqual(await reset, ann.account);
    await Promise.all([...before, ...after]);
    const sessions = [...early, ...late];
    assert.equal((await areFound(store, sessions)).includes(true), false);
  }),

  check(
    'port',
    'a sweep forgets expired sessions and tickets that count no longer, no more than its limit at once, and none that live',
    async ({ store, wallClock }) => {
      const ann = await personNamed(store, 'ann@example.org');
      for (let n = 0; n < 5; n += 1) {
        await logIn(store, ann, { ...newSession(), expiresAt: store.now() + ticketSeconds });
        await ticketFor(store, 'reset', `${n}@example.org`);
      }
      const live = await logIn(store, ann);
      assert.equal(await store.sweep(100), 0);
      wallClock.advance(ticketSeconds);
      const ticket = await ticketFor(store, 'reset', 'ann@example.org');
      assert.deepEqual([await store.sweep(4), await store.sweep(4), await store.sweep(4)], [4, 4, 3]);
      assert.equal(await store.sweep(4), 0);
      assert.deepEqual(await areFound(store, [live]), [true]);
      assert.notEqual(await store.findTicket('reset', ticket.ticketHash), null);
    },
  ),

  check('port', 'a hash may be wiped as soon as it was asked for', async ({ store }) => {
    const ann = await personNamed(store, 'ann@example.org');
    const [session, ticket] = [await logIn(store, ann), await ticketFor(store, 'reset', 'ann@example.org')];
    const token = newToken();
    await store.createAccount(newAccount('bob@example.org'), token);
    const asks: [Uint8Array, (hash: Uint8Array) => Promise<unknown>][] = [
      [Buffer.from(session.sessionHash), (hash) => store.findSession(hash)],
      [Buffer.from(ticket.ticketHash), (hash) => store.findTicket('reset', hash)],
      [Buffer.from(token.tokenHash), (hash) => store.findToken(hash)],
    ];
    for (const [hash, ask] of asks) {
      const asked = ask(hash);
      hash.fill(0);
      assert.notEqual(await asked, null);
    }
  }),

  check('port', 'a store keeps its own copy of a session', async ({ store }) => {
    const ann = await personNamed(store, 'ann@example.org');
    const session = newSession(store.now());
    const [hash, key] = [session.sessionHash.slice(), session.wrappedDataKey.slice()];
    const begun = store.addSession(ann.account.id, ann.password.verifier, session);
    session.wrappedDataKey.fill(0);
    (await begun)?.wrappedDataKey.fill(0);
    (await store.findSession(hash))?.session.wrappedDataKey.fill(0);
    assert.deepEqual((await store.findSession(hash))?.session.wrappedDataKey, key);
  }),

  restartCheck('port', 'sessions, and the ends of sessions, survive a restart', async ({ store }, reopen) => {
    const ann = await personNamed(store, 'ann@example.org');
    const [ended, live] = [await logIn(store, ann), await logIn(store, ann)];
    await store.endSession(ann.account.id, ended.sessionId);
    const again = await reopen();
    assert.deepEqual(await areFound(again, [ended, live]), [false, true]);
    assert.deepEqual(await again.listSessions(ann.account.id), [live]);
  }),
];
