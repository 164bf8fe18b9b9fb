/** `mayfly run`: what it checks before it reads anything, what it hands to the program, and what it says. */
import { describe, expect, it } from 'bun:test';
import { cliSecret, fakeWorld, type WholeWorld } from '../../test/support/cli-world.ts';
import { sections } from './commands.ts';
import type { Program, ProgramExit } from './programs.ts';
import { runCommand } from './run.ts';

const [keyA, keyB, keyC] = ['a', 'b', 'c'].map((letter) => letter.repeat(31)) as [string, string, string];
const linkOf = (key: string) => `http://localhost:3000/secret/${key}`;

interface Waiting {
  readonly value: string;
  readonly passphrase?: string;
  /** The answer to a reveal, if not the value. */
  readonly fault?: { readonly error: string; readonly status: number } | 'lost';
}

function problem(error: string, status: number): Response {
  return Response.json({ success: false, error, message: `Told ${error}` }, { status });
}

/** Secrets that open once, a program that ends with 7, and what was asked of both. */
function installation(waiting: Record<string, Waiting>, overrides: Partial<WholeWorld> = {}, input = '') {
  const left = new Map(Object.entries(waiting));
  const requests: string[] = [];
  const reveals: string[] = [];
  const programs: { file: string; args: readonly string[]; variables: Record<string, string> }[] = [];
  const passphraseOf = ({ headers, body }: RequestInit) =>
    body === undefined
      ? decodeURIComponent(new Headers(headers).get('Secret-Passphrase') ?? '')
      : JSON.parse(String(body)).passphrase;
  const answer = (url: string, init: RequestInit): Response => {
    const [, key = '', action = ''] = /\/secret\/([0-9a-z]{31})\/?(\w*)$/.exec(url) ?? [];
    const secret = left.get(key);
    requests.push(url);
    if (action === 'reveal') reveals.push(key);
    if (secret === undefined) return problem('unknown_secret', 404);
    const { value, passphrase, fault } = secret;
    const isProven = passphrase === undefined || passphraseOf(init) === passphrase;
    if (action !== 'status' && !isProven) return problem('incorrect_passphrase', 422);
    const record = { key, has_passphrase: passphrase !== undefined, secret_ttl: 60, created: 1_790_000_000 };
    if (action !== 'reveal') return Response.json({ success: true, record });
    left.delete(key);
    if (fault === 'lost') throw new TypeError('the connection was lost');
    if (fault !== undefined) return problem(fault.error, fault.status);
    return Response.json({ success: true, record: { key, secret_value: value } });
  };
  const { world, written } = fakeWorld(
    {
      fetch: async (url, init) => answer(url, init),
      programs: {
        find: async (command) => (command === 'deploy' ? '/opt/deploy' : null),
        run: async ({ file, args, variables }: Program) => {
          programs.push({ file, args, variables: Object.fromEntries(variables) });
          return { outcome: 'ended', exit: 7 as ProgramExit };
        },
      },
      ...overrides,
    },
    input,
  );
  const run = async (...args: string[]) => {
    const code = await runCommand(['run', ...args], sections, world);
    return { code, ...written, requests, reveals, programs };
  };
  return { run, world };
}

const three = { [keyA]: { value: 'one' }, [keyB]: { value: 'two' }, [keyC]: { value: 'three' } };
const given = ['--secret', `A=${linkOf(keyA)}`, '--secret', `B=${keyB}`, '--secret', `C=${linkOf(keyC)}`];
const deploy = ['--', 'deploy'];

describe('mayfly run', () => {
  it('hands the values to the program, its arguments untouched, and ends as it does', async () => {
    const { code, out, err, programs } = await installation(three).run(
      ...given,
      ...['--', 'deploy', '--to', 'here', '--help', '--', '--json'],
    );
    const variables = { A: 'one', B: 'two', C: 'three' };
    const args = ['--to', 'here', '--help', '--', '--json'];
    expect({ code: Number(code), out, err }).toEqual({ code: 7, out: '', err: '' });
    expect(programs).toEqual([{ file: '/opt/deploy', args, variables }]);
  });

  it('takes links from a file or standard input, beside those of its arguments', async () => {
    const text = `# for the deployment\n\nB=${keyB}\r\n  # more\nC=${linkOf(keyC)}`;
    const readFile = async () => new TextEncoder().encode(text);
    const fromFile = await installation(three, { readFile }).run(
      ...['--secret', `A=${keyA}`, '--secrets-file', 'links.txt', ...deploy],
    );
    expect(fromFile.programs[0]?.variables).toEqual({ A: 'one', B: 'two', C: 'three' });
    const piped = await installation(three, {}, text).run('--secrets-file', '-', ...deploy);
    expect(piped.programs[0]?.variables).toEqual({ B: 'two', C: 'three' });
  });

  it('leaves out the line break at the end of a value of one line, and none with --exact', async () => {
    for (const [value, trimmed] of [
      ['x\n', 'x'],
      ['x\r\n', 'x'],
      ['x\n\n', 'x\n\n'],
      ['two\nlines\n', 'two\nlines\n'],
      [' x ', ' x '],
      ['', ''],
    ] as const) {
      const args = ['--secret', `A=${keyA}`];
      const usual = await installation({ [keyA]: { value } }).run(...args, ...deploy);
      expect(usual.programs[0]?.variables).toEqual({ A: trimmed });
      const exact = await installation({ [keyA]: { value } }).run(...args, '--exact', ...deploy);
      expect(exact.programs[0]?.variables).toEqual({ A: value });
    }
  });
});

describe('the passphrase', () => {
  const locked = { ...three, [keyB]: { value: 'two', passphrase: cliSecret } };

  it('of a file is for all secrets that need one', async () => {
    const { programs } = await installation(locked).run(...given, '--passphrase-file', 'p', ...deploy);
    expect(programs[0]?.variables).toEqual({ A: 'one', B: 'two', C: 'three' });
  });

  it('is asked for, by the name of the secret, where somebody can answer', async () => {
    const { world } = fakeWorld();
    const asked: string[] = [];
    const askHidden = async (question: string) => {
      asked.push(question);
      return cliSecret;
    };
    const terminal = { ...world.terminal, isInteractive: true, askHidden };
    const { programs } = await installation(locked, { terminal }).run(...given, ...deploy);
    expect([asked, programs.length]).toEqual([['Passphrase for B: '], 1]);
  });

  it('that is missing or wrong consumes nothing, not even the secrets without one (P3)', async () => {
    const missing = await installation(locked).run(...given, ...deploy);
    expect(missing).toMatchObject({
      code: 1,
      err:
        'B needs a passphrase: use --passphrase-file or MAYFLY_PASSPHRASE.\n' +
        'The command was not started. Nothing was read.\n',
      reveals: [],
      programs: [],
    });
    const readFile = async () => new TextEncoder().encode('wrong');
    const wrong = await installation(locked, { readFile }).run(
      ...[...given, '--passphrase-file', 'p', ...deploy],
    );
    expect(wrong).toMatchObject({
      code: 1,
      err:
        'B: The passphrase is missing or wrong. The secret was not opened.\n' +
        'The command was not started. Nothing was read.\n',
      reveals: [],
    });
  });
});

describe('a run that fails', () => {
  it('because the command does not exist consumes nothing (P3)', async () => {
    expect(await installation(three).run(...given, '--', 'depoly', '--now')).toMatchObject({
      code: 1,
      out: '',
      err: 'Command not found: depoly.\nThe command was not started. Nothing was read.\n',
      reveals: [],
    });
  });

  it('because secrets are gone names all of those, and consumes none of the others (P3)', async () => {
    const { [keyB]: only } = three;
    const left = only === undefined ? {} : { [keyB]: only };
    const gone = 'There is no such secret: it was read, burned or has expired, or the link is wrong.';
    const { code, err, reveals } = await installation(left).run(...given, ...deploy);
    expect([code, reveals]).toEqual([1, []]);
    expect(err).toBe(`A: ${gone}\nC: ${gone}\nThe command was not started. Nothing was read.\n`);
    const json = await installation(left).run(...given, '--json', ...deploy);
    expect(json.out).toBe('{"error":"unknown_secret","lost":[],"unsure":null}\n');
  });

  it('in the middle names what was read and is lost, and leaves the rest waiting', async () => {
    const fault = { error: 'rate_limited', status: 429 };
    const late = { ...three, [keyC]: { value: 'three', fault } };
    const { code, out, err, programs } = await installation(late).run(...given, '--json', ...deploy);
    expect([code, programs]).toEqual([1, []]);
    expect(err).toBe('C: Told rate_limited.\nThe command was not started. A and B were read and lost.\n');
    expect(out).toBe('{"error":"rate_limited","lost":["A","B"],"unsure":null}\n');
    const early = { ...three, [keyB]: { value: 'two', fault } };
    const { err: words, reveals } = await installation(early).run(...given, ...deploy);
    expect([words, reveals]).toEqual([
      'B: Told rate_limited.\nThe command was not started. A was read and lost.\n',
      [keyA, keyB],
    ]);
  });

  it('without an answer says that nobody knows whether that secret was read', async () => {
    const args = ['--secret', `A=${keyA}`, '--secret', `B=${keyB}`, ...deploy];
    const first = { ...three, [keyA]: { value: 'one', fault: 'lost' } as const };
    expect((await installation(first).run(...args)).err).toBe(
      'A: http://localhost:3000 could not be reached.\n' +
        'The command was not started. A may have been read.\n',
    );
    const second = { ...three, [keyB]: { value: 'two', fault: 'lost' } as const };
    expect((await installation(second).run(...args)).err).toBe(
      'B: http://localhost:3000 could not be reached.\n' +
        'The command was not started. A was read and lost. B may have been read.\n',
    );
  });

  it('because of a NUL byte says so, without the value, and reads no further (P18)', async () => {
    const nul = { ...three, [keyB]: { value: `${cliSecret}\0` } };
    const { code, out, err, reveals, programs } = await installation(nul).run(...given, ...deploy);
    expect([code, out, reveals, programs]).toEqual([1, '', [keyA, keyB], []]);
    expect(err).toBe(
      'B contains a NUL byte, which environment variables cannot hold.\n' +
        'The command was not started. A and B were read and lost.\n',
    );
  });

  it('to start the program names all that is lost', async () => {
    const programs = {
      find: async () => '/opt/deploy',
      run: async () => ({ outcome: 'not_started', reason: 'E2BIG' }) as const,
    };
    expect(await installation(three, { programs }).run(...given, ...deploy)).toMatchObject({
      code: 1,
      err: 'deploy could not be started (E2BIG).\nThe command was not started. A, B and C were read and lost.\n',
    });
  });
});

const usage = 'Usage: mayfly run [OPTIONS] -- COMMAND [ARGS]\nSee mayfly run --help.\n';
const form = 'NAME consists of letters, digits and _, and does not begin with a digit';

describe('wrong usage of mayfly run', () => {
  const receipt = `http://localhost:3000/receipt/${keyB}`;
  const many = Array.from({ length: 41 }, (_, at) => `N${at}=${String(at).padStart(31, '0')}`).join('\n');
  const cases: [args: readonly string[], words: string, input: string][] = [
    [['deploy'], 'Put -- before COMMAND.\n', ''],
    [['--secret', `A=${keyA}`], 'COMMAND is missing.\n', ''],
    [deploy, 'Missing secrets: use --secret NAME=LINK, --secrets-file or --ask NAME=PROMPT.\n', ''],
    [['--secret', ...deploy], '--secret needs a value: --secret NAME=LINK.\n', ''],
    [['--secret', cliSecret, ...deploy], `--secret number 1: it is not NAME=LINK; ${form}.\n`, ''],
    [['--secret', `1A=${keyA}`, ...deploy], `--secret number 1: it is not NAME=LINK; ${form}.\n`, ''],
    [
      ['--secret', `A=${cliSecret}`, '--secret', `B=${receipt}`, ...deploy],
      '--secret number 1: the text after = is not a secret’s link or key.\n' +
        '--secret number 2: the text after = is not a secret’s link or key.\n',
      '',
    ],
    [
      ['--secret', `A=${keyA}`, '--secret', `A=${keyB}`, ...deploy],
      '--secret number 2: duplicate name.\n',
      '',
    ],
    [
      ['--secret', `A=${keyA}`, '--secret', `B=${linkOf(keyA)}`, ...deploy],
      '--secret number 2: duplicate link, which opens only once.\n',
      '',
    ],
    [
      ['--secret', `B=${keyB}`, '--secrets-file', '-', ...deploy],
      `Standard input, line 2: it is not NAME=LINK; ${form}.\nStandard input, line 4: duplicate name.\n`,
      `# links\nexport A=${keyA}\n\nB=${keyC}\n`,
    ],
    [['--secrets-file', '-', ...deploy], 'Too many secrets: the limit is 40.\n', many],
    [
      ['--secrets-file', '-', ...deploy],
      Array.from(
        { length: 10 },
        (_, at) => `Standard input, line ${at + 1}: it is not NAME=LINK; ${form}.\n`,
      ).join(''),
      'no link\n'.repeat(11),
    ],
    [
      ['--secrets-file', '-', '--passphrase-file', '-', ...deploy],
      'Links and passphrase cannot both come from standard input: put one in a file.\n',
      '',
    ],
  ];
  it.each(cases)('%j is refused before anything is asked of a server', async (args, words, input) => {
    const { code, out, err, requests } = await installation(three, {}, input).run(...args);
    expect([code, out, err, requests]).toEqual([2, '', words + usage, []]);
    expect(err).not.toContain(cliSecret);
  });

  it('self-test: the largest number of secrets is taken', async () => {
    const most = many.split('\n').slice(1).join('\n');
    const { err } = await installation(three, {}, most).run('--secrets-file', '-', ...deploy);
    expect(err).toContain('N1: Unknown key');
  });
});
