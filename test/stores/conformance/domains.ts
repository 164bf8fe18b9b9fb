/**
 * Checks of share domains: who owns a name, what a check changes, and their brand.
 */
import { strict as assert } from 'node:assert';
import type { Account, AccountId } from '../../../src/core/account.ts';
import { plainBrand, type StoredDomain } from '../../../src/core/share-domain.ts';
import type { Store } from '../../../src/store/store.ts';
import { accountNamed } from './account-fixtures.ts';
import { type ConformanceCheck, check, countOf, restartCheck } from './check.ts';
import { domainOf, fullBrand, manyDomains, newDomain, newLogo } from './domain-fixtures.ts';

const name = 'share.example.org';
const verified = { state: 'verified', finding: null } as const;
const lost = { state: 'lost', finding: 'txt_missing' } as const;

async function annAndBob(store: Store): Promise<[ann: AccountId, bob: AccountId]> {
  const accounts: [Account, Account] = [
    await accountNamed(store, 'ann@example.org'),
    await accountNamed(store, 'bob@example.org'),
  ];
  return [accounts[0].id, accounts[1].id];
}

const ownerOf = async (store: Store, domain = name) =>
  (await store.findVerifiedDomain(domain))?.accountId ?? null;

const registrationChecks: readonly ConformanceCheck[] = [
  check('port', 'a registered domain is found by its account and by no other', async ({ store }) => {
    const [ann, bob] = await annAndBob(store);
    const domain = newDomain(ann, name);
    assert.equal(await store.addDomain(domain, 1), 'added');
    const { createdAt: updatedAt } = domain;
    const fresh = { checkedAt: null, finding: null, brand: plainBrand, logoName: null };
    assert.deepEqual(await store.findDomain(ann, name), { ...domain, updatedAt, ...fresh });
    assert.equal(await store.findDomain(bob, name), null);
    assert.equal(await store.findDomain(ann, 'other.example.org'), null);
    assert.deepEqual(await store.listDomains(bob), []);
  }),

  check(
    'P20',
    'a name may be registered by several accounts, and by each of them once',
    async ({ store }) => {
      const [ann, bob] = await annAndBob(store);
      await domainOf(store, ann, name);
      const again = newDomain(ann, name, { state: 'verified', challenge: null });
      assert.equal(await store.addDomain(again, manyDomains), 'exists');
      assert.equal((await store.findDomain(ann, name))?.state, 'unverified');
      await domainOf(store, bob, name);
      assert.notEqual(
        (await store.findDomain(ann, name))?.challenge,
        (await store.findDomain(bob, name))?.challenge,
      );
      assert.equal(await ownerOf(store), null);
    },
  ),

  check(
    'P20',
    'a name that is verified for one account can be registered by no other until it is not',
    async ({ store }) => {
      const [ann, bob] = await annAndBob(store);
      await domainOf(store, ann, name, { state: 'verified', challenge: null });
      for (const state of ['unverified', 'verified'] as const) {
        assert.equal(await store.addDomain(newDomain(bob, name, { state }), manyDomains), 'taken');
      }
      assert.deepEqual(await store.listDomains(bob), []);
      await store.noteDomainCheck(ann, name, lost);
      await domainOf(store, bob, name, { state: 'verified' });
      assert.equal(await ownerOf(store), bob);
    },
  ),

  check(
    'port',
    'of many registrations at once an account gets as many as it is allowed, and others’ do not count',
    async ({ store }) => {
      const [ann, bob] = await annAndBob(store);
      await domainOf(store, bob, 'bob.example.org');
      const wanted = Array.from({ length: 10 }, (_, n) => newDomain(ann, `d${n}.example.org`));
      const outcomes = await Promise.all(wanted.map((domain) => store.addDomain(domain, 3)));
      assert.deepEqual([countOf(outcomes, 'added'), countOf(outcomes, 'too_many')], [3, 7]);
      const kept = wanted.filter((_, n) => outcomes[n] === 'added').map((each) => each.name);
      assert.deepEqual(
        (await store.listDomains(ann)).map((each) => each.name),
        kept,
      );
      assert.equal(await store.addDomain(newDomain(bob, name), 0), 'too_many');
      assert.equal(await store.addDomain(newDomain(99 as AccountId, name), manyDomains), 'gone');
    },
  ),

  check(
    'port',
    'domains are listed by name, and removed one by one by their own account',
    async ({ store }) => {
      const [ann, bob] = await annAndBob(store);
      for (const each of ['b.example.org', 'a.example.org', 'b-a.example.org'])
        await domainOf(store, ann, each);
      await domainOf(store, bob, 'a.example.org');
      const names = async (id: AccountId) => (await store.listDomains(id)).map((each) => each.name);
      assert.deepEqual(await names(ann), ['a.example.org', 'b-a.example.org', 'b.example.org']);
      assert.equal(await store.removeDomain(ann, 'c.example.org'), false);
      assert.equal(await store.removeDomain(bob, 'b.example.org'), false);
      assert.equal(await store.removeDomain(ann, 'a.example.org'), true);
      assert.equal(await store.removeDomain(ann, 'a.example.org'), false);
      assert.deepEqual(await names(ann), ['b-a.example.org', 'b.example.org']);
      assert.deepEqual(await names(bob), ['a.example.org']);
    },
  ),
];

const verificationChecks: readonly ConformanceCheck[] = [
  check('P20', 'of many accounts that verify one name at once exactly one has it', async ({ store }) => {
    const accounts: AccountId[] = [];
    for (let n = 0; n < 10; n += 1) accounts.push((await accountNamed(store, `${n}@example.org`)).id);
    for (const id of accounts) await domainOf(store, id, name);
    const notes = await Promise.all(accounts.map((id) => store.noteDomainCheck(id, name, verified)));
    const winners = accounts.filter((_, n) => typeof notes[n] === 'object');
    assert.deepEqual([winners.length, countOf(notes, 'taken')], [1, 9]);
    assert.equal(await ownerOf(store), winners[0]);
    const states = await Promise.all(accounts.map(async (id) => (await store.findDomain(id, name))?.state));
    assert.equal(countOf(states, 'verified'), 1);
  }),

  check(
    'P20',
    'of many accounts that the operator gives one name at once exactly one gets it',
    async ({ store }) => {
      const [ann, bob] = await annAndBob(store);
      const word = { state: 'verified', challenge: null } as const;
      const given = await Promise.all([ann, bob].map((id) => store.addDomain(newDomain(id, name, word), 1)));
      assert.deepEqual([countOf(given, 'added'), countOf(given, 'taken')], [1, 1]);
    },
  ),

  check(
    'P20',
    'only a verified domain is found by its name, and whoever verifies it after a loss has it',
    async ({ store }) => {
      const [ann, bob] = await annAndBob(store);
      await domainOf(store, ann, name);
      await domainOf(store, bob, name);
      for (const state of ['unverified', 'pending', 'lost'] as const) {
        await store.noteDomainCheck(ann, name, { state, finding: 'not_pointing' });
        assert.equal(await ownerOf(store), null, `${state} was found`);
      }
      await store.noteDomainCheck(ann, name, verified);
      assert.deepEqual(await store.findVerifiedDomain(name), await store.findDomain(ann, name));
      assert.equal(await ownerOf(store, 'other.example.org'), null);
      await store.noteDomainCheck(ann, name, lost);
      await store.noteDomainCheck(bob, name, verified);
      assert.equal(await store.noteDomainCheck(ann, name, verified), 'taken');
      assert.equal(await ownerOf(store), bob);
      await store.removeDomain(bob, name);
      assert.equal(await ownerOf(store), null);
    },
  ),

  check(
    'port',
    'a check is noted at store time, and changes the domain’s own time only with its state',
    async ({ store, wallClock }) => {
      const [ann, bob] = await annAndBob(store);
      await domainOf(store, ann, name);
      const told = async (): Promise<StoredDomain | null> => store.findDomain(ann, name);
      const start = store.now();
      const steps = [
        [{ state: 'pending', finding: 'not_pointing' }, 10],
        [{ state: 'pending', finding: 'dns_failed' }, 10],
        [verified, 30],
        [{ state: 'verified', finding: 'dns_failed' }, 30],
        [lost, 50],
      ] as const;
      for (const [n, [step, changedAfter]] of steps.entries()) {
        wallClock.advance(10);
        const noted = await store.noteDomainCheck(ann, name, step);
        const times = { checkedAt: start + 10 * (n + 1), updatedAt: start + changedAfter };
        assert.deepEqual(noted, { ...(await told()), ...step, ...times });
        assert.deepEqual(noted, await told());
      }
      assert.equal(await store.noteDomainCheck(bob, name, verified), null);
      assert.equal(await store.noteDomainCheck(ann, 'other.example.org', verified), null);
    },
  ),

  check('P20', 'a check that finds the name taken changes nothing', async ({ store, wallClock }) => {
    const [ann, bob] = await annAndBob(store);
    await domainOf(store, ann, name, { state: 'verified' });
    await store.noteDomainCheck(ann, name, lost);
    await domainOf(store, bob, name, { state: 'verified' });
    const before = await store.findDomain(ann, name);
    wallClock.advance(10);
    assert.equal(await store.noteDomainCheck(ann, name, verified), 'taken');
    assert.deepEqual(await store.findDomain(ann, name), before);
    assert.equal(await ownerOf(store), bob);
  }),

  check(
    'port',
    'due for a check is what was verified once and has a challenge, the longest unchecked first',
    async ({ store, wallClock }) => {
      const [ann, bob] = await annAndBob(store);
      const never = await domainOf(store, ann, 'never.example.org', { state: 'verified' });
      await domainOf(store, ann, 'word.example.org', { state: 'verified', challenge: null });
      await domainOf(store, ann, 'new.example.org');
      const [gone, late, pending] = ['gone.example.org', 'late.example.org', 'pending.example.org'];
      for (const [each, id] of [
        [gone, ann],
        [pending, ann],
        [late, bob],
      ] as const)
        await domainOf(store, id, each);
      await store.noteDomainCheck(ann, pending, { state: 'pending', finding: 'not_pointing' });
      await store.noteDomainCheck(ann, gone, lost);
      wallClock.advance(10);
      await store.noteDomainCheck(bob, late, verified);
      const due = async (before: number, limit = 10) =>
        (await store.takeDomainsToCheck(before, limit, 0)).map((each) => each.name);
      assert.deepEqual(await due(store.now() + 1), [never, gone, late]);
      assert.deepEqual(await due(store.now()), [never, gone]);
      assert.deepEqual(await due(store.now() + 1, 2), [never, gone]);
      assert.deepEqual(await store.takeDomainsToCheck(store.now() + 1, 10, 0).then((all) => all[2]), {
        ...(await store.findDomain(bob, late)),
      });
    },
  ),

  check(
    'port',
    'of many that ask at once for domains to check each domain goes to one, and to another when the lease has ended',
    async ({ store, wallClock }) => {
      const [ann] = await annAndBob(store);
      const names = ['a', 'b', 'c', 'd', 'e'].map((label) => `${label}.example.org`);
      for (const each of names) await domainOf(store, ann, each, { state: 'verified' });
      wallClock.advance(10);
      const take = async (limit: number) =>
        (await store.takeDomainsToCheck(store.now(), limit, 60)).map((each) => each.name);
      const taken = await Promise.all(Array.from({ length: 8 }, () => take(2)));
      assert.deepEqual(taken.flat().sort(), names);
      wallClock.advance(59);
      assert.deepEqual(await take(10), []);
      wallClock.advance(1);
      assert.deepEqual((await take(10)).sort(), names);
    },
  ),

  check(
    'port',
    'a domain that was taken and not checked is due again after its lease, as long unchecked as before',
    async ({ store, wallClock }) => {
      const [ann] = await annAndBob(store);
      await domainOf(store, ann, name, { state: 'verified' });
      const before = await store.findDomain(ann, name);
      wallClock.advance(10);
      const take = () => store.takeDomainsToCheck(store.now(), 10, 60);
      assert.deepEqual(await take(), [before]);
      assert.deepEqual(await store.findDomain(ann, name), before);
      wallClock.advance(60);
      assert.deepEqual(await take(), [before]);
    },
  ),

  check(
    'port',
    'a domain that was checked during its lease is due by its check alone',
    async ({ store, wallClock }) => {
      const [ann] = await annAndBob(store);
      await domainOf(store, ann, name, { state: 'verified' });
      wallClock.advance(10);
      assert.equal((await store.takeDomainsToCheck(store.now(), 10, 60)).length, 1);
      await store.noteDomainCheck(ann, name, { state: 'verified', finding: null });
      wallClock.advance(70);
      assert.deepEqual(await store.takeDomainsToCheck(store.now() - 70, 10, 60), []);
      assert.equal((await store.takeDomainsToCheck(store.now() - 69, 10, 60)).length, 1);
    },
  ),
];

const brandChecks: readonly ConformanceCheck[] = [
  check(
    'port',
    'a brand is kept as it was given, at store time, and only for its own account',
    async ({ store, wallClock }) => {
      const [ann, bob] = await annAndBob(store);
      await domainOf(store, ann, name, { state: 'verified' });
      wallClock.advance(10);
      assert.equal(await store.setDomainBrand(bob, name, fullBrand), false);
      assert.equal(await store.setDomainBrand(ann, 'other.example.org', fullBrand), false);
      assert.deepEqual((await store.findDomain(ann, name))?.brand, plainBrand);
      assert.equal(await store.setDomainBrand(ann, name, fullBrand), true);
      const { brand, updatedAt, state } = (await store.findVerifiedDomain(name)) ?? {};
      assert.deepEqual([brand, updatedAt, state], [fullBrand, store.now(), 'verified']);
      assert.deepEqual((await store.listDomains(ann))[0]?.brand, fullBrand);
      assert.equal(await store.setDomainBrand(ann, name, plainBrand), true);
      assert.deepEqual((await store.findDomain(ann, name))?.brand, plainBrand);
    },
  ),

  check(
    'port',
    'a logo is found by its file name, byte for byte, whatever its domain’s state',
    async ({ store, wallClock }) => {
      const [ann, bob] = await annAndBob(store);
      await domainOf(store, ann, name);
      const logo = newLogo(256_000);
      const wanted = structuredClone(logo);
      wallClock.advance(10);
      assert.equal(await store.setDomainLogo(bob, name, logo), false);
      assert.equal(await store.findDomainLogo(logo.name), null);
      const set = store.setDomainLogo(ann, name, logo);
      logo.bytes.fill(0);
      assert.equal(await set, true);
      assert.deepEqual(await store.findDomainLogo(wanted.name), wanted);
      const { logoName, updatedAt } = (await store.findDomain(ann, name)) ?? {};
      assert.deepEqual([logoName, updatedAt], [wanted.name, store.now()]);
      assert.equal(await store.findDomainLogo(newLogo().name), null);
    },
  ),

  check(
    'port',
    'a later logo replaces the earlier one, and one that was taken away is gone',
    async ({ store, wallClock }) => {
      const [ann] = await annAndBob(store);
      await domainOf(store, ann, name);
      const [first, second] = [newLogo(), newLogo()];
      await store.setDomainLogo(ann, name, first);
      await store.setDomainLogo(ann, name, second);
      assert.equal(await store.findDomainLogo(first.name), null);
      assert.deepEqual(await store.findDomainLogo(second.name), second);
      wallClock.advance(10);
      assert.equal(await store.setDomainLogo(ann, name, null), true);
      assert.equal(await store.findDomainLogo(second.name), null);
      const { logoName, updatedAt } = (await store.findDomain(ann, name)) ?? {};
      assert.deepEqual([logoName, updatedAt], [null, store.now()]);
    },
  ),

  check('P20', 'of two accounts with the same name, one has a logo and the other none', async ({ store }) => {
    const [ann, bob] = await annAndBob(store);
    for (const id of [ann, bob]) await domainOf(store, id, name);
    assert.equal(await store.setDomainLogo(ann, name, newLogo()), true);
    assert.equal((await store.findDomain(bob, name))?.logoName, null);
  }),

  check('port', 'a logo that two domains share stays until the last of them is gone', async ({ store }) => {
    const [ann, bob] = await annAndBob(store);
    const logo = newLogo();
    for (const [id, each] of [
      [ann, name],
      [ann, 'second.example.org'],
      [bob, name],
    ] as const) {
      await domainOf(store, id, each);
      assert.equal(await store.setDomainLogo(id, each, logo), true);
    }
    await store.setDomainLogo(ann, name, null);
    await store.removeDomain(ann, 'second.example.org');
    assert.deepEqual(await store.findDomainLogo(logo.name), logo);
    assert.equal((await store.findDomain(bob, name))?.logoName, logo.name);
    await store.removeDomain(bob, name);
    assert.equal(await store.findDomainLogo(logo.name), null);
  }),

  check('port', 'a domain that is registered again after its removal is a new one', async ({ store }) => {
    const [ann] = await annAndBob(store);
    await domainOf(store, ann, name, { state: 'verified' });
    await store.setDomainBrand(ann, name, fullBrand);
    await store.setDomainLogo(ann, name, newLogo());
    await store.removeDomain(ann, name);
    await domainOf(store, ann, name);
    const { state, brand, logoName, checkedAt } = (await store.findDomain(ann, name)) ?? {};
    assert.deepEqual([state, brand, logoName, checkedAt], ['unverified', plainBrand, null, null]);
  }),

  restartCheck(
    'port',
    'domains, their brands and their logos survive a restart',
    async ({ store }, reopen) => {
      const [ann] = await annAndBob(store);
      await domainOf(store, ann, name);
      const logo = newLogo();
      await store.setDomainBrand(ann, name, fullBrand);
      await store.setDomainLogo(ann, name, logo);
      const checked = await store.noteDomainCheck(ann, name, verified);
      const again = await reopen();
      assert.deepEqual(await again.findVerifiedDomain(name), checked);
      assert.deepEqual(await again.findDomainLogo(logo.name), logo);
    },
  ),
];

export const domainChecks: readonly ConformanceCheck[] = [
  ...registrationChecks,
  ...verificationChecks,
  ...brandChecks,
];
