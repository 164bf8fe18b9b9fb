/** The server as a process: starting, refusing to start, stopping, and what it logs meanwhile. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { chmod, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createAccount,
  freePort,
  makeDataDir,
  type StartedServer,
  startServer,
} from '../support/started-server.ts';
import { mayfly } from './command-run.ts';

describe('a start', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await makeDataDir();
    await using _first = await startServer({ dataDir: folder });
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** @param expected 2 for a wrong setting, 1 for a problem with the machine */
  async function refusal(env: Record<string, string>, expected: 1 | 2 = 1): Promise<string> {
    const port = String(await freePort());
    const { code, out, err } = await mayfly(['serve'], { PORT: port, MAYFLY_DATA_DIR: folder, ...env });
    expect([code, out]).toEqual([expected, '']);
    return err;
  }

  it('makes the key file with mode 0600 and the folder with mode 0700', async () => {
    expect((await stat(join(folder, 'keys.json'))).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o077).toBe(0);
  });

  it('P18: leaves its memory out of core files', async () => {
    await using server = await startServer();
    const filter = await readFile(`/proc/${server.pid}/coredump_filter`, 'utf8');
    expect(Number(filter)).toBe(0);
  });

  it('is refused with every wrong setting named', async () => {
    const err = await refusal({ MAYFLY_ANONYMOUS: 'maybe', MAYFLY_BASEURL: 'https://x.example' }, 2);
    expect(err).toBe(
      'MAYFLY_ANONYMOUS is "maybe": it must be "create" or "read".\n' +
        'MAYFLY_BASEURL is not a Mayfly setting. Did you mean MAYFLY_BASE_URL?\n',
    );
  });

  it('is refused with a sentence when the port is taken', async () => {
    await using other = await startServer();
    expect(await refusal({ PORT: String(other.port) })).toContain(
      `Port ${other.port} on 127.0.0.1 is in use`,
    );
  });

  it('is refused with a sentence when the host is no address of this machine, or no name at all', async () => {
    for (const HOST of ['2001:db8::1', 'a..b'])
      expect(await refusal({ HOST })).toBe(
        `Mayfly does not start. ${HOST} is not an address of this machine: choose another with HOST.\n`,
      );
  });

  it('is refused when the key file is open to others, damaged, another one or missing, and goes on once it is right (P12)', async () => {
    const path = join(folder, 'keys.json');
    const right = await readFile(path, 'utf8');
    await chmod(path, 0o644);
    expect(await refusal({})).toContain(`run chmod 600 ${path}`);
    await chmod(path, 0o600);
    await writeFile(path, right.slice(0, -20));
    expect(await refusal({})).toContain('is damaged: it must be a JSON object of version, roots. Restore it');
    const other = Buffer.alloc(32, 7).toString('base64url');
    await writeFile(path, JSON.stringify({ version: 1, roots: [{ kid: 1, key: other }] }));
    expect(await refusal({})).toContain('is not the one that this store was written with');
    await rm(path);
    expect(await refusal({})).toContain('is missing. Restore it');
    await writeFile(path, right, { mode: 0o600 });
    await using again = await startServer({ dataDir: folder });
    expect(again.port).toBeGreaterThan(0);
  });

  it('is refused with a file of limits that makes no sense, and names the file and each wrong entry', async () => {
    const path = join(folder, 'limits.json');
    const said = `MAYFLY_RATE_LIMITS (${path}):`;
    const refusalOf = async (text: string) => {
      await writeFile(path, text);
      return refusal({ MAYFLY_RATE_LIMITS: path }, 2);
    };
    expect(await refusal({ MAYFLY_RATE_LIMITS: '/nowhere.json' }, 2)).toContain(
      'MAYFLY_RATE_LIMITS names a file that cannot be read: /nowhere.json',
    );
    expect(await refusalOf('{')).toContain(`${said} it must hold a JSON object of limits.`);
    const both = await refusalOf('{"create":{"anonymous":{"limit":0}},"reveal":{}}');
    expect(both).toContain(`${said} create.anonymous.limit must be a whole number from 1 to 1000000000.\n`);
    expect(both).toContain(`${said} there is no limit "reveal" (create, manage, `);
  });

  it('is refused with languages or mail that make no sense', async () => {
    expect(await refusal({ MAYFLY_DEFAULT_LOCALE: 'tlh' }, 2)).toContain(
      'MAYFLY_DEFAULT_LOCALE names the language "tlh", which Mayfly does not have: it has en, de, ',
    );
    expect(await refusal({ MAYFLY_LOCALES: 'en,tlh' }, 2)).toContain(
      'MAYFLY_LOCALES names the language "tlh"',
    );
    const mail = await refusal({ MAYFLY_SMTP_URL: 'smtp://u:canary@mail.example.org?tls=maybe' }, 2);
    expect(mail).toContain('MAYFLY_SMTP_URL');
    expect(mail).not.toContain('canary');
  });

  it('says where it is, what it keeps where, and that kept mail holds live links', async () => {
    await using server = await startServer({ dataDir: folder });
    const words = server.stderr();
    expect(words).toContain(`is ready: http://localhost:${server.port}\n`);
    expect(words).toContain(`SQLite in ${folder}`);
    expect(words).toContain(join(folder, 'keys.json'));
    expect(words).toContain('the files contain live links');
  });
});

describe('a stop', () => {
  it('by SIGTERM, twice, or by SIGINT or SIGHUP ends with code 0 and leaves nothing half-written (P23)', async () => {
    for (const signals of [['SIGTERM', 'SIGTERM'], ['SIGINT'], ['SIGHUP']] as const) {
      await using server = await startServer();
      for (const signal of signals) server.kill(signal);
      expect(await server.exited).toEqual({ code: 0, signal: null });
      // A clean shutdown moves the log into the database.
      expect((await stat(join(server.dataDir, 'mayfly.db'))).size).toBeGreaterThan(0);
    }
  });
});

describe('a fault that nothing caught', () => {
  it('ends the process with code 1 rather than let it go on, and tells its class and not its message (P23, P18)', async () => {
    for (const kind of ['throw', 'reject']) {
      const command = ['--preload', './test/cli/late-fault.ts', 'src/main.ts', 'serve'];
      // It answers a little before its log is there to tell faults.
      const readyWords = 'is ready';
      await using server = await startServer({ command, readyWords, env: { LATE_FAULT: kind } });
      server.kill('SIGUSR2');
      expect(await server.exited).toEqual({ code: 1, signal: null });
      const fault = JSON.parse(server.stdout().trim().split('\n').at(-1) ?? '');
      expect(fault).toMatchObject({ level: 'error', event: 'fault', where: 'process', error: 'RangeError' });
      expect(server.stdout() + server.stderr()).not.toContain('canary');
    }
  });
});

describe('the internal port', () => {
  it('serves the counters, apart from the service', async () => {
    const port = await freePort();
    await using server = await startServer({ env: { MAYFLY_INTERNAL_PORT: String(port) } });
    await fetch(`http://127.0.0.1:${server.port}/api/v2/status`);
    const shown = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(shown).toContain('mayfly_requests_total{operation="v2.status",status="200"} 1');
    expect((await fetch(`http://127.0.0.1:${server.port}/metrics`)).status).toBe(404);
  });

  it('says yes to a certificate for a verified share domain, to no other, and never on the port of the service', async () => {
    const port = await freePort();
    const site = { MAYFLY_INTERNAL_PORT: String(port), MAYFLY_BASE_URL: 'https://mayfly.example.com' };
    await using server = await startServer({ env: site });
    const { username } = await createAccount(server.dataDir, 'jo@example.org');
    const ask = async (name: string, at = port) =>
      (await fetch(`http://127.0.0.1:${at}/ask?domain=${name}`)).status;
    expect(await ask('secrets.example.org')).toBe(404);
    const settings = { ...site, MAYFLY_DATA_DIR: server.dataDir };
    const domain = async (verb: string) =>
      (await mayfly(['domain', verb, username, 'secrets.example.org'], settings)).code;
    expect(await domain('add')).toBe(0);
    expect(await ask('secrets.example.org')).toBe(200);
    expect(await ask('other.example.org')).toBe(404);
    expect(await ask('mayfly.example.com')).toBe(404);
    expect(await ask('secrets.example.org', server.port)).toBe(404);
    expect(await domain('remove')).toBe(0);
    expect(await ask('secrets.example.org')).toBe(404);
  });

  it('stops the start when it is taken', async () => {
    await using other = await startServer();
    const env = {
      MAYFLY_DATA_DIR: other.dataDir,
      PORT: String(await freePort()),
      MAYFLY_INTERNAL_PORT: String(other.port),
    };
    const { code, err } = await mayfly(['serve'], env);
    expect([code, err]).toEqual([
      1,
      `Mayfly does not start. Port ${other.port} of MAYFLY_INTERNAL_PORT is in use on 127.0.0.1: stop what listens there, or choose another.\n`,
    ]);
  });
});

describe('what the server writes', () => {
  let server: StartedServer;
  const canaries: string[] = [];
  beforeAll(async () => {
    server = await startServer({ env: { MAYFLY_LOG_LEVEL: 'debug' } });
    const { username, token, basic } = await createAccount(server.dataDir, 'canary@example.org');
    const base = `http://127.0.0.1:${server.port}`;
    const headers = { Authorization: basic, 'Content-Type': 'application/json' };
    const call = (path: string, body: unknown) =>
      fetch(base + path, { method: 'POST', headers, body: JSON.stringify(body) });
    const secret = {
      secret: 'canary-value',
      passphrase: 'canary-passphrase',
      recipient: 'canary.to@example.org',
    };
    const made = await (await call('/api/v2/secret/conceal', { secret })).json();
    const secretKey: string = made.record.secret.key;
    const metadataKey: string = made.record.metadata.key;
    await call(`/api/v2/secret/${secretKey}/reveal`, { passphrase: 'canary-wrong' });
    await fetch(`${base}/api/v2/secret/${secretKey}?passphrase=canary-query`);
    await fetch(`${base}/secret/${secretKey}`);
    await fetch(`${base}/canary-path/${secretKey}?canary-query=1`);
    await call('/api/v2/secret/conceal', '{"canary-json":');
    await call(`/api/v2/private/${metadataKey}/burn`, {});
    await fetch(`${base}/api/v1/authcheck`, {
      headers: { Authorization: `Basic ${btoa('canary@example.org:canary-token')}` },
    });
    canaries.push('canary', secretKey, metadataKey, token, basic, btoa(username));
    server.kill('SIGTERM');
    await server.exited;
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it('is one JSON object a line, each with level, time and event', () => {
    const lines = server
      .stdout()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.length).toBeGreaterThan(8);
    for (const line of lines) expect(Object.keys(line).slice(0, 3)).toEqual(['level', 'time', 'event']);
    const events = lines.map(({ event }) => event);
    for (const event of [
      'started',
      'request',
      'concealed',
      'passphrase_refused',
      'burned',
      'stopping',
      'stopped',
    ]) {
      expect(events).toContain(event);
    }
    expect(lines.some(({ account }) => typeof account === 'number')).toBe(true);
  });

  it('withholds nothing that it should know: every operation, request id and account has its form', () => {
    expect(server.stdout()).not.toContain('[withheld]');
  });

  /** The canaries found in a text, plain or in one of the forms that leak unnoticed. */
  function found(text: string): string[] {
    return canaries.filter((canary) => {
      const bytes = Buffer.from(canary);
      const forms = [
        canary,
        encodeURIComponent(canary),
        bytes.toString('hex'),
        bytes.toString('base64').replace(/=+$/, ''),
      ];
      return forms.some((form) => text.includes(form));
    });
  }

  it('holds no value, passphrase, key, token, address, path or query (P18)', () => {
    expect(found(server.stdout() + server.stderr())).toEqual([]);
  });

  it('self-test: a log of the request line, plain or encoded, would be found', () => {
    const [, secretKey = ''] = canaries;
    expect(found(`{"path":"/secret/${secretKey}"}`)).toEqual([secretKey]);
    expect(found(Buffer.from(secretKey).toString('hex'))).toEqual([secretKey]);
    expect(found(`{"msg":"${encodeURIComponent('canary@example.org')}"}`)).toEqual(['canary']);
  });
});
