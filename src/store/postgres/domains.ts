/**
 * Share domains. A unique index over verified names ensures that at most one account has a name verified, whichever
 * nodes write (P20). It also finds the account in one look-up, which runs for every request to a host other than the
 * site's.
 */
import type { DomainStore } from '../../core/ports/domains.ts';
import { type DomainLogo, plainBrand, type StoredDomain } from '../../core/share-domain.ts';
import { type DomainRow, domainColumns, domainOf } from '../domain-rows.ts';
import { createLookUp, decided, isDone } from './batches.ts';
import type { Engine, Values } from './engine.ts';
import { recordsColumn } from './server-watch.ts';
import { copyOf, decision, nameOf, type Statement, statement } from './statement.ts';
import { leaseSeconds } from './time.ts';

const logo = 'LEFT JOIN mayfly_store.domain_logos l ON l.domain = d.name AND l.account_id = d.account_id';

const select = (condition: string): Statement =>
  statement(`SELECT ${domainColumns} FROM mayfly_store.domains d ${logo} WHERE ${condition}`);

const selectOne = select('d.account_id = $1 AND d.name = $2');
const selectOwned = select('d.account_id = $1 ORDER BY d.name');
const selectVerified = statement(`
  SELECT asked.place, ${domainColumns}, ${recordsColumn} FROM unnest($1::text[]) WITH ORDINALITY AS asked (name, place)
  LEFT JOIN mayfly_store.domains d ON d.name = asked.name AND d.state = 'verified' ${logo}`);

interface FoundRow extends Omit<DomainRow, 'name'> {
  readonly place: number;
  readonly name: string | null;
}

const selectLogo = statement(
  'SELECT name, type, bytes FROM mayfly_store.domain_logos WHERE name = $1 LIMIT 1',
);

const addDomain = decision(`
  SELECT mayfly_store.add_domain($3::bigint, $4::text, $5::text, $6::text, $7::bigint, $8::text, $9::bigint) AS outcome`);
const noteCheck = decision(`
  SELECT mayfly_store.note_domain_check($3::bigint, $4::text, $5::text, $6::text, (SELECT now FROM clock)) AS outcome`);
const ofOwner = 'name = $4 AND account_id = $3';
const setBrand = decision(
  `UPDATE mayfly_store.domains SET brand = $5, updated_at = (SELECT now FROM clock) WHERE ${ofOwner} RETURNING name`,
);
const touch = `UPDATE mayfly_store.domains SET updated_at = (SELECT now FROM clock) WHERE ${ofOwner} RETURNING name`;
const keepLogo = decision(`
  WITH owned AS (${touch}),
  kept AS (
    INSERT INTO mayfly_store.domain_logos (domain, account_id, name, type, bytes) SELECT name, $3, $5, $6, $7 FROM owned
    ON CONFLICT (domain, account_id) DO UPDATE
    SET name = excluded.name, type = excluded.type, bytes = excluded.bytes)
  SELECT name FROM owned`);
const removeLogo = decision(`
  WITH owned AS (${touch}),
  removed AS (DELETE FROM mayfly_store.domain_logos USING owned WHERE domain = owned.name AND account_id = $3)
  SELECT name FROM owned`);
const removeDomain = decision(`DELETE FROM mayfly_store.domains WHERE ${ofOwner} RETURNING name`);

/**
 * Domains that were never checked come first. A lease that ends later than even a node with a fast clock would set it
 * is ignored: it dates from before the time was set back.
 */
const takeDue = decision(`
  WITH due AS MATERIALIZED (
    SELECT name, account_id FROM mayfly_store.domains
    WHERE challenge IS NOT NULL AND state IN ('verified', 'lost') AND coalesce(checked_at < $3, true)
      AND NOT (leased_until > (SELECT now FROM clock) AND leased_until <= (SELECT now FROM clock) + $5 + ${2 * leaseSeconds})
    ORDER BY checked_at NULLS FIRST, name LIMIT $4 FOR UPDATE SKIP LOCKED),
  d AS (
    UPDATE mayfly_store.domains SET leased_until = (SELECT now FROM clock) + $5 FROM due
    WHERE domains.name = due.name AND domains.account_id = due.account_id RETURNING domains.*)
  SELECT ${domainColumns} FROM d ${logo} ORDER BY d.checked_at NULLS FIRST, d.name`);

type Added = Awaited<ReturnType<DomainStore['addDomain']>>;

export function createDomainStore(engine: Engine): DomainStore {
  const find = async (by: Statement, values: Values): Promise<StoredDomain | null> => {
    const [row] = await engine.read<DomainRow>(by, values);
    return row === undefined ? null : domainOf(row);
  };
  const findVerified = createLookUp<string | null, FoundRow, StoredDomain>(
    engine,
    selectVerified,
    ({ name, ...row }) => (name === null ? null : domainOf({ ...row, name })),
  );
  return {
    async addDomain({ accountId, name, state, challenge, createdAt }, max) {
      const values = [accountId, name, state, challenge, createdAt, JSON.stringify(plainBrand), max];
      const row = await decided<{ outcome: Added }>(
        engine,
        addDomain,
        values,
        ({ outcome }) => outcome === 'added',
      );
      return row?.outcome ?? 'gone';
    },
    findDomain: (id, name) => find(selectOne, [id, nameOf(name)]),
    listDomains: async (id) => (await engine.read<DomainRow>(selectOwned, [id])).map(domainOf),
    findVerifiedDomain: (name) => findVerified(nameOf(name)),
    async noteDomainCheck(id, name, { state, finding }) {
      const row = await decided<{ outcome: 'noted' | 'taken' | 'gone' }>(
        engine,
        noteCheck,
        [id, nameOf(name), state, finding],
        ({ outcome }) => outcome === 'noted',
      );
      if (row?.outcome === 'taken') return 'taken';
      return row?.outcome === 'noted' ? find(selectOne, [id, nameOf(name)]) : null;
    },
    setDomainBrand: (id, name, brand) => isDone(engine, setBrand, [id, nameOf(name), JSON.stringify(brand)]),
    setDomainLogo: (id, name, given) =>
      given === null
        ? isDone(engine, removeLogo, [id, nameOf(name)])
        : isDone(engine, keepLogo, [id, nameOf(name), given.name, given.type, copyOf(given.bytes)]),
    async findDomainLogo(logoName) {
      return (await engine.read<DomainLogo>(selectLogo, [nameOf(logoName)]))[0] ?? null;
    },
    removeDomain: (id, name) => isDone(engine, removeDomain, [id, nameOf(name)]),
    async takeDomainsToCheck(before, limit, seconds) {
      return (await engine.decide<DomainRow>(takeDue, [before, limit, seconds])).map(domainOf);
    },
  };
}
