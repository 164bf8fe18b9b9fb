/**
 * Share domains in memory. Checking whether a name is taken and verifying it is one synchronous step, so two accounts
 * never hold it at once (P20).
 */
import type { AccountId } from '../../../src/core/account.ts';
import type { DomainStore } from '../../../src/core/ports/domains.ts';
import { type DomainLogo, plainBrand, type StoredDomain } from '../../../src/core/share-domain.ts';
import type { StoreTime } from '../../../src/store/store-time.ts';
import { type AccountTables, domainPlace, type OwnedDomain } from './account-tables.ts';

const copyOfLogo = (logo: DomainLogo): DomainLogo => ({ ...logo, bytes: logo.bytes.slice() });

function toDomain({ logo, leasedUntil: _leasedUntil, ...domain }: OwnedDomain): StoredDomain {
  return { ...domain, brand: { ...domain.brand }, logoName: logo?.name ?? null };
}

const byName = (a: OwnedDomain, b: OwnedDomain): number =>
  Buffer.compare(Buffer.from(a.name), Buffer.from(b.name));
const checkedAtOf = (domain: OwnedDomain): number => domain.checkedAt ?? Number.NEGATIVE_INFINITY;

export function createMemoryDomains(tables: AccountTables, time: Pick<StoreTime, 'now'>): DomainStore {
  const { domains } = tables;
  const find = (id: AccountId, name: string): OwnedDomain | null =>
    domains.get(domainPlace(id, name)) ?? null;
  const verifiedOf = (name: string): OwnedDomain | null =>
    domains.values().find((each) => each.name === name && each.state === 'verified') ?? null;
  const isTakenFrom = (id: AccountId, name: string): boolean => (verifiedOf(name)?.accountId ?? id) !== id;
  const keep = (domain: OwnedDomain): void =>
    void domains.set(domainPlace(domain.accountId, domain.name), domain);

  /** Returns whether the domain exists. */
  function change(id: AccountId, name: string, changes: Partial<OwnedDomain>): boolean {
    const domain = find(id, name);
    if (domain !== null) keep({ ...domain, ...changes, updatedAt: time.now() });
    return domain !== null;
  }

  return {
    async addDomain(domain, max) {
      const { accountId, name, createdAt: updatedAt } = domain;
      if (!tables.accounts.has(accountId)) return 'gone';
      if (find(accountId, name) !== null) return 'exists';
      if (isTakenFrom(accountId, name)) return 'taken';
      if (ownedBy(tables, accountId).length >= max) return 'too_many';
      keep({
        ...domain,
        updatedAt,
        checkedAt: null,
        finding: null,
        brand: plainBrand,
        logo: null,
        leasedUntil: 0,
      });
      return 'added';
    },
    async findDomain(id, name) {
      const domain = find(id, name);
      return domain === null ? null : toDomain(domain);
    },
    listDomains: async (id) => ownedBy(tables, id).sort(byName).map(toDomain),
    async findVerifiedDomain(name) {
      const domain = verifiedOf(name);
      return domain === null ? null : toDomain(domain);
    },
    async noteDomainCheck(id, name, { state, finding }) {
      const domain = find(id, name);
      if (domain === null) return null;
      if (state === 'verified' && isTakenFrom(id, name)) return 'taken';
      const updatedAt = state === domain.state ? domain.updatedAt : time.now();
      const checked = { ...domain, state, finding, updatedAt, checkedAt: time.now() };
      keep(checked);
      return toDomain(checked);
    },
    setDomainBrand: async (id, name, brand) => change(id, name, { brand: { ...brand } }),
    async setDomainLogo(id, name, logo) {
      return change(id, name, { logo: logo === null ? null : copyOfLogo(logo) });
    },
    async findDomainLogo(logoName) {
      const logo = domains.values().find((each) => each.logo?.name === logoName)?.logo ?? null;
      return logo === null ? null : copyOfLogo(logo);
    },
    removeDomain: async (id, name) => domains.delete(domainPlace(id, name)),
    async takeDomainsToCheck(before, limit, leaseSeconds) {
      const now = time.now();
      const isLeased = (each: OwnedDomain) =>
        now < each.leasedUntil && each.leasedUntil <= now + leaseSeconds;
      const taken = [...domains.values()]
        .filter((each) => isChecked(each) && checkedAtOf(each) < before && !isLeased(each))
        .sort((a, b) => checkedAtOf(a) - checkedAtOf(b) || byName(a, b))
        .slice(0, limit);
      for (const each of taken) keep({ ...each, leasedUntil: now + leaseSeconds });
      return taken.map(toDomain);
    },
  };
}

const ownedBy = (tables: AccountTables, id: AccountId): OwnedDomain[] =>
  [...tables.domains.values()].filter((each) => each.accountId === id);

/** Domains added by the operator need no check; those never verified are checked only when the owner asks. */
const isChecked = ({ state, challenge }: OwnedDomain): boolean =>
  challenge !== null && (state === 'verified' || state === 'lost');
