/** How invalid commands are answered, and how to find help. */
import { describe, expect, it } from 'bun:test';
import { cliSecret, runCli } from '../../test/support/cli-world.ts';
import { commands } from './commands.ts';
import { renderCommandHelp } from './shell.ts';

const accountUsage = [
  '  mayfly account create EMAIL [OPTIONS]\n',
  '  mayfly account list\n',
  '  mayfly account plan EMAIL PLAN\n',
].join('');

describe('a command that does not exist', () => {
  it('below a group of commands is answered with the group’s commands', async () => {
    const { code, out, err } = await runCli(['account', 'suspend', 'you@example.com']);
    expect([code, out]).toEqual([2, '']);
    expect(err).toStartWith(`There is no command "account suspend". Commands:\n${accountUsage}`);
  });

  it('is answered with the nearest one, even if several of its words are misspelt', async () => {
    for (const [args, near] of [
      ['acount create you@example.com', 'account create'],
      ['account crate you@example.com', 'account create'],
      ['account tokn revoke you@example.com 3', 'account token revoke'],
      ['stroe set-tme', 'store set-time'],
      ['domian lst', 'domain list'],
    ] as const) {
      const { code, err } = await runCli(args.split(' '));
      expect([args, code]).toEqual([args, 2]);
      expect(err).toContain(`Did you mean "${near}"?`);
    }
  });

  it('is never suggested for what was typed', async () => {
    for (const { path } of commands) {
      for (let count = 1; count < path.length; count += 1) {
        const { err } = await runCli([...path.slice(0, count), 'zzzzzz']);
        expect(err).not.toContain('Did you mean');
        expect(err).toContain(`mayfly ${path.join(' ')}`);
      }
    }
  });

  it('is answered with the nearest group of commands', async () => {
    const { code, err } = await runCli(['acount']);
    expect(code).toBe(2);
    expect(err).toStartWith(
      `There is no command "acount". Did you mean "account"? Commands:\n${accountUsage}`,
    );
  });

  it('is answered with where options belong when one comes before it', async () => {
    const { code, err } = await runCli(['--json', 'account', 'list']);
    expect([code, err]).toEqual([
      2,
      'Options follow the command: mayfly COMMAND [ARGUMENTS] [OPTIONS]. See mayfly help.\n',
    ]);
  });
});

describe('a misspelt option', () => {
  it('is named with the nearest one, whichever command it was given to', async () => {
    for (const command of commands) {
      for (const name of [...Object.keys(command.options ?? {}), 'json']) {
        const misspelt = name.slice(0, -1);
        const { code, out, err } = await runCli([...command.path, `--${misspelt}`]);
        expect([name, code, out]).toEqual([name, 2, '']);
        expect(err).toStartWith(`Unknown option --${misspelt}. Did you mean --`);
      }
    }
  });

  it('is named beside every other one, and never with its value', async () => {
    const { code, err, requests } = await runCli(
      ['share', `--passphase=${cliSecret}`, '--tll', '1h', '--colour'],
      {},
      'x',
    );
    expect([code, requests]).toEqual([2, []]);
    expect(err).toStartWith(
      'Unknown option --passphase. Did you mean --passphrase?\n' +
        'Unknown option --tll. Did you mean --ttl?\n' +
        'Unknown option --colour.\n',
    );
    expect(err).not.toContain(cliSecret);
  });

  it('that cannot be one is not repeated: a private key begins with five hyphens (P18)', async () => {
    const { code, err } = await runCli(['share', '-----BEGIN KEY-----\nhunter2\n-----END KEY-----']);
    expect([code, err.split('\n')[0]]).toEqual([2, 'Unknown option.']);
    expect(err).not.toMatch(/BEGIN|hunter2/);
  });

  it('of one letter is not repeated: it may be the beginning of the secret', async () => {
    const { code, err } = await runCli(['share', '-hunter2']);
    expect([code, err.split('\n')[0]]).toEqual([
      2,
      'Unknown short option. This command has -q and -h; long options begin with --, such as --json.',
    ]);
  });
});

describe('an option', () => {
  it('has a letter where people expect one: -q, -h, -V, and -o of what opens', async () => {
    const [short, long] = [
      await runCli(['share', '-q'], {}, 'x'),
      await runCli(['share', '--quiet'], {}, 'x'),
    ];
    expect([short.code, short.out, short.err]).toEqual([long.code, long.out, long.err]);
    expect((await runCli(['-V'])).out).toBe('1.2.3\n');
    const opening = ['reveal', 'ask', 'answers'];
    for (const command of commands) {
      const help = (await runCli([...command.path, '-h'])).out;
      expect(help).toMatch(/^ {2}-q, --quiet {2,}print only/m);
      expect(help.includes('-o, --out FILE')).toBe(opening.includes(command.path.join()));
    }
    const key = '0'.repeat(31);
    for (const out of [['-o', 'x'], ['-ox'], ['-qo', 'x'], ['--out', 'x']])
      expect((await runCli(['reveal', key, ...out])).err).toBe('x may not be written. Nothing was read.\n');
  });

  it('without its value, or with one that it does not take, is told so in a sentence', async () => {
    for (const args of [
      ['share', '--ttl'],
      ['share', '--ttl', '--json'],
    ])
      expect((await runCli(args, {}, 'x')).err).toStartWith('--ttl needs a value: --ttl TIME.\n');
    expect((await runCli(['share', '--json=1'], {}, 'x')).err).toStartWith('--json takes no value.\n');
  });
});

describe('help', () => {
  it('fits into 80 columns, examples aside', async () => {
    for (const args of [['help'], ...commands.map(({ path }) => ['help', ...path])]) {
      const lines = (await runCli(args)).out.split('\n');
      const wide = lines.filter(
        (line) => line.length > 80 && !line.startsWith('  mayfly ') && !/^ {2}[A-Z_]+=/.test(line),
      );
      expect(wide).toEqual([]);
    }
  });

  it('of a command follows mayfly help as well as --help and -h', async () => {
    for (const command of commands) {
      for (const args of [
        ['help', ...command.path],
        [...command.path, '-h'],
      ])
        expect(await runCli(args)).toMatchObject({ code: 0, out: renderCommandHelp(command), err: '' });
    }
  });

  it('of a word that begins several commands lists those', async () => {
    for (const args of [
      ['help', 'account'],
      ['account', '--help'],
    ]) {
      const { code, out, err } = await runCli(args);
      expect([code, err]).toEqual([0, '']);
      expect(out).toStartWith(accountUsage);
    }
  });

  it('of what does not exist is wrong usage, with the nearest one named', async () => {
    const { code, out, err } = await runCli(['help', 'reveel']);
    expect([code, out]).toEqual([2, '']);
    expect(err).toBe('There is no command "reveel". Did you mean "reveal"? See mayfly help.\n');
  });
});
