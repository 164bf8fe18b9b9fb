/**
 * Reads of share domains and their logos, on the event loop's own connection.
 *
 * Owns: the look-ups. Whoever has a name verified is found through an index that holds one of them at most, in one query:
 * it is asked for every request that arrives on another host than the site's.
 */
import type { Database } from 'bun:sqlite';
import type { AccountId } from '../../core/accounts/accounts.ts';
import type { DomainLogo, StoredDomain } from '../../core/share-domains/share-domains.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { type DomainRow, domainOf, selectDomains } from './domain-rows.ts';

export interface DomainReads {
  findDomain(id: AccountId, name: string): StoredDomain | null;
  listDomains(id: AccountId): StoredDomain[];
  findVerifiedDomain(name: string): StoredDomain | null;
  findDomainLogo(logoName: string): DomainLogo | null;
  listDomainsToCheck(before: UnixSeconds, limit: number): StoredDomain[];
}

/** `NULL`, never checked, comes first. */
const toCheck = `${selectDomains}
  WHERE d.challenge IS NOT NULL AND d.state IN ('verified', 'lost') AND ifnull(d.checked_at < ?1, 1)
  ORDER BY d.checked_at, d.name LIMIT ?2`;

export function createDomainReads(db: Database): DomainReads {
  const one = db.query<DomainRow, [number, string]>(
    `${selectDomains} WHERE d.account_id = ?1 AND d.name = ?2`,
  );
  const all = db.query<DomainRow, [number]>(`${selectDomains} WHERE d.account_id = ?1 ORDER BY d.name`);
  const verified = db.query<DomainRow, [string]>(
    `${selectDomains} WHERE d.name = ?1 AND d.state = 'verified'`,
  );
  const due = db.query<DomainRow, [UnixSeconds, number]>(toCheck);
  const logo = db.query<DomainLogo, [string]>(
    'SELECT name, type, bytes FROM domain_logos WHERE name = ?1 LIMIT 1',
  );
  return {
    findDomain: (id, name) => toDomain(one.get(id, name)),
    listDomains: (id) => all.all(id).map(domainOf),
    findVerifiedDomain: (name) => toDomain(verified.get(name)),
    findDomainLogo: (logoName) => logo.get(logoName),
    listDomainsToCheck: (before, limit) => due.all(before, limit).map(domainOf),
  };
}

const toDomain = (row: DomainRow | null): StoredDomain | null => (row === null ? null : domainOf(row));
