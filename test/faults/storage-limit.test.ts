/**
 * A running server at its storage limit: what it answers, and what it tells the operator.
 */
import { expect, it } from 'bun:test';
import { runProduct, startServer } from '../support/started-server.ts';

it('refuses creations at MAYFLY_MAX_STORAGE with 503 and Retry-After, still reveals, and the log, /readyz, the next start and the doctor say so (P21 P23)', async () => {
  const env = { MAYFLY_MAX_STORAGE: '1MiB' };
  await using server = await startServer({ env });
  const readiness = async () => (await fetch(`http://127.0.0.1:${server.port}/readyz`)).text();
  expect(await readiness()).toBe('{"status":"ok"}');
  const api = `http://127.0.0.1:${server.port}/api/v1`;
  const share = () =>
    fetch(`${api}/share`, { method: 'POST', body: new URLSearchParams({ secret: 'x'.repeat(4_900) }) });
  const keys: string[] = [];
  let refused: Response | null = null;
  for (let tries = 0; tries < 1_000 && refused === null; tries++) {
    const answer = await share();
    if (answer.status === 200) keys.push(((await answer.json()) as { secret_key: string }).secret_key);
    else refused = answer;
  }
  expect(keys.length).toBeGreaterThan(50);
  expect(refused?.status).toBe(503);
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await refused?.json()).toEqual({
    message: expect.stringContaining('There is no room for another secret'),
  });
  expect(await readiness()).toBe('{"status":"ok","storage":"full"}');
  expect((await share()).status).toBe(503);
  for (const key of keys) {
    expect((await fetch(`${api}/secret/${key}`, { method: 'POST' })).status).toBe(200);
  }
  server.kill('SIGTERM');
  await server.exited;
  expect(server.stdout().match(/"storage_full"/g)).toHaveLength(1);
  await using next = await startServer({ env, dataDir: server.dataDir });
  expect(next.stderr()).toMatch(/^ {2}STORAGE {2}too little room: new secrets are refused/m);
  const doctor = await runProduct(['src/main.ts', 'doctor'], { ...env, MAYFLY_DATA_DIR: server.dataDir });
  expect(doctor.stdout).toMatch(/FAULT\s+storage .*new secrets are refused/);
  expect(doctor.code).toBe(1);
}, 60_000);
