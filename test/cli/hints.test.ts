/** What the command offers somebody without an account, that person can do: each printed hint is followed. */
import { describe, expect, it } from 'bun:test';
import { readConfig } from '../../src/config/read.ts';
import { createTestApp } from '../support/app.ts';
import { runCli } from '../support/cli-world.ts';
import { makeSealed } from '../web/sealed-link.ts';
import { makeWaiting } from '../web/waiting.ts';

const server = 'https://secrets.example.org';
const app = createTestApp({ baseUrl: server });
const fetch = async (url: string, init: RequestInit) => app.handler(new Request(url, init));
const env = { MAYFLY_SERVER: server };

const run = (args: readonly string[], input = '', more: Readonly<Record<string, string>> = {}) =>
  runCli(args, { fetch, readConfig: async () => readConfig({ ...env, ...more }) }, input);

const { secretKey, metadataKey, secretPath } = await makeWaiting(app);
const locked = await makeWaiting(app, { passphrase: 'right' });
const sealed = await makeSealed(app, 'canary', 'right');
const file = new TextEncoder().encode('A=one\nB=two\n');

/** What somebody without an account may run into; all of it says what to do next. */
const situations: readonly (readonly [args: readonly string[], input?: string])[] = [
  [['share'], 'hunter2'],
  [['share', '--plain'], 'hunter2'],
  [['generate']],
  [['share', '--env-file', '-'], 'A=one\nB=two\n'],
  [['share', '--lines', '-'], 'one\ntwo\n'],
  [['share', 'no-such-file']],
  [['share', 'one', 'two']],
  [['share', '--passphrase=hunter2'], 'x'],
  [['share', '--passphrase'], 'x'],
  [['share', '--recipient', 'al@example.org'], 'x'],
  [['share', '--copy'], 'x'],
  [['share', '--exact', 'report.pdf']],
  [['share', 'report.pdf', '--plain']],
  [['share', '-x'], 'x'],
  [['share', '--tll', '1h'], 'x'],
  [['share', '--server', 'http://secrets.example.org'], 'x'],
  [['status', metadataKey]],
  [['status']],
  [['reveal', metadataKey]],
  [['reveal', `${server}/receipt/${metadataKey}`]],
  [['reveal', server + locked.secretPath]],
  [['reveal', server + sealed.link]],
  [['reveal', server + sealed.path]],
  [['reveal', '--copy', server + secretPath]],
  [['reveal', 'https://elsewhere.example/secret/00000000000000000000000000000aa']],
  [['burn', server + locked.secretPath]],
  [['ttl', metadataKey]],
  [['ttl', metadataKey, '1y']],
  [['memo', metadataKey, 'x']],
  [['memo', server + secretPath, 'x']],
  [['unlock', metadataKey]],
  [['recent']],
  [['whoami']],
  [['login']],
  [['run', '--secret', `A=${server}${locked.secretPath}`, '--', 'true']],
  [['run', '--', 'true']],
  [['sahre'], 'x'],
  [['-q', 'share'], 'x'],
  [[]],
];

/** The file that `report.pdf` is. */
const readFile = async () => file;

describe('what the command offers without an account', () => {
  it('is there: each address opens, each command, option and setting exists', async () => {
    const settings = (await run(['config'])).out;
    let followed = 0;
    for (const [args, input] of situations) {
      const said = await runCli(args, { fetch, readFile, readConfig: async () => readConfig(env) }, input);
      const help = (await run([args[0] ?? 'help', '--help'])).out;
      // The overview lists everything; the help of a command, its options.
      const words = args.length === 0 ? '' : said.err;
      for (const [address] of words.matchAll(/https:\/\/secrets\.example\.org\/\S+/g)) {
        const page = await app.fetch(address.slice(server.length).replace(/[.,]$/, ''));
        expect([args, address, page.status]).toEqual([args, address, 200]);
        followed += 1;
      }
      for (const [, path = ''] of words.matchAll(/\bmayfly ((?:[a-z-]+ ?)+)/g)) {
        const [command = ''] = path.split(' ');
        const about = command === 'help' ? ['help'] : [command, '--help'];
        expect([args, command, (await run(about)).code]).toEqual([args, command, 0]);
        followed += 1;
      }
      for (const [option] of words.matchAll(/(?<![\w-])--[a-z][a-z-]+/g)) {
        const isRefused = args.some((arg) => arg.startsWith(option));
        expect([args, option, isRefused || help.includes(option)]).toEqual([args, option, true]);
        followed += 1;
      }
      for (const [name] of words.matchAll(/\bMAYFLY_[A-Z_]+/g)) {
        expect([args, name, settings.includes(name)]).toEqual([args, name, true]);
        followed += 1;
      }
    }
    expect(followed).toBeGreaterThan(80);
  });

  it('does what it says: the receipt that share prints is watched and burned', async () => {
    const shared = await run(['share', '--json'], 'hunter2');
    const { link, receipt, metadata_key: key } = JSON.parse(shared.out) as Record<string, string>;
    expect(receipt).toBe(`${server}/receipt/${key}`);
    const printed = /https:\S+\/receipt\/\S+/.exec((await run(['share'], 'hunter2')).err)?.[0] ?? '';
    for (const address of [receipt ?? '', printed]) {
      expect((await run(['status', address])).out).toBe('Not opened yet\n');
      expect((await run(['burn', address])).err).toBe('Burned. The link no longer works.\n');
      const after = await run(['status', address, '--json']);
      expect([after.code, JSON.parse(after.out)]).toMatchObject([1, { waiting: false, state: 'burned' }]);
      expect((await run(['burn', address, '--json'])).out).toBe('{"error":"already_gone"}\n');
    }
    expect((await run(['reveal', link ?? ''])).code).toBe(1);
  });

  it('does what it says: a passphrase from a file or a setting opens what asked for it', async () => {
    expect((await run(['reveal', server + sealed.link])).err).toContain(
      '--passphrase-file or MAYFLY_PASSPHRASE',
    );
    expect((await run(['reveal', server + locked.secretPath], '', { MAYFLY_PASSPHRASE: 'right' })).out).toBe(
      'canary',
    );
    const fromFile = ['reveal', server + sealed.link, '--passphrase-file', '-'];
    expect((await run(fromFile, 'right\n')).out).toBe('canary');
  });

  it('is not a key told as gone: a metadata key is watched by its address or as it is', async () => {
    for (const word of [metadataKey, `${server}/receipt/${metadataKey}`])
      expect((await run(['status', word])).out).toBe('Not opened yet\n');
    const unknown = await run(['status', '--json', '0'.repeat(31)]);
    expect([unknown.code, unknown.out]).toEqual([1, '{"error":"unknown_secret"}\n']);
    expect((await run(['status', secretKey])).out).toStartWith('Not opened yet');
  });

  it('names a figure for what is too large, which then fits', async () => {
    const large = (bytes: number) => async () => new Uint8Array(bytes);
    const share = (bytes: number) => runCli(['share', 'x'], { fetch, readFile: large(bytes) });
    const [, kilobytes = ''] = /: about (\d+) kB end to end\.\n$/.exec((await share(200_000)).err) ?? [];
    expect((await share(Number(kilobytes) * 1_000)).code).toBe(0);
    expect((await share(105_000)).err).toContain('Too large: the limit of http://localhost:3000 is 100 kB.');
  });

  it('a page that does not answer as ours is no answer', async () => {
    const answers: readonly Response[] = [
      new Response('{"state":"new"}', { status: 503 }),
      new Response('<h1>Welcome</h1>'),
      new Response('{"state":"opened"}'),
    ];
    const address = `${server}/receipt/${metadataKey}`;
    for (const answer of answers)
      for (const command of ['status', 'burn']) {
        const cut = async (url: string, init: RequestInit) =>
          url.endsWith('/state') ? answer.clone() : fetch(url, init);
        const said = await runCli([command, '--json', address], { fetch: cut });
        expect([said.code, said.out]).toEqual([1, '{"error":"unexpected_answer"}\n']);
      }
    const away = async () => Promise.reject(new Error('away'));
    expect((await runCli(['status', '--json', address], { fetch: away })).out).toBe(
      '{"error":"unreachable"}\n',
    );
    expect((await run(['status', address])).out).toBe('Not opened yet\n');
  });
});
