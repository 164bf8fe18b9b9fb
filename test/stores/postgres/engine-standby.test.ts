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
const add = (engine: Engine, askedAtMs?: number) => {
  lastId += 1;
  return engine.decide(addNote, [lastId], askedAtMs);
};
/** With a deadline far away: what it waits for may take a slow machine longer than two seconds. */
const addUnhurried = (engine: Engine) => add(engine, performance.now() + 20_000);
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

/** Empties the standbys' names, which ends the wait of a commit, and puts them back before its backend looks. */
async function emptyForAMoment(otherId: number): Promise<void> {
  const [waiting = 0] = await waitingPids();
  process.kill(waiting, 'SIGSTOP');
  try {
    await pair.primary.configure({ synchronous_standby_names: "''" });
    // Returns when commits wait no longer, and by then those that did are released.
    await pair.primary.ask('INSERT INTO notes VALUES ($1)', [otherId]);
    await pair.primary.configure({ synchronous_standby_names: names });
  } finally {
    process.kill(waiting, 'SIGCONT');
  }
}

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
    await emptyForAMoment(-1);
    expect(await code).toBe('unavailable');
    expect(await isNoted()).toBe(true);
  });

  it('P3: is done when the configuration was only loaded meanwhile, also at each of many reloads', async () => {
    await using engine = await open();
    await freeze(engine);
    const added = addUnhurried(engine);
    await untilWaiting();
    await pair.primary.configure({});
    pair.thawStandby();
    await added;
    for (let reload = 1; reload <= 10; reload += 1) {
      await pair.primary.configure({});
      await Promise.all(Array.from({ length: 20 }, () => add(engine)));
    }
  });

  it('P2: is done when the names were empty for a moment, once a later write has shown that the standby has it', async () => {
    await using engine = await open();
    await freeze(engine);
    const added = addUnhurried(engine);
    const id = lastId;
    await untilWaiting();
    await emptyForAMoment(-3);
    await untilWaiting('UPDATE mayfly_store.store_time SET seconds = seconds');
    expect(await pair.standby?.ask('SELECT 1 FROM notes WHERE id = $1', [id])).toEqual([]);
    pair.thawStandby();
    await added;
    await until('the standby', async () => {
      const rows = await pair.standby?.ask('SELECT 1 FROM notes WHERE id = $1', [id]);
      return rows?.length === 1;
    });
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

const readOne = (engine: Engine) => engine.read(statement('SELECT 1 AS one'), []);
const isTrue = (asking: Promise<unknown>) =>
  asking.then(
    () => true,
    () => false,
  );

describe('the proof that what was seen is durable', () => {
  it('is a confirmed decision that began later, shared by all who wait for it', async () => {
    await using engine = await open();
    await freeze(engine);
    const [rows, now] = [await readOne(engine), engine.time.now()];
    await engine.prove(rows, now - 60);
    const codes = Array.from({ length: 50 }, () => codeOf(engine.prove(rows, now)));
    await untilWaiting('UPDATE mayfly_store.store_time');
    // The one that each second keeps the time may be there, too.
    expect((await waitingPids('UPDATE mayfly_store.store_time')).length).toBeLessThanOrEqual(2);
    expect(new Set(await Promise.all(codes))).toEqual(new Set(['unavailable']));
    pair.thawStandby();
    await until('the proof', () => isTrue(engine.prove(rows, now)));
  });

  it('is not given by decisions that find nothing to write, which wait for nobody', async () => {
    await using engine = await open(
      pair.url,
      createServerClock(createMachineClock(), () => performance.now()),
    );
    await freeze(engine);
    const rows = await readOne(engine);
    const deleteNone = decision('DELETE FROM public.notes WHERE id = $3');
    // Written up to ten seconds after it says, so possibly after the standby was frozen.
    const endedAt = engine.time.now() - 9;
    await engine.decide(deleteNone, [0]);
    await until('time to pass', async () => engine.time.now() - endedAt >= 11);
    await codeOf(engine.decide(deleteNone, [0]));
    expect(await codeOf(engine.prove(rows, endedAt))).toBe('unavailable');
  });

  it('P5, P6: is needed for what is read, and for decisions that find nothing, but where it was given a moment ago', async () => {
    await using engine = await open();
    await freeze(engine);
    const deleteNone = decision('DELETE FROM public.notes WHERE id = $3');
    expect(await readOne(engine)).toHaveLength(1);
    expect(await engine.decide(deleteNone, [0])).toEqual([]);
    await until('too old a confirmation', async () => !(await isTrue(readOne(engine))));
    expect([await codeOf(engine.decide(deleteNone, [0])), await codeOf(readOne(engine))]).toEqual([
      'unavailable',
      'unavailable',
    ]);
    pair.thawStandby();
    await until('the proof', () => isTrue(readOne(engine)));
    expect(await engine.decide(deleteNone, [0])).toEqual([]);
  });

  it('P6: is never given by another server than the one that was read', async () => {
    await using engine = await open();
    await add(engine);
    const [rows, now] = [await readOne(engine), engine.time.now()];
    await engine.prove(rows, now - 60);
    await pair.killPrimary();
    await pair.promote();
    await pair.addStandby();
    await until('a decision', isFine(engine));
    expect([await codeOf(engine.prove(rows)), await codeOf(engine.prove({}))]).toEqual([
      'unavailable',
      'unavailable',
    ]);
    const anew = await readOne(engine);
    await engine.prove(anew, now - 60);
    await engine.prove(anew);
  });
});
