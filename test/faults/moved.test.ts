/**
 * A running server whose database file is moved or removed by another program.
 */
import { describe, expect, it } from 'bun:test';
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type RawRequest, requestBytes, sendOnce } from '../support/raw-client.ts';
import {
  makeDataDir,
  runProduct,
  type StartedServer,
  StartRefused,
  startServer,
} from '../support/started-server.ts';

/** More than the 20 s between sweeps, for a busy machine. */
const patienceMs = 60_000;

const ask = (server: StartedServer, request: RawRequest) => sendOnce(server.port, requestBytes(request));
const json = { 'content-type': 'application/json' };
const status = async (server: StartedServer, request: RawRequest) => (await ask(server, request)).status;
const isReady = (server: StartedServer) => status(server, { method: 'GET', path: '/readyz' });
const create: RawRequest = {
  method: 'POST',
  path: '/api/v1/share',
  headers: json,
  body: '{"secret":"a value that must not be lost"}',
};

async function createOne(server: StartedServer): Promise<{ reveal: RawRequest; look: RawRequest }> {
  const { status: code, body } = await ask(server, create);
  expect(code).toBe(200);
  const keys = JSON.parse(body) as { secret_key: string };
  return {
    reveal: { method: 'POST', path: `/api/v1/secret/${keys.secret_key}` },
    look: { method: 'GET', path: `/api/v2/secret/${keys.secret_key}/status` },
  };
}

const pollMs = 25;
const pause = () => new Promise((resume) => setTimeout(resume, pollMs));

/** Polls until `isSo`; returns whether it became so. */
async function eventually(isSo: () => Promise<boolean>): Promise<boolean> {
  const giveUpAt = performance.now() + patienceMs;
  while (performance.now() < giveUpAt) {
    if (await isSo()) return true;
    await pause();
  }
  return false;
}

describe('a server whose database file', () => {
  it('P5 P23: is moved away refuses everything once a write has noticed, and serves again when it is back', async () => {
    await using server = await startServer({ env: { MAYFLY_LOG_LEVEL: 'info' } });
    const file = join(server.dataDir, 'mayfly.db');
    const { reveal, look } = await createOne(server);
    renameSync(file, `${file}.aside`);
    expect(await eventually(async () => (await status(server, create)) === 503)).toBe(true);
    expect((await ask(server, create)).headers.get('retry-after')).toBe('2');
    for (const request of [reveal, look])
      expect([request.path, await status(server, request)]).toEqual([request.path, 503]);
    expect(await eventually(async () => (await isReady(server)) === 503)).toBe(true);
    expect(await status(server, { method: 'GET', path: '/healthz' })).toBe(200);
    renameSync(`${file}.aside`, file);
    expect(await eventually(async () => (await isReady(server)) === 200)).toBe(true);
    expect((await ask(server, reveal)).body).toContain('a value that must not be lost');
  }, 90_000);

  it('P23: is removed says so at /readyz and in its log within a sweep, though nobody writes', async () => {
    await using server = await startServer();
    const { look } = await createOne(server);
    rmSync(join(server.dataDir, 'mayfly.db'));
    expect(await eventually(async () => (await isReady(server)) === 503)).toBe(true);
    expect(await status(server, look)).toBe(503);
    expect(await status(server, create)).toBe(503);
    const hasSaid = () => `${server.stdout()}${server.stderr()}`.includes('"store_moved"');
    expect(await eventually(async () => (await isReady(server)) === 503 && hasSaid())).toBe(true);
  }, 150_000);

  it('P5: was removed is not recreated beside the log of its latest changes', async () => {
    const dataDir = await makeDataDir();
    try {
      const server = await startServer({ dataDir });
      await createOne(server);
      rmSync(join(dataDir, 'mayfly.db'));
      server.kill('SIGTERM');
      await server.exited;
      const refusal = await startServer({ dataDir }).then(
        async (again) => again[Symbol.asyncDispose](),
        (error: unknown) => error,
      );
      expect(refusal).toBeInstanceOf(StartRefused);
      expect((refusal as StartRefused).stderr).toContain('Put mayfly.db back');
      const doctor = await runProduct(['src/main.ts', 'doctor'], { MAYFLY_DATA_DIR: dataDir });
      expect(`${doctor.stdout}${doctor.stderr}`).toContain('Put mayfly.db back');
      expect(doctor.code).not.toBe(0);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  }, 60_000);
});
