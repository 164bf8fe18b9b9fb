/** How the secret is read from standard input, and how the remaining time of a secret is shown. */
import { describe, expect, it } from 'bun:test';
import { fakeWorld, runCli } from '../../test/support/cli-world.ts';
import { runCommand } from './run.ts';
import { durationWords } from './terminal.ts';

const note = 'The line break at the end was left out; --exact keeps it.\n';

async function shared(args: readonly string[], input: string) {
  const { requests, err } = await runCli(['share', '--plain', ...args], {}, input);
  return { value: JSON.parse(String(requests[0]?.init.body)).secret.secret, err };
}

describe('the value that share takes', () => {
  it.each([
    ['open sesame\n', 'open sesame'],
    ['open sesame\r\n', 'open sesame'],
    ['open sesame\n\n', 'open sesame\n'],
    ['open sesame\r', 'open sesame\r'],
    [' open sesame ', ' open sesame '],
    ['two\nlines\n', 'two\nlines'],
  ])('of %j is %j: one line break at its end belongs to the command before', async (input, value) => {
    expect((await shared([], input)).value).toBe(value);
    expect((await shared(['--exact'], input)).value).toBe(input);
  });

  it('says so where the line break may belong to a file: in a text of several lines', async () => {
    expect((await shared([], 'two\nlines\n')).err).toContain(note);
    for (const [args, input] of [
      [[], 'one line\n'],
      [[], 'two\nlines'],
      [['--exact'], 'two\nlines\n'],
    ] as const)
      expect((await shared(args, input)).err).not.toContain(note);
  });

  it('is nothing where there is a line break alone, unless it is meant', async () => {
    expect(await runCli(['share'], {}, '\n')).toMatchObject({ code: 2, requests: [] });
    expect((await shared(['--exact'], '\n')).value).toBe('\n');
  });

  it('typed at a terminal ends with the last line, with --exact too: the Enter key is not part of it', async () => {
    for (const args of [
      ['share', '--plain'],
      ['share', '--plain', '--exact'],
    ]) {
      const { world, requests } = fakeWorld({}, 'typed\n');
      await runCommand(args, { ...world, terminal: { ...world.terminal, isInteractive: true } });
      expect(JSON.parse(String(requests[0]?.init.body)).secret.secret).toBe('typed');
    }
  });

  it('--help says what --exact does', async () => {
    expect((await runCli(['share', '--help'])).out).toMatch(/--exact +keep the line break/);
  });
});

describe('how long a secret waits', () => {
  it('is said in the two largest units', () => {
    for (const [seconds, words] of [
      [0, '0 seconds'],
      [1, '1 second'],
      [59, '59 seconds'],
      [60, '1 minute'],
      [3_599, '59 minutes 59 seconds'],
      [3_600, '1 hour'],
      [3_601, '1 hour'],
      [90_000, '1 day 1 hour'],
      [604_799, '6 days 23 hours'],
      [604_800, '7 days'],
    ] as const)
      expect(durationWords(seconds)).toBe(words);
  });

  it('stays in seconds with --json', async () => {
    const key = '0123456789abcdefghijklmnopqrstu';
    const record = { key, state: 'new', has_passphrase: false, secret_ttl: 604_799, created: 1_790_000_000 };
    const overrides = { fetch: async () => Response.json({ success: true, record }) };
    expect((await runCli(['status', key], overrides)).out).toBe('waiting, for another 6 days 23 hours\n');
    expect(JSON.parse((await runCli(['status', key, '--json'], overrides)).out).secret_ttl).toBe(604_799);
  });
});
