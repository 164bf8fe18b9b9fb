/** Logins as processes: where a token is kept, to whom it is given, and what wins over it (P18). */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLogins } from '../../src/cli/logins.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import {
  type Credentials,
  createAccount,
  repositoryRoot,
  type StartedServer,
  startServer,
} from '../support/started-server.ts';
import { mayfly } from './command-run.ts';

/** Debian's, as scripts/system-tools.mjs installs it. */
const keyringDaemon = 'gnome-keyring-daemon';

let server: StartedServer;
let address = '';
let folder = '';
let jo: Credentials;
let tokenFile = '';
beforeAll(async () => {
  server = await startServer();
  address = `http://127.0.0.1:${server.port}`;
  folder = await mkdtemp(join(tmpdir(), 'mayfly-'));
  jo = await createAccount(server.dataDir, 'jo@example.org');
  tokenFile = join(folder, 'token');
  await writeFile(tokenFile, `${jo.token}\n`);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** A person without a keyring, who is logged in nowhere. */
async function person() {
  const config = await mkdtemp(join(folder, 'config-'));
  const env = { HOME: config, XDG_CONFIG_HOME: config };
  const path = join(config, 'mayfly', 'credentials.json');
  const login = () =>
    mayfly(['login', 'Jo@Example.org', '--token-file', tokenFile, '--server', address], env);
  return { config, env, path, login };
}

const noKeyring = {
  get: () => Promise.reject(new Error('none')),
  set: () => Promise.reject(new Error('none')),
  delete: () => Promise.reject(new Error('none')),
};

describe('a login without a keyring', () => {
  it('is kept in a file of this user alone, says so, and serves the commands without a setting', async () => {
    const { env, path, login } = await person();
    const { code, out, err } = await login();
    expect([code, out, err]).toEqual([
      0,
      '',
      `Logged in to ${address} as jo@example.org. The token is in ${path}, readable only by you.\n`,
    ]);
    expect([(await stat(path)).mode & 0o777, await readdir(join(path, '..'))]).toEqual([
      0o600,
      ['credentials.json'],
    ]);
    expect((await mayfly(['recent'], env)).code).toBe(0);
    expect(await mayfly(['whoami'], env)).toEqual({
      code: 0,
      out: 'jo@example.org\n',
      err: `At ${address}, with the token in mayfly login’s file.\n`,
    });
    expect((await mayfly(['logout'], env)).code).toBe(0);
    expect(await readFile(path, 'utf8')).not.toContain(jo.token);
    expect((await mayfly(['whoami'], env)).code).toBe(1);
  });

  it('is not made of what the server does not take', async () => {
    const { env, path } = await person();
    const wrong = await mayfly(
      ['login', 'jo@example.org', '--token-file', '-', '--server', address],
      env,
      'hunter2',
    );
    expect([wrong.code, wrong.out]).toEqual([1, '']);
    expect(wrong.err).toContain('Use an API token, not the password');
    expect(await stat(path).catch(() => null)).toBe(null);
  });

  it('is refused, and changes nothing, when others may read the file or it is no such file', async () => {
    const { env, path, login } = await person();
    await login();
    await chmod(path, 0o640);
    for (const args of [['share'], ['whoami'], ['login', 'jo@example.org', '--token-file', tokenFile]]) {
      const refused = await mayfly(args, env, 'x');
      expect([refused.code, refused.err]).toEqual([
        1,
        `Other users can read ${path}: chmod 600 it, and replace its tokens.\n`,
      ]);
    }
    await writeFile(path, '{"version":1');
    await chmod(path, 0o600);
    expect((await mayfly(['share'], env, 'x')).err).toContain('remove it, and log in again');
  });

  it('that cannot be kept says so', async () => {
    const { config, login } = await person();
    await writeFile(join(config, 'mayfly'), 'in the way');
    const { code, err } = await login();
    expect([code, err]).toEqual([
      1,
      `${join(config, 'mayfly', 'credentials.json')} cannot be written (EEXIST).\n`,
    ]);
  });

  it('loses to the settings', async () => {
    const { env, login } = await person();
    await login();
    const own = {
      ...env,
      MAYFLY_SERVER: address,
      MAYFLY_USERNAME: 'al@example.org',
      MAYFLY_TOKEN: 'f'.repeat(64),
    };
    const { code, err } = await mayfly(['whoami'], own);
    expect([code, err]).toEqual([
      1,
      `${address} does not accept al@example.org with the token in MAYFLY_TOKEN.\n`,
    ]);
  });

  it('is nothing that a user without any folder needs', async () => {
    // Without HOME the runtime would keep its cache in the working folder.
    const nowhere = { HOME: '', XDG_CONFIG_HOME: '', BUN_RUNTIME_TRANSPILER_CACHE_PATH: '0' };
    expect((await mayfly(['share', '--server', address], nowhere, 'x')).code).toBe(0);
    const login = ['login', 'jo@example.org', '--token-file', tokenFile, '--server', address];
    expect((await mayfly(login, nowhere)).err).toContain('set HOME or XDG_CONFIG_HOME');
  });
});

describe('a token', () => {
  /** A server that keeps the credentials it is given. */
  function listen() {
    const seen: (string | null)[] = [];
    const other = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch(request) {
        seen.push(request.headers.get('Authorization'));
        return Response.json({ success: false, error: 'unknown_secret', message: 'x' }, { status: 404 });
      },
    });
    return { seen, other, url: `http://127.0.0.1:${other.port}` };
  }

  it('goes to the server that it was kept for, and never to where a link or --server points', async () => {
    const { env, login } = await person();
    await login();
    const { seen, other, url } = listen();
    const key = '0123456789abcdefghijklmnopqrstu';
    for (const args of [
      ['reveal', `${url}/secret/${key}`],
      ['status', `${url}/secret/${key}`],
      ['reveal', key, '--server', url],
      ['recent', '--server', url],
    ])
      await mayfly(args, env);
    await mayfly(['recent'], { ...env, MAYFLY_SERVER: url });
    // A reveal of what is unknown asks a second time, where else it may be.
    expect(seen).toEqual(Array(7).fill(null));
    await other.stop(true);
  });

  it('is not sent on by a server that redirects the log-in', async () => {
    const { env } = await person();
    const { seen, other, url } = listen();
    const first = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () => Response.redirect(`${url}/x`, 307),
    });
    const args = [
      'login',
      'jo@example.org',
      '--token-file',
      tokenFile,
      '--server',
      `http://127.0.0.1:${first.port}`,
    ];
    const { code, err } = await mayfly(args, env);
    expect([code, err.includes('answers 307'), seen]).toEqual([1, true, []]);
    await first.stop(true);
    await other.stop(true);
  });
});

describe('the list of logins', () => {
  it('is in the folder that the system has for it', async () => {
    const config = await mkdtemp(join(folder, 'roaming-'));
    for (const [environment, platform, path] of [
      [{ APPDATA: config, HOME: '/h' }, 'win32', join(config, 'mayfly', 'credentials.json')],
      [{ HOME: config }, 'linux', join(config, '.config', 'mayfly', 'credentials.json')],
    ] as const) {
      const opened = await openLogins(environment, platform, noKeyring);
      if (opened.outcome !== 'open') throw new Error(opened.outcome);
      await opened.logins.keep('https://a.example', 'jo@example.org', new Sensitive('token'));
      expect(opened.logins.path).toBe(path);
      expect(JSON.parse(await readFile(path, 'utf8')).servers['https://a.example'].username).toBe(
        'jo@example.org',
      );
    }
  });

  it('has one for each server, the latest last, and one that the keyring lost has no token', async () => {
    const config = await mkdtemp(join(folder, 'several-'));
    const tokens = new Map<string, string>();
    const keyring = {
      get: async ({ name }: { name: string }) => tokens.get(name) ?? null,
      set: async ({ name, value }: { name: string; value: string }) => void tokens.set(name, value),
      delete: async ({ name }: { name: string }) => tokens.delete(name),
    };
    const open = async () => {
      const opened = await openLogins({ XDG_CONFIG_HOME: config }, 'linux', keyring);
      if (opened.outcome !== 'open') throw new Error(opened.outcome);
      return opened.logins;
    };
    const logins = await open();
    for (const [host, token] of [
      ['a', '1'],
      ['b', '2'],
      ['a', '3'],
    ] as const)
      await logins.keep(`https://${host}.example`, 'jo@example.org', new Sensitive(token));
    const again = await open();
    expect(again.all.map(({ server, place }) => [server, place])).toEqual([
      ['https://b.example', 'keyring'],
      ['https://a.example', 'keyring'],
    ]);
    const [b, a] = again.all;
    if (a === undefined || b === undefined) throw new Error('two logins were kept');
    expect((await again.tokenOf(a))?.expose()).toBe('3');
    expect(await readFile(again.path, 'utf8')).not.toMatch(/"token"/);
    tokens.clear();
    expect(await again.tokenOf(b)).toBe(null);
    expect(await again.remove(b)).toBe(true);
    const closed = await openLogins({ XDG_CONFIG_HOME: config }, 'linux', noKeyring);
    expect(closed.outcome === 'open' && (await closed.logins.remove(a))).toBe(false);
  });
});

describe('a login with the keyring of the desktop', () => {
  it('is kept there and nowhere else', async () => {
    const config = await mkdtemp(join(folder, 'desktop-'));
    const run = join(config, 'run');
    await mkdir(run, { mode: 0o700 });
    const script = `
      printf '\\n' | ${keyringDaemon} --unlock --components=secrets > /dev/null 2>&1
      mayfly() { "$BUN" src/main.ts "$@"; }
      mayfly login jo@example.org --token-file "$TOKEN_FILE" --server "$ADDRESS" &&
      mayfly whoami && mayfly recent && mayfly logout && ! mayfly whoami`;
    const names = {
      HOME: config,
      XDG_RUNTIME_DIR: run,
      XDG_CONFIG_HOME: config,
      XDG_DATA_HOME: join(config, 'data'),
    };
    const child = Bun.spawn(['dbus-run-session', '--', 'sh', '-c', script], {
      cwd: repositoryRoot,
      env: {
        PATH: process.env.PATH ?? '',
        ...names,
        BUN: process.execPath,
        TOKEN_FILE: tokenFile,
        ADDRESS: address,
      },
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [out, err, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    expect([code, out]).toEqual([0, 'jo@example.org\n']);
    expect(err).toContain(
      `Logged in to ${address} as jo@example.org. The token is in this system’s keyring.\n`,
    );
    expect(err).toContain(`At ${address}, with the token in this system’s keyring.\n`);
    const files = await readdir(config, { recursive: true, withFileTypes: true });
    for (const file of files.filter((each) => each.isFile()))
      expect(await readFile(join(file.parentPath, file.name), 'latin1')).not.toContain(jo.token);
  }, 60_000);
});
