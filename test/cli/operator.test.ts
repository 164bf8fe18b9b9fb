/** The operators' commands, as processes on a data folder, including while a server runs on it. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { chmod, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDataDir, type StartedServer, startServer } from '../support/started-server.ts';
import { mayfly } from './command-run.ts';

let server: StartedServer;
let env: Record<string, string> = {};
beforeAll(async () => {
  server = await startServer();
  env = { MAYFLY_DATA_DIR: server.dataDir };
});
afterAll(() => server[Symbol.asyncDispose]());

function authcheck(username: string, token: string): Promise<Response> {
  const headers = { Authorization: `Basic ${btoa(`${username}:${token}`)}` };
  return fetch(`http://127.0.0.1:${server.port}/api/v1/authcheck`, { headers });
}

describe('mayfly account', () => {
  it('create prints username and token as JSON, and the token works at once on the running server', async () => {
    const { code, out, err } = await mayfly(['account', 'create', 'Jo@Example.org', '--json'], env);
    expect([code, err]).toEqual([0, '']);
    const made = JSON.parse(out);
    expect(Object.keys(made)).toEqual(['username', 'token']);
    expect(made.username).toBe('jo@example.org');
    expect(made.token).toMatch(/^[0-9a-f]{64}$/);
    expect((await authcheck(made.username, made.token)).status).toBe(200);
  });

  it('create prints nothing but the token on standard output without --json', async () => {
    const { code, out, err } = await mayfly(
      ['account', 'create', 'plain@example.org', '--plan', 'identity'],
      env,
    );
    expect(code).toBe(0);
    expect(out).toMatch(/^[0-9a-f]{64}\n$/);
    expect(err).toContain('(shown once)');
  });

  it('create refuses an address that has an account, with exit code 1', async () => {
    const again = ['account', 'create', 'JO@example.org'];
    expect(await mayfly(again, env)).toEqual({
      code: 1,
      out: '',
      err: 'The account JO@example.org exists already.\n',
    });
    const { code, out } = await mayfly([...again, '--json'], env);
    expect([code, out]).toEqual([1, '{"error":"exists"}\n']);
  });

  it('create refuses what is no address', async () => {
    const { code, out } = await mayfly(['account', 'create', 'nobody', '--json'], env);
    expect([code, out]).toEqual([1, '{"error":"invalid_email"}\n']);
  });

  it('list and plan show and change what there is', async () => {
    expect((await mayfly(['account', 'plan', 'jo@example.org', 'identity'], env)).code).toBe(0);
    const { out } = await mayfly(['account', 'list', '--json'], env);
    const listed = JSON.parse(out).map(({ username, plan }: Record<string, string>) => [username, plan]);
    expect(listed).toEqual([
      ['jo@example.org', 'identity'],
      ['plain@example.org', 'identity'],
    ]);
    expect((await mayfly(['account', 'plan', 'none@example.org', 'basic', '--json'], env)).out).toBe(
      '{"error":"no_account"}\n',
    );
  });

  it('token create, list and revoke: a revoked token stops working at once, the others go on', async () => {
    const made = await mayfly(
      ['account', 'token', 'create', 'jo@example.org', '--name', 'backups', '--expires', '30', '--json'],
      env,
    );
    const { username, token, token_id: id } = JSON.parse(made.out);
    expect((await authcheck(username, token)).status).toBe(200);
    const list = await mayfly(['account', 'token', 'list', 'jo@example.org'], env);
    expect(list.out).toContain(`${id}\tbackups\tcreated `);
    expect(list.out).not.toContain(token);
    expect((await mayfly(['account', 'token', 'revoke', 'jo@example.org', String(id)], env)).code).toBe(0);
    expect((await authcheck(username, token)).status).toBe(401);
    expect(
      (await mayfly(['account', 'token', 'revoke', 'jo@example.org', String(id), '--json'], env)).out,
    ).toBe('{"error":"no_token"}\n');
  });

  it('token create --scope makes a token that the running server limits to that scope', async () => {
    const args = ['account', 'token', 'create', 'jo@example.org', '--scope', 'read-recent', '--json'];
    const { username, token } = JSON.parse((await mayfly(args, env)).out);
    const headers = { Authorization: `Basic ${btoa(`${username}:${token}`)}` };
    const api = `http://127.0.0.1:${server.port}/api/v1`;
    expect((await fetch(`${api}/private/recent`, { headers })).status).toBe(200);
    const refused = await fetch(`${api}/generate`, { method: 'POST', headers });
    expect([refused.status, await refused.text()]).toEqual([
      403,
      '{"message":"This API token may not do that: it lacks the scope \\"create\\"."}',
    ]);
  });

  it('token create --with-token takes the existing token from standard input and lists what that one lists', async () => {
    const first = (await mayfly(['account', 'token', 'create', 'plain@example.org'], env)).out;
    const args = ['account', 'token', 'create', 'plain@example.org', '--with-token', '-', '--json'];
    const made = await mayfly(args, env, first);
    expect(JSON.parse(made.out)).toMatchObject({ can_list_earlier: true });
    const wrong = await mayfly(args, env, 'f'.repeat(64));
    expect([wrong.code, wrong.out]).toEqual([1, '{"error":"invalid_token"}\n']);
  });
});

describe('access to an account', () => {
  const email = 'access@example.org';
  const newPassword = 'nine quiet kettles ~';
  const at = (link: string) => `http://127.0.0.1:${server.port}${new URL(link).pathname}`;

  /** Sets a password as a browser does: with the page's form token, and the cookie that it is bound to. */
  async function setPassword(link: string): Promise<Response> {
    const page = await fetch(at(link));
    const token = /name="form-token" value="([0-9a-f]{32})"/.exec(await page.text())?.[1] ?? '';
    const cookie = page.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
    const body = new URLSearchParams({ 'form-token': token, password: newPassword });
    return fetch(at(link), { method: 'POST', body, headers: { cookie }, redirect: 'manual' });
  }

  it('create --link and reset print links that work once on the running server', async () => {
    const made = JSON.parse((await mayfly(['account', 'create', email, '--link', '--json'], env)).out);
    expect(made).toMatchObject({ username: email });
    const set = await setPassword(made.link);
    expect([set.status, set.headers.get('location')]).toEqual([303, '/account?done=signed-up']);
    expect((await fetch(at(made.link))).status).toBe(404);
    const reset = (await mayfly(['account', 'reset', email], env)).out.trim();
    expect((await setPassword(reset)).headers.get('location')).toBe('/account?done=reset-lost');
    expect((await fetch(at(reset))).status).toBe(404);
  });

  it('lock refuses tokens and sessions at once on the running server, and unlock takes the tokens again', async () => {
    const { token } = JSON.parse((await mayfly(['account', 'token', 'create', email, '--json'], env)).out);
    const reset = (await mayfly(['account', 'reset', email], env)).out.trim();
    const cookie = (await setPassword(reset)).headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
    const accountPage = async () => {
      const url = `http://127.0.0.1:${server.port}/account`;
      return (await fetch(url, { headers: { cookie }, redirect: 'manual' })).status;
    };
    expect([(await authcheck(email, token)).status, await accountPage()]).toEqual([200, 200]);
    expect((await mayfly(['account', 'lock', email], env)).code).toBe(0);
    expect([(await authcheck(email, token)).status, await accountPage()]).toEqual([401, 303]);
    expect((await mayfly(['account', 'reset', email, '--json'], env)).out).toBe('{"error":"locked"}\n');
    expect((await mayfly(['account', 'unlock', email], env)).code).toBe(0);
    expect([(await authcheck(email, token)).status, await accountPage()]).toEqual([200, 303]);
  });

  it('delete ends the account and what it has waiting on the running server, after a yes', async () => {
    const { token } = JSON.parse((await mayfly(['account', 'token', 'create', email, '--json'], env)).out);
    const headers = { Authorization: `Basic ${btoa(`${email}:${token}`)}` };
    const api = `http://127.0.0.1:${server.port}/api/v1`;
    const body = new URLSearchParams({ secret: 'x' });
    const made = await (await fetch(`${api}/share`, { method: 'POST', headers, body })).json();
    const unasked = await mayfly(['account', 'delete', email], env);
    expect(unasked.code).toBe(1);
    expect(unasked.err).toContain('Unread secrets: 1.');
    expect(unasked.err).toEndWith('No terminal to ask for confirmation: add --yes.\n');
    const { code, out } = await mayfly(['account', 'delete', email, '--yes', '--json'], env);
    expect([code, JSON.parse(out)]).toEqual([0, { username: email, deleted: true, burned: 1 }]);
    expect((await authcheck(email, token)).status).toBe(401);
    expect((await fetch(`${api}/secret/${made.secret_key}`, { method: 'POST' })).status).toBe(404);
  });
});

describe('mayfly domain', () => {
  it('adds, lists and removes a domain of one account', async () => {
    expect((await mayfly(['domain', 'add', 'jo@example.org', 'Secrets.example.org'], env)).code).toBe(0);
    expect((await mayfly(['domain', 'list', 'jo@example.org'], env)).out).toBe(
      'secrets.example.org\tverified\tadded by an operator\n',
    );
    const taken = await mayfly(['domain', 'add', 'plain@example.org', 'secrets.example.org', '--json'], env);
    expect([taken.code, taken.out]).toEqual([1, '{"error":"taken"}\n']);
    expect((await mayfly(['domain', 'remove', 'jo@example.org', 'secrets.example.org'], env)).code).toBe(0);
    expect((await mayfly(['domain', 'list', 'jo@example.org', '--json'], env)).out).toBe('[]\n');
  });

  it("refuses the site's own host, and asks for no plan: the operator has decided", async () => {
    const own = { ...env, MAYFLY_BASE_URL: 'https://own.example.org' };
    expect((await mayfly(['domain', 'add', 'jo@example.org', 'own.example.org', '--json'], own)).out).toBe(
      '{"error":"own_host"}\n',
    );
    await mayfly(['account', 'plan', 'jo@example.org', 'basic'], env);
    expect((await mayfly(['domain', 'add', 'jo@example.org', 'two.example.org', '--json'], env)).out).toBe(
      '{"username":"jo@example.org","domain":"two.example.org"}\n',
    );
  });
});

describe('mayfly burn-all', () => {
  it('P12: ends what waits on the running server, which then serves on', async () => {
    const api = `http://127.0.0.1:${server.port}/api/v1`;
    const share = async () => {
      const made = await fetch(`${api}/share`, {
        method: 'POST',
        body: new URLSearchParams({ secret: 'x' }),
      });
      return (await made.json()) as { secret_key: string };
    };
    const read = async (key: string) => (await fetch(`${api}/secret/${key}`, { method: 'POST' })).status;
    const made = [await share(), await share(), await share()];
    const { code, out } = await mayfly(['burn-all', '--yes', '--json'], env);
    expect([code, JSON.parse(out)]).toEqual([0, { burned: 3 }]);
    expect(await Promise.all(made.map(({ secret_key }) => read(secret_key)))).toEqual([404, 404, 404]);
    expect(await read((await share()).secret_key)).toBe(200);
  });
});

describe('mayfly keys', () => {
  it('P12: puts a new root in the place of the old one while the server runs, and every link opens', async () => {
    const api = ({ port }: StartedServer) => `http://127.0.0.1:${port}/api/v1`;
    const share = async (secret: string) => {
      const body = new URLSearchParams({ secret });
      const made = await fetch(`${api(server)}/share`, { method: 'POST', body });
      return ((await made.json()) as { secret_key: string }).secret_key;
    };
    const read = async (at: StartedServer, key: string) => {
      const answer = await fetch(`${api(at)}/secret/${key}`, { method: 'POST' });
      return ((await answer.json()) as { value?: string }).value;
    };
    const keys = async (...args: string[]) => {
      const { code, out } = await mayfly(['keys', ...args, '--json'], env);
      return [code, JSON.parse(out)];
    };
    const before = await share('before');
    expect(await keys('add')).toEqual([0, { added: 2, roots: [1, 2] }]);
    const between = await share('between');
    const [code, { root, fixed, damaged }] = await keys('rotate');
    expect([code, root, fixed, damaged]).toEqual([0, 2, 0, 0]);
    const after = await share('after');
    expect(await keys('retire', '--yes')).toEqual([0, { retired: [1], roots: [2] }]);
    const [, roots] = await keys('list');
    expect(roots).toMatchObject([{ kid: 2, current: true, in_use: true }]);
    expect([await read(server, before), await read(server, after)]).toEqual(['before', 'after']);
    // As after a restart, with the new root alone.
    await using second = await startServer({ dataDir: server.dataDir });
    expect(await read(second, between)).toBe('between');
  });
});

describe('mayfly doctor', () => {
  it('finds a healthy installation healthy', async () => {
    const { code, out } = await mayfly(['doctor', '--json'], env);
    const verdicts = JSON.parse(out).map(({ what, verdict }: Record<string, string>) => `${what} ${verdict}`);
    expect(verdicts).toContain('store ok');
    expect(verdicts).toContain('keys ok');
    expect(verdicts).toContain('mail advice');
    expect(code).toBe(0);
  });

  it('says what is wrong with settings, keys and mail, and ends with 1', async () => {
    expect((await mayfly(['doctor'], { ...env, PORT: 'x' })).out).toContain('FAULT   settings  PORT is "x"');
    const unreachable = await mayfly(['doctor'], {
      ...env,
      MAYFLY_SMTP_URL: 'smtp://user:canary@127.0.0.1:1',
    });
    expect(unreachable.code).toBe(1);
    expect(unreachable.out).toContain('127.0.0.1 does not answer on port 1');
    expect(unreachable.out + unreachable.err).not.toContain('canary');
    await chmod(join(server.dataDir, 'keys.json'), 0o644);
    expect((await mayfly(['doctor'], env)).out).toMatch(/FAULT\s+keys .*chmod 600/);
    await chmod(join(server.dataDir, 'keys.json'), 0o600);
  });

  it('finds each setting that would stop the start', async () => {
    for (const wrong of [
      { MAYFLY_DEFAULT_LOCALE: 'tlh' },
      { MAYFLY_RATE_LIMITS: '/nowhere.json' },
      { MAYFLY_BRAND_FILE: '/nowhere.json' },
      { MAYFLY_REGIONS: 'us=https://us.example.org,eu=https://eu.example.org' },
    ]) {
      const { code, out } = await mayfly(['doctor'], { ...env, ...wrong });
      expect([wrong, code]).toEqual([wrong, 1]);
      expect(out).toMatch(new RegExp(`^FAULT +settings +${Object.keys(wrong)[0]}`, 'm'));
      expect(out).toContain('ok      store');
      expect(out).not.toContain('ok      settings');
    }
  });

  it('changes nothing: a folder that is not there is not made', async () => {
    const folder = await makeDataDir();
    await rm(folder, { recursive: true });
    const { code } = await mayfly(['doctor'], { MAYFLY_DATA_DIR: folder });
    expect(code).toBe(0);
    expect(readFile(folder)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('mayfly config', () => {
  it('prints what is in effect, without secrets (P18)', async () => {
    const { code, out } = await mayfly(['config', '--json'], {
      PORT: '8080',
      MAYFLY_SMTP_URL: 'smtps://u:canary@mail.example.org',
    });
    expect(code).toBe(0);
    expect(out).not.toContain('canary');
    expect(JSON.parse(out)).toMatchObject({
      PORT: { value: '8080', given: true },
      MAYFLY_BASE_URL: { value: 'http://localhost:8080', given: false },
      MAYFLY_SMTP_URL: { value: 'set, not shown', given: true },
    });
  });

  it('ends with 2 and the words of the start where a server would not start', async () => {
    const wrong = {
      ...{ MAYFLY_BRAND_FILE: '/nowhere.json', MAYFLY_MAIL_FROM: 'a..b@example.com' },
      MAYFLY_SMTP_URL: 'smtps://user:canary100%@mail.example.com',
    };
    const { code, out, err } = await mayfly(['config'], wrong);
    expect(code).toBe(2);
    for (const name of Object.keys(wrong)) expect(err).toMatch(new RegExp(`^${name}\\b`, 'm'));
    expect(out).toContain('MAYFLY_SMTP_URL            refused\n');
    expect(out + err).not.toContain('canary');
  });
});
