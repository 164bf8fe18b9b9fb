/** Decisions over a primary and its synchronous standby, which hears nothing while a test has it frozen. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'bun:test';
import { ServiceError } from '../../../src/core/errors.ts';
import { type Engine, openEngine } from '../../../src/store/postgres/engine.ts';
import { decision, statement } from '../../../src/store/postgres/statement.ts';
import { type PostgresPair, startPair, until } from '../../support/postgres.ts';
import { openTcpLink } from '../../support/tcp-link.ts';
import { createSettableClock } from '../conformance/check.ts';

const poolSize = 5;

let pair: PostgresPair;
beforeAll(async () => {
  pair = await startPair();
  await using _ = await open();
  await pair.primary.ask('CREATE TABLE notes (id int PRIMARY KEY)');
});
afterEach(async () => {
  pair.thawStandby();
  await pair.primary.configure({ synchronous_standby_names: names });
});
afterAll(() => pair[Symbol.asyncDispose]());

const names = "'FIRST 1 (mayfly_standby)'";

async function open(url = pair.url): Promise<Engine & AsyncDisposable> {
  const engine = await openEngine({ url, clock: createSettableClock(), durability: 'synchronous', poolSize });
  return { ...engine, [Symbol.asyncDispose]: engine.close };
}

let lastId = 0;
const addNote = decision('INSERT INTO notes VALUES ($3)');
const add = (engine: Engine) => {
  lastId += 1;
  return engine.decide(addNote, [lastId]);
};
const isNoted = async () =>
  (await pair.primary.ask('SELECT 1 FROM notes WHERE id = $1', [lastId])).length === 1;

const isFine = (engine: Engine) => () =>
  add(engine).then(
    () => true,
    () => false,
  );

async function codeOf(call: Promise<unknown>): Promise<string> {
  const fault = await call.then(
    () => 'it was not rejected',
    (cause: unknown) => cause,
  );
  return fault instanceof ServiceError ? fault.code : String(fault);
}

const waitingPids = async () =>
  (await pair.primary.ask("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'")).map(
    ({ pid }) => pid as number,
  );
const untilWaiting = () => until('a commit that waits', async () => (await waitingPids()).length > 0);

const backends = async () =>
  (await pair.primary.ask("SELECT 1 FROM pg_stat_activity WHERE application_name = 'mayfly'")).length;

describe('a decision that the standby has not confirmed', () => {
  it('is in doubt when the wait for it is cancelled, though it is visible (P2)', async () => {
    await using engine = await open();
    pair.freezeStandby();
    const code = codeOf(add(engine));
    await untilWaiting();
    for (const pid of await waitingPids()) await pair.primary.ask('SELECT pg_cancel_backend($1)', [pid]);
    expect(await code).toBe('unavailable');
    expect(await isNoted()).toBe(true);
  });

  it('is in doubt when the standbys’ names are emptied meanwhile, also if they are back at once (P2)', async () => {
    await using engine = await open();
    for (const next of ['', names]) {
      pair.freezeStandby();
      const code = codeOf(add(engine));
      await untilWaiting();
      await pair.primary.configure({ synchronous_standby_names: "''" });
      if (next !== '') await pair.primary.configure({ synchronous_standby_names: next });
      expect(await code).toBe('unavailable');
      expect(await isNoted()).toBe(true);
      expect(await codeOf(add(engine))).toBe('unavailable');
      await pair.primary.configure({ synchronous_standby_names: names });
      pair.thawStandby();
      await until('a decision', isFine(engine));
    }
  });

  it('is in doubt when the connection is cut at its commit, and nobody sends it again (P2)', async () => {
    await using link = await openTcpLink(pair.primary.port);
    await using engine = await open(`postgres://mayfly@127.0.0.1:${link.port}/mayfly`);
    pair.freezeStandby();
    const code = codeOf(add(engine));
    await untilWaiting();
    link.cut();
    expect(await code).toBe('unavailable');
    expect(await isNoted()).toBe(false);
    pair.thawStandby();
    await until('the commit', isNoted);
    await until('a decision', isFine(engine));
  });

  it('leaves no backend waiting: after 100 that timed out there are as many as before', async () => {
    await using engine = await open();
    pair.freezeStandby();
    const codes = await Promise.all(Array.from({ length: 100 }, () => codeOf(add(engine))));
    expect(new Set(codes)).toEqual(new Set(['unavailable']));
    expect(await backends()).toBeLessThanOrEqual(poolSize);
    await until('the end of the waits', async () => (await waitingPids()).length === 0);
    pair.thawStandby();
    await until('a decision', isFine(engine));
    expect(await backends()).toBeLessThanOrEqual(poolSize);
  });

  it('does not keep reads waiting', async () => {
    await using engine = await open();
    pair.freezeStandby();
    const codes = Array.from({ length: poolSize }, () => codeOf(add(engine)));
    await untilWaiting();
    expect(await engine.read(statement('SELECT 1 AS one'), [])).toEqual([{ one: 1 }]);
    expect(new Set(await Promise.all(codes))).toEqual(new Set(['unavailable']));
  });
});

describe('the proof that what was seen is durable', () => {
  it('is a confirmed decision that began later, shared by all who wait for it', async () => {
    await using engine = await open();
    await add(engine);
    const now = engine.time.now();
    pair.freezeStandby();
    await engine.prove(now - 60);
    const codes = Array.from({ length: 50 }, () => codeOf(engine.prove(now)));
    await untilWaiting();
    expect(await waitingPids()).toHaveLength(1);
    expect(new Set(await Promise.all(codes))).toEqual(new Set(['unavailable']));
    pair.thawStandby();
    await until('the proof', () =>
      engine.prove(now).then(
        () => true,
        () => false,
      ),
    );
  });

  it('begins again with another server', async () => {
    await using engine = await open();
    await add(engine);
    const now = engine.time.now();
    await pair.killPrimary();
    await pair.promote();
    await pair.addStandby();
    await until('a read', () =>
      engine.read(statement('SELECT 1'), []).then(
        () => true,
        () => false,
      ),
    );
    pair.freezeStandby();
    expect(await codeOf(engine.prove(now - 60))).toBe('unavailable');
    pair.thawStandby();
    await until('a decision', isFine(engine));
    await engine.prove(now - 60);
  });
});
