/** What the tests of failovers rely on: what a pair loses and keeps is what a real one would. */
import { describe, expect, it } from 'bun:test';
import pg from 'pg';
import { startPgbouncer } from './pgbouncer.ts';
import { startPair, startPostgres } from './postgres.ts';

async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return client;
}

const valuesIn = async (server: { ask(sql: string): Promise<{ n: number }[]> }) =>
  (await server.ask('SELECT n FROM t ORDER BY n')).map(({ n }) => n);

describe('a pair of servers', () => {
  it('lets a commit wait while the standby hears nothing, and go on after it', async () => {
    await using pair = await startPair();
    const client = await connectTo(pair.url);
    await client.query('CREATE TABLE t (n int)');
    pair.freezeStandby();
    let isDone = false;
    const waiting = client.query('INSERT INTO t VALUES (1)').then(() => {
      isDone = true;
    });
    const [row] = await untilRow(pair.primary, "wait_event = 'SyncRep'");
    expect(row).toBeDefined();
    expect([isDone, await valuesIn(pair.primary)]).toEqual([false, []]);
    pair.thawStandby();
    await waiting;
    expect(await valuesIn(pair.primary)).toEqual([1]);
    await client.end();
  }, 30_000);

  it('keeps what the standby confirmed and loses what it never heard, failover after failover', async () => {
    await using pair = await startPair();
    const first = await connectTo(pair.url);
    await first.query('CREATE TABLE t (n int)');
    await first.end();
    for (let cycle = 0; cycle < 2; cycle += 1) {
      const client = await connectTo(pair.url);
      await client.query('INSERT INTO t VALUES ($1)', [cycle]);
      pair.freezeStandby();
      const unheard = client.query('INSERT INTO t VALUES ($1)', [cycle + 100]).catch((error) => error);
      const asynchronous = await connectTo(pair.url);
      await asynchronous.query('SET synchronous_commit = local');
      await asynchronous.query('INSERT INTO t VALUES ($1)', [cycle + 200]);
      await untilRow(pair.primary, "wait_event = 'SyncRep'");
      await pair.killPrimary();
      await pair.promote();
      expect(await unheard).toBeInstanceOf(Error);
      await pair.addStandby();
    }
    expect(await valuesIn(pair.primary)).toEqual([0, 1]);
    expect(pair.former.length).toBe(2);
  }, 60_000);

  it('leaves an old primary that lives on alone with its waiting commits', async () => {
    await using pair = await startPair();
    const client = await connectTo(pair.primary.url);
    await client.query('CREATE TABLE t (n int)');
    await pair.promote();
    void client.query('INSERT INTO t VALUES (1)').catch(() => {});
    const [old] = pair.former;
    if (old === undefined) throw new Error('there is no old primary');
    await untilRow(old, "wait_event = 'SyncRep'");
    expect(await valuesIn(pair.primary)).toEqual([]);
  }, 30_000);
});

describe('pgbouncer', () => {
  it('leads the transactions of one client to several backends', async () => {
    await using server = await startPostgres();
    await using pooler = await startPgbouncer(server, 2);
    const [one, other] = [await connectTo(pooler.url), await connectTo(pooler.url)];
    const pidOf = async (client: pg.Client) =>
      (await client.query('SELECT pg_backend_pid() AS pid')).rows[0].pid;
    const before = await pidOf(one);
    await other.query('BEGIN');
    expect(await pidOf(other)).toBe(before);
    expect(await pidOf(one)).not.toBe(before);
    await Promise.all([one.end(), other.end()]);
  }, 30_000);
});

/** The backends that are so, once there is one. */
async function untilRow(
  server: { ask(sql: string): Promise<object[]> },
  condition: string,
): Promise<object[]> {
  for (let polls = 0; polls < 1_000; polls += 1) {
    const rows = await server.ask(`SELECT pid FROM pg_stat_activity WHERE ${condition}`);
    if (rows.length > 0) return rows;
    await new Promise((resume) => setTimeout(resume, 10));
  }
  return [];
}
