import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { ServiceError } from '../../../src/core/errors.ts';
import { type Engine, openEngine } from '../../../src/store/postgres/engine.ts';
import { createRoom } from '../../../src/store/postgres/room.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres.ts';
import { createSettableClock } from '../conformance/check.ts';

let server: PostgresServer;
let engine: Engine;

const fill = `
  INSERT INTO records (secret_id, receipt_id, created_at, expires_at, receipt_expires_at, sweep_at, marks, share_domain, sealed_secret)
  SELECT uuid_send(gen_random_uuid()), uuid_send(gen_random_uuid()), 0, 1, 2, 1, 0, '',
    decode(repeat(md5(n::text), 20), 'hex') || decode(CASE WHEN n % 10 = 0 THEN repeat(md5(n::text), 200) ELSE '' END, 'hex')
  FROM generate_series(1, 20000) n`;

beforeAll(async () => {
  server = await startPostgres();
  const clock = createSettableClock();
  engine = await openEngine({ url: server.url, clock, durability: 'single' });
  await server.ask(fill);
  await server.ask('ANALYZE');
});

afterAll(async () => {
  await engine.close();
  await server[Symbol.asyncDispose]();
});

const codeOf = (asking: Promise<unknown>): Promise<unknown> =>
  asking.then(
    () => 'room',
    (error: unknown) => (error instanceof ServiceError ? error.code : error),
  );

async function fileBytes(): Promise<number> {
  const [row] = await server.ask<{ bytes: string }>("SELECT pg_total_relation_size('records') AS bytes");
  return Number(row?.bytes);
}

const stores = async (): Promise<string> => 'stored';
const isFull = (): Promise<never> => Promise.reject(new ServiceError('storage_full', 'The disk is full.'));
const isDown = (): Promise<never> => Promise.reject(new ServiceError('unavailable', 'The store is down.'));

describe('the room in PostgreSQL', () => {
  it('P21: is what the files hold, without what is free in them for reuse', async () => {
    const room = createRoom(engine, null);
    const [full, files] = [await room.usedBytes(), await fileBytes()];
    expect(full / files).toBeGreaterThan(0.7);
    expect(full / files).toBeLessThan(1.1);
    const limited = createRoom(engine, full - 1);
    expect(await codeOf(limited.assertRoom())).toBe('storage_full');
    expect(await codeOf(limited.storing(stores))).toBe('storage_full');

    await server.ask('DELETE FROM records WHERE position % 10 > 0');
    await server.ask('VACUUM (ANALYZE, TRUNCATE off) records');
    expect((await fileBytes()) / files).toBeGreaterThan(0.9);
    expect((await room.usedBytes()) / full).toBeLessThan(0.5);
    expect(await codeOf(limited.assertRoom())).toBe('room');
    expect(await limited.storing(stores)).toBe('stored');
  });

  it('P21: is measured again by puts alone, every ten seconds', async () => {
    let nowMs = 0;
    const measures: Promise<unknown>[] = [];
    const watched: Engine = {
      ...engine,
      read<Row>(...asked: Parameters<Engine['read']>): Promise<readonly Row[]> {
        const reading = engine.read<Row>(...asked);
        measures.push(reading);
        return reading;
      },
    };
    const room = createRoom(watched, 1, () => nowMs);
    expect(await codeOf(room.storing(stores))).toBe('room');
    await Promise.all(measures);
    await new Promise((resume) => setImmediate(resume));
    expect(await codeOf(room.storing(stores))).toBe('storage_full');
    nowMs = 9_999;
    await codeOf(room.storing(stores));
    expect(measures).toHaveLength(1);
    nowMs = 10_000;
    await codeOf(room.storing(stores));
    expect(measures).toHaveLength(2);
    await Promise.all(measures);
  });

  it('P23: is believed gone for a minute after the engine refused for want of it, or until something is stored', async () => {
    let nowMs = 0;
    const room = createRoom(engine, null, () => nowMs);
    expect(await codeOf(room.storing(isDown))).toBe('unavailable');
    expect(await codeOf(room.assertRoom())).toBe('room');
    expect(await codeOf(room.storing(isFull))).toBe('storage_full');
    expect(await codeOf(room.assertRoom())).toBe('storage_full');
    expect(await room.storing(stores)).toBe('stored');
    expect(await codeOf(room.assertRoom())).toBe('room');
    await codeOf(room.storing(isFull));
    nowMs = 59_999;
    expect(await codeOf(room.assertRoom())).toBe('storage_full');
    nowMs = 60_000;
    expect(await codeOf(room.assertRoom())).toBe('room');
  });
});
