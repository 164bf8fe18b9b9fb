/** Reads of one turn share a snapshot, and nothing else: what fails fails alone, and no snapshot outlives its reads. */
import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceError, StoreMovedError } from '../../core/errors.ts';
import { createReader } from './reader.ts';

let directory = '';
let writer: Database;
let connection: Database;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mayfly-'));
  const open = () => new Database(join(directory, 'test.db'));
  writer = open();
  writer.run('PRAGMA journal_mode = WAL');
  writer.run('CREATE TABLE counter (n INTEGER); INSERT INTO counter VALUES (0)');
  connection = open();
});

afterEach(() => {
  writer.close();
  connection.close();
  rmSync(directory, { recursive: true });
});

const here = () => false;
const onDisk = () => null;
/** Resolves once what can be told now has been told. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const count = () => connection.query<{ n: number }, []>('SELECT n FROM counter').get()?.n;
const raise = () => writer.run('UPDATE counter SET n = n + 1');
const fail = () => {
  throw new RangeError('the row is damaged');
};
const codesOf = async (reads: readonly Promise<unknown>[]) => {
  const ends = await Promise.allSettled(reads);
  return ends.map((end) => {
    if (end.status === 'fulfilled') return end.value;
    return end.reason instanceof ServiceError ? end.reason.code : end.reason;
  });
};

it('runs the reads of a turn on one snapshot, and those of the next on a fresh one', async () => {
  const { read } = createReader(connection, here, onDisk);
  const countAndRaise = () => {
    const n = count();
    raise();
    return n;
  };
  expect(await Promise.all([read(countAndRaise), read(countAndRaise), read(count)])).toEqual([0, 0, 0]);
  expect(await Promise.all([read(count), read(count)])).toEqual([2, 2]);
});

it('sees what was committed before it was asked', async () => {
  const { read } = createReader(connection, here, onDisk);
  const first = read(count);
  raise();
  expect(await Promise.all([first, read(count)])).toEqual([1, 1]);
});

it('P23: a read that fails is unavailable, and fails alone', async () => {
  const { read } = createReader(connection, here, onDisk);
  expect(await codesOf([read(count), read(fail), read(count)])).toEqual([0, 'unavailable', 0]);
});

it('ends the snapshot with its reads, also when one fails or ends it', async () => {
  const { read } = createReader(connection, here, onDisk);
  for (const first of [count, fail, () => void connection.run('ROLLBACK')]) {
    await codesOf([read(first), read(count)]);
    expect(connection.inTransaction).toBe(false);
  }
  expect(await read(count)).toBe(0);
});

it('P23: every read is unavailable while no snapshot can be had, and none after that', async () => {
  let isBroken = true;
  const { read } = createReader(connection, () => isBroken && fail(), onDisk);
  expect(await codesOf([read(count), read(count)])).toEqual(['unavailable', 'unavailable']);
  expect(connection.inTransaction).toBe(false);
  isBroken = false;
  expect(await codesOf([read(count)])).toEqual([0]);
});

it('reads nothing from files that were moved', async () => {
  let runs = 0;
  const { read } = createReader(connection, () => true, onDisk);
  const moved = read(() => (runs += 1));
  expect(await moved.catch((error: unknown) => error)).toBeInstanceOf(StoreMovedError);
  expect(runs).toBe(0);
});

describe('what was read but is not on the disk yet', () => {
  it('P2: is told when it is, except what a power loss cannot make untrue', async () => {
    const synced = Promise.withResolvers<void>();
    const { read, lookUp } = createReader(connection, here, () => synced.promise);
    const told: unknown[] = [];
    const tell = (what: unknown) => void told.push(what);
    const isZero = (n: unknown) => n === 0;
    const reads = [
      read(() => 'an end').then(tell),
      lookUp(new Uint8Array(1), () => 'by its key').then(tell),
      read(count, isZero).then(tell),
      lookUp(new Uint8Array(1), () => 1, isZero).then(tell),
      lookUp(new Uint8Array(1), count, isZero).then(tell),
      read(fail).catch((error: ServiceError) => tell(error.code)),
    ];
    await turn();
    expect(told).toEqual([0, 0, 'unavailable']);
    // The snapshot does not wait.
    expect(connection.inTransaction).toBe(false);
    synced.resolve();
    await Promise.all(reads);
    expect(told.slice(3)).toEqual(['an end', 'by its key', 1]);
  });

  it('P2: is asked for after others’ changes were looked for, by the reads that need it and no others', async () => {
    const steps: string[] = [];
    const step = <Result>(what: string, result: Result) => {
      steps.push(connection.inTransaction ? `${what} in the snapshot` : what);
      return result;
    };
    const { read } = createReader(
      connection,
      () => step('others', false),
      () => step('sync', null),
    );
    await Promise.all([read(count, () => true), read(fail).catch(() => {})]);
    await Promise.all([read(() => step('read', 1)), read(() => step('read', 2))]);
    const each = ['others', 'others', 'read', 'sync', 'read', 'sync'];
    expect(steps).toEqual(each.map((what) => `${what} in the snapshot`));
  });

  it('P2: is never told when the sync fails, but what needed none was', async () => {
    const { read } = createReader(connection, here, () => Promise.reject(new Error('EIO')));
    const reads = [read(count), read(count, () => true), read(count)];
    expect(await codesOf(reads)).toEqual(['unavailable', 0, 'unavailable']);
  });
});
