/** Every command and page, given every kind of key: none takes what waits for gone, and none does what was not asked for. */
import { describe, expect, it } from 'bun:test';
import { readConfig } from '../../src/config/read.ts';
import { createTestApp } from '../support/app.ts';
import { runCli } from '../support/cli-world.ts';
import { makeSealed } from '../web/sealed-link.ts';
import { signUpAs } from '../web/signed-in.ts';
import { visit } from '../web/visit.ts';
import { makeWaiting } from '../web/waiting.ts';
import { words } from '../web/words.ts';

const server = 'https://secrets.example.org';
const app = createTestApp({ baseUrl: server });
const { signedIn } = await signUpAs(app, 'owner@example.org');
const { token } = await app.account('jo@example.org');

const fetch = async (url: string, init: RequestInit) => {
  if (!url.startsWith(`${server}/`)) throw new Error(`nothing may be sent to ${url}`);
  return app.handler(new Request(url, init));
};

const settings = {
  anonymous: { MAYFLY_SERVER: server },
  account: { MAYFLY_SERVER: server, MAYFLY_USERNAME: 'jo@example.org', MAYFLY_TOKEN: token },
} as const;
type Caller = keyof typeof settings;

/** What is given, and the metadata key of the secret that it belongs to and that waits; `null` where there is none. */
type Given = readonly [text: string, metadataKey: string | null];

const unknown = '0'.repeat(31);

async function goneOne() {
  const made = await makeWaiting(app);
  await runCli(['burn', server + made.secretPath], { fetch });
  return made;
}

const kinds: Readonly<Record<string, () => Promise<Given>>> = {
  "a secret's link": async () => {
    const { secretPath, metadataKey } = await makeWaiting(app);
    return [server + secretPath, metadataKey];
  },
  'an end-to-end link': async () => {
    const { link, metadataKey } = await makeSealed(app, 'canary');
    return [server + link, metadataKey];
  },
  'an end-to-end link that was cut': async () => {
    const { path, metadataKey } = await makeSealed(app, 'canary');
    return [server + path, metadataKey];
  },
  'a secret key': async () => {
    const { secretKey, metadataKey } = await makeWaiting(app);
    return [secretKey, metadataKey];
  },
  'a metadata key': async () => {
    const { metadataKey } = await makeWaiting(app);
    return [metadataKey, metadataKey];
  },
  "a receipt's address": async () => {
    const { metadataKey } = await makeWaiting(app);
    return [`${server}/receipt/${metadataKey}`, metadataKey];
  },
  "another account's metadata key": async () => {
    const { metadataKey } = await makeWaiting(app, { caller: signedIn.caller });
    return [metadataKey, metadataKey];
  },
  "another account's receipt": async () => {
    const { metadataKey } = await makeWaiting(app, { caller: signedIn.caller });
    return [`${server}/receipt/${metadataKey}`, metadataKey];
  },
  'a link with the metadata key': async () => {
    const { metadataKey } = await makeWaiting(app);
    return [`${server}/secret/${metadataKey}`, metadataKey];
  },
  "a receipt's address with the secret key": async () => {
    const { secretKey, metadataKey } = await makeWaiting(app);
    return [`${server}/receipt/${secretKey}`, metadataKey];
  },
  "a share domain's link": async () => {
    const { secretPath, metadataKey } = await makeWaiting(app);
    return [`https://links.example.org${secretPath}`, metadataKey];
  },
  "another server's link": async () => [`https://elsewhere.example/secret/${unknown}`, null],
  "a secret's link in capitals": async () => {
    const { secretKey, metadataKey } = await makeWaiting(app);
    return [`${server}/secret/A${secretKey.slice(1).toUpperCase()}`, metadataKey];
  },
  'a key in capitals': async () => {
    const { secretKey, metadataKey } = await makeWaiting(app);
    return [`A${secretKey.slice(1).toUpperCase()}`, metadataKey];
  },
  'a key that was cut': async () => {
    const { secretKey, metadataKey } = await makeWaiting(app);
    return [secretKey.slice(0, 30), metadataKey];
  },
  'an unknown key': async () => [unknown, null],
  'a link of what is gone': async () => [server + (await goneOne()).secretPath, null],
  'a receipt of what is gone': async () => [`${server}/receipt/${(await goneOne()).metadataKey}`, null],
  nothing: async () => ['', null],
};

const commands = {
  status: (text: string) => ['status', text],
  reveal: (text: string) => ['reveal', text],
  burn: (text: string) => ['burn', text],
  ttl: (text: string) => ['ttl', text, '1h'],
  memo: (text: string) => ['memo', text],
  unlock: (text: string) => ['unlock', text],
  deliver: (text: string) => ['deliver', text, 'al@example.org'],
  run: (text: string) => ['run', '--secret', `NAME=${text}`, '--', 'true'],
} as const;
type Name = keyof typeof commands;

const programs = {
  find: async () => '/bin/true',
  run: async () => ({ outcome: 'ended', exit: 0 }) as const,
};

async function call(name: Name, text: string, caller: Caller) {
  const readSettings = async () => readConfig(settings[caller]);
  const [command = '', ...rest] = commands[name](text);
  const args = [command, '--json', ...rest];
  return runCli(args, { fetch, programs: programs as never, readConfig: readSettings });
}
/** Of each command in turn: `done`, what a status says, or the error; `anonymous`, then with an account that did not share it. */
const stranger = 'invalid_key invalid_key invalid_key invalid_key';
const noAccount = 'not_authorized not_authorized not_authorized not_authorized';
const nowhere = 'unknown_secret unknown_secret unknown_secret unknown_secret';
const noKey = `invalid_key invalid_key invalid_key ${stranger} usage`;
const expected: Readonly<Record<keyof typeof kinds, readonly [anonymous: string, account: string]>> = {
  "a secret's link": [`waiting done done ${stranger} done`, `waiting done done ${stranger} done`],
  'an end-to-end link': [`waiting done done ${stranger} done`, `waiting done done ${stranger} done`],
  'an end-to-end link that was cut': [
    `waiting incomplete_link incomplete_link ${stranger} incomplete_link`,
    `waiting incomplete_link incomplete_link ${stranger} incomplete_link`,
  ],
  'a secret key': [
    `waiting done unknown_secret ${noAccount} done`,
    `waiting done unknown_secret ${nowhere} done`,
  ],
  'a metadata key': [
    `waiting unknown_secret done ${noAccount} unknown_secret`,
    'waiting unknown_secret done done done done done unknown_secret',
  ],
  "a receipt's address": [
    `waiting invalid_key done ${noAccount} usage`,
    'waiting invalid_key done done done done done usage',
  ],
  "another account's metadata key": [
    `unknown_secret unknown_secret unknown_secret ${noAccount} unknown_secret`,
    `unknown_secret unknown_secret unknown_secret ${nowhere} unknown_secret`,
  ],
  "another account's receipt": [
    `unknown_secret invalid_key unknown_secret ${noAccount} usage`,
    `unknown_secret invalid_key unknown_secret ${nowhere} usage`,
  ],
  // Nobody ever got such a link, and no answer may say whose key it is (P17).
  'a link with the metadata key': [
    `gone unknown_secret unknown_secret ${stranger} unknown_secret`,
    `gone unknown_secret unknown_secret ${stranger} unknown_secret`,
  ],
  "a receipt's address with the secret key": [
    `unknown_secret invalid_key unknown_secret ${noAccount} usage`,
    `unknown_secret invalid_key unknown_secret ${nowhere} usage`,
  ],
  "a share domain's link": [`waiting done done ${stranger} done`, `waiting done done ${stranger} done`],
  "another server's link": [
    `unknown_secret unknown_secret unknown_secret ${stranger} unknown_secret`,
    `unknown_secret unknown_secret unknown_secret ${stranger} unknown_secret`,
  ],
  "a secret's link in capitals": [noKey, noKey],
  'a key in capitals': [noKey, noKey],
  'a key that was cut': [noKey, noKey],
  'an unknown key': [
    `unknown_secret unknown_secret unknown_secret ${noAccount} unknown_secret`,
    `unknown_secret unknown_secret unknown_secret ${nowhere} unknown_secret`,
  ],
  'a link of what is gone': [
    `gone unknown_secret unknown_secret ${stranger} unknown_secret`,
    `gone unknown_secret unknown_secret ${stranger} unknown_secret`,
  ],
  'a receipt of what is gone': [
    `gone invalid_key already_gone ${noAccount} usage`,
    'gone invalid_key already_gone already_gone done already_gone already_gone usage',
  ],
  nothing: [
    'usage usage usage usage usage usage usage usage',
    'usage usage usage usage usage usage usage usage',
  ],
};

function verdict({ code, out }: { readonly code: unknown; readonly out: string }, name: Name): string {
  if (code === 2) return 'usage';
  const { error, waiting } = JSON.parse(out || '{}') as { error?: string; waiting?: boolean };
  if (error !== undefined) return error;
  return name !== 'status' ? 'done' : waiting === true ? 'waiting' : 'gone';
}

async function stateOf(metadataKey: string): Promise<string> {
  const found = await app.service.findReceipt({ metadataKey, authority: 'holder' }, signedIn.caller);
  return found.outcome === 'found' ? found.receipt.state : found.outcome;
}

const endings = { reveal: 'received', run: 'received', burn: 'burned' } as const;

describe.each(Object.keys(expected))('given %s', (kind) => {
  it('each command does what it can be meant for, and calls nothing gone that waits', async () => {
    for (const [at, caller] of (['anonymous', 'account'] as const).entries()) {
      const verdicts: string[] = [];
      for (const name of Object.keys(commands) as Name[]) {
        const [text, metadataKey] = (await kinds[kind]?.()) ?? ['', null];
        const answer = await call(name, text, caller);
        const said = verdict(answer, name);
        verdicts.push(said);
        if (metadataKey === null || said === 'gone') continue;
        const isEnded = said === 'done' && name in endings;
        const state = isEnded ? endings[name as keyof typeof endings] : 'new';
        expect([kind, name, await stateOf(metadataKey)]).toEqual([kind, name, state]);
        if (!isEnded && kind !== 'a link with the metadata key')
          expect([kind, name, answer.err]).toEqual([
            kind,
            name,
            expect.not.stringMatching(/never existed|was read,/),
          ]);
      }
      expect([kind, caller, verdicts.join(' ')]).toEqual([kind, caller, expected[kind]?.[at] ?? '']);
    }
  });
});

describe('every page of a key', () => {
  it('says of each wrong kind only what is known of it, and changes nothing', async () => {
    const { secretKey, metadataKey } = await makeWaiting(app);
    const heads: readonly (readonly [path: string, status: number, heading: string])[] = [
      [`/secret/${secretKey}`, 200, words('secret.title')],
      [`/receipt/${metadataKey}`, 200, words('receipt.newTitle')],
      [`/secret/${metadataKey}`, 404, words('gone.title')],
      [`/secret/${unknown}`, 404, words('gone.title')],
      [`/secret/${secretKey.slice(1)}`, 404, words('damaged.title')],
      [`/secret/A${secretKey.slice(1).toUpperCase()}`, 404, words('damaged.title')],
      [`/secret/${secretKey}${metadataKey}`, 404, words('damaged.title')],
      ...[secretKey, unknown, metadataKey.slice(1), metadataKey.toUpperCase(), `${metadataKey}x`].map(
        (key) => [`/receipt/${key}`, 404, words('error.notFound.title')] as const,
      ),
      ['/secret/', 404, words('error.notFound.title')],
      ['/receipt/', 404, words('error.notFound.title')],
    ];
    for (const [path, status, heading] of heads) {
      const shown = await visit(app, path);
      expect([path, shown.status, /<h1[^>]*>(.*?)<\/h1>/s.exec(shown.html)?.[1]]).toEqual([
        path,
        status,
        heading,
      ]);
      if (status === 404) expect((await visit(app, `${path}/burn`)).status).toBe(404);
    }
    expect(await stateOf(metadataKey)).toBe('new');
  });
});
