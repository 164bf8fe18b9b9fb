/**
 * Share domains. A name is verified for at most one account: a batch checks and decides in one transaction, however
 * many processes write (P20), and the unique index of verified names enforces it too. That index also finds the account
 * in one query, which runs on every request to a host other than the site's.
 */
import type { Database } from 'bun:sqlite';
import type { AccountId } from '../../core/account.ts';
import type { DomainStore } from '../../core/ports/domains.ts';
import { type DomainLogo, plainBrand, type StoredDomain } from '../../core/share-domain.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { type DomainRow, domainColumns, domainOf } from '../domain-rows.ts';
import type { WritesOf } from './decisions.ts';
import { type Parts, type Read, readBy } from './parts.ts';

/** The caller adds a condition on `domains d`. */
export const selectDomains = `
  SELECT ${domainColumns}
  FROM domains d LEFT JOIN domain_logos l ON l.domain = d.name AND l.account_id = d.account_id`;

export function domainReads({ db, reader }: Parts): Read<DomainStore> {
  const one = db.query<DomainRow, [number, string]>(
    `${selectDomains} WHERE d.account_id = ?1 AND d.name = ?2`,
  );
  const all = db.query<DomainRow, [number]>(`${selectDomains} WHERE d.account_id = ?1 ORDER BY d.name`);
  const verified = db.query<DomainRow, [string]>(
    `${selectDomains} WHERE d.name = ?1 AND d.state = 'verified'`,
  );
  const logo = db.query<DomainLogo, [string]>(
    'SELECT name, type, bytes FROM domain_logos WHERE name = ?1 LIMIT 1',
  );
  return readBy(reader, {
    findDomain: (id: AccountId, name: string) => toDomain(one.get(id, name)),
    listDomains: (id: AccountId) => all.all(id).map(domainOf),
    findVerifiedDomain: (name: string) => toDomain(verified.get(name)),
    findDomainLogo: (logoName: string) => logo.get(logoName),
  });
}

const toDomain = (row: DomainRow | null): StoredDomain | null => (row === null ? null : domainOf(row));

const insertDomain = `
  INSERT INTO domains (name, account_id, state, challenge, created_at, updated_at, brand)
  VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6)`;

const noteCheckSql = `
  UPDATE domains SET updated_at = iif(state = ?3, updated_at, ?5), checked_at = ?5, state = ?3, finding = ?4
  WHERE name = ?1 AND account_id = ?2`;

/**
 * Domains never checked (`NULL`) come first. A lease that would outlast a new one dates from before the time was set
 * back, and is ignored.
 */
const toCheck = `${selectDomains}
  WHERE d.challenge IS NOT NULL AND d.state IN ('verified', 'lost') AND ifnull(d.checked_at < ?1, 1)
    AND NOT (d.leased_until > ?3 AND d.leased_until <= ?3 + ?4)
  ORDER BY d.checked_at, d.name LIMIT ?2`;

const keepLogoSql = `
  INSERT OR REPLACE INTO domain_logos (domain, account_id, name, type, bytes) VALUES (?1, ?2, ?3, ?4, ?5)`;

export function createDomainWrites(db: Database): WritesOf<DomainStore> {
  const account = db.query<object, [number]>('SELECT 1 FROM accounts WHERE id = ?1');
  const owned = db.query<{ n: number }, [number]>('SELECT count(*) AS n FROM domains WHERE account_id = ?1');
  const one = db.query<DomainRow, [string, number]>(
    `${selectDomains} WHERE d.name = ?1 AND d.account_id = ?2`,
  );
  const holder = db.query<{ account_id: AccountId }, [string]>(
    "SELECT account_id FROM domains WHERE name = ?1 AND state = 'verified'",
  );
  const insert = db.query(insertDomain);
  const noteCheck = db.query(noteCheckSql);
  const setBrand = db.query(
    'UPDATE domains SET brand = ?3, updated_at = ?4 WHERE name = ?1 AND account_id = ?2',
  );
  const touch = db.query('UPDATE domains SET updated_at = ?3 WHERE name = ?1 AND account_id = ?2');
  const keepLogo = db.query(keepLogoSql);
  const removeLogo = db.query('DELETE FROM domain_logos WHERE domain = ?1 AND account_id = ?2');
  const due = db.query<DomainRow, [UnixSeconds, number, UnixSeconds, number]>(toCheck);
  const lease = db.query('UPDATE domains SET leased_until = ?3 WHERE name = ?1 AND account_id = ?2');
  const remove = db.query('DELETE FROM domains WHERE name = ?1 AND account_id = ?2');

  const isTakenFrom = (id: AccountId, name: string): boolean => (holder.get(name)?.account_id ?? id) !== id;

  return {
    addDomain(_now, { accountId, name, state, challenge, createdAt }, max) {
      if (account.get(accountId) === null) return 'gone';
      if (one.get(name, accountId) !== null) return 'exists';
      if (isTakenFrom(accountId, name)) return 'taken';
      if ((owned.get(accountId)?.n ?? 0) >= max) return 'too_many';
      insert.run(name, accountId, state, challenge, createdAt, JSON.stringify(plainBrand));
      return 'added';
    },
    noteDomainCheck(now, id, name, { state, finding }) {
      if (one.get(name, id) === null) return null;
      if (state === 'verified' && isTakenFrom(id, name)) return 'taken';
      noteCheck.run(name, id, state, finding, now);
      const row = one.get(name, id);
      return row === null ? null : domainOf(row);
    },
    setDomainBrand: (now, id, name, brand) =>
      setBrand.run(name, id, JSON.stringify(brand), now).changes === 1,
    setDomainLogo(now, id, name, logo) {
      if (touch.run(name, id, now).changes === 0) return false;
      if (logo === null) removeLogo.run(name, id);
      else keepLogo.run(name, id, logo.name, logo.type, logo.bytes);
      return true;
    },
    removeDomain: (_now, id, name) => remove.run(name, id).changes > 0,
    takeDomainsToCheck(now, before, limit, leaseSeconds) {
      const taken = due.all(before, limit, now, leaseSeconds);
      for (const { name, accountId } of taken) lease.run(name, accountId, now + leaseSeconds);
      return taken.map(domainOf);
    },
  };
}
