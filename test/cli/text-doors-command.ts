/** The doors of the command: standard input, files, arguments and prompts. */
import { sections } from '../../src/cli/commands.ts';
import { runCommand } from '../../src/cli/run.ts';
import { systemRandom } from '../../src/crypto/random.ts';
import { createMemoryStore } from '../stores/memory.ts';
import { fakeLogins, fakeWorld, type WholeWorld } from '../support/cli-world.ts';
import { steadyClock } from '../support/clocks.ts';
import {
  bytesDoor,
  type Door,
  decode,
  email,
  installation,
  otherServer,
  secretKey,
  server,
  textDoor,
  token,
  value,
} from './text-door.ts';

interface Overrides extends Partial<Omit<WholeWorld, 'terminal'>> {
  readonly terminal?: Partial<WholeWorld['terminal']>;
}

async function run(args: readonly string[], { terminal, ...overrides }: Overrides) {
  const { world, written } = fakeWorld(overrides);
  const code = await runCommand(args, sections, { ...world, terminal: { ...world.terminal, ...terminal } });
  return { code, ...written };
}

/** Standard input and every file hold these bytes. */
function holding(bytes: Uint8Array): Overrides {
  return { terminal: { readInput: async () => bytes }, readFile: async () => bytes };
}

function answering(answer: (question: string) => string): Overrides {
  const ask = async (question: string) => answer(question);
  return { terminal: { isInteractive: true, ask, askHidden: ask } };
}

interface Asked {
  readonly url: string;
  readonly init: RequestInit;
}

/** What the command asks of a server that has one protected secret, and gives nothing out. */
async function requestsOf(args: readonly string[], overrides: Overrides): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  const record = { key: secretKey, state: 'new', has_passphrase: true, secret_ttl: 60, created: 1 };
  const fetch: WholeWorld['fetch'] = async (url, init) => {
    asked.push({ url, init });
    if (url.endsWith('/status')) return Response.json({ success: true, record });
    return Response.json({ success: false, error: 'unknown_secret' }, { status: 404 });
  };
  await run(args, { fetch, ...overrides });
  return asked;
}

const bodyOf = (asked: Asked | undefined) =>
  asked === undefined ? null : JSON.parse(String(asked.init.body));

/** What a creation sends. */
async function sent(name: 'secret' | 'passphrase', args: readonly string[], overrides: Overrides) {
  const [asked] = await requestsOf([...args, '--plain'], overrides);
  return bodyOf(asked)?.secret[name] ?? null;
}

/** The passphrase that the request to this path has. */
async function passphraseTo(
  path: RegExp,
  args: readonly string[],
  bytes: Uint8Array,
): Promise<string | null> {
  const all = await requestsOf([...args, '--passphrase-file', 'x'], holding(bytes));
  return bodyOf(all.find(({ url }) => path.test(url)))?.passphrase ?? null;
}

function openPrograms() {
  const handed = new Map<string, string>();
  const programs: WholeWorld['programs'] = {
    find: async () => '/bin/true',
    run: async ({ variables }) => {
      for (const [name, text] of variables) handed.set(name, text);
      return { outcome: 'ended', exit: 0 as never };
    },
  };
  return { programs, handed };
}

/** What `mayfly run` hands on of a shared text or file. */
async function handedOn(
  shared: string | Uint8Array<ArrayBuffer>,
  ...options: string[]
): Promise<string | null> {
  const { fetch, client } = installation();
  const content =
    typeof shared === 'string' ? { value: shared } : { file: { name: 'x', type: '', bytes: shared } };
  const { link } = await client.conceal(content);
  const { programs, handed } = openPrograms();
  await run(['run', `--secret=A=${link}`, ...options, '--', 'x'], { fetch, programs });
  return handed.get('A') ?? null;
}

/** Names and keys of the links in a file. */
async function linksRead(bytes: Uint8Array): Promise<string | null> {
  const { programs } = openPrograms();
  const args = ['run', '--secrets-file', 'x', '--passphrase-file', 'x', '--', 'x'];
  const asked = await requestsOf(args, { ...holding(bytes), programs });
  const keys = asked.flatMap(({ url }) => /\/secret\/([0-9a-z]+)\/status$/.exec(url)?.[1] ?? []);
  return keys.length === 0 ? null : keys.map((key, at) => `${'AB'[at]}=${key}`).join('\n');
}

async function linesShared(args: readonly string[], bytes: Uint8Array): Promise<string | null> {
  const { fetch, client } = installation();
  const { out } = await run([...args, '--plain'], { ...holding(bytes), fetch });
  const lines = out.split('\n').filter((line) => line !== '');
  const read = lines.map(async (line) => {
    const [, name = '', link = ''] = /^((?:[A-Z]=)?)(.*)$/.exec(line) ?? [];
    return name + (await client.reveal(link)).value;
  });
  return lines.length === 0 ? null : (await Promise.all(read)).join('\n');
}

/** Which secret a command asks about. */
async function keyAsked(args: readonly string[], overrides: Overrides): Promise<string | null> {
  const [asked] = await requestsOf(args, overrides);
  return asked === undefined ? null : (/\/secret\/([0-9a-z]+)/.exec(asked.url)?.[1] ?? null);
}

/** What `mayfly login` keeps. */
async function kept(what: 'server' | 'username' | 'token', args: readonly string[], overrides: Overrides) {
  const logins = fakeLogins();
  const openLogins = async () => ({ outcome: 'open', logins }) as const;
  const fetch = async () => Response.json({ success: true });
  await run(['login', ...args], { openLogins, fetch, ...overrides });
  const [login] = logins.all;
  if (login === undefined) return null;
  return what === 'token' ? ((await logins.tokenOf(login))?.expose() ?? null) : login[what];
}

/** Answers the questions of `mayfly login`. */
const typed = (given: { readonly server?: string; readonly email?: string; readonly token?: string }) =>
  answering((question) => {
    if (question.startsWith('Server')) return given.server ?? '';
    return question.startsWith('Email') ? (given.email ?? email) : (given.token ?? token);
  });

/** The token, when it is taken for one of the account. */
async function existingToken(bytes: Uint8Array): Promise<string | null> {
  const store = createMemoryStore({ clock: steadyClock(() => 1_790_000_000) });
  const accounts = { store, random: systemRandom, close: async () => {} };
  const openAccounts = async () => ({ outcome: 'open', accounts }) as const;
  const made = await run(['account', 'create', email, '--json'], { openAccounts });
  // One character for each byte, so that other bytes than a text's stay what they are.
  const text = Buffer.from(bytes).toString('latin1').replace(token, JSON.parse(made.out).token);
  const args = ['account', 'token', 'create', email, '--with-token', 'x', '--json'];
  const readFile = async () => new Uint8Array(Buffer.from(text, 'latin1'));
  const { code, out } = await run(args, { openAccounts, readFile });
  return code === 0 && JSON.parse(out).can_list_earlier ? token : null;
}

async function printed(shared: string): Promise<string> {
  const { fetch, client } = installation();
  const { link } = await client.conceal({ value: shared });
  let out = '';
  const write = (content: string | Uint8Array) => {
    out += typeof content === 'string' ? content : decode(content);
  };
  await run(['reveal', link], { fetch, terminal: { out: write } });
  return out;
}

async function fileShared(bytes: Uint8Array): Promise<string | null> {
  const { fetch, client } = installation();
  const { out } = await run(['share', 'report.txt'], { ...holding(bytes), fetch });
  const { file } = await client.reveal(out.trim());
  return file === null ? null : decode(file.bytes);
}

const passphraseFile = ['--passphrase-file', 'x'];
const otherKey = secretKey.replace('0', '1');

export const commandDoors: readonly Door[] = [
  bytesDoor('exact', 'share FILE', value, fileShared),
  bytesDoor('exact', 'share --exact', value, (bytes) => sent('secret', ['share', '--exact'], holding(bytes))),
  textDoor('exact', 'run --exact, a text', value, (text) => handedOn(text, '--exact')),
  bytesDoor('exact', 'run --exact, a file', value, (bytes) => handedOn(bytes, '--exact')),
  textDoor('exact', 'reveal', value, printed),
  bytesDoor('value', 'share, piped', value, (bytes) => sent('secret', ['share'], holding(bytes))),
  bytesDoor('value', 'share, typed', value, (bytes) =>
    sent('secret', ['share'], {
      terminal: { isInteractive: true, readInput: async () => bytes },
    }),
  ),
  bytesDoor('value', 'generate --passphrase-file FILE', value, (bytes) =>
    sent('passphrase', ['generate', ...passphraseFile], holding(bytes)),
  ),
  bytesDoor('value', 'generate --passphrase-file -', value, (bytes) =>
    sent('passphrase', ['generate', '--passphrase-file', '-'], holding(bytes)),
  ),
  bytesDoor('value', 'reveal --passphrase-file', value, (bytes) =>
    passphraseTo(/\/reveal$/, ['reveal', secretKey], bytes),
  ),
  bytesDoor('value', 'burn --passphrase-file', value, (bytes) =>
    passphraseTo(/\/burn$/, ['burn', `${server}/secret/${secretKey}`], bytes),
  ),
  bytesDoor('value', 'run --passphrase-file', value, async (bytes) => {
    const args = ['run', `--secret=A=${secretKey}`, ...passphraseFile, '--', 'x'];
    const asked = await requestsOf(args, { ...holding(bytes), programs: openPrograms().programs });
    const sentAlong = asked.flatMap(({ init }) => new Headers(init.headers).get('secret-passphrase') ?? []);
    return sentAlong[0] === undefined ? null : decodeURIComponent(sentAlong[0]);
  }),
  textDoor('value', 'run, a text', value, (text) => handedOn(text)),
  bytesDoor('value', 'run, a file', value, (bytes) => handedOn(bytes)),
  bytesDoor('word', 'reveal, piped', secretKey, (bytes) => keyAsked(['reveal'], holding(bytes))),
  bytesDoor('word', 'status -', secretKey, (bytes) => keyAsked(['status', '-'], holding(bytes))),
  textDoor('word', 'reveal, asked', secretKey, (text) =>
    keyAsked(
      ['reveal'],
      answering(() => text),
    ),
  ),
  textDoor('word', 'status LINK', secretKey, (text) => keyAsked(['status', text], {})),
  bytesDoor('word', 'login --token-file', token, (bytes) =>
    kept('token', [email, '--token-file', 'x'], holding(bytes)),
  ),
  textDoor('word', 'login, asked for the token', token, (text) =>
    kept('token', [email], typed({ token: text })),
  ),
  textDoor('word', 'login EMAIL', email, (text) => kept('username', [text], typed({}))),
  textDoor('word', 'login, asked for the address', email, (text) =>
    kept('username', [], typed({ email: text })),
  ),
  textDoor('word', 'login, asked for the server', otherServer, (text) =>
    kept('server', [email], typed({ server: text })),
  ),
  textDoor('word', 'login --server', otherServer, (text) =>
    kept('server', [email, `--server=${text}`], typed({})),
  ),
  bytesDoor('word', 'account token create --with-token', token, existingToken),
  bytesDoor('lines', 'share --lines FILE', 'one\ntwo', (bytes) =>
    linesShared(['share', '--lines', 'x'], bytes),
  ),
  bytesDoor('lines', 'share --lines -', 'one\ntwo', (bytes) => linesShared(['share', '--lines', '-'], bytes)),
  bytesDoor('lines', 'share --env-file', 'A=one\nB=two', (bytes) =>
    linesShared(['share', '--env-file', 'x'], bytes),
  ),
  bytesDoor('lines', 'run --secrets-file', `A=${secretKey}\nB=${otherKey}`, linksRead),
];
