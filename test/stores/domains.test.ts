/**
 * Share domains in the embedded store: one holder of a name, even with several writers to a folder, and one look-up.
 */
import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selectDomains } from '../../src/store/sqlite/domains.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { accountNamed } from './conformance/account-fixtures.ts';
import { createSettableClock } from './conformance/check.ts';
import { domainOf, newDomain, newLogo } from './conformance/domain-fixtures.ts';
import { testBallastBytes } from './subjects.ts';

const wallClock = createSettableClock();
const verified = { state: 'verified', finding: null } as const;
const name = 'share.example.org';
let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mayfly-'));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

const open = () => openSqliteStore({ directory, clock: wallClock, ballastBytes: testBallastBytes });

/** Uses a separate connection, bound only by the schema. */
function withDatabase<Result>(body: (db: Database) => Result): Result {
  const db = new Database(join(directory, 'mayfly.db'), { readwrite: true });
  try {
    return body(db);
  } finally {
    db.close();
  }
}

describe('share domains in the embedded store', () => {
  it('P20: of checks through several openings of the folder exactly one verifies a name', async () => {
    const stores = await Promise.all([open(), open(), open()]);
    const [first] = stores;
    const ids = [];
    for (let n = 0; n < 12; n += 1) ids.push((await accountNamed(first, `${n}@example.org`)).id);
    for (const id of ids) await domainOf(first, id, name);
    const notes = await Promise.all(
      ids.map((id, n) => (stores[n % stores.length] ?? first).noteDomainCheck(id, name, verified)),
    );
    const winners = ids.filter((_, n) => typeof notes[n] === 'object');
    expect(winners).toHaveLength(1);
    for (const store of stores) {
      expect((await store.findVerifiedDomain(name))?.accountId).toBe(winners[0]);
      await store[Symbol.asyncDispose]();
    }
  });

  it('P20: the schema itself holds no name verified twice', async () => {
    await using store = await open();
    const [ann, bob] = [
      await accountNamed(store, 'ann@example.org'),
      await accountNamed(store, 'bob@example.org'),
    ];
    await domainOf(store, ann.id, name, { state: 'verified' });
    await store.addDomain(newDomain(bob.id, 'other.example.org', { state: 'verified' }), 10);
    const rename = "UPDATE domains SET name = 'share.example.org' WHERE name = 'other.example.org'";
    expect(() => withDatabase((db) => db.run(rename))).toThrow(/UNIQUE constraint failed/);
    await store.noteDomainCheck(ann.id, name, { state: 'lost', finding: 'txt_missing' });
    expect(() => withDatabase((db) => db.run(rename))).not.toThrow();
  });

  it('the verified holder of a name is found by one index search, whatever else is registered', async () => {
    await (await open())[Symbol.asyncDispose]();
    const plan = withDatabase((db) =>
      db
        .query<{ detail: string }, [string]>(
          `EXPLAIN QUERY PLAN ${selectDomains} WHERE d.name = ?1 AND d.state = 'verified'`,
        )
        .all(name)
        .map((row) => row.detail),
    );
    expect(plan[0]).toBe('SEARCH d USING INDEX domains_by_verified_name (name=?)');
    expect(plan.filter((step) => step.startsWith('SCAN'))).toEqual([]);
  });

  it('a logo goes with its domain, and with its account', async () => {
    await using store = await open();
    const { id } = await accountNamed(store, 'ann@example.org');
    const logos = () => withDatabase((db) => db.query('SELECT domain FROM domain_logos').values().flat());
    for (const each of ['a.example.org', 'b.example.org']) {
      await domainOf(store, id, each);
      await store.setDomainLogo(id, each, newLogo());
    }
    expect(logos()).toEqual(['a.example.org', 'b.example.org']);
    await store.removeDomain(id, 'a.example.org');
    expect(logos()).toEqual(['b.example.org']);
    await store.deleteAccount(id);
    expect(logos()).toEqual([]);
  });
});
