/** Share domains through two nodes on one PostgreSQL: one holder of a name, and as many domains as an account may have. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import type { AccountId } from '../../../src/core/account.ts';
import { openPostgresStore } from '../../../src/store/postgres/store.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres.ts';
import { accountNamed } from '../conformance/account-fixtures.ts';
import { domainOf, manyDomains, newDomain, newLogo } from '../conformance/domain-fixtures.ts';
import { countWhere, type Nodes, openNodes, racers } from './two-nodes.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(() => server[Symbol.asyncDispose]());

const verified = { state: 'verified', finding: null } as const;
const name = 'share.example.org';

async function annAndBob({ one }: Nodes): Promise<[ann: AccountId, bob: AccountId]> {
  const [ann, bob] = [await accountNamed(one, 'ann@example.org'), await accountNamed(one, 'bob@example.org')];
  return [ann.id, bob.id];
}

/** How many accounts have a name that one verifies while another does. */
async function holdersOf(nodes: Nodes): Promise<number> {
  const [ann, bob] = await annAndBob(nodes);
  for (const id of [ann, bob]) await domainOf(nodes.one, id, name);
  await nodes.during([["UPDATE domains SET state = 'verified' WHERE account_id = $1", [ann]]], () =>
    nodes.other.noteDomainCheck(bob, name, verified),
  );
  return countWhere(nodes, "domains WHERE state = 'verified'");
}

/** How many domains an account has that may have one and adds two at once. */
async function addedOf(nodes: Nodes): Promise<number> {
  const [ann] = await annAndBob(nodes);
  const insert = `
    INSERT INTO domains (name, account_id, state, created_at, updated_at, brand) VALUES ($1, $2, 'unverified', 0, 0, '{}')`;
  await nodes.during(
    [
      ['SELECT FROM accounts WHERE id = $1 FOR NO KEY UPDATE', [ann]],
      [insert, ['first.example.org', ann]],
    ],
    () => nodes.other.addDomain(newDomain(ann, name), 1),
  );
  return (await nodes.one.listDomains(ann)).length;
}

const filled = ['accounts', 'tokens', 'sessions', 'domains', 'domain_logos'];

/** Two thousand accounts with one of each. */
const fill = [
  "INSERT INTO accounts (username, plan, created_at) SELECT n || '@example.org', 'basic', 0 FROM generate_series(1, 2000) n",
  `INSERT INTO tokens (account_id, token_hash, name, wrapped_data_key, scopes, created_at)
   SELECT id, sha256(username::bytea), '', '', 7, 0 FROM accounts`,
  `INSERT INTO sessions (account_id, session_hash, wrapped_data_key, label, created_at, last_used_at, expires_at)
   SELECT id, sha256(username::bytea), '', '', 0, 0, 0 FROM accounts`,
  `INSERT INTO domains (name, account_id, state, challenge, created_at, updated_at, brand)
   SELECT id || '.example.org', id, 'verified', 'c', 0, 0, '{}' FROM accounts`,
  "INSERT INTO domain_logos SELECT name, account_id, account_id || '.png', 'image/png', '' FROM domains",
  ...filled.map((table) => `ANALYZE ${table}`),
];

/** How many look-ups went through a whole table. */
async function scansOf({ ask, clock, schema }: Nodes): Promise<number> {
  for (const sql of fill) await ask(sql);
  const scans = async () => {
    await ask('SELECT pg_stat_force_next_flush()');
    const tables = `pg_stat_user_tables WHERE schemaname = '${schema}' AND relname = ANY ($1)`;
    const [found] = await ask<{ n: string }>(`SELECT sum(seq_scan) AS n FROM ${tables}`, [filled]);
    return Number(found?.n);
  };
  const before = await scans();
  // What a connection counts is known when it ends.
  const node = await openPostgresStore({ url: server.url, schema, clock, durability: 'single' });
  for (let round = 0; round < 10; round += 1) {
    const ann = await node.findAccount('7@example.org');
    await node.findAccountById(ann?.id as AccountId);
    await node.findVerifiedDomain('7.example.org');
    await node.findDomain(ann?.id as AccountId, '7.example.org');
    await node.findDomainLogo('7.png');
    await node.findToken(new Uint8Array(32));
    await node.findSession(new Uint8Array(32));
  }
  await node[Symbol.asyncDispose]();
  return (await scans()) - before;
}

describe('share domains over PostgreSQL', () => {
  it('P20: of a hundred accounts that verify one name at once exactly one has it', async () => {
    await using nodes = await openNodes(server);
    const names = Array.from({ length: racers }, (_, n) => `${n}@example.org`);
    const accounts = await Promise.all(names.map((each, n) => accountNamed(nodes.node(n), each)));
    await Promise.all(accounts.map(({ id }, n) => domainOf(nodes.node(n), id, name)));
    const noted = await Promise.all(
      accounts.map(({ id }, n) => nodes.node(n).noteDomainCheck(id, name, verified)),
    );
    const winners = accounts.filter((_, n) => typeof noted[n] === 'object' && noted[n] !== null);
    expect(winners).toHaveLength(1);
    expect(noted.filter((each) => each === 'taken')).toHaveLength(racers - 1);
    for (const node of [nodes.one, nodes.other])
      expect((await node.findVerifiedDomain(name))?.accountId).toBe(winners[0]?.id as AccountId);
  });

  it('P20: a name that is being verified is given to no other account', async () => {
    await using nodes = await openNodes(server);
    expect(await holdersOf(nodes)).toBe(1);
  });

  it('the check above notices a name that only a look-up guards', async () => {
    await using nodes = await openNodes(server);
    await nodes.ask('DROP INDEX domains_by_verified_name');
    await nodes.seed(
      'note_domain_check',
      'WHERE name = of_name',
      "WHERE NOT EXISTS (SELECT FROM domains WHERE name = of_name AND state = 'verified') AND name = of_name",
    );
    expect(await holdersOf(nodes)).toBe(2);
  });

  it('of a hundred registrations at once an account gets as many as it may have', async () => {
    await using nodes = await openNodes(server);
    const [ann] = await annAndBob(nodes);
    const asked = Array.from({ length: racers }, (_, n) =>
      nodes.node(n).addDomain(newDomain(ann, `d${n}.example.org`), 3),
    );
    const outcomes = await Promise.all(asked);
    expect(outcomes.filter((each) => each === 'added')).toHaveLength(3);
    expect(outcomes.filter((each) => each === 'too_many')).toHaveLength(racers - 3);
    expect(await nodes.other.listDomains(ann)).toHaveLength(3);
  });

  it('a registration counts one that is being made', async () => {
    await using nodes = await openNodes(server);
    expect(await addedOf(nodes)).toBe(1);
  });

  it('the check above notices a count that nothing locks', async () => {
    await using nodes = await openNodes(server);
    await nodes.seed('add_domain', ' FOR NO KEY UPDATE', '');
    expect(await addedOf(nodes)).toBe(2);
  });

  it('of a hundred that ask for domains to check on two nodes each domain goes to one', async () => {
    await using nodes = await openNodes(server);
    const [ann] = await annAndBob(nodes);
    const names = Array.from({ length: 30 }, (_, n) => `d${n}.example.org`);
    for (const each of names) await domainOf(nodes.one, ann, each, { state: 'verified' });
    nodes.clock.advance(10);
    const take = (n: number) => nodes.node(n).takeDomainsToCheck(nodes.one.now(), 2, 60);
    const taken = (await Promise.all(Array.from({ length: racers }, (_, n) => take(n)))).flat();
    expect(taken.map((each) => each.name).sort()).toEqual(names.sort());
  });

  it('a domain that a node whose time is ahead has taken is given to no other, unless the time was set back', async () => {
    await using nodes = await openNodes(server);
    const [ann] = await annAndBob(nodes);
    await domainOf(nodes.one, ann, 'a.example.org', { state: 'verified' });
    nodes.clock.advance(10);
    const takenWhenLeased = async (aheadSeconds: number) => {
      const until = nodes.one.now() + 60 + aheadSeconds;
      await nodes.ask('UPDATE domains SET leased_until = $1', [until]);
      return (await nodes.one.takeDomainsToCheck(nodes.one.now(), 2, 60)).length;
    };
    expect([await takenWhenLeased(3), await takenWhenLeased(3_600)]).toEqual([0, 1]);
  });

  it('no look-up by a name, a hash or an id scans a table, whatever else is registered', async () => {
    await using nodes = await openNodes(server);
    expect(await scansOf(nodes)).toBe(0);
  });

  it('the check above notices a look-up without an index', async () => {
    await using nodes = await openNodes(server);
    await nodes.ask('DROP INDEX domain_logos_by_name');
    expect(await scansOf(nodes)).toBeGreaterThan(0);
  });

  it('P16: a logo goes with its domain, and both with their account', async () => {
    await using nodes = await openNodes(server);
    const [ann] = await annAndBob(nodes);
    for (const each of ['a.example.org', 'b.example.org']) {
      await domainOf(nodes.one, ann, each);
      await nodes.one.setDomainLogo(ann, each, newLogo());
    }
    await nodes.other.removeDomain(ann, 'a.example.org');
    expect(await countWhere(nodes, 'domain_logos')).toBe(1);
    await nodes.other.deleteAccount(ann);
    expect([await countWhere(nodes, 'domain_logos'), await countWhere(nodes, 'domains')]).toEqual([0, 0]);
    expect(await nodes.one.addDomain(newDomain(ann, name), manyDomains)).toBe('gone');
  });
});
