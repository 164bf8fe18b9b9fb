/**
 * Checks of what the operator decides about an account: the links that are handed over, locks, and what is listed.
 */
import { strict as assert } from 'node:assert';
import type { AccountId, AccountLinkTicket } from '../../../src/core/account.ts';
import type { Store } from '../../../src/store/store.ts';
import {
  accountNamed,
  areFound,
  logIn,
  newAccount,
  newPassword,
  newSession,
  newTicket,
  newToken,
  noTicketLimits,
  personNamed,
  ticketFor,
} from './account-fixtures.ts';
import {
  type ConformanceCheck,
  check,
  clientStays,
  found,
  putNew,
  restartCheck,
  ttlSeconds,
} from './check.ts';

/** Of whichever account it is given to. */
const linkTicket = (store: Store): AccountLinkTicket => newTicket('reset', '', store.now());

const isThere = async (store: Store, ticket: AccountLinkTicket): Promise<boolean> =>
  (await store.findTicket('reset', ticket.ticketHash)) !== null;

const stranger = 99 as AccountId;

const linkChecks: readonly ConformanceCheck[] = [
  check(
    'P16',
    'an invited account has neither a password nor a token, and its link sets its first password, once',
    async ({ store }) => {
      const ticket = linkTicket(store);
      const account = await store.inviteAccount(
        { ...newAccount('ann@example.org'), plan: 'identity' },
        ticket,
      );
      assert.ok(account !== null);
      assert.deepEqual(await store.findPassword('ann@example.org'), { account, password: null });
      assert.deepEqual([account.plan, await store.listTokens(account.id)], ['identity', []]);
      const { ticketHash } = ticket;
      assert.deepEqual(await store.findTicket('reset', ticketHash), {
        ...ticket,
        kind: 'reset',
        username: 'ann@example.org',
      });
      const password = newPassword();
      assert.deepEqual(await store.redeemReset(ticketHash, password, 'keep'), account);
      assert.equal(await store.redeemReset(ticketHash, newPassword(), 'keep'), null);
      assert.deepEqual((await store.findPassword('ann@example.org'))?.password, password);
    },
  ),

  check(
    'P16',
    'of many that invite one username at once one does, and the links of the others set nothing',
    async ({ store }) => {
      const tickets = Array.from({ length: 10 }, () => linkTicket(store));
      const made = await Promise.all(
        tickets.map((ticket) => store.inviteAccount(newAccount('ann@example.org'), ticket)),
      );
      assert.equal(made.filter((each) => each !== null).length, 1);
      const live = await Promise.all(tickets.map((ticket) => isThere(store, ticket)));
      assert.deepEqual(
        live,
        made.map((each) => each !== null),
      );
    },
  ),

  check(
    'P16',
    'a link that is handed over replaces every reset link of its account and no other, whatever the limits',
    async ({ store }) => {
      const [ann] = [
        await accountNamed(store, 'ann@example.org'),
        await accountNamed(store, 'bob@example.org'),
      ];
      const mailed = [
        await ticketFor(store, 'reset', 'ann@example.org'),
        await ticketFor(store, 'reset', 'ann@example.org'),
      ];
      const signUp = await ticketFor(store, 'sign_up', 'ann@example.org');
      const bobs = await ticketFor(store, 'reset', 'bob@example.org');
      const [first, second] = [linkTicket(store), linkTicket(store)];
      for (const ticket of [first, second])
        assert.equal(await store.replaceResetTickets(ann.id, ticket), true);
      const ofAnn = await Promise.all([...mailed, first, second].map((ticket) => isThere(store, ticket)));
      assert.deepEqual(ofAnn, [false, false, false, true]);
      assert.equal(await isThere(store, bobs), true);
      assert.notEqual(await store.findTicket('sign_up', signUp.ticketHash), null);
      assert.equal(await store.replaceResetTickets(stranger, linkTicket(store)), false);
    },
  ),
];

const lockChecks: readonly ConformanceCheck[] = [
  check(
    'P16',
    'a lock ends every session of its account and no other, and none begins until it is lifted',
    async ({ store, wallClock }) => {
      const [ann, bob] = [
        await personNamed(store, 'ann@example.org'),
        await personNamed(store, 'bob@example.org'),
      ];
      const before = [await logIn(store, ann), await logIn(store, ann), await logIn(store, bob)];
      wallClock.advance(10);
      assert.equal(await store.lockAccount(ann.account.id), true);
      assert.deepEqual(await areFound(store, before), [false, false, true]);
      const lockedAt = store.now();
      assert.deepEqual(await store.findAccount('ann@example.org'), { ...ann.account, lockedAt });
      assert.equal((await store.findAccount('bob@example.org'))?.lockedAt, null);
      const { id } = ann.account;
      assert.equal(await store.addSession(id, ann.password.verifier, newSession(store.now())), null);
      await logIn(store, bob);
      wallClock.advance(10);
      assert.deepEqual([await store.lockAccount(id), await store.lockAccount(stranger)], [false, false]);
      assert.equal((await store.findAccountById(id))?.lockedAt, lockedAt);
      assert.equal(await store.unlockAccount(id), true);
      assert.deepEqual([await store.unlockAccount(id), await store.unlockAccount(stranger)], [false, false]);
      assert.deepEqual(await areFound(store, before), [false, false, true]);
      assert.deepEqual(await store.findAccountById(id), ann.account);
      await logIn(store, ann);
    },
  ),

  check(
    'P16',
    'a change of password and a token that were under way when the lock came are refused',
    async ({ store }) => {
      const { account, password } = await personNamed(store, 'ann@example.org');
      const change = () => store.changePassword(account.id, password.verifier, password, 0, 'keep');
      const add = () => store.addOwnToken(account.id, password.verifier, newToken());
      await store.lockAccount(account.id);
      assert.deepEqual([await change(), await add()], [false, null]);
      await store.unlockAccount(account.id);
      assert.deepEqual([await change(), (await add()) === null], [true, false]);
    },
  ),

  check('P16', 'a locked account keeps its password and tokens, which say so', async ({ store }) => {
    const ann = await personNamed(store, 'ann@example.org');
    const token = newToken();
    const added = await store.addToken(ann.account.id, token);
    await store.lockAccount(ann.account.id);
    const account = { ...ann.account, lockedAt: store.now() };
    assert.deepEqual(await store.findToken(token.tokenHash), { account, token: added });
    assert.deepEqual(await store.findPassword('ann@example.org'), { account, password: ann.password });
  }),

  check(
    'P16',
    'a lock voids the reset links of its account, and none that follows works while it lasts',
    async ({ store }) => {
      const ann = await personNamed(store, 'ann@example.org');
      const { id } = ann.account;
      const [mailed, bobs] = [
        await ticketFor(store, 'reset', 'ann@example.org'),
        await ticketFor(store, 'reset', 'bob@example.org'),
      ];
      await store.lockAccount(id);
      assert.deepEqual([await isThere(store, mailed), await isThere(store, bobs)], [false, true]);
      assert.equal(await store.replaceResetTickets(id, linkTicket(store)), false);
      const later = newTicket('reset', 'ann@example.org', store.now());
      await store.addTicket(later, noTicketLimits);
      assert.equal(await store.redeemReset(later.ticketHash, newPassword(), 'revoke'), null);
      assert.deepEqual((await store.findPassword('ann@example.org'))?.password, ann.password);
      await store.unlockAccount(id);
      const next = linkTicket(store);
      assert.equal(await store.replaceResetTickets(id, next), true);
      assert.deepEqual(await store.redeemReset(next.ticketHash, newPassword(), 'keep'), ann.account);
    },
  ),

  check('P16', 'of log-ins and a lock at once no session is left', async ({ store }) => {
    const ann = await personNamed(store, 'ann@example.org');
    const begin = () => store.addSession(ann.account.id, ann.password.verifier, newSession(store.now()));
    const before = Array.from({ length: 10 }, begin);
    const locked = store.lockAccount(ann.account.id);
    const after = Array.from({ length: 10 }, begin);
    await Promise.all([...before, locked, ...after]);
    assert.deepEqual(await store.listSessions(ann.account.id), []);
  }),

  check(
    'P16',
    'what a locked account has created stays: links open, and receipts tell',
    async ({ store }) => {
      const ann = await accountNamed(store, 'ann@example.org');
      const record = await putNew(store, { owner: ann.id });
      await store.lockAccount(ann.id);
      assert.equal(await store.claim(await found(store, record.secretId), clientStays), 'won');
      assert.equal((await store.findReceipt(record.receiptId))?.state, 'received');
    },
  ),

  restartCheck('P16', 'locks, and their ends, survive a restart', async ({ store }, reopen) => {
    const [ann, bob] = [
      await accountNamed(store, 'ann@example.org'),
      await accountNamed(store, 'bob@example.org'),
    ];
    for (const { id } of [ann, bob]) await store.lockAccount(id);
    await store.unlockAccount(bob.id);
    const again = await reopen();
    assert.equal((await again.findAccountById(ann.id))?.lockedAt, store.now());
    assert.equal((await again.findAccountById(bob.id))?.lockedAt, null);
  }),
];

const listChecks: readonly ConformanceCheck[] = [
  check('port', 'what no name can be is asked for like any other, and found nowhere', async ({ store }) => {
    const { id } = await accountNamed(store, 'ann@example.org');
    for (const name of ['', 'ann@example.org\0', '\0', '\ud800', 'a'.repeat(100_000)]) {
      assert.equal(await store.findAccount(name), null);
      assert.equal(await store.findPassword(name), null);
      assert.equal(await store.findVerifiedDomain(name), null);
      assert.equal(await store.findDomain(id, name), null);
      assert.equal(await store.findDomainLogo(name), null);
      assert.equal(await store.removeDomain(id, name), false);
    }
  }),

  check(
    'port',
    'an account is listed with whether it has a password, and with its live tokens',
    async ({ store, wallClock }) => {
      assert.equal(await store.hasAccounts(), false);
      const [ann, bob] = [
        await accountNamed(store, 'ann@example.org'),
        await personNamed(store, 'bob@example.org'),
      ];
      assert.equal(await store.hasAccounts(), true);
      await store.addToken(ann.id, { ...newToken(), expiresAt: store.now() + 60 });
      await store.lockAccount(bob.account.id);
      const counts = async () => (await store.listAccounts()).map((each) => [each.hasPassword, each.tokens]);
      assert.deepEqual(await counts(), [
        [false, 2],
        [true, 0],
      ]);
      const locked = (await store.listAccounts()).map((each) => each.lockedAt);
      assert.deepEqual(locked, [null, store.now()]);
      wallClock.advance(60);
      assert.deepEqual((await counts())[0], [false, 1]);
    },
  ),

  check(
    'port',
    'the last use of an account is the latest of its tokens and sessions, also once they are gone',
    async ({ store }) => {
      const [ann, bob] = [
        await personNamed(store, 'ann@example.org'),
        await accountNamed(store, 'bob@example.org'),
      ];
      const { id } = ann.account;
      const lastUse = async () => (await store.listAccounts()).map((each) => each.lastUsedAt);
      assert.deepEqual(await lastUse(), [null, null]);
      const session = await logIn(store, ann);
      assert.deepEqual(await lastUse(), [session.createdAt, null]);
      const token = await store.addToken(id, newToken());
      await store.noteTokenUse(token.tokenId, store.now() + 100);
      await store.noteTokenUse(token.tokenId, store.now() + 50);
      assert.deepEqual(await lastUse(), [store.now() + 100, null]);
      await store.noteSessionUse(session.sessionId, store.now() + 200, session.expiresAt);
      await store.noteSessionUse(session.sessionId, store.now() + 150, session.expiresAt);
      await store.revokeToken(id, token.tokenId);
      await store.endSession(id, session.sessionId);
      await store.noteSessionUse(session.sessionId, store.now() + 300, session.expiresAt);
      await store.noteTokenUse(token.tokenId, store.now() + 300);
      assert.deepEqual(await lastUse(), [store.now() + 200, null]);
      assert.equal((await store.findAccountById(bob.id))?.lockedAt, null);
    },
  ),

  check(
    'port',
    'what an account has created is counted, and what of it waits at store time',
    async ({ store, wallClock }) => {
      const [ann, bob] = [
        await accountNamed(store, 'ann@example.org'),
        await accountNamed(store, 'bob@example.org'),
      ];
      const own = { owner: ann.id };
      const [read, burned] = [await putNew(store, own), await putNew(store, own)];
      await putNew(store, { ...own, expiresAt: store.now() + 60 });
      await putNew(store, { ...own, expiresAt: store.now() + ttlSeconds });
      await putNew(store, { owner: bob.id });
      await putNew(store);
      assert.deepEqual(await store.countOwned(ann.id), { waiting: 4, receipts: 4 });
      await store.claim(await found(store, read.secretId), clientStays);
      await store.burn(burned.receiptId, clientStays);
      wallClock.advance(60);
      assert.deepEqual(await store.countOwned(ann.id), { waiting: 1, receipts: 4 });
      assert.deepEqual(await store.countOwned(bob.id), { waiting: 1, receipts: 1 });
      assert.deepEqual(await store.countOwned(stranger), { waiting: 0, receipts: 0 });
    },
  ),
];

export const accountAccessChecks: readonly ConformanceCheck[] = [...linkChecks, ...lockChecks, ...listChecks];
