import { describe, expect, it } from 'bun:test';
import { createMemoryStore } from '../../test/stores/memory.ts';
import { fakeWorld, runCli as run, cliSecret as secret } from '../../test/support/cli-world.ts';
import { steadyClock } from '../../test/support/clocks.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { readConfig } from '../config/read.ts';
import { tokenScopes } from '../core/account.ts';
import { createAccount } from '../core/accounts/admin.ts';
import { parseScopes } from './accounts.ts';
import { parseTtl } from './client.ts';
import { commands, sections } from './commands.ts';
import { parseDomain } from './domains.ts';
import { runCommand } from './run.ts';
import { examplesOf, readInput, renderUsage } from './shell.ts';

describe('a command', () => {
  it('that does not exist is wrong usage, with the nearest one named', async () => {
    expect(await run(['reveel'])).toMatchObject({
      code: 2,
      out: '',
      err: 'There is no command "reveel". Did you mean "reveal"? See mayfly help.\n',
    });
    expect((await run([])).code).toBe(2);
  });

  it('that is only begun is wrong usage, with those that begin so', async () => {
    const { code, err } = await run(['account', 'token']);
    expect(code).toBe(2);
    expect(err.split('\n')[1]).toBe('  mayfly account token create EMAIL [OPTIONS]');
  });

  it('prints its help on standard output when asked, whatever else is given', async () => {
    for (const command of commands) {
      const { code, out, err } = await run([...command.path, '--help']);
      expect([command.path, code, err]).toEqual([command.path, 0, '']);
      expect(out).toStartWith(`Usage: ${renderUsage(command)}\n`);
      expect(out).toContain('\nExamples:\n  ');
    }
  });

  it('has examples that are themselves right usage', () => {
    for (const command of commands) {
      for (const example of examplesOf(command)) {
        const [, line = ''] =
          /^(?:[A-Z_]+=\S+ )*(?:source <\()?mayfly (.*?)\)?(?: [|<>#].*)?$/.exec(example) ?? [];
        const args = [...line.matchAll(/(?:'[^']*'|[^\s'])+/g)].map(([word]) => word.replaceAll("'", ''));
        expect(args.slice(0, command.path.length)).toEqual([...command.path]);
        expect(() => readInput(command, args.slice(command.path.length))).not.toThrow();
      }
    }
  });

  it('with an unknown option or a missing word is wrong usage, and does nothing', async () => {
    expect(await run(['account', 'create'])).toMatchObject({
      code: 2,
      err: 'EMAIL is missing.\nUsage: mayfly account create EMAIL [OPTIONS]\nSee mayfly account create --help.\n',
    });
    expect(await run(['account', 'create', 'jo@example.org', '--admin'])).toMatchObject({ code: 2, out: '' });
    expect((await run(['account', 'create', 'jo@example.org', '--plan', 'gold'])).err).toContain(
      'Unknown plan "gold"',
    );
  });

  it('never repeats a word too many, which may be the secret (P18)', async () => {
    const many = await run(['share', '-', secret]);
    expect(many.code).toBe(2);
    const readFile = () => Promise.reject(Object.assign(new Error(), { code: 'ENOENT' }));
    const instead = await run(['share', secret], { readFile });
    expect(instead.code).toBe(2);
    expect(instead.err).toContain('pipe it in or type it');
    expect(instead.requests).toEqual([]);
    expect(many.err + instead.err).not.toContain(secret);
  });

  it('that fails in a way nobody foresaw says so by the class of the error alone (P18)', async () => {
    const openAccounts = async () => {
      throw new RangeError(secret);
    };
    const { code, err } = await run(['account', 'list'], { openAccounts });
    expect([code, err]).toEqual([1, 'mayfly account list failed (RangeError).\n']);
  });

  it('does nothing with settings that are wrong', async () => {
    const overrides = { readConfig: async () => readConfig({ PORT: 'x' }) };
    for (const args of [['serve'], ['config'], ['account', 'list'], ['status', 'x']]) {
      const { code, out, err, requests } = await run(args, overrides);
      expect([code, out, requests]).toEqual([2, '', []]);
      expect(err).toContain('PORT is "x"');
    }
  });

  it('tells a refusal as a code with --json', async () => {
    expect(await run(['account', 'list', '--json'])).toMatchObject({
      code: 1,
      out: '{"error":"unavailable"}\n',
      err: 'No store here.\n',
    });
    expect(await run(['version', '--json'])).toMatchObject({ code: 0, out: '{"version":"1.2.3"}\n' });
  });
});

describe('--quiet', () => {
  it('keeps no words back from those who are asked, and none of an error', async () => {
    const { world, written } = fakeWorld();
    const seen: string[] = [];
    const ask = async (question: string) => {
      seen.push(written.err, question);
      return 'n';
    };
    const facts = { takenAt: 0, waiting: 1, accounts: 1 };
    const backups = { ...world.backups, preview: async () => ({ outcome: 'done', facts }) as const };
    const terminal = { ...world.terminal, isInteractive: true, ask };
    expect(await runCommand(['restore', 'x.db', '--quiet'], sections, { ...world, backups, terminal })).toBe(
      1,
    );
    expect(seen[0]).toContain('all of them are burned');
    expect(written.err).toEndWith('Nothing was changed.\n');
  });

  it('keeps the words of an error that nobody foresaw', async () => {
    const openAccounts = async () => {
      throw new RangeError(secret);
    };
    const { code, err } = await run(['account', 'list', '--quiet'], { openAccounts });
    expect([code, err]).toEqual([1, 'mayfly account list failed (RangeError).\n']);
  });
});

describe('the commands for people', () => {
  const key = '0123456789abcdefghijklmnopqrstu';
  const env = {
    MAYFLY_USERNAME: 'jo@example.org',
    MAYFLY_TOKEN: 'f'.repeat(64),
    MAYFLY_SERVER: 'https://own.example',
  };
  const overrides = { readConfig: async () => readConfig(env) };

  it('send credentials to the configured server, wherever the link leads', async () => {
    const { requests } = await run(['reveal', `https://elsewhere.example/secret/${key}`], overrides);
    expect(requests[0]?.url).toBe(`https://own.example/api/v2/secret/${key}/status`);
    expect(requests[0]?.init.headers).toMatchObject({ Authorization: expect.stringMatching(/^Basic /) });
  });

  it('follow the link when no server was chosen, and then send it no credentials (P18)', async () => {
    const { MAYFLY_SERVER: _none, ...rest } = env;
    const { requests } = await run(['reveal', `https://elsewhere.example/secret/${key}`], {
      readConfig: async () => readConfig(rest),
    });
    expect(requests[0]?.url).toBe(`https://elsewhere.example/api/v2/secret/${key}/status`);
    expect(requests[0]?.init.headers).not.toHaveProperty('Authorization');
  });

  it('send no credentials to a server that only this call names', async () => {
    const { requests } = await run(['status', key, '--server', 'https://other.example'], {
      readConfig: async () => readConfig(env),
    });
    expect(requests[0]?.url).toBe(`https://other.example/api/v2/secret/${key}/status`);
    expect(requests[0]?.init.headers).not.toHaveProperty('Authorization');
  });

  it('tell what the mail server said, without what could steer a terminal', async () => {
    const receipt = {
      key,
      state: 'viewed',
      has_passphrase: true,
      secret_ttl: 60,
      metadata_ttl: 120,
      created: 1_790_000_000,
      recipients: 'al*****@e*****.org',
      delivery: { state: 'refused', at: 1_790_000_000, reply: '550 No \u001b[2J\u202esuch user' },
      notify: ['read', 'unheard_of'],
    };
    const answer = (url: string) =>
      url.endsWith('/status')
        ? Response.json({ success: false, error: 'unknown_secret', message: 'x' }, { status: 404 })
        : Response.json({ success: true, record: receipt });
    const { code, out } = await run(['status', key], { fetch: async (url) => answer(url) });
    expect([code, out]).toEqual([
      0,
      'Not opened yet · with a passphrase · expires in 1 minute\n' +
        'Email to al*****@e*****.org was refused by the mail server, 2026-09-21T14:13:20Z: 550 No  [2J such user\n',
    ]);
    const link = `http://localhost:3000/receipt/${key}`;
    const linked = await run(['status', link, '--json'], { fetch: async (url) => answer(url) });
    expect(JSON.parse(linked.out)).toMatchObject({ waiting: true, notify: ['read'] });
  });

  it('say on standard error what the server did not do as asked, and --json carries it too', async () => {
    const record = {
      ...{
        key,
        state: 'new',
        has_passphrase: false,
        secret_ttl: 60,
        metadata_ttl: 120,
        created: 1_790_000_000,
      },
      ...{ share_url: `http://localhost:3000/secret/${key}`, lifespan: 60, secret_value: 'drawn' },
    };
    const adjusted = { ttl: { asked: 1, granted: 60 } };
    const details = { adjusted, ignored: ['secret.notify', 'b\u001b[2J'] };
    const fetch = async () =>
      Response.json({ success: true, record: { metadata: record, secret: record }, details });
    for (const [args, input] of [
      [['share', '--plain'], 'x'],
      [['generate', '--plain'], ''],
    ] as const) {
      const words =
        'Expires in 1 minute: the server does not allow 1 second.\n' +
        'The server ignored unknown fields: secret.notify, b [2J.\n';
      const said = await run(args, { fetch }, input);
      expect([said.code, said.err.includes(words)]).toEqual([0, true]);
      expect(said.out).not.toContain('The ');
      const json = await run([...args, '--json'], { fetch }, input);
      expect([json.code, json.err]).toEqual([0, words]);
      expect(JSON.parse(json.out)).toMatchObject({ ttl: 60, adjusted, ignored: details.ignored });
    }
  });

  it('show a memo without what could steer a terminal or break a line', async () => {
    const record = {
      key,
      state: 'received',
      secret_ttl: null,
      metadata_ttl: 120,
      created: 1_790_000_000,
      memo: 'for\tAl\n\u001b[2J',
    };
    const fetch = async (url: string) =>
      Response.json({ success: true, record, records: [record], details: {}, url });
    for (const [args, last] of [
      [['status', `http://localhost:3000/receipt/${key}`], 'Memo: for Al  [2J'],
      [['memo', key], 'for Al  [2J'],
      [['recent'], `${key}\topened\t2026-09-21T14:13:20Z\t\tfor Al  [2J`],
    ] as const)
      expect((await run(args, { fetch })).out.trimEnd().split('\n').at(-1)).toBe(last);
    const json = JSON.parse((await run(['memo', key, '--json'], { fetch })).out);
    expect(json.memo).toBe(record.memo);
  });

  it('take the kinds of notice by name, and nothing else', async () => {
    const { requests } = await run(['share', '--notify', 'read,burned'], {}, 'x');
    expect(JSON.parse(String(requests[0]?.init.body)).secret.notify).toEqual(['read', 'burned']);
    const none = await run(['generate', '--notify', 'none']);
    expect(JSON.parse(String(none.requests[0]?.init.body)).secret.notify).toEqual([]);
    for (const notify of ['', 'all', 'read;burned'])
      expect(await run(['share', '--notify', notify], {}, 'x')).toMatchObject({ code: 2, requests: [] });
  });

  it('do not take a text for a key, and send nothing', async () => {
    for (const text of ['hello', key.toUpperCase(), `https://own.example/receipt/${key}`]) {
      const { code, requests } = await run(['reveal', text], overrides);
      expect([code, requests]).toEqual([1, []]);
    }
  });

  it('refuse what is not UTF-8, instead of sending something else', async () => {
    const { world, requests } = fakeWorld();
    const terminal = { ...world.terminal, readInput: async () => new Uint8Array([0xff, 0xfe]) };
    expect(await runCommand(['share'], sections, { ...world, terminal })).toBe(2);
    expect(requests).toEqual([]);
  });

  it('share what was piped, byte for byte with --exact, with the passphrase of a file', async () => {
    const { requests } = await run(
      ['share', '--plain', '--exact', '--passphrase-file', 'p', '--ttl', '1h'],
      {},
      ' two\nlines\n',
    );
    expect(JSON.parse(String(requests[0]?.init.body))).toEqual({
      secret: { secret: ' two\nlines\n', passphrase: secret, ttl: 3600 },
    });
  });

  it('share nothing when nothing was piped', async () => {
    expect((await run(['share'])).code).toBe(2);
  });

  it('ask for a passphrase only where somebody can answer', async () => {
    const { code, err, requests } = await run(['reveal', key, '--passphrase']);
    expect([code, requests]).toEqual([2, []]);
    expect(err).toContain('No terminal to ask');
  });

  it('ask twice for the passphrase of a new secret, and refuse two that differ', async () => {
    const { world, requests } = fakeWorld({}, 'value');
    const answers = ['one', 'two'];
    const terminal = { ...world.terminal, askHidden: async () => answers.shift() ?? null };
    expect(await runCommand(['share', '--passphrase'], sections, { ...world, terminal })).toBe(2);
    expect(requests).toEqual([]);
  });

  it('take a time for another lifetime as share does, and send nothing else', async () => {
    const record = { key, state: 'new', has_passphrase: false, secret_ttl: 259_200, created: 1_790_000_000 };
    const sent: unknown[] = [];
    const fetch = async (_url: string, { method, body }: RequestInit) => {
      sent.push([method, body]);
      return Response.json({ success: true, record: { ...record, metadata_ttl: 600_000 } });
    };
    const { code, err } = await run(['ttl', key, '3d'], { fetch });
    expect([code, err]).toEqual([0, 'It now expires in 3 days.\n']);
    expect(sent).toEqual([['PATCH', '{"ttl":259200}']]);
    for (const time of ['', '0', '3 days', '1y']) {
      const refused = await run(['ttl', key, time], { fetch });
      expect([refused.code, sent.length]).toEqual([2, 1]);
      expect(refused.err).toStartWith('TIME takes a time such as 90s, 30m, 12h, 7d or 2w.\n');
    }
  });

  it('say that a secret was read in the moment when its lifetime changed', async () => {
    const record = { key, state: 'received', secret_ttl: 0, created: 1_790_000_000, metadata_ttl: 600 };
    const fetch = async () => Response.json({ success: true, record });
    expect(await run(['ttl', key, '3d'], { fetch })).toMatchObject({
      code: 1,
      err: 'The secret is gone: opened.\n',
    });
  });

  it('understand times with units', () => {
    expect(['90', '90s', '30m', '12h', '7d', '2w'].map((text) => parseTtl(text, '--ttl'))).toEqual([
      90, 90, 1_800, 43_200, 604_800, 1_209_600,
    ]);
    for (const text of ['', '0', '-1', '1y', '1.5h', '1h30m', ' 1h'])
      expect(() => parseTtl(text, '--ttl')).toThrow('--ttl');
  });
});

describe('a share domain', () => {
  it('is kept in one spelling', () => {
    expect(parseDomain('Secrets.Example.ORG')).toBe('secrets.example.org');
    expect(parseDomain('bücher.example')).toBe('xn--bcher-kva.example');
  });

  it('is refused when it is anything more or less than a domain', () => {
    for (const text of [
      '',
      'localhost',
      'https://a.example',
      'a.example/x',
      'a.example:80',
      '127.0.0.1',
      '-a.example',
      'a..example',
      `${'a'.repeat(64)}.example`,
    ]) {
      expect(() => parseDomain(text)).toThrow('is not a domain');
    }
  });
});

describe('mayfly account token', () => {
  const create = ['account', 'token', 'create', 'jo@example.org'];

  /** An installation with one account, in memory. */
  async function installation() {
    const store = createMemoryStore({ clock: steadyClock(() => 1_790_000_000) });
    const accounts = { store, random: seededRandom('tokens'), close: async () => {} };
    await createAccount(accounts, { email: 'jo@example.org', plan: 'basic' });
    const openAccounts = async () => ({ outcome: 'open', accounts }) as const;
    const account = await store.findAccount('jo@example.org');
    if (account === null) throw new Error('no account');
    return {
      mayfly: (args: readonly string[], input = '') => run(args, { openAccounts }, input),
      store,
      account,
    };
  }

  it('create makes a token for what --scope names, in one order, and for everything without it', async () => {
    const { mayfly, store, account } = await installation();
    const narrow = await mayfly([...create, '--scope', 'manage,create', '--json']);
    expect(narrow.code).toBe(0);
    expect(JSON.parse(narrow.out).scopes).toEqual(['create', 'manage']);
    expect(JSON.parse((await mayfly([...create, '--json'])).out).scopes).toEqual([...tokenScopes]);
    const stored = (await store.listTokens(account.id)).map(({ scopes }) => scopes);
    expect(stored).toEqual([tokenScopes, ['create', 'manage'], tokenScopes]);
  });

  it('create says what the token may do and list, beside the token alone on standard output', async () => {
    const { mayfly } = await installation();
    const narrow = await mayfly([...create, '--scope', 'create']);
    expect(narrow.out).toMatch(/^[0-9a-f]{64}\n$/);
    expect(narrow.err).toStartWith('Created token 2. Scopes: create. It cannot list secrets. ');
    const full = await mayfly([...create, '--with-token', '-'], narrow.out);
    expect(full.err).toBe(
      'Created token 3. Scopes: create, manage, read-recent. It lists the same secrets as the other token.\nThe token (shown once):\n',
    );
  });

  it.each(['', 'admin', 'create,', 'create;manage', 'CREATE', 'create,admin', 'recent'])(
    'create with the scope %p is wrong usage, names those there are, and makes nothing',
    async (scope) => {
      const { mayfly, store, account } = await installation();
      const { code, out, err } = await mayfly([...create, '--scope', scope]);
      expect([code, out]).toEqual([2, '']);
      expect(err).toContain('--scope takes one or more of create, manage, read-recent, separated by commas.');
      expect(await store.listTokens(account.id)).toHaveLength(1);
    },
  );

  it('takes a scope named twice for one, and blanks around it for nothing', () => {
    expect(parseScopes('manage, create,manage')).toEqual(['create', 'manage']);
  });

  it('create --help names the scopes', async () => {
    expect((await run([...create, '--help'])).out).toMatch(/--scope SCOPES +.*create, manage,\s+read-recent/);
  });

  it('list shows what each may do and when it was last used', async () => {
    const { mayfly, store } = await installation();
    await mayfly([...create, '--name', 'backups', '--scope', 'manage']);
    await store.noteTokenUse(2, 1_790_000_060);
    const { out } = await mayfly(['account', 'token', 'list', 'jo@example.org']);
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'));
    expect(lines.map((fields) => fields.slice(3))).toEqual([
      ['never expires', 'never used', 'create,manage,read-recent'],
      ['never expires', expect.stringMatching(/^used 2026-09-\d\d/), 'manage'],
    ] as never);
    const json = JSON.parse((await mayfly(['account', 'token', 'list', 'jo@example.org', '--json'])).out);
    expect(json[1]).toMatchObject({ name: 'backups', scopes: ['manage'], last_used: 1_790_000_060 });
  });
});
