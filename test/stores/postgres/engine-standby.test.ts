/** Decisions over a primary and its synchronous standby, which hears nothing while a test has it frozen. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'bun:test';
import { ServiceError } from '../../../src/core/errors.ts';
import type { MachineClock } from '../../../src/core/time.ts';
import { createMachineClock } from '../../../src/ops/machine-clock.ts';
import { createBatch } from '../../../src/store/postgres/batches.ts';
import { type Engine, openEngine } from '../../../src/store/postgres/engine.ts';
import { NotExecutedError } from '../../../src/store/postgres/faults.ts';
import { decision, statement } from '../../../src/store/postgres/statement.ts';
import { createServerClock } from '../../../src/store/postgres/time.ts';
import { requestWaits } from '../../../src/store/postgres/waits.ts';
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

async function open(
  url = pair.url,
  clock: MachineClock = createSettableClock(),
): Promise<Engine & AsyncDisposable> {
  const engine = await openEngine({ url, clock, durability: 'synchronous', poolSize });
  return { ...engine, [Symbol.asyncDispose]: engine.close };
}

let lastId = 0;
const addNote = decision('INSERT INTO public.notes VALUES ($3)');
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

/** Freezes the standby right after the time was kept, so that the next decision need not keep it first. */
async function freeze(engine: Engine): Promise<void> {
  await until('a decision', isFine(engine));
  await engine.time.keep();
  pair.freezeStandby();
}

/** Backends whose commit waits for the standby. */
const waitingPids = async (of = 'INSERT INTO public.notes') =>
  (
    await pair.primary.ask("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query ~ $1", [
      of,
    ])
  ).map(({ pid }) => pid as number);
const untilWaiting = (of?: string) =>
  until('a commit that waits', async () => (await waitingPids(of)).length > 0);

const backends = async () =>
  (await pair.primary.ask("SELECT 1 FROM pg_stat_activity WHERE application_name = 'mayfly'")).length;

describe('a decision that the standby has not confirmed', () => {
  it('is in doubt when the wait for it is cancelled, though it is visible (P2)', async () => {
    await using engine = await open();
    await freeze(engine);
    const code = codeOf(add(engine));
    await untilWaiting();
    for (const pid of await waitingPids()) await pair.primary.ask('SELECT pg_cancel_backend($1)', [pid]);
    expect(await code).toBe('unavailable');
    expect(await isNoted()).toBe(true);
  });

  it('is in doubt when the standbys’ names are emptied meanwhile, which gives no notice (P2)', async () => {
    await using engine = await open();
    await freeze(engine);
    const code = codeOf(add(engine));
    await untilWaiting();
    await pair.primary.configure({ synchronous_standby_names: "''" });
    expect(await code).toBe('unavailable');
    expect(await isNoted()).toBe(true);
    expect(await codeOf(add(engine))).toBe('unavailable');
    expect(engine.status().refusal?.message).toContain('synchronous_standby_names is empty');
    await pair.primary.configure({ synchronous_standby_names: names });
    pair.thawStandby();
    await until('a decision', isFine(engine));
  });

  it('is in doubt when the standbys’ names were empty for a moment, and are back when it looks (P2)', async () => {
    await using engine = await open();
    await freeze(engine);
    const code = codeOf(add(engine));
    await untilWaiting();
    const [waiting = 0] = await waitingPids();
    process.kill(waiting, 'SIGSTOP');
    try {
      await pair.primary.configure({ synchronous_standby_names: "''" });
      // Returns when commits wait no longer, and by then those that did are released.
      await pair.primary.ask('INSERT INTO notes VALUES (-1)');
      await pair.primary.configure({ synchronous_standby_names: names });
    } finally {
      process.kill(waiting, 'SIGCONT');
    }
    expect(await code).toBe('unavailable');
    expect(await isNoted()).toBe(true);
  });

  it('is in doubt when the connection is cut at its commit, and nobody sends it again (P2)', async () => {
    await using link = await openTcpLink(pair.primary.port);
    await using engine = await open(`postgres://mayfly@127.0.0.1:${link.port}/mayfly`);
    await freeze(engine);
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
    await freeze(engine);
    const codes = await Promise.all(Array.from({ length: 100 }, () => codeOf(add(engine))));
    expect(new Set(codes)).toEqual(new Set(['unavailable']));
    expect(await backends()).toBeLessThanOrEqual(poolSize);
    await until('the end of the waits', async () => (await waitingPids()).length === 0);
    pair.thawStandby();
    await until('a decision', isFine(engine));
    expect(await backends()).toBeLessThanOrEqual(poolSize);
  });

  it('leaves its request no time for another, which is not sent', async () => {
    await using engine = await open();
    const ask = createBatch<number, number>(engine, {
      statement: decision('INSERT INTO public.notes SELECT unnest($3::int[])'),
      kind: 'decide',
      idOf: (id) => Uint8Array.of(id),
      valuesOf: (ids) => [ids],
      answersOf: (_, ids) => ids,
    });
    await freeze(engine);
    const after = await requestWaits.during(async () => {
      expect(await codeOf(add(engine))).toBe('unavailable');
      return Promise.allSettled([add(engine), ask(-2), engine.read(statement('SELECT 1'), [])]);
    });
    for (const each of after) {
      expect(each.status).toBe('rejected');
      expect(each.status === 'rejected' && each.reason).toBeInstanceOf(NotExecutedError);
    }
    pair.thawStandby();
    await until('a decision', isFine(engine));
    expect(await pair.primary.ask('SELECT 1 FROM notes WHERE id = -2')).toEqual([]);
  });

  it('does not keep reads waiting', async () => {
    await using engine = await open();
    await freeze(engine);
    const codes = Array.from({ length: poolSize }, () => codeOf(add(engine)));
    await untilWaiting();
    expect(await engine.read(statement('SELECT 1 AS one'), [])).toEqual([{ one: 1 }]);
    expect(new Set(await Promise.all(codes))).toEqual(new Set(['unavailable']));
  });
});

describe('the proof that what was seen is durable', () => {
  it('is a confirmed decision that began later, shared by all who wait for it', async () => {
    await using engine = await open();
    await freeze(engine);
    const now = engine.time.now();
    await engine.prove(now - 60);
    const codes = Array.from({ length: 50 }, () => codeOf(engine.prove(now)));
    await untilWaiting('UPDATE mayfly_store.store_time');
    // The one that each second keeps the time may be there, too.
    expect((await waitingPids('UPDATE mayfly_store.store_time')).length).toBeLessThanOrEqual(2);
    expect(new Set(await Promise.all(codes))).toEqual(new Set(['unavailable']));
    pair.thawStandby();
    await until('the proof', () =>
      engine.prove(now).then(
        () => true,
        () => false,
      ),
    );
  });

  it('is not given by decisions that find nothing to write, which wait for nobody', async () => {
    await using engine = await open(
      pair.url,
      createServerClock(createMachineClock(), () => performance.now()),
    );
    await freeze(engine);
    const deleteNone = decision('DELETE FROM public.notes WHERE id = $3');
    // Written up to ten seconds after it says, so possibly after the standby was frozen.
    const endedAt = engine.time.now() - 9;
    await until('time to pass', async () => engine.time.now() - endedAt >= 11);
    await engine.decide(deleteNone, [0]);
    expect(await codeOf(engine.prove(endedAt))).toBe('unavailable');
  });

  it('tells what is absent only from a server that has just confirmed a decision (P5)', async () => {
    await using engine = await open();
    await freeze(engine);
    await engine.proveAbsence();
    await until('too old a confirmation', () =>
      engine.proveAbsence().then(
        () => false,
        () => true,
      ),
    );
    pair.thawStandby();
    await until('the proof', () =>
      engine.proveAbsence().then(
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
