import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fakeLogins, runCli as run } from '../../test/support/cli-world.ts';
import { readConfig } from '../config/read.ts';
import { Sensitive } from '../core/sensitive.ts';
import { fetchedFrom } from './client.ts';

let folder = '';
let installed = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'mayfly-'));
  installed = join(folder, 'node_modules', 'mayfly');
  mkdirSync(installed, { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true }));

const note = (text: string) => writeFileSync(join(installed, '..', '.package-lock.json'), text);
const noteAddress = (resolved: unknown) =>
  note(
    JSON.stringify({
      lockfileVersion: 3,
      packages: { 'node_modules/mayfly': { version: '0.1.0', resolved } },
    }),
  );

describe('the installation that npm fetched the command from', () => {
  it('is what the address begins with, whatever query made npm fetch it anew', async () => {
    for (const [address, server] of [
      ['https://secrets.example.org/mayfly.tgz', 'https://secrets.example.org'],
      ['https://secrets.example.org:8443/drop/mayfly.tgz', 'https://secrets.example.org:8443/drop'],
      ['http://127.0.0.1:3000/mayfly.tgz?2', 'http://127.0.0.1:3000'],
      ['https://me:password@example.org/mayfly.tgz#x', 'https://example.org'],
    ] as const) {
      noteAddress(address);
      expect(await fetchedFrom(installed)).toBe(server);
    }
  });

  it('is none for a package from elsewhere', async () => {
    for (const address of [
      'https://registry.example.org/mayfly/-/mayfly-0.1.0.tgz',
      'https://example.org/not-mayfly.tgz',
      'https://example.org/mayfly.tgz/x',
      'file:../mayfly.tgz',
      'git+ssh://git@example.org/mayfly.tgz',
      undefined,
      7,
    ]) {
      noteAddress(address);
      expect([address, await fetchedFrom(installed)]).toEqual([address, null]);
    }
  });

  it('is none where npm noted nothing, or nothing that can be read', async () => {
    for (const text of ['', 'null', '{}', '{"packages":{}}', '{"packages":{"node_modules/other":{}}}', '[']) {
      note(text);
      expect([text, await fetchedFrom(installed)]).toEqual([text, null]);
    }
    expect(await fetchedFrom(join(folder, 'elsewhere', 'mayfly'))).toBeNull();
  });
});

describe('the commands for people', () => {
  it('choose the server that is named, set, fetched from or logged in to, in this order, and a link before the last two', async () => {
    const logins = fakeLogins();
    await logins.keep('https://login.example', 'jo@example.org', new Sensitive('f'.repeat(64)));
    const key = '0123456789abcdefghijklmnopqrstu';
    const asks = async (target: string, named: boolean, set: boolean, fetched: boolean) => {
      const { requests } = await run(
        ['status', target, ...(named ? ['--server', 'https://named.example'] : [])],
        {
          readConfig: async () => readConfig(set ? { MAYFLY_SERVER: 'https://set.example' } : {}),
          fetchedFrom: async () => (fetched ? 'https://fetched.example/drop' : null),
          openLogins: async () => ({ outcome: 'open', logins }),
        },
      );
      return requests[0]?.url.replace(/\/api.*/, '');
    };
    const link = `https://linked.example/secret/${key}`;
    for (const [target, named, set, fetched, server] of [
      [key, true, true, true, 'https://named.example'],
      [key, false, true, true, 'https://set.example'],
      [key, false, false, true, 'https://fetched.example/drop'],
      [key, false, false, false, 'https://login.example'],
      [link, true, false, true, 'https://named.example'],
      [link, false, true, true, 'https://set.example'],
      [link, false, false, true, 'https://linked.example'],
    ] as const)
      expect([target, named, set, fetched, await asks(target, named, set, fetched)]).toEqual([
        target,
        named,
        set,
        fetched,
        server,
      ]);
  });
});
