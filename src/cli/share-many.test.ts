/** `mayfly share --lines` and `--idempotency-key`: what is sent, and what a repetition says. */
import { describe, expect, it } from 'bun:test';
import { cliSecret, fakeWorld, type WholeWorld } from '../../test/support/cli-world.ts';
import { readConfig } from '../config/read.ts';
import { sections } from './commands.ts';
import { runCommand } from './run.ts';

const created = (letter: string, changes: object = {}, details: object = {}) => {
  const record = { key: letter.repeat(31), sealed: false, secret_ttl: 60, metadata_ttl: 120 };
  const metadata = {
    ...{ ...record, key: `m${letter.repeat(30)}`, state: 'new', created: 1_790_000_000 },
    ...{ share_url: `https://own.example/secret/${record.key}`, ...changes },
  };
  return { success: true, record: { metadata, secret: { ...record, lifespan: 60 } }, details };
};

const account = async () => readConfig({ MAYFLY_USERNAME: 'jo@example.org', MAYFLY_TOKEN: 'ab'.repeat(32) });

/** A server that answers with these. */
function installation(input: string, answers: readonly object[], overrides: Partial<WholeWorld> = {}) {
  const sent: { path: string; key: string | null; body: unknown }[] = [];
  const fetch = async (url: string, { body, headers }: RequestInit) => {
    const key = new Headers(headers).get('idempotency-key');
    sent.push({ path: new URL(url).pathname, key, body: JSON.parse(String(body)) });
    return Response.json(answers[sent.length - 1] ?? answers.at(-1));
  };
  const { world, written } = fakeWorld({ fetch, readConfig: account, ...overrides }, input);
  return async (...args: string[]) => {
    const code = await runCommand(['share', '--plain', ...args], sections, world);
    return { code, ...written, sent };
  };
}

const problem = { success: false, error: 'too_large', message: 'Too large', status: 413 };
const linkOf = (letter: string) => `https://own.example/secret/${letter.repeat(31)}\n`;

describe('mayfly share --lines', () => {
  const run = installation('one\r\ntwo\nthree\n', [
    { success: true, results: [created('a'), problem, created('c')] },
  ]);

  it('sends all lines at once, prints a link on the line of each, and says which were not shared', async () => {
    const { code, out, err, sent } = await run('--lines', '-', '--ttl', '1h', '--passphrase-file', 'p');
    const options = { ttl: 3_600, passphrase: cliSecret };
    const secrets = ['one', 'two', 'three'].map((secret) => ({ secret, ...options }));
    expect(sent).toEqual([{ path: '/api/v2/secret/batch', key: null, body: { secrets } }]);
    expect([code, out]).toEqual([1, `${linkOf('a')}\n${linkOf('c')}`]);
    expect(err).toBe(
      'Each opens once. Watch or burn them (only for you):\n' +
        `  http://localhost:3000/receipt/m${'a'.repeat(30)}  line 1\nline 2: Too large.\n  http://localhost:3000/receipt/m${'c'.repeat(30)}  line 3\n2 of 3 were shared.\n`,
    );
  });

  it('takes one idempotency key for all of them', async () => {
    const { code, sent } = await installation('one', [{ success: true, results: [created('a')] }])(
      ...['--lines', '-', '--idempotency-key', 'k'],
    );
    expect([code, sent[0]?.key]).toEqual([0, 'k']);
  });

  it('refuses an empty line, too many, and what is for one secret, before anything is sent', async () => {
    const wrong: readonly (readonly [string, readonly string[]])[] = [
      ['one\n\ntwo', []],
      ['', []],
      [Array.from({ length: 101 }, () => 'x').join('\n'), []],
      ['one', ['--exact']],
      ['one', ['--copy']],
      ['one', ['--recipient', 'alan@example.org']],
      ['one', ['--env-file', '.env']],
      ['one', ['--passphrase-file', '-']],
    ];
    for (const [input, args] of wrong) {
      const { code, out, sent } = await installation(input, [])('--lines', '-', ...args);
      expect([code, out, sent]).toEqual([2, '', []]);
    }
  });
});

describe('mayfly share --idempotency-key', () => {
  it('says that it was shared before, and what became of it', async () => {
    const repeated = { repeated: true };
    const waiting = await installation('x', [created('a', {}, repeated)])('--idempotency-key', 'k');
    expect([waiting.code, waiting.out, waiting.sent[0]?.key]).toEqual([0, linkOf('a'), 'k']);
    expect(waiting.err).toStartWith('Already shared with this idempotency key.\nOpens once. Expires in ');
    const burned = created('a', { state: 'burned', secret_ttl: 0 }, repeated);
    const gone = await installation('x', [burned])('--idempotency-key', 'k');
    expect(gone.err).toBe(
      'Already shared with this idempotency key, and is now burned.\n' +
        `Its receipt (only for you): http://localhost:3000/receipt/m${'a'.repeat(30)}\n`,
    );
    const json = await installation('x', [burned])('--idempotency-key', 'k', '--json');
    expect(JSON.parse(json.out)).toMatchObject({ repeated: true, state: 'burned' });
  });

  it('gives each line of an env file a key of its own, without its name', async () => {
    const run = installation('A=x\nB=y', [created('a'), created('b')]);
    const { code, sent } = await run('--env-file', '-', '--idempotency-key', 'release');
    expect([code, sent.map(({ key }) => key)]).toEqual([0, ['release 1', 'release 2']]);
  });
});
