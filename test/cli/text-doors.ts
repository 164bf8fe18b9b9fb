/** The doors of settings, files, the API and the SDK. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createClient, parseLink } from '../../sdk/mayfly.ts';
import { openLogins } from '../../src/cli/logins.ts';
import { type Environment, readConfig, type Settings } from '../../src/config/read.ts';
import { systemRandom } from '../../src/crypto/random.ts';
import { moveBetweenStores } from '../../src/moves.ts';
import { readRootKeys } from '../../src/ops/root-key-file.ts';
import { readBrandFile } from '../../src/web/brand/brand-file.ts';
import { createTestApp } from '../support/app.ts';
import { makeRootKeys } from '../support/root-keys.ts';
import {
  bytesDoor,
  type Door,
  decode,
  email,
  installation,
  otherServer,
  type Row,
  secretKey,
  server,
  textDoor,
  token,
  value,
} from './text-door.ts';

const folder = mkdtempSync(join(tmpdir(), 'mayfly-'));
export const removeFolder = () => rmSync(folder, { recursive: true });

let files = 0;
function fileOf(bytes: Uint8Array | string, path = join(folder, `${files++}.json`)): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes, { mode: 0o600 });
  return path;
}

function settingsFrom(env: Environment): Settings | null {
  const reading = readConfig(env);
  return reading.outcome === 'read' && reading.settings.serverFaults.length === 0 ? reading.settings : null;
}

interface SettingDoors {
  readonly row: Row;
  readonly env: string;
  readonly text: string;
  readonly shown: (settings: Settings) => string | null | undefined;
  readonly isSecret?: true;
  readonly beside?: Environment;
}

/** A setting from its variable, and where it is a secret from the file that its other variable names. */
function settingDoors({ row, env, text, shown, isSecret, beside = {} }: SettingDoors): Door[] {
  const read = async (name: string, given: string) => {
    const settings = settingsFrom({ ...beside, [name]: given });
    return settings === null ? null : (shown(settings) ?? null);
  };
  const file = `${env}_FILE`;
  return [
    textDoor(row, env, text, (given) => read(env, given)),
    ...(isSecret ? [bytesDoor(row, file, text, (bytes) => read(file, fileOf(bytes)))] : []),
  ];
}

const dkim = { MAYFLY_DKIM_DOMAIN: 'example.org', MAYFLY_DKIM_SELECTOR: 'mayfly' };

const settings: readonly SettingDoors[] = [
  {
    ...{ row: 'value', env: 'MAYFLY_PASSPHRASE', text: value, isSecret: true },
    shown: ({ passphrase }) => passphrase?.expose(),
  },
  {
    ...{ row: 'value', env: 'MAYFLY_DKIM_KEY', text: value, isSecret: true, beside: dkim },
    shown: ({ dkimKey }) => dkimKey?.expose(),
  },
  {
    ...{ row: 'word', env: 'MAYFLY_TOKEN', text: token, isSecret: true },
    shown: (read) => read.token?.expose(),
  },
  {
    ...{ row: 'word', env: 'MAYFLY_SMTP_URL', text: 'p', isSecret: true },
    text: 'smtps://u:p@mail.example.org',
    shown: ({ smtpServer: found }) =>
      found && `smtps://${found.login?.user}:${found.login?.password.expose()}@${found.host}`,
  },
  {
    ...{ row: 'word', env: 'MAYFLY_STORE', text: 'postgres://u@localhost:5432/x', isSecret: true },
    shown: ({ store }) => (store === 'sqlite' ? null : store.url.expose()),
  },
  { row: 'word', env: 'MAYFLY_USERNAME', text: email, shown: ({ username }) => username },
  { row: 'word', env: 'MAYFLY_SERVER', text: otherServer, shown: (read) => read.server },
  { row: 'word', env: 'MAYFLY_BASE_URL', text: otherServer, shown: (read) => read.baseUrl },
  { row: 'word', env: 'MAYFLY_SIGNUP', text: 'closed', shown: (read) => (read.signUpIsOpen ? '' : 'closed') },
];

/** What a JSON file holds, as it was understood. */
function jsonDoor(name: string, text: string, read: (path: string) => unknown): Door {
  return bytesDoor('document', name, text, async (bytes) => {
    const found = read(fileOf(bytes)) ?? null;
    return found === null ? null : JSON.stringify(found);
  });
}

function pemDoor(name: 'sslrootcert' | 'sslcert' | 'sslkey'): Door {
  const pem = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----';
  return bytesDoor('document', `MAYFLY_STORE: ${name}`, pem, async (bytes) => {
    const path = fileOf(bytes);
    const names = name === 'sslrootcert' ? ['sslrootcert'] : ['sslcert', 'sslkey'];
    const query = names.map((each) => `${each}=${path}`).join('&');
    const store = settingsFrom({ MAYFLY_STORE: `postgres://u@db.example.org/x?${query}` })?.store;
    if (store === undefined || store === 'sqlite') return null;
    const { ca, cert, key } = store.tls ?? { ca: null, cert: null, key: null };
    return { sslrootcert: ca, sslcert: cert, sslkey: key?.expose() ?? null }[name];
  });
}

function keyFileText(): string {
  const made = makeRootKeys(join(folder, 'keys.json'), { random: systemRandom, wallClockMs: () => 0 });
  if (made.outcome !== 'read') throw new Error('no key file');
  const roots = made.roots.map(({ kid, key }) => ({ kid, key: Buffer.from(key).toString('base64url') }));
  return JSON.stringify({ version: 1, roots });
}

const logins = JSON.stringify({ version: 1, servers: { [server]: { username: email, token } } });
const keyring = { get: async () => null, set: async () => {}, delete: async () => true };

async function loginsIn(bytes: Uint8Array): Promise<string | null> {
  const home = mkdtempSync(join(folder, 'home-'));
  fileOf(bytes, join(home, 'mayfly', 'credentials.json'));
  const opened = await openLogins({ XDG_CONFIG_HOME: home }, 'linux', keyring);
  return opened.outcome === 'open' ? JSON.stringify(opened.logins.all) : null;
}

const moved = 'sqlite:/nowhere/at/all';

/** The store that a file names: `mayfly migrate-store` says so where it is the other one too. */
async function storeNamed(bytes: Uint8Array): Promise<string | null> {
  const asked = { from: `@${fileOf(bytes)}`, to: moved, isFinishing: false, onProgress: () => {} };
  const outcome = await moveBetweenStores(settingsFrom({}) as Settings, asked);
  return 'problem' in outcome && outcome.problem === 'FROM and TO are the same store.' ? moved : null;
}

/** The value that a request with this body leaves to be read. */
async function stored(
  path: string,
  contentType: string,
  body: Uint8Array<ArrayBuffer>,
): Promise<string | null> {
  const { fetch } = createTestApp();
  const answer = await fetch(path, { method: 'POST', headers: { 'content-type': contentType }, body });
  if (answer.status !== 200) return null;
  const made = await answer.json();
  const key = made.secret_key ?? made.record.secret.key;
  return (await (await fetch(`/api/v1/secret/${key}`, { method: 'POST' })).json()).value;
}

const around = (before: string, bytes: Uint8Array, after: string) =>
  new Uint8Array(Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]));
const json = 'application/json';
const v1 = '/api/v1/share';
const v2 = '/api/v2/secret/conceal';
/** The bytes of a text in JSON, whose escapes are not the point here. */
const inJson = (bytes: Uint8Array) =>
  around(
    '{"secret":"',
    Buffer.from(bytes.toHex().replace(/0a/g, '5c6e').replace(/0d/g, '5c72'), 'hex'),
    '"}',
  );

/** What the SDK sends of one of its options. */
async function sentBySdk(what: 'server' | 'username' | 'token', text: string): Promise<string | null> {
  const options = { server, username: email, token, [what]: text };
  const sent = { server: '', username: '', token: '' };
  const client = createClient({
    server: options.server,
    credentials: options,
    fetch: async (url, { headers }) => {
      const basic = new Headers(headers).get('authorization')?.replace('Basic ', '') ?? '';
      const [username = '', ...rest] = decode(Buffer.from(basic, 'base64')).split(':');
      Object.assign(sent, { server: url.replace(/\/api\/.*$/, ''), username, token: rest.join(':') });
      return Response.json({});
    },
  });
  await client.account().catch(() => {});
  return sent[what];
}

async function concealedBySdk(text: string): Promise<string | null> {
  const { client } = installation();
  const { link } = await client.conceal({ value: text });
  return (await client.reveal(link)).value;
}

export const otherDoors: readonly Door[] = [
  bytesDoor('exact', 'v1, a form', value, (bytes) =>
    stored(
      v1,
      'application/x-www-form-urlencoded',
      around(`secret=${bytes.toHex().replace(/../g, '%$&')}`, new Uint8Array(), ''),
    ),
  ),
  bytesDoor('exact', 'v1, a multipart form', value, (bytes) =>
    stored(
      v1,
      'multipart/form-data; boundary=x',
      around('--x\r\nContent-Disposition: form-data; name="secret"\r\n\r\n', bytes, '\r\n--x--\r\n'),
    ),
  ),
  bytesDoor('exact', 'v1, a value in JSON', value, (bytes) => stored(v1, json, inJson(bytes))),
  bytesDoor('exact', 'v2, a value in JSON', value, (bytes) => stored(v2, json, inJson(bytes))),
  textDoor('exact', 'SDK: conceal', value, concealedBySdk),
  ...settings.flatMap(settingDoors),
  bytesDoor('word', 'migrate-store @FILE', moved, storeNamed),
  textDoor('word', 'SDK: server', otherServer, (text) => sentBySdk('server', text)),
  textDoor('word', 'SDK: username', email, (text) => sentBySdk('username', text)),
  textDoor('word', 'SDK: token', token, (text) => sentBySdk('token', text)),
  textDoor('word', 'SDK: a link or key', secretKey, async (text) => parseLink(text)?.key ?? null),
  jsonDoor(
    'MAYFLY_PLANS_FILE',
    '{"basic":{"maxDomains":7}}',
    (path) => settingsFrom({ MAYFLY_PLANS_FILE: path })?.plans,
  ),
  jsonDoor(
    'MAYFLY_RATE_LIMITS',
    '{"mail":{"account":{"limit":7}}}',
    (path) => settingsFrom({ MAYFLY_RATE_LIMITS: path })?.rateLimits,
  ),
  jsonDoor('MAYFLY_BRAND_FILE', '{"name":"Safe"}', (path) => {
    const read = readBrandFile(path);
    return 'value' in read ? read.value.forHost(null) : null;
  }),
  jsonDoor('MAYFLY_ROOT_KEYS_FILE', keyFileText(), (path) => {
    const read = readRootKeys(path);
    return read.outcome === 'read' ? read.roots : null;
  }),
  bytesDoor('document', 'the logins', logins, loginsIn),
  pemDoor('sslrootcert'),
  pemDoor('sslcert'),
  pemDoor('sslkey'),
  bytesDoor('document', 'v1, JSON', `{"secret":"${value}"}`, (bytes) => stored(v1, json, bytes)),
  bytesDoor('document', 'v2, JSON', `{"secret":"${value}"}`, (bytes) => stored(v2, json, bytes)),
];
