/**
 * Writes to share domains and their logos, inside the writer's transaction.
 *
 * Owns: their statements. Invariant: who has a name verified is looked at and decided in one transaction, so two accounts
 * never have it at once, whoever writes how many (P20); the unique index of verified names stands behind that.
 */
import type { Database } from 'bun:sqlite';
import type { AccountId } from '../../core/accounts/accounts.ts';
import { plainBrand } from '../../core/share-domains/share-domains.ts';
import { type DomainRow, domainOf, selectDomains } from './domain-rows.ts';
import type { Deciding } from './protocol.ts';

const insertDomain = `
  INSERT INTO domains (name, account_id, state, challenge, created_at, updated_at, brand)
  VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6)`;

const noteCheckSql = `
  UPDATE domains SET updated_at = iif(state = ?3, updated_at, ?5), checked_at = ?5, state = ?3, finding = ?4
  WHERE name = ?1 AND account_id = ?2`;

const keepLogoSql = `
  INSERT OR REPLACE INTO domain_logos (domain, account_id, name, type, bytes) VALUES (?1, ?2, ?3, ?4, ?5)`;

type DomainWrites = Deciding<
  'addDomain' | 'noteDomainCheck' | 'setDomainBrand' | 'setDomainLogo' | 'removeDomain'
>;

export function createDomainWrites(db: Database): DomainWrites {
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
  };
}
