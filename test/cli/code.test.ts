/** `mayfly share --verify`, and opening what asks for a code: one service, machines of several people, and their mailbox. */
import { describe, expect, it } from 'bun:test';
import { sections } from '../../src/cli/commands.ts';
import { runCommand } from '../../src/cli/run.ts';
import { readConfig } from '../../src/config/read.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { fakeWorld } from '../support/cli-world.ts';

const server = 'http://localhost:3000';
const sent = 'We sent a code to an*****@e*****.org.\n';

interface Person {
  readonly env?: Record<string, string>;
  /** Types an answer; `null` ends the input. Without it, standard input is no terminal. */
  readonly types?: (question: string) => Promise<string | null> | string | null;
  readonly input?: string;
  readonly change?: (body: string) => string;
  /** The address that the calls come from. */
  readonly network?: string;
}

async function openScene() {
  const app: TestApp = createTestApp({ baseUrl: server, trustedProxies: ['127.0.0.1'] });
  const { username, token } = await app.account('jo@example.org');
  const account = { MAYFLY_USERNAME: username, MAYFLY_TOKEN: token };

  async function run(line: string, person: Person = {}) {
    const { env = {}, types, input = '', change = (body) => body, network = '203.0.113.1' } = person;
    const { world, written } = fakeWorld({}, input);
    const ask = async (question: string) => {
      written.err += `${question}\n`;
      return types === undefined ? null : await types(question);
    };
    const terminal = { ...world.terminal, isInteractive: types !== undefined, ask, askHidden: ask };
    const code = await runCommand(line.split(' '), sections, {
      ...world,
      terminal,
      programs: { ...world.programs, find: async () => '/bin/true' },
      readConfig: async () => readConfig(env),
      fetch: async (url, init) => {
        const body = init.body === undefined ? {} : { body: change(String(init.body)) };
        const headers = { ...Object(init.headers), 'X-Forwarded-For': network };
        return app.handler(new Request(url, { ...init, ...body, headers }));
      },
    });
    return { code, ...written };
  }

  return {
    app,
    run,
    account,
    creator: (line: string, person: Person = {}) => run(line, { env: account, ...person }),
    /** The code of the newest email, and of those before it. */
    async mailed(back = 1): Promise<string> {
      await app.service.settled();
      const mail = app.accountMails.at(-back);
      if (mail?.kind !== 'code') throw new Error('no code was mailed');
      return mail.code.expose();
    },
    async shared(more = ''): Promise<{ link: string; receipt: string }> {
      const line = `share --json --verify anna@example.org${more}`;
      return JSON.parse((await run(line, { env: account, input: 'hunter2' })).out);
    },
  };
}

const wrongOf = (code: string) => (code === '000000' ? '000001' : '000000');
const inWords = (code: string) => ` ${code.slice(0, 3)} ${code.slice(3)}\n`;

describe('share --verify', () => {
  it('says that a code will be asked for, and only another machine with the mailbox opens it', async () => {
    const { app, run, creator, mailed } = await openScene();
    const shared = await creator('share --verify anna@example.org', { input: 'hunter2' });
    const link = shared.out.trim();
    expect(shared.err).toStartWith('Opens once, with a code by email. Expires in 7 days');
    const receipt = /http:\S+\/receipt\/\S+/.exec(shared.err)?.[0] ?? '';
    expect((await run(`status ${link}`)).out).toBe(
      'Not opened yet · end-to-end encrypted · asks for a code · expires in 7 days\n',
    );
    const opened = await run(`reveal ${link}`, { types: async () => inWords(await mailed()) });
    expect(opened).toEqual({ code: 0, out: 'hunter2', err: `${sent}Code: \n` });
    const time = new Date(app.clock.now() * 1_000).toISOString().replace('.000', '');
    expect((await creator(`status ${receipt}`)).out).toBe(
      `Opened\nA code was accepted by the mail server, ${time}\n`,
    );
    expect(JSON.parse((await creator(`status --json ${receipt}`)).out)).toMatchObject({
      verify: true,
      codes: [{ state: 'accepted', at: app.clock.now() }],
    });
  });

  it('shares nothing without an account, an address, or a server that can ask', async () => {
    const { run, creator } = await openScene();
    const input = 'hunter2';
    const old = (body: string) => body.replace(/,"verify":"[^"]+"/, '');
    const refused = [
      await run('share --verify anna@example.org', { input }),
      await creator('share --verify anna', { input }),
      await creator('share --verify=', { input }),
      await creator('share --verify anna@example.org', { input, change: old }),
    ];
    expect(refused.map(({ out, code, err }) => [code, out, err.split('\n')[0]])).toEqual([
      [1, '', expect.stringMatching(/^An account is required to send emails: run mayfly login/)],
      [1, '', 'Undeliverable email address.'],
      [2, '', '--verify takes an email address.'],
      [1, '', 'This server cannot ask for a code. The secret was burned.'],
    ]);
    expect((await creator('recent')).out).toMatch(/^[0-9a-z]{31}\tburned\t\S+\n$/);
  });

  it('works with lines, with a value that the client draws, and with a plain one', async () => {
    const { creator, run, mailed } = await openScene();
    const verify = '--verify anna@example.org';
    const lines = await creator(`share --lines - ${verify}`, { input: 'red\nblue\n' });
    const generated = await creator(`generate ${verify}`);
    const [value = '', link = ''] = generated.out.split('\n');
    const plain = await creator(`share --plain ${verify}`, { input: 'green' });
    for (const [each, wanted] of [
      [lines.out.split('\n')[1] ?? '', 'blue'],
      [link, value],
      [plain.out.trim(), 'green'],
    ] as const)
      expect((await run(`reveal ${each}`, { types: () => mailed() })).out).toBe(wanted);
  });
});

describe('a link that asks for a code', () => {
  it('asks again after a wrong one, and says how often it may be tried (P14)', async () => {
    const { run, shared, mailed } = await openScene();
    const { link } = await shared();
    const typed = [wrongOf, (code: string) => code.slice(1), wrongOf, inWords];
    const types = async () => typed.shift()?.(await mailed()) ?? null;
    expect(await run(`reveal ${link}`, { types })).toEqual({
      code: 0,
      out: 'hunter2',
      err: [
        `${sent}Code: `,
        'Wrong code: 4 attempts left.',
        'Code: ',
        'A code has six digits: ',
        'Wrong code: 3 attempts left.',
        'Code: ',
        '',
      ].join('\n'),
    });
  });

  it('ends with the last attempt, and with no answer; nothing is opened (P3)', async () => {
    const { run, creator, shared, mailed } = await openScene();
    const { link, receipt } = await shared();
    const ended = await run(`reveal ${link} --json`, { types: async () => wrongOf(await mailed()) });
    expect([ended.code, ended.out]).toEqual([1, '{"error":"incorrect_code"}\n']);
    expect(ended.err).toContain('Wrong code: 1 attempt left.\nCode: \n');
    const locked = await run(`reveal ${link}`, { types: () => mailed() });
    expect([locked.code, locked.out]).toEqual([1, '']);
    expect(locked.err).toEndWith('Try again in 10 minutes.\n');
    expect((await creator(`unlock ${receipt}`)).err).toBe(
      'Unlocked: passphrases and codes can be tried again.\n',
    );
    const silent = await run(`reveal ${link}`, { types: () => null });
    expect([silent.code, silent.err]).toEqual([
      1,
      expect.stringMatching(/at a terminal.* Nothing was opened/),
    ]);
    expect((await run(`reveal ${link}`, { types: () => mailed() })).out).toBe('hunter2');
  });

  it('shows its creator a lock by wrong codes, from whatever networks, and unlock lifts it (P14)', async () => {
    const { run, creator, shared, mailed } = await openScene();
    const { link, receipt } = await shared();
    for (let at = 2; at < 10; at += 1) {
      let left = at < 5 ? 5 : 1;
      const types = async () => {
        left -= 1;
        return left < 0 ? null : wrongOf(await mailed());
      };
      expect((await run(`reveal ${link}`, { types, network: `198.51.${at}.1` })).code).toBe(1);
    }
    const words = (await creator(`status ${receipt}`)).out.split('\n');
    expect(words[1]).toMatch(/^Locked after too many wrong codes, until 2025-05-08T10:36:40Z$/);
    expect(words.filter((line) => line.startsWith('A code was accepted'))).toHaveLength(8);
    expect(JSON.parse((await creator(`status --json ${receipt}`)).out)).toMatchObject({
      locked: { by: 'code', until: expect.any(Number) },
    });
    const types = () => mailed();
    expect((await run(`reveal ${link}`, { types })).code).toBe(1);
    await creator(`unlock ${receipt}`);
    expect((await run(`reveal ${link}`, { types })).out).toBe('hunter2');
  });

  it('sends another one for one that came too late', async () => {
    const { app, run, shared, mailed } = await openScene();
    const { link } = await shared();
    let asked = 0;
    const types = async () => {
      const code = await mailed();
      asked += 1;
      if (asked === 1) app.clock.advance(600);
      return code;
    };
    const opened = await run(`reveal ${link}`, { types });
    expect([opened.out, opened.err, asked]).toEqual([
      'hunter2',
      `${sent}Code: \nThis code has expired. We sent another to an*****@e*****.org.\nCode: \n`,
      2,
    ]);
  });

  it('takes no code of another opener, and loses none to one', async () => {
    const { run, shared, mailed } = await openScene();
    const { link } = await shared();
    const withStranger = async () => {
      const own = await mailed();
      const typed = [own];
      const theirs = await run(`reveal ${link}`, { types: () => typed.shift() ?? null });
      expect([theirs.code, theirs.out]).toEqual([1, '']);
      expect(theirs.err).toStartWith(`${sent}Code: \nWrong code: 4 attempts left.\n`);
      return own;
    };
    expect((await run(`reveal ${link}`, { types: withStranger })).out).toBe('hunter2');
    expect((await run(`reveal ${link}`, { types: () => mailed() })).code).toBe(1);
  });

  it('is burned with a code by who has link and mailbox, and by its creator without one', async () => {
    const { run, creator, shared, mailed } = await openScene();
    const [one, two] = [await shared(), await shared(' --plain')];
    expect(await run(`burn ${one.link}`, { types: () => mailed() })).toEqual({
      code: 0,
      out: '',
      err: `${sent}Code: \nBurned. The link no longer works.\n`,
    });
    expect((await creator(`status ${one.receipt}`)).out).toStartWith('Burned by the recipient\nA code was');
    expect((await creator(`burn ${two.receipt}`)).code).toBe(0);
  });

  it('is not opened without a terminal: nothing is sent, and what to do is said', async () => {
    const { app, run, shared } = await openScene();
    const { link } = await shared();
    const words =
      'Opening this takes a code that is emailed to its recipient: run mayfly reveal LINK at a terminal, or open the link in a browser. Nothing was opened.\n';
    expect(await run(`reveal ${link}`)).toEqual({ code: 1, out: '', err: words });
    expect(await run(`burn --json ${link}`)).toEqual({
      code: 1,
      out: '{"error":"code_required"}\n',
      err: words,
    });
    const other = JSON.parse((await run('share --json', { input: 'x' })).out);
    const started = await run(`run --secret A=${other.link} --secret B=${link} -- true`);
    expect([started.code, started.err]).toEqual([
      1,
      expect.stringMatching(/^B: Opening this takes a code.*\n.*Nothing was read\.\n$/),
    ]);
    expect((await run(`status ${other.link}`)).code).toBe(0);
    expect(app.accountMails).toEqual([]);
  });

  it('asks for the passphrase first, and opens only with both', async () => {
    const { run, creator, mailed } = await openScene();
    for (const plain of ['', ' --plain']) {
      const made = await creator(`share --passphrase --verify anna@example.org${plain}`, {
        input: 'hunter2',
        types: () => 'thyme',
      });
      const answering = (passphrase: string) => ({
        types: async (question: string) => (question === 'Passphrase: ' ? passphrase : await mailed()),
      });
      const link = made.out.trim();
      const refused = await run(`reveal ${link}`, answering('parsley'));
      expect([refused.code, refused.out]).toEqual([1, '']);
      expect(refused.err).toStartWith(`Passphrase: \n${sent}Code: \nThe passphrase is missing or wrong.`);
      expect((await run(`reveal ${link}`, answering('thyme'))).out).toBe('hunter2');
    }
  });
});
