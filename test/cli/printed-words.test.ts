/**
 * What the product draws or prints is used again as a word of a command, and a shell takes it as it is: also where it begins with a hyphen,
 * as one nonce in 64 does, and some addresses.
 */
import { describe, expect, it, spyOn } from 'bun:test';
import { createClient, newLook } from '../../sdk/mayfly.ts';
import type { Command } from '../../src/cli/command.ts';
import { commands } from '../../src/cli/commands.ts';
import { readInput } from '../../src/cli/shell.ts';
import { createAccount, createToken } from '../../src/core/accounts/admin.ts';
import { generateMetadataKey, generateSecretKey } from '../../src/core/keys.ts';
import { dicewareWords } from '../../src/ops/word-lists.ts';
import { sixteenBytesForm } from '../../src/protocol/base64url.ts';
import { createMemoryStore } from '../stores/memory.ts';
import { createTestApp } from '../support/app.ts';
import { fakeWorld, runCli } from '../support/cli-world.ts';
import { steadyClock } from '../support/clocks.ts';

const server = 'http://localhost:3000';

/** What these bytes are in base64url: `-…`, `_…`, `A…`. */
const edges = { '-': 0xfb, _: 0xff, A: 0 } as const;
type Edge = keyof typeof edges;
const everyEdge = Object.keys(edges) as Edge[];

function drawnAt<Result>(edge: Edge, work: () => Result): Result {
  const fill = <Drawn>(array: Drawn): Drawn => {
    if (array instanceof Uint8Array) array.fill(edges[edge]);
    return array;
  };
  using _drawing = spyOn(crypto, 'getRandomValues').mockImplementation(fill);
  return work();
}

/** A reveal that draws its nonce at this edge and can write nothing: what it prints, and a server that it can be tried at again. */
async function failedReveal(edge: Edge) {
  const app = createTestApp({ baseUrl: server });
  const fetch = async (url: string, init: RequestInit) => app.handler(new Request(url, init));
  const { link } = await createClient({ server, fetch }).conceal({ value: 'hunter2', plain: true });
  const { terminal } = fakeWorld().world;
  let err = '';
  const full = {
    ...terminal,
    out: () => {
      throw Object.assign(new Error(), { code: 'ENOSPC' });
    },
    err: (text: string) => {
      err += text;
    },
  };
  const failed = drawnAt(edge, () => runCli(['reveal', link, '--server', server], { fetch, terminal: full }));
  expect((await failed).code).toBe(1);
  const run = (args: readonly string[]) => runCli([...args, '--server', server], { fetch });
  return { link, run, err, printed: /: mayfly (reveal .*)$/m.exec(err)?.[1]?.split(' ') ?? [] };
}

describe('the nonce of a second look', () => {
  for (const edge of everyEdge) {
    it(`that begins with ${edge} is printed in a command that runs as it is`, async () => {
      const { link, run, printed } = await failedReveal(edge);
      const [word = '', option = '', place] = printed;
      expect([word, place, option.slice(0, 8)]).toEqual(['reveal', 'LINK', `--look=${edge}`]);
      expect(option.slice(7)).toMatch(sixteenBytesForm);
      expect(await run([word, option, link])).toMatchObject({ code: 0, out: 'hunter2' });
    });

    it(`that begins with ${edge} is taken as a word of its own, too, before or after the link`, async () => {
      for (const isLast of [true, false]) {
        const { link, run, printed } = await failedReveal(edge);
        const look = ['--look', printed[1]?.slice(7) ?? ''];
        const args = isLast ? ['reveal', link, ...look] : ['reveal', ...look, link];
        expect(await run(args)).toMatchObject({ code: 0, out: 'hunter2' });
      }
    });
  }

  it('is drawn at these edges here', () => {
    for (const edge of everyEdge) expect(drawnAt(edge, newLook)).toStartWith(edge);
  });
});

const address = '-jo@example.org';
/** Values that begin with a hyphen, by the placeholder of those that have a form of their own. */
const hyphenated: Readonly<Record<string, string>> = {
  NONCE: '-AAAAAAAAAAAAAAAAAAAAA',
  EMAIL: address,
  ADDRESS: address,
};

const bare = (word: string) => word.replace(/[[\]]/g, '');
const titleOf = ({ path }: Command) => `mayfly ${path.join(' ')}`;

describe('a value or word of a form of its own that begins with a hyphen', () => {
  const options = commands.flatMap((command) =>
    Object.entries(command.options ?? {})
      .filter(([, { value = '' }]) => value in hyphenated)
      .map(([name, { value = '' }]) => ({ command, name, value: hyphenated[value] ?? '' })),
  );
  for (const { command, name, value } of options)
    it(`is taken in both forms: ${titleOf(command)} --${name}`, () => {
      const args = command.args.filter((arg) => !arg.startsWith('['));
      for (const given of [[`--${name}`, value], [`--${name}=${value}`]]) {
        const input = readInput(command, [...args, ...given, '--json']);
        expect([input.texts[name], input.args, input.json]).toEqual([value, args, true]);
      }
    });

  const taking = commands.filter(({ args = [] }) => args.some((arg) => bare(arg) === 'EMAIL'));
  for (const command of taking)
    it(`is taken among the arguments: ${titleOf(command)}`, () => {
      const args = command.args.map((arg) => (bare(arg) === 'EMAIL' ? address : bare(arg)));
      expect(readInput(command, ['--quiet', ...args, '--json'])).toMatchObject({ args, json: true });
    });

  it('is in more than one option and more than ten commands', () => {
    expect(options.map(({ name }) => name).sort()).toEqual([
      ...['look', 'mail-to', 'recipient', 'recipient', 'verify', 'verify'],
    ]);
    expect(taking.length).toBeGreaterThan(10);
  });

  it('opens no way around an option: what has no such form is refused, and not repeated', async () => {
    const key = '0123456789abcdefghijklmnopqrstu';
    for (const args of [
      ['reveal', key, '--look', '-hunter2'],
      ['reveal', key, '--look', '--json'],
      ['reveal', key, '-AAAAAAAAAAAAAAAAAAAAA'],
      ['account', 'lock', '-hunter2'],
      ['share', '--memo', '-hunter2'],
    ]) {
      const { code, err } = await runCli(args);
      expect([args, code]).toEqual([args, 2]);
      expect(err).not.toContain('hunter2');
    }
  });
});

describe('what else is drawn', () => {
  const bytes = [0xfb, 0xff, 0, 0x2d, 0x5f];

  it('never begins with a hyphen: keys, tokens, the words of passphrases', async () => {
    for (const byte of bytes) {
      // A byte beyond the alphabet's multiples is drawn again.
      let draws = 0;
      const random = (length: number) => new Uint8Array(length).fill(draws++ === 0 ? byte : 0x2d);
      const store = createMemoryStore({ clock: steadyClock(() => 1_790_000_000) });
      const deps = { store, random };
      const made = await createAccount(deps, { email: 'jo@example.org', plan: 'basic' });
      const another = await createToken(deps, {
        ...{ email: 'jo@example.org', name: 'x', scopes: ['create'], expiresAt: null, existingToken: null },
      });
      const words = [
        generateSecretKey(random, null),
        generateMetadataKey(random, null),
        ...[made, another].map((each) => ('token' in each ? each.token.expose() : '-')),
      ];
      for (const word of words) expect(word).toMatch(/^[0-9a-z]+$/);
    }
    expect((await dicewareWords()).filter((word) => !/^[a-z]/.test(word))).toEqual([]);
  });
});
