/**
 * A wrong wall clock, with the real process (P8). libfaketime shifts the wall clock that the process sees, controlled by a
 * file, and leaves the time since boot alone. Nothing is lost, nothing expired is released, and what should end does.
 */
import { expect, test } from 'bun:test';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { faketimeLibrary } from '../support/faketime.ts';
import { type StartedServer, startServer } from '../support/started-server.ts';

/** A few seconds, so that a secret expires during the test. */
const shortSeconds = 3;
const secretsEach = 20;
/** 60 s: longer than the time between two sweeps. */
const maxPolls = 600;
const pollMilliseconds = 100;

interface Api {
  create(fields: Record<string, string>): Promise<string>;
  /** Returns the status and the released value. */
  reveal(
    key: string,
    passphrase?: string,
  ): Promise<{ status: number; value: string | null; retryAfter: number }>;
  readyWords(): Promise<string>;
}

function apiOf({ port }: StartedServer): Api {
  const base = `http://127.0.0.1:${port}`;
  const post = (path: string, fields: Record<string, string>) =>
    fetch(base + path, { method: 'POST', body: new URLSearchParams(fields) });
  return {
    async create(fields) {
      const response = await post('/api/v1/share', fields);
      const body = (await response.json()) as { secret_key?: string };
      if (body.secret_key === undefined) throw new Error(`a create answered ${response.status}`);
      return body.secret_key;
    },
    async reveal(key, passphrase) {
      const response = await post(`/api/v1/secret/${key}`, passphrase === undefined ? {} : { passphrase });
      const { value } = (await response.json()) as { value?: string };
      const retryAfter = Number(response.headers.get('retry-after') ?? 0);
      return { status: response.status, value: value ?? null, retryAfter };
    },
    readyWords: async () => (await fetch(`${base}/readyz`)).text(),
  };
}

/** Polls until `isSo`; returns whether it became so. */
async function until(isSo: () => Promise<boolean>): Promise<boolean> {
  for (let polls = 0; polls < maxPolls; polls += 1) {
    if (await isSo()) return true;
    await new Promise((resume) => setTimeout(resume, pollMilliseconds));
  }
  return false;
}

const manySecrets = (api: Api, ttl: number) =>
  Promise.all(
    Array.from({ length: secretsEach }, (_, n) => api.create({ secret: `value ${n}`, ttl: String(ttl) })),
  );

async function valuesOf(api: Api, keys: readonly string[]): Promise<(string | null)[]> {
  return Promise.all(keys.map(async (key) => (await api.reveal(key)).value));
}

const allValues = Array.from({ length: secretsEach }, (_, n) => `value ${n}`);

/** Runs the process while its wall clock is wrong by `offset`, and after. */
async function throughTheFault(offset: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'mayfly-'));
  const [offsetFile, plansFile] = [join(folder, 'offset'), join(folder, 'plans.json')];
  await writeFile(offsetFile, '+0');
  await writeFile(plansFile, JSON.stringify({ anonymous: { ttlMinSeconds: 1 } }));
  const env = {
    LD_PRELOAD: faketimeLibrary(),
    FAKETIME_TIMESTAMP_FILE: offsetFile,
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    MAYFLY_PLANS_FILE: plansFile,
    MAYFLY_LOG_LEVEL: 'info',
  };
  try {
    await using server = await startServer({ env });
    const api = apiOf(server);
    const before = await manySecrets(api, 604_800);
    const expiring = await api.create({ secret: 'expiring', ttl: String(shortSeconds) });

    await writeFile(offsetFile, offset);
    expect(await until(async () => (await api.readyWords()).includes('"clock":"disputed"'))).toBe(true);
    const during = await manySecrets(api, 3_600);
    const short = await api.create({ secret: 'short', ttl: String(shortSeconds) });
    const guarded = await api.create({ secret: 'guarded', passphrase: 'right' });
    for (let guess = 0; guess < 5; guess += 1) await api.reveal(guarded, `wrong ${guess}`);
    const locked = await api.reveal(guarded, 'right');
    expect(locked.status).toBe(429);
    expect(await valuesOf(api, during)).toEqual(allValues);
    // A sweep has run: it is what logs this.
    expect(await until(async () => server.stdout().includes('"clock_disputed"'))).toBe(true);
    expect((await api.reveal(short)).status).toBe(404);
    expect((await api.reveal(expiring)).value).toBeNull();
    const later = await api.reveal(guarded, 'right');
    expect(later.status).toBe(429);
    expect(later.retryAfter).toBeLessThan(locked.retryAfter);

    await writeFile(offsetFile, '+0');
    expect(await until(async () => (await api.readyWords()) === '{"status":"ok"}')).toBe(true);
    expect(await valuesOf(api, before)).toEqual(allValues);
    for (const key of [expiring, short, ...before, ...during])
      expect((await api.reveal(key)).status).toBe(404);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

for (const offset of ['+30d', '-30d', '+1h']) {
  test.concurrent(
    `P8: a wall clock that is wrong by ${offset} for a while loses 0, releases 0 that have expired, and freezes nothing`,
    () => throughTheFault(offset),
    120_000,
  );
}
