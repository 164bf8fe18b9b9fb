/** `mayfly share --env-file`: what is refused before anything is sent, and that no link is lost. */
import { describe, expect, it } from 'bun:test';
import { cliSecret, fakeWorld, type WholeWorld } from '../../test/support/cli-world.ts';
import { sections } from './commands.ts';
import { runCommand } from './run.ts';

/** A server that takes so many secrets, and then no more. */
function installation(input: string, limit = 100, overrides: Partial<WholeWorld> = {}) {
  const sent: Record<string, unknown>[] = [];
  const fetch = async (_url: string, { body }: RequestInit) => {
    if (sent.length === limit)
      return Response.json({ success: false, error: 'too_large', message: 'Too large' }, { status: 413 });
    sent.push(JSON.parse(String(body)).secret);
    const letter = String.fromCharCode(96 + sent.length);
    const record = {
      key: letter.repeat(31),
      state: 'new',
      secret_ttl: 60,
      metadata_ttl: 120,
      created: 1_790_000_000,
    };
    const metadata = {
      ...record,
      key: `m${letter.repeat(30)}`,
      share_url: `https://own.example/secret/${record.key}`,
    };
    return Response.json({ success: true, record: { metadata, secret: { ...record, lifespan: 60 } } });
  };
  const { world, written } = fakeWorld({ fetch, ...overrides }, input);
  return async (...args: string[]) => {
    const code = await runCommand(['share', '--plain', '--env-file', '-', ...args], sections, world);
    return { code, ...written, sent };
  };
}

const lineOf = (name: string, letter: string) => `${name}=https://own.example/secret/${letter.repeat(31)}\n`;
const two = '# of the application\nexport DB="one two"\nAPI=three\n';

describe('mayfly share --env-file', () => {
  it('shares each value, prints NAME=LINK lines, and sends no name', async () => {
    const { code, out, err, sent } = await installation(two)();
    expect([code, sent]).toEqual([0, [{ secret: 'one two' }, { secret: 'three' }]]);
    expect(out).toBe(lineOf('DB', 'a') + lineOf('API', 'b'));
    expect(err).toBe(
      'Each opens once. Watch or burn them (only for you):\n' +
        `  http://localhost:3000/receipt/m${'a'.repeat(30)}  DB\n  http://localhost:3000/receipt/m${'b'.repeat(30)}  API\n`,
    );
  });

  it('gives all of them the same lifetime, passphrase and memo', async () => {
    const { sent } = await installation(two)('--ttl', '1h', '--passphrase-file', 'p', '--memo', 'release 3');
    const options = { ttl: 3_600, passphrase: cliSecret, memo: 'release 3' };
    expect(sent).toEqual([
      { secret: 'one two', ...options },
      { secret: 'three', ...options },
    ]);
  });

  it('with --json prints one object, by name, whatever the names are', async () => {
    const { out, err } = await installation('__proto__=x\nA=y')('--json');
    const { secrets } = JSON.parse(out);
    expect([Object.keys(secrets), err]).toEqual([['__proto__', 'A'], '']);
    expect(secrets.A).toMatchObject({ metadata_key: `m${'b'.repeat(30)}`, ttl: 60 });
    expect(out).toContain(`"__proto__":{"link":"https://own.example/secret/${'a'.repeat(31)}"`);
  });

  it('that fails half-way prints the links there are, and says which values were not shared', async () => {
    const { code, out, err } = await installation(`${two}LAST=four\n`, 1)();
    expect([code, out]).toEqual([1, lineOf('DB', 'a')]);
    expect(err).toBe(
      'Each opens once. Watch or burn them (only for you):\n' +
        `  http://localhost:3000/receipt/m${'a'.repeat(30)}  DB\n` +
        'API: Too large.\n1 of 3 were shared: not API and those after it.\n',
    );
    const json = await installation(two, 1)('--json');
    expect(JSON.parse(json.out)).toMatchObject({
      error: 'too_large',
      name: 'API',
      secrets: { DB: { link: `https://own.example/secret/${'a'.repeat(31)}` } },
    });
  });

  it('that fails at once has nothing to print', async () => {
    expect(await installation(two, 0)()).toMatchObject({
      code: 1,
      out: '',
      err: 'DB: Too large.\n0 of 2 were shared: not DB and those after it.\n',
    });
  });
});

const usage = 'Usage: mayfly share [FILE] [OPTIONS]\nSee mayfly share --help.\n';

describe('wrong usage of mayfly share --env-file', () => {
  const many = Array.from({ length: 41 }, (_, at) => `N${at}=x`).join('\n');
  const cases: [args: string[], input: string, words: string][] = [
    [[], '# only this\n', 'Nothing to share: Standard input has no NAME=value line.\n'],
    [[], many, 'Too many values: 41. The limit is 40.\n'],
    [
      [],
      `A=1\n${cliSecret}\nB="${cliSecret}\n`,
      'Standard input, line 2: it is not NAME=value; NAME consists of letters, digits and _, and does not begin with a digit.\n' +
        'Standard input, line 3: double quotes must enclose the whole value, with \\n, \\t, \\" and \\\\ as the only escapes.\n' +
        'Nothing was shared.\n',
    ],
    [[], 'A=1\nA=2\n', 'Standard input, line 2: an earlier line has the same name.\nNothing was shared.\n'],
    [
      [],
      `A=${cliSecret}$x\n`,
      'Standard input, line 1: a value with spaces, quotes, #, $, ` or \\ must be in quotes.\nNothing was shared.\n',
    ],
    [['-'], two, 'Share one of these: a value, a file, --lines or --env-file.\n'],
    [[cliSecret], two, 'Share one of these: a value, a file, --lines or --env-file.\n'],
    [['--exact'], two, '--exact works with a single secret, not with --env-file.\n'],
    [
      ['--recipient', 'al@example.org'],
      two,
      '--recipient does not work with --env-file: the emails would not say which link is which.\n',
    ],
    [['--passphrase-file', '-'], two, 'The values come from standard input: put the passphrase in a file.\n'],
    [['--ttl', '1y'], two, '--ttl takes a time such as 90s, 30m, 12h, 7d or 2w.\n'],
  ];
  it.each(cases)('%j with %j sends nothing', async (args, input, words) => {
    const { code, out, err, sent } = await installation(input)(...args);
    expect([code, out, err, sent]).toEqual([2, '', words + usage, []]);
    expect(err).not.toContain(cliSecret);
  });

  it('a file that cannot be read is named, and a wrong line in one with it', async () => {
    const missing = async () => Promise.reject(new Error('ENOENT'));
    const { world, written } = fakeWorld({ readFile: missing });
    expect(await runCommand(['share', '--env-file', '.env'], sections, world)).toBe(2);
    expect(written.err).toBe(`The file .env cannot be read.\n${usage}`);
    const wrong = fakeWorld();
    expect(await runCommand(['share', '--env-file', '.env'], sections, wrong.world)).toBe(2);
    expect(wrong.written.err).toStartWith('.env, line 1: it is not NAME=value; ');
  });

  it('self-test: as many values as allowed are shared', async () => {
    const most = many.split('\n').slice(1).join('\n');
    expect((await installation(most)()).sent).toHaveLength(40);
  });
});
