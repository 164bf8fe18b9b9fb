/**
 * Checks of account deletion: what it erases, what stays, and who wins a race against it.
 */
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import type { Account, AccountId } from '../../../src/core/account.ts';
import type { ClaimOutcome } from '../../../src/core/ports/claims.ts';
import type { NewRecord } from '../../../src/core/secret.ts';
import { finishedDeletionSeconds, type Store } from '../../../src/store/store.ts';
import {
  accountNamed,
  areFound,
  deleteWhole,
  logIn,
  newPassword,
  newSession,
  newToken,
  personNamed,
  ticketFor,
} from './account-fixtures.ts';
import {
  type ConformanceCheck,
  check,
  clientStays,
  countOf,
  found,
  fullRecord,
  newRecord,
  putNew,
  recentOf,
  restartCheck,
} from './check.ts';
import { domainOf, newDomain, newLogo } from './domain-fixtures.ts';

const recentBox = () => new Uint8Array(randomBytes(120));

/** A waiting secret of the account, shown in its recent list. */
const putOwned = (store: Store, { id }: Account) => putNew(store, { owner: id, recentBox: recentBox() });

export const deletionChecks: readonly ConformanceCheck[] = [
  check(
    'P16',
    'a deleted account is gone with its password, tokens, sessions, tickets, share domains and logos',
    async ({ store }) => {
      const ann = await personNamed(store, 'ann@example.org');
      const { id } = ann.account;
      const token = await store.addToken(id, newToken());
      const session = await logIn(store, ann);
      const tickets = [
        await ticketFor(store, 'reset', 'ann@example.org'),
        await ticketFor(store, 'sign_up', 'ann@example.org'),
      ];
      const domain = await domainOf(store, id, 'ann.example.org', { state: 'verified' });
      const logo = newLogo();
      await store.setDomainLogo(id, domain, logo);
      assert.equal(await deleteWhole(store, id), 0);
      assert.deepEqual(
        [await store.findAccount('ann@example.org'), await store.findAccountById(id)],
        [null, null],
      );
      assert.deepEqual(await store.listAccounts(), []);
      assert.equal(await store.findPassword('ann@example.org'), null);
      assert.equal(await store.findToken(token.tokenHash), null);
      assert.deepEqual([await store.listTokens(id), await store.listSessions(id)], [[], []]);
      assert.deepEqual(await areFound(store, [session]), [false]);
      for (const { kind, ticketHash } of tickets)
        assert.equal(await store.findTicket(kind, ticketHash), null);
      assert.equal(await store.findVerifiedDomain(domain), null);
      assert.deepEqual(await store.listDomains(id), []);
      assert.equal(await store.findDomainLogo(logo.name), null);
    },
  ),

  check('P16', 'the deletion of an account leaves every other as it is', async ({ store }) => {
    const [ann, bob] = [
      await personNamed(store, 'ann@example.org'),
      await personNamed(store, 'bob@example.org'),
    ];
    const token = await store.addToken(bob.account.id, newToken());
    const session = await logIn(store, bob);
    const ticket = await ticketFor(store, 'reset', 'bob@example.org');
    const domain = await domainOf(store, bob.account.id, 'bob.example.org', { state: 'verified' });
    const logo = newLogo();
    await store.setDomainLogo(bob.account.id, domain, logo);
    const [own, unowned] = [await putOwned(store, bob.account), await putNew(store)];
    const receipt = await store.findReceipt(own.receiptId);
    assert.equal(await deleteWhole(store, ann.account.id), 0);
    const lastUsedAt = session.createdAt;
    assert.deepEqual(await store.listAccounts(), [
      { ...bob.account, hasPassword: true, tokens: 1, lastUsedAt },
    ]);
    assert.deepEqual(await store.findPassword('bob@example.org'), bob);
    assert.notEqual(await store.findToken(token.tokenHash), null);
    assert.deepEqual(await areFound(store, [session]), [true]);
    assert.deepEqual(await store.findTicket('reset', ticket.ticketHash), ticket);
    assert.equal((await store.findVerifiedDomain(domain))?.accountId, bob.account.id);
    assert.deepEqual(await store.findDomainLogo(logo.name), logo);
    for (const { secretId } of [own, unowned]) await found(store, secretId);
    assert.deepEqual(await store.findReceipt(own.receiptId), receipt);
  }),

  check(
    'P10',
    'a deletion burns every waiting secret of its account, at store time, and counts those',
    async ({ store, wallClock }) => {
      const ann = await accountNamed(store, 'ann@example.org');
      const expired = await putNew(store, { owner: ann.id, expiresAt: store.now() + 10 });
      const [read, burned] = [await putOwned(store, ann), await putOwned(store, ann)];
      await store.claim(await found(store, read.secretId), clientStays);
      await store.burn(burned.receiptId, clientStays);
      const waiting = [await putOwned(store, ann), await putOwned(store, ann), await putOwned(store, ann)];
      wallClock.advance(10);
      const before = await Promise.all(waiting.map(({ secretId }) => found(store, secretId)));
      assert.equal(await deleteWhole(store, ann.id), 3);
      for (const { secretId, receiptId } of waiting) {
        assert.equal(await store.findSecret(secretId), null);
        const receipt = await store.findReceipt(receiptId);
        assert.deepEqual(
          [receipt?.state, receipt?.endedAt, receipt?.sealedSecret],
          ['burned', store.now(), null],
        );
        assert.equal(await store.burn(receiptId, clientStays), null);
      }
      for (const secret of before) assert.equal(await store.claim(secret, clientStays), 'gone');
      const states = [read, burned, expired].map(({ receiptId }) => store.findReceipt(receiptId));
      assert.deepEqual(
        (await Promise.all(states)).map((each) => [each?.state, each?.endedAt]),
        [
          ['received', read.createdAt],
          ['burned', read.createdAt],
          ['waiting', null],
        ],
      );
    },
  ),

  check(
    'P10',
    'a deletion erases the recent box of every receipt of its account, and the receipts stay',
    async ({ store, wallClock }) => {
      const ann = await accountNamed(store, 'ann@example.org');
      const records = [fullRecord(store.now(), ann.id), fullRecord(store.now(), ann.id)];
      for (const record of records) await store.put(record);
      const expired = await putNew(store, {
        owner: ann.id,
        recentBox: recentBox(),
        expiresAt: store.now() + 10,
      });
      await store.claim(await found(store, records[0]?.secretId ?? expired.secretId), clientStays);
      wallClock.advance(10);
      assert.equal(await deleteWhole(store, ann.id), 1);
      for (const record of [...records, expired]) {
        const receipt = await store.findReceipt(record.receiptId);
        assert.deepEqual([receipt?.recentBox, receipt?.detailsBox], [null, record.detailsBox]);
      }
      const listed = await recentOf(store, ann.id);
      assert.deepEqual(
        listed.filter((each) => each.recentBox !== null),
        [],
      );
    },
  ),

  check('P7', 'of claims and a deletion at once exactly one wins each secret', async ({ store }) => {
    const ann = await accountNamed(store, 'ann@example.org');
    const records = await Promise.all(Array.from({ length: 20 }, () => putOwned(store, ann)));
    const secrets = await Promise.all(records.map(({ secretId }) => found(store, secretId)));
    const claiming: Promise<ClaimOutcome>[] = [];
    let deleted: Promise<number | null> = Promise.resolve(null);
    for (const [n, secret] of secrets.entries()) {
      if (n === 7) deleted = deleteWhole(store, ann.id);
      claiming.push(store.claim(secret, clientStays));
      // So that some claims fall between the steps of the deletion.
      await Promise.resolve();
    }
    const claims = await Promise.all(claiming);
    const won = claims.filter((each) => each === 'won').length;
    assert.equal(won + ((await deleted) ?? 0), records.length);
    const receipts = await Promise.all(records.map(({ receiptId }) => store.findReceipt(receiptId)));
    assert.deepEqual(
      receipts.map((each) => each?.state),
      claims.map((each) => (each === 'won' ? 'received' : 'burned')),
    );
  }),

  check(
    'port',
    'an account is deleted once, and its name may be taken but its id never',
    async ({ store }) => {
      const { id } = await accountNamed(store, 'ann@example.org');
      const deletions = await Promise.all(Array.from({ length: 20 }, () => store.deleteAccount(id)));
      assert.equal(countOf(deletions, true), 1);
      assert.equal(await store.deleteAccount(99 as AccountId), false);
      assert.equal(await store.continueDeletion(99 as AccountId, 10), null);
      const again = await accountNamed(store, 'ann@example.org');
      assert.ok(again.id > id, 'an id was given twice');
      const { account } = await personNamed(store, 'bob@example.org');
      assert.ok(account.id > again.id, 'an id was given twice');
    },
  ),

  check(
    'P10',
    'a deletion goes on in batches, is listed until it is finished, and counts what all of them have burned',
    async ({ store, wallClock }) => {
      const [ann, bob] = [
        await accountNamed(store, 'ann@example.org'),
        await accountNamed(store, 'bob@example.org'),
      ];
      const records: NewRecord[] = [];
      for (let n = 0; n < 7; n += 1) records.push(await putOwned(store, ann));
      const other = await putOwned(store, bob);
      const waiting = async () => {
        const receipts = await Promise.all(records.map(({ receiptId }) => store.findReceipt(receiptId)));
        return receipts.filter((each) => each?.state === 'waiting').length;
      };
      assert.deepEqual(await store.listDeletions(10), []);
      assert.equal(await store.deleteAccount(ann.id), true);
      assert.deepEqual([await store.listDeletions(10), await waiting()], [[ann.id], 7]);
      wallClock.advance(1);
      assert.deepEqual(await store.continueDeletion(ann.id, 3), { outcome: 'more', burned: 3 });
      assert.equal(await waiting(), 4);
      const [read] = await Promise.all(records.map(({ secretId }) => store.findSecret(secretId))).then(
        (all) => all.filter((each) => each !== null),
      );
      assert.ok(read !== undefined);
      assert.equal(await store.claim(read, clientStays), 'won');
      assert.deepEqual(await store.listDeletions(10), [ann.id]);
      const steps = await Promise.all([1, 2, 3, 4].map(() => store.continueDeletion(ann.id, 2)));
      assert.deepEqual(steps.map((each) => each?.outcome).sort(), [
        'finished',
        'more',
        'more',
        'was_finished',
      ]);
      for (const again of [1, 2]) {
        assert.deepEqual(await store.continueDeletion(ann.id, again), { outcome: 'was_finished', burned: 6 });
      }
      assert.deepEqual([await store.listDeletions(10), await waiting()], [[], 0]);
      assert.notEqual(await store.findSecret(other.secretId), null);
      assert.deepEqual(
        await recentOf(store, ann.id).then((all) => all.filter((each) => each.recentBox !== null)),
        [],
      );
      assert.equal(await store.continueDeletion(bob.id, 10), null);
    },
  ),

  check(
    'port',
    'a finished deletion is told to all who share it, and forgotten by a sweep an hour later',
    async ({ store, wallClock }) => {
      const [ann, bob] = [
        await accountNamed(store, 'ann@example.org'),
        await accountNamed(store, 'bob@example.org'),
      ];
      for (const { id } of [ann, bob]) {
        await putNew(store, { owner: id, expiresAt: store.now() + 10 });
        await store.deleteAccount(id);
      }
      const callers = await Promise.all([1, 2, 3].map(() => store.continueDeletion(ann.id, 10)));
      assert.deepEqual(callers.map((step) => step?.outcome).sort(), [
        'finished',
        'was_finished',
        'was_finished',
      ]);
      assert.deepEqual(
        callers.map((step) => step?.burned),
        [1, 1, 1],
      );
      assert.deepEqual(await store.listDeletions(10), [bob.id]);
      wallClock.advance(finishedDeletionSeconds - 1);
      await store.sweep(100);
      assert.deepEqual(await store.continueDeletion(ann.id, 10), { outcome: 'was_finished', burned: 1 });
      wallClock.advance(1);
      assert.equal(await store.sweep(100), 1, 'it is not forgotten, or not counted');
      assert.equal(await store.continueDeletion(ann.id, 10), null);
      // Bob's secret has expired, so there is nothing to burn, but his deletion is still unfinished.
      assert.deepEqual(await store.listDeletions(10), [bob.id]);
      assert.deepEqual(await store.continueDeletion(bob.id, 10), { outcome: 'finished', burned: 0 });
      assert.deepEqual(await store.listDeletions(10), []);
    },
  ),

  check(
    'P10',
    'whatever is stored while its account is being deleted is burned with it',
    async ({ store }) => {
      for (let round = 0; round < 10; round += 1) {
        const { id } = await accountNamed(store, `${round}@example.org`);
        const records = Array.from({ length: 20 }, () => newRecord(store.now(), { owner: id }));
        const puts = records.slice(0, 2 * round).map((record) => store.put(record));
        const deletion = deleteWhole(store, id, 5);
        for (const record of records.slice(2 * round)) puts.push(store.put(record));
        const outcomes = await Promise.allSettled(puts);
        const burned = await deletion;
        assert.equal(outcomes.filter((each) => each.status === 'fulfilled').length, burned);
        for (const { secretId } of records) assert.equal(await store.findSecret(secretId), null);
      }
    },
  ),

  check('P16', 'nothing is added to an account that was deleted', async ({ store }) => {
    const ann = await personNamed(store, 'ann@example.org');
    await personNamed(store, 'bob@example.org');
    const { ticketHash } = await ticketFor(store, 'reset', 'ann@example.org');
    await deleteWhole(store, ann.account.id);
    const { id } = ann.account;
    const [token, record] = [newToken(), newRecord(store.now(), { owner: id, recentBox: recentBox() })];
    await assert.rejects(store.put(record));
    assert.equal(await store.findSecret(record.secretId), null);
    assert.deepEqual(await recentOf(store, id), []);
    await assert.rejects(store.addToken(id, token));
    assert.equal(await store.addDomain(newDomain(id, 'ann.example.org'), 10), 'gone');
    assert.equal(await store.addSession(id, ann.password.verifier, newSession(store.now())), null);
    assert.equal(await store.changePassword(id, ann.password.verifier, newPassword(), 0, 'keep'), false);
    assert.equal(await store.redeemReset(ticketHash, newPassword(), 'keep'), null);
    assert.equal(await store.findToken(token.tokenHash), null);
    assert.deepEqual(await store.listDomains(id), []);
  }),

  restartCheck(
    'P10',
    'a deletion that was cut off is listed after a restart, adds nothing meanwhile, and is finished there',
    async ({ store }, reopen) => {
      const ann = await accountNamed(store, 'ann@example.org');
      for (let n = 0; n < 5; n += 1) await putOwned(store, ann);
      assert.equal(await store.deleteAccount(ann.id), true);
      assert.deepEqual(await store.continueDeletion(ann.id, 2), { outcome: 'more', burned: 2 });
      const again = await reopen();
      assert.deepEqual(await again.listDeletions(10), [ann.id]);
      await assert.rejects(putOwned(again, ann));
      assert.deepEqual(await again.continueDeletion(ann.id, 10), { outcome: 'finished', burned: 5 });
      assert.deepEqual([await again.listDeletions(10), await store.listDeletions(10)], [[], []]);
      assert.deepEqual(await store.continueDeletion(ann.id, 10), { outcome: 'was_finished', burned: 5 });
    },
  ),

  restartCheck('P10', 'the deletion of an account survives a restart', async ({ store }, reopen) => {
    const ann = await personNamed(store, 'ann@example.org');
    const record = newRecord(store.now(), { owner: ann.account.id, recentBox: recentBox() });
    await store.put(record);
    assert.equal(await deleteWhole(store, ann.account.id), 1);
    const again = await reopen();
    assert.equal(await again.findAccountById(ann.account.id), null);
    assert.equal(await again.findSecret(record.secretId), null);
    assert.equal((await again.findReceipt(record.receiptId))?.recentBox, null);
    assert.ok((await accountNamed(again, 'ann@example.org')).id > ann.account.id, 'an id was given twice');
  }),
];
