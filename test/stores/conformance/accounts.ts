/**
 * Checks of accounts, tokens and the check values of wrapping roots.
 */

import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import type { AccountId, TokenScope } from '../../../src/core/account.ts';
import type { NoticeKind } from '../../../src/protocol/vocabulary.ts';
import type { Store } from '../../../src/store/store.ts';
import { accountNamed, newAccount, newToken } from './account-fixtures.ts';
import {
  type ConformanceCheck,
  check,
  clientStays,
  found,
  putNew,
  restartCheck,
  ttlSeconds,
} from './check.ts';

const idOf = async (store: Store, username: string): Promise<AccountId> =>
  (await accountNamed(store, username)).id;

export const accountChecks: readonly ConformanceCheck[] = [
  check(
    'port',
    'an account is created with its first token and found by name, id and token',
    async ({ store }) => {
      const token = newToken('first');
      const account = await store.createAccount(newAccount('ann@example.org'), token);
      assert.ok(account !== null);
      const fresh = {
        ...newAccount('ann@example.org'),
        locale: null,
        notify: [],
        senderName: null,
        lockedAt: null,
      };
      assert.deepEqual(account, { ...fresh, id: account.id });
      assert.deepEqual(await store.findAccount('ann@example.org'), account);
      assert.deepEqual(await store.findAccountById(account.id), account);
      const found = await store.findToken(token.tokenHash);
      const { tokenId } = (await store.listTokens(account.id))[0] ?? { tokenId: 0 };
      assert.deepEqual(found, {
        account,
        token: { ...token, tokenId, accountId: account.id, lastUsedAt: null },
      });
      assert.equal(await store.findAccount('bob@example.org'), null);
      assert.equal(await store.findAccountById((account.id + 1) as AccountId), null);
      assert.equal(await store.findToken(newToken().tokenHash), null);
    },
  ),

  check(
    'port',
    'a username is given once, also to many who ask at once, and a refusal leaves no token',
    async ({ store }) => {
      const tokens = Array.from({ length: 10 }, () => newToken());
      const created = await Promise.all(
        tokens.map((token) => store.createAccount(newAccount('ann@example.org'), token)),
      );
      assert.equal(created.filter((each) => each !== null).length, 1);
      const kept = await Promise.all(tokens.map((token) => store.findToken(token.tokenHash)));
      assert.deepEqual(
        kept.map((each) => each !== null),
        created.map((each) => each !== null),
      );
      assert.equal((await store.listAccounts()).length, 1);
    },
  ),

  check(
    'port',
    'accounts are listed in the order of their creation, with the plan each was given last',
    async ({ store }) => {
      const ids = [await idOf(store, 'b@example.org'), await idOf(store, 'a@example.org')];
      await store.setPlan(ids[0] as AccountId, 'identity');
      const listed = await store.listAccounts();
      assert.deepEqual(
        listed.map((each) => [each.id, each.plan]),
        [
          [ids[0], 'identity'],
          [ids[1], 'basic'],
        ],
      );
      await store.setPlan(99 as AccountId, 'identity');
      assert.equal(await store.findAccountById(99 as AccountId), null);
    },
  ),

  check(
    'port',
    'tokens are added, listed and revoked one by one, and only by their own account',
    async ({ store }) => {
      const [ann, bob] = [await idOf(store, 'ann@example.org'), await idOf(store, 'bob@example.org')];
      const token = { ...newToken('second'), expiresAt: 1_900_000_000 };
      const added = await store.addToken(ann, token);
      assert.deepEqual(added, { ...token, tokenId: added.tokenId, accountId: ann, lastUsedAt: null });
      assert.deepEqual(
        (await store.listTokens(ann)).map((each) => each.name),
        ['default', 'second'],
      );
      assert.equal(await store.revokeToken(bob, added.tokenId), false);
      assert.notEqual(await store.findToken(token.tokenHash), null);
      assert.equal(await store.revokeToken(ann, added.tokenId), true);
      assert.equal(await store.revokeToken(ann, added.tokenId), false);
      assert.equal(await store.findToken(token.tokenHash), null);
      assert.equal((await store.listTokens(ann)).length, 1);
    },
  ),

  check('port', 'a token keeps the scopes it was given, in their order', async ({ store }) => {
    const ann = await idOf(store, 'ann@example.org');
    const given: (readonly TokenScope[])[] = [
      [],
      ['create'],
      ['manage'],
      ['read-recent'],
      ['create', 'read-recent'],
      ['create', 'manage', 'read-recent'],
    ];
    for (const scopes of given) {
      const { tokenHash, scopes: added } = await store.addToken(ann, { ...newToken(), scopes });
      assert.deepEqual([added, (await store.findToken(tokenHash))?.token.scopes], [scopes, scopes]);
    }
    assert.deepEqual(
      (await store.listTokens(ann)).slice(1).map((each) => each.scopes),
      given,
    );
  }),

  check('port', 'the last use of a token is kept and never moves back', async ({ store }) => {
    const ann = await idOf(store, 'ann@example.org');
    const { tokenId, tokenHash } = await store.addToken(ann, newToken());
    await store.noteTokenUse(tokenId, 1_800_000_100);
    await store.noteTokenUse(tokenId, 1_800_000_050);
    await store.noteTokenUse(tokenId + 99, 1_800_000_050);
    assert.equal((await store.findToken(tokenHash))?.token.lastUsedAt, 1_800_000_100);
  }),

  check(
    'port',
    'an account keeps which mails it wants, in their order, and none at first',
    async ({ store }) => {
      const [ann, bob] = [await idOf(store, 'ann@example.org'), await idOf(store, 'bob@example.org')];
      const given: (readonly NoticeKind[])[] = [['read'], ['expiring'], ['read', 'burned', 'expiring'], []];
      for (const kinds of given) {
        await store.setNotify(ann, kinds);
        assert.deepEqual((await store.findAccountById(ann))?.notify, kinds);
      }
      await store.setNotify(ann, ['expiring', 'burned']);
      assert.deepEqual(
        (await store.listAccounts()).map((each) => each.notify),
        [['burned', 'expiring'], []],
      );
      await store.setNotify((bob + 1) as AccountId, ['read']);
      assert.deepEqual((await store.findAccount('bob@example.org'))?.notify, []);
    },
  ),

  check(
    'port',
    'an account keeps the name that recipients read, in any script, and none at first',
    async ({ store }) => {
      const [ann, bob] = [await idOf(store, 'ann@example.org'), await idOf(store, 'bob@example.org')];
      const names = async () => (await store.listAccounts()).map((each) => each.senderName);
      assert.deepEqual(await names(), [null, null]);
      for (const name of ['IT Helpdesk', 'O’Neill & Søn', 'サポート窓口', 'דלפק העזרה']) {
        await store.setSenderName(ann, name);
        assert.deepEqual(
          [(await store.findAccountById(ann))?.senderName, await names()],
          [name, [name, null]],
        );
      }
      await store.setSenderName((bob + 1) as AccountId, 'Nobody');
      await store.setSenderName(ann, null);
      assert.deepEqual(await names(), [null, null]);
    },
  ),

  check('P12', 'the check value of a root stays what it first was', async ({ store }) => {
    const [first, second] = [new Uint8Array(randomBytes(32)), new Uint8Array(randomBytes(32))];
    assert.equal(await store.findRootCheck(1), null);
    assert.deepEqual(await store.addRootCheck(1, first), first);
    assert.deepEqual(await store.addRootCheck(1, second), first);
    assert.deepEqual(await store.addRootCheck(65_535, second), second);
    assert.deepEqual(await store.findRootCheck(1), first);
    assert.deepEqual(await store.findRootCheck(65_535), second);
  }),

  check('P12', 'of many that keep a check of one root at once, all are told the same', async ({ store }) => {
    const given = Array.from({ length: 20 }, () => new Uint8Array(randomBytes(32)));
    const told = await Promise.all(given.map((value) => store.addRootCheck(1, value)));
    const kept = await store.findRootCheck(1);
    assert.ok(kept !== null && given.some((value) => Buffer.compare(value, kept) === 0));
    for (const value of told) assert.deepEqual(value, kept);
  }),

  check(
    'P12',
    'the roots in use hold every root that live records are wrapped under, each once, and none that never was',
    async ({ store, wallClock }) => {
      const holds = async (...wanted: number[]) => {
        const kids = await store.rootKidsInUse();
        assert.deepEqual(
          kids.filter((kid) => wanted.includes(kid)).sort((a, b) => a - b),
          wanted,
        );
        assert.ok(kids.every((kid) => [1, 2, 3, 300].includes(kid)));
      };
      assert.deepEqual(await store.rootKidsInUse(), []);
      const burned = await putNew(store, {}, 1);
      const read = await putNew(store, {}, 2);
      await putNew(store, { expiresAt: store.now() + ttlSeconds / 2 }, 3);
      const last = await putNew(store, {}, 300);
      await holds(1, 2, 3, 300);
      await store.burn(burned.receiptId, clientStays);
      await store.claim(await found(store, read.secretId), clientStays);
      wallClock.advance(ttlSeconds / 2);
      await holds(300);
      // A store may round up to whole days.
      wallClock.set(Math.ceil(last.expiresAt / 86_400) * 86_400);
      assert.deepEqual(await store.rootKidsInUse(), []);
    },
  ),

  restartCheck(
    'port',
    'accounts, tokens, what they want to be told and check values survive a restart',
    async ({ store }, reopen) => {
      const [token, value] = [newToken(), new Uint8Array(randomBytes(32))];
      const account = await store.createAccount(newAccount('ann@example.org'), token);
      assert.ok(account !== null);
      await store.setNotify(account.id, ['read']);
      await store.setSenderName(account.id, 'IT Helpdesk');
      await store.addRootCheck(2, value);
      const again = await reopen();
      assert.deepEqual((await again.findToken(token.tokenHash))?.account, {
        ...account,
        notify: ['read'],
        senderName: 'IT Helpdesk',
      });
      assert.deepEqual(await again.findRootCheck(2), value);
    },
  ),
];
