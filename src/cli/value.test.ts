/** How the secret is read from standard input, and how the remaining time of a secret is shown. */
import { describe, expect, it } from 'bun:test';
import { fakeWorld, runCli } from '../../test/support/cli-world.ts';
import { sections } from './commands.ts';
import { runCommand } from './run.ts';
import { durationWords } from './terminal.ts';

async function shared(args: readonly string[], input: string) {
  const { requests } = await runCli(['share', '--plain', ...args], {}, input);
  return { value: JSON.parse(String(requests[0]?.init.body)).secret.secret };
}

describe('the value that share takes', () => {
  it.each([
    ['open sesame\n', 'open sesame'],
    ['open sesame\r\n', 'open sesame'],
    ['open sesame\n\n', 'open sesame\n\n'],
    ['open sesame\r', 'open sesame\r'],
    [' open sesame ', ' open sesame '],
    ['two\nlines\n', 'two\nlines\n'],
    ['two\r\nlines\r\n', 'two\r\nlines\r\n'],
  ])(
    'of %j is %j: the line break at the end of one line belongs to the command before',
    async (input, value) => {
      expect((await shared([], input)).value).toBe(value);
      expect((await shared(['--exact'], input)).value).toBe(input);
    },
  );

  it('is nothing where there is a line break alone, unless it is meant', async () => {
    expect(await runCli(['share'], {}, '\n')).toMatchObject({ code: 2, requests: [] });
    expect((await shared(['--exact'], '\n')).value).toBe('\n');
  });

  it.each([
    ['typed\n', [], 'typed'],
    ['typed\n', ['--exact'], 'typed\n'],
    ['a pasted\nkey\n', [], 'a pasted\nkey\n'],
  ])('typed at a terminal is read like a pipe: %j with %j is %j', async (typed, args, value) => {
    const { world, requests } = fakeWorld({}, typed);
    const terminal = { ...world.terminal, isInteractive: true };
    await runCommand(['share', '--plain', ...args], sections, { ...world, terminal });
    expect(JSON.parse(String(requests[0]?.init.body)).secret.secret).toBe(value);
  });

  it('--help says what --exact does', async () => {
    expect((await runCli(['share', '--help'])).out).toMatch(/--exact +share the input byte for byte/);
  });
});

describe('how long a secret waits', () => {
  it('is said in the two largest units, without odd seconds', () => {
    for (const [seconds, words] of [
      [0, '0 seconds'],
      [1, '1 second'],
      [59, '59 seconds'],
      [60, '1 minute'],
      [90, '1 minute 30 seconds'],
      [599, '9 minutes 59 seconds'],
      [899, '15 minutes'],
      [3_599, '1 hour'],
      [3_600, '1 hour'],
      [3_601, '1 hour'],
      [5_430, '1 hour 31 minutes'],
      [86_399, '1 day'],
      [90_000, '1 day 1 hour'],
      [601_200, '6 days 23 hours'],
      [604_700, '7 days'],
      [604_800, '7 days'],
    ] as const)
      expect(durationWords(seconds)).toBe(words);
  });

  it('stays in seconds with --json', async () => {
    const key = '0123456789abcdefghijklmnopqrstu';
    const record = { key, state: 'new', has_passphrase: false, secret_ttl: 604_799, created: 1_790_000_000 };
    const overrides = { fetch: async () => Response.json({ success: true, record }) };
    expect((await runCli(['status', key], overrides)).out).toBe('Not opened yet · expires in 7 days\n');
    expect(JSON.parse((await runCli(['status', key, '--json'], overrides)).out).secret_ttl).toBe(604_799);
  });
});
