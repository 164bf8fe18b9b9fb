/**
 * Stores with one seeded defect each in share domains (see `defects.ts`).
 */
import type { AccountId } from '../../src/core/account.ts';
import type { DomainLogo, StoredDomain } from '../../src/core/share-domain.ts';
import type { Store } from '../../src/store/store.ts';
import type { SeededDefect } from './defects.ts';

/** Lets everything else that is ready run first. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

const lost = { state: 'lost', finding: null } as const;

/** Takes the name from its holder, as an unconditional write would: the last one wins. */
async function dispossess(store: Store, id: AccountId, name: string): Promise<void> {
  const holder = await store.findVerifiedDomain(name);
  if (holder !== null && holder.accountId !== id) await store.noteDomainCheck(holder.accountId, name, lost);
}

const ownershipDefects: readonly SeededDefect[] = [
  {
    defect: 'who has a name verified is looked at, then noted',
    caughtBy: 'of many accounts that verify one name at once exactly one has it',
    seed: (store) => ({
      ...store,
      async noteDomainCheck(id, name, check) {
        const holder = await store.findVerifiedDomain(name);
        if (check.state === 'verified' && holder !== null && holder.accountId !== id) return 'taken';
        await turn();
        if (check.state === 'verified') await dispossess(store, id, name);
        return store.noteDomainCheck(id, name, check);
      },
    }),
  },
  {
    defect: 'who has a name by the operator’s word is looked at, then written',
    caughtBy: 'of many accounts that the operator gives one name at once exactly one gets it',
    seed: (store) => ({
      ...store,
      async addDomain(domain, max) {
        if ((await store.findVerifiedDomain(domain.name)) !== null) return 'taken';
        await turn();
        await dispossess(store, domain.accountId, domain.name);
        return store.addDomain(domain, max);
      },
    }),
  },
  {
    defect: 'a registered domain works before it is verified',
    caughtBy: 'only a verified domain is found by its name, and whoever verifies it after a loss has it',
    seed(store) {
      const owners = new Map<string, AccountId>();
      return {
        ...store,
        async addDomain(domain, max) {
          owners.set(domain.name, domain.accountId);
          return store.addDomain(domain, max);
        },
        async findVerifiedDomain(name) {
          const owner = owners.get(name);
          const verified = await store.findVerifiedDomain(name);
          return verified ?? (owner === undefined ? null : store.findDomain(owner, name));
        },
      };
    },
  },
  {
    defect: 'a domain that was lost goes on working',
    caughtBy: 'only a verified domain is found by its name, and whoever verifies it after a loss has it',
    seed: (store) => ({
      ...store,
      noteDomainCheck: (id, name, check) =>
        store.noteDomainCheck(id, name, {
          ...check,
          state: check.state === 'lost' ? 'verified' : check.state,
        }),
    }),
  },
  {
    defect: 'a registration that proves nothing keeps others away',
    caughtBy: 'a name may be registered by several accounts, and by each of them once',
    seed(store) {
      const names = new Set<string>();
      return {
        ...store,
        async addDomain(domain, max) {
          if (names.has(domain.name) && (await store.findDomain(domain.accountId, domain.name)) === null)
            return 'taken';
          names.add(domain.name);
          return store.addDomain(domain, max);
        },
      };
    },
  },
  {
    defect: 'a name that is verified for somebody is given to others as well',
    caughtBy: 'a name that is verified for one account can be registered by no other until it is not',
    seed: (store) => ({
      ...store,
      async addDomain(domain, max) {
        await dispossess(store, domain.accountId, domain.name);
        return store.addDomain(domain, max);
      },
    }),
  },
  {
    defect: 'registrations are counted, then added',
    caughtBy:
      'of many registrations at once an account gets as many as it is allowed, and others’ do not count',
    seed: (store) => ({
      ...store,
      async addDomain(domain, max) {
        const { length } = await store.listDomains(domain.accountId);
        await turn();
        return length >= max ? 'too_many' : store.addDomain(domain, Number.POSITIVE_INFINITY);
      },
    }),
  },
  {
    defect: 'a check that finds the name taken is noted all the same',
    caughtBy: 'a check that finds the name taken changes nothing',
    seed: (store) => ({
      ...store,
      async noteDomainCheck(id, name, check) {
        const noted = await store.noteDomainCheck(id, name, check);
        if (noted === 'taken') await store.noteDomainCheck(id, name, { ...check, state: 'pending' });
        return noted;
      },
    }),
  },
  {
    defect: 'every check changes the domain’s own time',
    caughtBy: 'a check is noted at store time, and changes the domain’s own time only with its state',
    seed(store) {
      const told = (domain: StoredDomain) => ({ ...domain, updatedAt: domain.checkedAt ?? domain.updatedAt });
      return {
        ...store,
        async noteDomainCheck(id, name, check) {
          const noted = await store.noteDomainCheck(id, name, check);
          return noted === null || noted === 'taken' ? noted : told(noted);
        },
      };
    },
  },
  {
    defect: 'the operator’s word is checked as well',
    caughtBy: 'due for a check is what was verified once and has a challenge, the longest unchecked first',
    seed: (store) => ({
      ...store,
      addDomain: (domain, max) => store.addDomain({ ...domain, challenge: domain.challenge ?? 'none' }, max),
    }),
  },
];

const leaseDefects: readonly SeededDefect[] = [
  {
    defect: 'domains to check are looked for, then taken',
    caughtBy:
      'of many that ask at once for domains to check each domain goes to one, and to another when the lease has ended',
    seed(store) {
      let taken: string[] = [];
      return {
        ...store,
        async takeDomainsToCheck(before, limit) {
          const due = await store.takeDomainsToCheck(before, 1_000, 0);
          const free = due.filter(({ name }) => !taken.includes(name)).slice(0, limit);
          await Promise.resolve();
          taken = [...taken, ...free.map(({ name }) => name)];
          return free;
        },
      };
    },
  },
  {
    defect: 'a lease never ends',
    caughtBy:
      'of many that ask at once for domains to check each domain goes to one, and to another when the lease has ended',
    seed(store) {
      const taken = new Set<string>();
      return {
        ...store,
        async takeDomainsToCheck(before, limit, leaseSeconds) {
          const due = await store.takeDomainsToCheck(before, limit, leaseSeconds);
          const free = due.filter(({ name }) => !taken.has(name));
          for (const { name } of free) taken.add(name);
          return free;
        },
      };
    },
  },
  {
    defect: 'taking a domain to check is noted as a check',
    caughtBy:
      'a domain that was taken and not checked is due again after its lease, as long unchecked as before',
    seed: (store) => ({
      ...store,
      async takeDomainsToCheck(before, limit, leaseSeconds) {
        const taken = await store.takeDomainsToCheck(before, limit, leaseSeconds);
        for (const { accountId, name, state, finding } of taken)
          await store.noteDomainCheck(accountId, name, { state, finding });
        return taken;
      },
    }),
  },
];

/** A store that still finds every logo it was ever given. */
function rememberingLogos(store: Store): Store {
  const given = new Map<string, DomainLogo>();
  return {
    ...store,
    async setDomainLogo(id, name, logo) {
      const isSet = await store.setDomainLogo(id, name, logo);
      if (logo !== null && isSet) given.set(logo.name, logo);
      return isSet;
    },
    findDomainLogo: async (logoName) => (await store.findDomainLogo(logoName)) ?? given.get(logoName) ?? null,
  };
}

const brandDefects: readonly SeededDefect[] = [
  {
    defect: 'anybody may change a brand',
    caughtBy: 'a brand is kept as it was given, at store time, and only for its own account',
    seed: (store) => ({
      ...store,
      async setDomainBrand(_id, name, brand) {
        const holder = await store.findVerifiedDomain(name);
        return holder !== null && store.setDomainBrand(holder.accountId, name, brand);
      },
    }),
  },
  {
    defect: 'a logo that was replaced is still found',
    caughtBy: 'a later logo replaces the earlier one, and one that was taken away is gone',
    seed: rememberingLogos,
  },
  {
    defect: 'the logo of a domain that was removed is still found',
    caughtBy: 'a logo that two domains share stays until the last of them is gone',
    seed: rememberingLogos,
  },
  {
    defect: 'a logo goes with the first of the domains that share it',
    caughtBy: 'a logo that two domains share stays until the last of them is gone',
    seed(store) {
      const gone = new Set<string>();
      return {
        ...store,
        async setDomainLogo(id, name, logo) {
          const before = (await store.findDomain(id, name))?.logoName;
          if (typeof before === 'string') gone.add(before);
          return store.setDomainLogo(id, name, logo);
        },
        findDomainLogo: async (logoName) => (gone.has(logoName) ? null : store.findDomainLogo(logoName)),
      };
    },
  },
  {
    defect: 'a deletion forgets the share domains',
    caughtBy:
      'a deleted account is gone with its password, tokens, sessions, tickets, share domains and logos',
    seed(store) {
      const known = new Map<string, StoredDomain>();
      return {
        ...store,
        async deleteAccount(id) {
          for (const domain of await store.listDomains(id)) known.set(domain.name, domain);
          return store.deleteAccount(id);
        },
        findVerifiedDomain: async (name) => (await store.findVerifiedDomain(name)) ?? known.get(name) ?? null,
      };
    },
  },
  {
    defect: 'a deletion forgets the logos',
    caughtBy:
      'a deleted account is gone with its password, tokens, sessions, tickets, share domains and logos',
    seed: rememberingLogos,
  },
  {
    defect: 'a brand outlives its domain',
    caughtBy: 'a domain that is registered again after its removal is a new one',
    seed(store) {
      const brands = new Map<string, StoredDomain['brand']>();
      return {
        ...store,
        async setDomainBrand(id, name, brand) {
          brands.set(name, brand);
          return store.setDomainBrand(id, name, brand);
        },
        async findDomain(id, name) {
          const domain = await store.findDomain(id, name);
          return domain && { ...domain, brand: brands.get(name) ?? domain.brand };
        },
      };
    },
  },
];

export const domainDefects: readonly SeededDefect[] = [...ownershipDefects, ...leaseDefects, ...brandDefects];
