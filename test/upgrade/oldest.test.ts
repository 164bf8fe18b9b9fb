/** A store of the oldest layout, as the first version with a store wrote it (README.md), under today's executable alone. */

import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, it, setDefaultTimeout } from 'bun:test';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { buildExecutable, runExecutable, serveExecutable } from '../support/executable.ts';
import { faketimeLibrary } from '../support/faketime.ts';
import { freePort } from '../support/started-server.ts';
import known from './oldest-secrets.json';

setDefaultTimeout(120_000);

/** 45 minutes after it was written: one of its secrets has expired. From an hour on the clock would have to prove itself. */
const later = {
  LD_PRELOAD: faketimeLibrary(),
  FAKETIME: '@2026-11-21 23:15:00',
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
  TZ: 'UTC',
};
const { secrets, account } = known;
const basic = `Basic ${btoa(`${account.username}:${account.token}`)}`;

let folder = '';
let executable = '';
let dataDir = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mayfly-oldest-'));
  executable = join(folder, 'mayfly');
  await buildExecutable(executable);
});
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(() => {
  dataDir = mkdtempSync(join(folder, 'data-'));
  const packed = readFileSync(join(import.meta.dir, 'oldest.db.gz'));
  writeFileSync(join(dataDir, 'mayfly.db'), gunzipSync(packed), { mode: 0o600 });
  writeFileSync(join(dataDir, 'keys.json'), readFileSync(join(import.meta.dir, 'oldest-keys.json')), {
    mode: 0o600,
  });
});

const environment = () => ({ ...later, MAYFLY_DATA_DIR: dataDir });

/** The schema of a store that nobody has open. */
function schemaOf(path: string): unknown {
  using db = new Database(path, { readonly: true });
  return db.query('PRAGMA user_version').values()[0]?.[0];
}

type Secret = { readonly secretKey: string; readonly passphrase?: string };

function apiOf(origin: string) {
  const post = async (path: string, fields: Record<string, string> = {}, headers = {}) => {
    const init = { method: 'POST', body: new URLSearchParams(fields), headers };
    const answer = await fetch(`${origin}/api/v1${path}`, init);
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  return {
    reveal: ({ secretKey, passphrase }: Secret) =>
      post(`/secret/${secretKey}`, passphrase === undefined ? {} : { passphrase }),
    receipt: async (key: string) => (await post(`/private/${key}`, {}, { authorization: basic })).body,
  };
}

describe('a store of the oldest layout', () => {
  it('P1, P5: opens: every waiting secret is there, and is read exactly once', async () => {
    expect(schemaOf(join(dataDir, 'mayfly.db'))).toBe(3);
    await using server = await serveExecutable(executable, { env: environment() });
    const api = apiOf(server.origin);
    for (const secret of [
      secrets.open,
      secrets.passphrase,
      secrets.waiting,
      secrets.viewed,
      secrets.mailed,
    ]) {
      const readers = await Promise.all(Array.from({ length: 5 }, () => api.reveal(secret)));
      const winners = readers.filter(({ status }) => status === 200);
      expect(winners.map(({ body }) => body.value)).toEqual([secret.value]);
      expect(readers.filter(({ status }) => status === 404)).toHaveLength(4);
    }
    for (const gone of [secrets.received, secrets.burned, secrets.short])
      expect((await api.reveal(gone)).status).toBe(404);
    await server.stop();
    expect(schemaOf(join(dataDir, 'mayfly.db'))).toBeGreaterThan(3);
  });

  it('has its account, and receipts that say what happened, before and after', async () => {
    await using server = await serveExecutable(executable, { env: environment() });
    const api = apiOf(server.origin);
    const stateOf = async (name: keyof typeof secrets) =>
      (await api.receipt(secrets[name].metadataKey)).state;
    expect(await stateOf('received')).toBe('received');
    expect(await stateOf('burned')).toBe('burned');
    expect(await stateOf('viewed')).toBe('viewed');
    expect(await stateOf('short')).toBe('expired');
    expect(await api.receipt(secrets.waiting.metadataKey)).toMatchObject({
      custid: account.username,
      state: 'viewed',
      ttl: 604_800,
    });
    expect(await api.receipt(secrets.mailed.metadataKey)).toMatchObject({ recipient: 'fr*****@e*****.org' });
    await api.reveal(secrets.waiting);
    expect(await stateOf('waiting')).toBe('received');
    await server.stop();
  });

  it('with a wrong passphrase loses nothing', async () => {
    await using server = await serveExecutable(executable, { env: environment() });
    const api = apiOf(server.origin);
    const wrong = await api.reveal({ ...secrets.passphrase, passphrase: 'parsley' });
    expect([wrong.status, wrong.body.value]).toEqual([404, undefined]);
    expect((await api.reveal(secrets.passphrase)).body.value).toBe(secrets.passphrase.value);
    await server.stop();
  });

  it('is backed up once it was opened, and a restore burns what waited in it', async () => {
    await using server = await serveExecutable(executable, { env: environment() });
    const [backup, restored] = [join(dataDir, 'backup.db'), join(dataDir, 'restored')];
    const env = environment();
    expect(await runExecutable(executable, ['backup', backup], { env })).toMatchObject({ code: 0 });
    await server.stop();
    const own = { ...env, MAYFLY_DATA_DIR: restored };
    expect(await runExecutable(executable, ['restore', backup, '--yes'], { env: own })).toMatchObject({
      code: 0,
    });
    mkdirSync(restored, { recursive: true });
    copyFileSync(join(dataDir, 'keys.json'), join(restored, 'keys.json'));
    await using second = await serveExecutable(executable, { env: own });
    const api = apiOf(second.origin);
    expect((await api.reveal(secrets.open)).status).toBe(404);
    expect((await api.receipt(secrets.waiting.metadataKey)).state).toBe('burned');
    await second.stop();
  });
});

describe('a store of a later layout', () => {
  it('P25: is refused with a sentence, and left as it is', async () => {
    const path = join(dataDir, 'mayfly.db');
    await using server = await serveExecutable(executable, { env: environment() });
    await server.stop();
    const own = Number(schemaOf(path));
    const db = new Database(path);
    // Not in WAL mode, so that one file holds everything.
    db.run('PRAGMA journal_mode = DELETE');
    db.run(`PRAGMA user_version = ${own + 1}`);
    db.close();
    const before = readFileSync(path);
    const refused = await runExecutable(executable, ['serve'], {
      env: { ...environment(), PORT: String(await freePort()) },
    });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`schema ${own + 1}, this one knows ${own}`);
    expect(readFileSync(path).equals(before)).toBe(true);
  });
});
