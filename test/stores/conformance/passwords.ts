/**
 * Checks of passwords and of the mailed tickets that set them.
 */
import { strict as assert } from 'node:assert';
import {
  accountNamed,
  areFound,
  logIn,
  newPassword,
  newSession,
  newTicket,
  newToken,
  noTicketLimits,
  type Person,
  personNamed,
  ticketFor,
  ticketSeconds,
} from './account-fixtures.ts';
import { type ConformanceCheck, check, restartCheck } from './check.ts';
import { ticketLimitChecks } from './tickets.ts';

const plan = { plan: 'basic', createdAt: 1_800_000_000 } as const;

const ticketChecks: readonly ConformanceCheck[] = [
  check(
    'P8',
    'a ticket is found by its kind until the instant of its expiry, and then never again',
    async ({ store, wallClock }) => {
      const ticket = await ticketFor(store, 'reset', 'ann@example.org');
      wallClock.advance(ticketSeconds - 1);
      assert.deepEqual(await store.findTicket('reset', ticket.ticketHash), ticket);
      assert.equal(await store.findTicket('sign_up', ticket.ticketHash), null);
      assert.equal(await store.findTicket('reset', newTicket('reset', 'ann@example.org').ticketHash), null);
      await accountNamed(store, 'ann@example.org');
      wallClock.advance(1);
      assert.equal(await store.findTicket('reset', ticket.ticketHash), null);
      wallClock.jump(-100);
      assert.equal(await store.findTicket('reset', ticket.ticketHash), null);
      assert.equal(await store.redeemReset(ticket.ticketHash, newPassword(), 'keep'), null);
      assert.equal((await store.findPassword('ann@example.org'))?.password, null);
    },
  ),

  check(
    'port',
    'of fifty uses of a sign-up ticket at once exactly one makes the account',
    async ({ store }) => {
      const { ticketHash } = await ticketFor(store, 'sign_up', 'ann@example.org');
      const passwords = Array.from({ length: 50 }, () => newPassword());
      const outcomes = await Promise.all(
        passwords.map((password) => store.redeemSignUp(ticketHash, plan, password)),
      );
      const made = outcomes.findIndex((each) => typeof each === 'object');
      assert.equal(outcomes.filter((each) => each === 'gone').length, 49);
      const account = await store.findAccount('ann@example.org');
      assert.deepEqual(account, {
        ...plan,
        id: account?.id,
        username: 'ann@example.org',
        locale: null,
        notify: [],
        senderName: null,
        lockedAt: null,
      });
      assert.deepEqual(outcomes[made], account);
      assert.deepEqual(await store.findPassword('ann@example.org'), { account, password: passwords[made] });
      assert.equal(await store.findTicket('sign_up', ticketHash), null);
      assert.equal((await store.listAccounts()).length, 1);
    },
  ),

  check(
    'port',
    'a sign-up for a username that was taken meanwhile uses its ticket up and changes nothing else',
    async ({ store }) => {
      const { ticketHash } = await ticketFor(store, 'sign_up', 'ann@example.org');
      const account = await accountNamed(store, 'ann@example.org');
      assert.equal(await store.redeemSignUp(ticketHash, plan, newPassword()), 'exists');
      assert.equal(await store.redeemSignUp(ticketHash, plan, newPassword()), 'gone');
      assert.deepEqual(await store.findPassword('ann@example.org'), { account, password: null });
    },
  ),

  check(
    'port',
    'of fifty uses of a reset ticket at once exactly one sets the password',
    async ({ store }) => {
      const account = await accountNamed(store, 'ann@example.org');
      const { ticketHash } = await ticketFor(store, 'reset', 'ann@example.org');
      const passwords = Array.from({ length: 50 }, () => newPassword());
      const outcomes = await Promise.all(
        passwords.map((password) => store.redeemReset(ticketHash, password, 'keep')),
      );
      assert.equal(outcomes.filter((each) => each !== null).length, 1);
      const won = outcomes.findIndex((each) => each !== null);
      assert.deepEqual(outcomes[won], account);
      assert.deepEqual(await store.findPassword('ann@example.org'), { account, password: passwords[won] });
    },
  ),

  check('port', 'a ticket works for its own kind only', async ({ store }) => {
    const ann = await personNamed(store, 'ann@example.org');
    const reset = await ticketFor(store, 'reset', 'ann@example.org');
    const signUp = await ticketFor(store, 'sign_up', 'bob@example.org');
    assert.equal(await store.redeemSignUp(reset.ticketHash, plan, newPassword()), 'gone');
    assert.equal(await store.redeemReset(signUp.ticketHash, newPassword(), 'keep'), null);
    assert.deepEqual(await store.findPassword('ann@example.org'), ann);
    assert.deepEqual(await store.findTicket('reset', reset.ticketHash), reset);
    assert.deepEqual(await store.findTicket('sign_up', signUp.ticketHash), signUp);
  }),

  check('port', 'a reset without an account sets nothing, then or later', async ({ store }) => {
    const { ticketHash } = await ticketFor(store, 'reset', 'ann@example.org');
    assert.equal(await store.redeemReset(ticketHash, newPassword(), 'keep'), null);
    const account = await accountNamed(store, 'ann@example.org');
    assert.equal(await store.redeemReset(ticketHash, newPassword(), 'keep'), null);
    assert.deepEqual(await store.findPassword('ann@example.org'), { account, password: null });
  }),
];

const changeChecks: readonly ConformanceCheck[] = [
  check('port', 'a reset ends every session of its account and no other', async ({ store }) => {
    const [ann, bob] = [
      await personNamed(store, 'ann@example.org'),
      await personNamed(store, 'bob@example.org'),
    ];
    const sessions = [await logIn(store, ann), await logIn(store, ann), await logIn(store, bob)];
    const { ticketHash } = await ticketFor(store, 'reset', 'ann@example.org');
    assert.notEqual(await store.redeemReset(ticketHash, newPassword(), 'keep'), null);
    assert.deepEqual(await areFound(store, sessions), [false, false, true]);
    assert.deepEqual(await store.listSessions(ann.account.id), []);
    assert.deepEqual(await store.findPassword('bob@example.org'), bob);
  }),

  check('port', 'a change of password ends every session but the one that it keeps', async ({ store }) => {
    const [ann, bob] = [
      await personNamed(store, 'ann@example.org'),
      await personNamed(store, 'bob@example.org'),
    ];
    const sessions = [await logIn(store, ann), await logIn(store, ann), await logIn(store, bob)];
    const next = newPassword();
    const keep = sessions[1]?.sessionId ?? 0;
    assert.equal(await store.changePassword(ann.account.id, ann.password.verifier, next, keep, 'keep'), true);
    assert.deepEqual(await areFound(store, sessions), [false, true, true]);
    assert.deepEqual(await store.findPassword('ann@example.org'), { ...ann, password: next });
  }),

  check(
    'port',
    'a change of password voids every reset that is under way, and nobody else’s',
    async ({ store }) => {
      const ann = await personNamed(store, 'ann@example.org');
      await personNamed(store, 'bob@example.org');
      const { sessionId } = await logIn(store, ann);
      const tickets = [
        await ticketFor(store, 'reset', 'ann@example.org'),
        await ticketFor(store, 'reset', 'ann@example.org'),
        await ticketFor(store, 'reset', 'bob@example.org'),
      ];
      const isLive = () =>
        Promise.all(tickets.map(async (each) => (await store.findTicket('reset', each.ticketHash)) !== null));
      await store.changePassword(ann.account.id, new Uint8Array(32), newPassword(), sessionId, 'keep');
      assert.deepEqual(await isLive(), [true, true, true]);
      await store.changePassword(ann.account.id, ann.password.verifier, newPassword(), sessionId, 'keep');
      assert.deepEqual(await isLive(), [false, false, true]);
    },
  ),

  check(
    'port',
    'a reset and a change of password revoke the tokens of their account and no other’s if asked, and keep them if not',
    async ({ store }) => {
      const [ann, bob] = [
        await personNamed(store, 'ann@example.org'),
        await personNamed(store, 'bob@example.org'),
      ];
      const add = (person: Person) => store.addToken(person.account.id, newToken());
      const count = async () =>
        (await Promise.all([ann, bob].map(({ account }) => store.listTokens(account.id)))).map(
          ({ length }) => length,
        );
      const { id } = ann.account;
      const { sessionId } = await logIn(store, ann);
      const tokens = [await add(ann), await add(ann), await add(bob)];
      const { ticketHash } = await ticketFor(store, 'reset', 'ann@example.org');
      const wrong = new Uint8Array(32);
      assert.equal(await store.changePassword(id, wrong, newPassword(), sessionId, 'revoke'), false);
      assert.equal(await store.redeemReset(wrong, newPassword(), 'revoke'), null);
      const next = newPassword();
      assert.notEqual(await store.redeemReset(ticketHash, next, 'keep'), null);
      assert.equal(await store.changePassword(id, next.verifier, ann.password, sessionId, 'keep'), true);
      assert.deepEqual(await count(), [2, 1]);
      assert.equal(await store.changePassword(id, ann.password.verifier, next, sessionId, 'revoke'), true);
      assert.deepEqual(await count(), [0, 1]);
      const found = await Promise.all(tokens.map(({ tokenHash }) => store.findToken(tokenHash)));
      assert.deepEqual(
        found.map((each) => each !== null),
        [false, false, true],
      );
      await add(ann);
      const again = await ticketFor(store, 'reset', 'ann@example.org');
      assert.notEqual(await store.redeemReset(again.ticketHash, newPassword(), 'revoke'), null);
      assert.deepEqual(await count(), [0, 1]);
    },
  ),

  check(
    'port',
    'a password is changed only from what it is, and of many changes at once one is made',
    async ({ store }) => {
      const ann = await personNamed(store, 'ann@example.org');
      const session = await logIn(store, ann);
      const change = (from: Uint8Array, to = newPassword()) =>
        store.changePassword(ann.account.id, from, to, session.sessionId, 'keep');
      assert.equal(await change(newPassword().verifier), false);
      assert.deepEqual(await store.findPassword('ann@example.org'), ann);
      const next = Array.from({ length: 20 }, () => newPassword());
      const changed = await Promise.all(next.map((to) => change(ann.password.verifier, to)));
      assert.equal(changed.filter((each) => each).length, 1);
      const password = (await store.findPassword('ann@example.org'))?.password;
      assert.deepEqual(password, next[changed.indexOf(true)]);
    },
  ),

  check(
    'port',
    'an account without a password has none to change and none to log in with',
    async ({ store }) => {
      const { id } = await accountNamed(store, 'ann@example.org');
      assert.equal(await store.changePassword(id, new Uint8Array(32), newPassword(), 0, 'keep'), false);
      assert.equal(await store.addSession(id, new Uint8Array(32), newSession()), null);
      assert.equal((await store.findPassword('ann@example.org'))?.password, null);
      assert.equal(await store.findPassword('bob@example.org'), null);
    },
  ),

  check(
    'port',
    'a token that was asked for with a password is added while that is the password, and not later',
    async ({ store }) => {
      const ann = await personNamed(store, 'ann@example.org');
      const { id } = ann.account;
      const token = newToken('own');
      const added = await store.addOwnToken(id, ann.password.verifier, token);
      assert.deepEqual(added, { ...token, tokenId: added?.tokenId, accountId: id, lastUsedAt: null });
      assert.deepEqual(await store.findToken(token.tokenHash), { account: ann.account, token: added });
      const { sessionId } = await logIn(store, ann);
      const add = () => store.addOwnToken(id, ann.password.verifier, newToken('late'));
      const before = [add(), add()];
      const changed = store.changePassword(id, ann.password.verifier, newPassword(), sessionId, 'keep');
      const meanwhile = [...before, add(), add()];
      assert.equal(await changed, true);
      assert.deepEqual(await Promise.all([add(), add()]), [null, null]);
      const kept = (await Promise.all(meanwhile)).filter((each) => each !== null);
      const { id: bob } = await accountNamed(store, 'bob@example.org');
      assert.equal(await store.addOwnToken(bob, new Uint8Array(32), newToken()), null);
      const listed = (await store.listTokens(id)).map(({ tokenId }) => tokenId);
      assert.deepEqual(new Set(listed), new Set([added, ...kept].map((each) => each?.tokenId)));
    },
  ),

  check('port', 'an account has the language that it chose last, or none', async ({ store }) => {
    const [{ account: ann }, bob] = [
      await personNamed(store, 'ann@example.org'),
      await accountNamed(store, 'bob@example.org'),
    ];
    const localeOf = async () => (await store.findAccountById(ann.id))?.locale;
    for (const locale of ['de', 'pt-BR', null]) {
      await store.setLocale(ann.id, locale);
      assert.equal(await localeOf(), locale);
    }
    await store.setLocale(ann.id, 'ar');
    assert.equal((await store.findAccount('ann@example.org'))?.locale, 'ar');
    assert.equal((await store.findPassword('ann@example.org'))?.account.locale, 'ar');
    assert.equal((await store.findAccountById(bob.id))?.locale, null);
  }),

  check('port', 'a store keeps its own copy of a password and a ticket', async ({ store }) => {
    const ticket = newTicket('sign_up', 'ann@example.org', store.now());
    const asked = store.addTicket({ ...ticket, ticketHash: ticket.ticketHash.fill(7) }, noTicketLimits);
    ticket.ticketHash.fill(8);
    assert.equal(await asked, true);
    const hash = new Uint8Array(32).fill(7);
    (await store.findTicket('sign_up', hash))?.ticketHash.fill(9);
    const password = newPassword();
    const verifier = password.verifier.slice();
    const redeemed = store.redeemSignUp(hash, plan, password);
    password.verifier.fill(0);
    await redeemed;
    (await store.findPassword('ann@example.org'))?.password?.verifier.fill(0);
    assert.deepEqual((await store.findPassword('ann@example.org'))?.password?.verifier, verifier);
  }),

  restartCheck('port', 'passwords, tickets and languages survive a restart', async ({ store }, reopen) => {
    const ann = await personNamed(store, 'ann@example.org');
    const ticket = await ticketFor(store, 'reset', 'ann@example.org');
    await store.setLocale(ann.account.id, 'he');
    const again = await reopen();
    const { account, password } = (await again.findPassword('ann@example.org')) ?? {};
    assert.deepEqual([account, password], [{ ...ann.account, locale: 'he' }, ann.password]);
    assert.deepEqual(await again.findTicket('reset', ticket.ticketHash), ticket);
  }),
];

export const passwordChecks: readonly ConformanceCheck[] = [
  ...ticketChecks,
  ...ticketLimitChecks,
  ...changeChecks,
];
