/**
 * Whether the time of an answer says what the answer does not (P17): which key was ever used, which address has an account.
 *
 * `npm run bench -- uniform` runs it alone, with `--quick` for fewer samples; MAYFLY_SEED repeats the order. It reports and
 * judges nothing: times on a shared machine are no test.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openConnection, type RawConnection, requestBytes } from '../test/support/raw-client.ts';
import { announceSeed, seededFractions } from '../test/support/run-seed.ts';
import { type Comparison, compare, type Sample, type SampleClass, type TimingFigure } from './interleave.ts';
import type { BenchServer } from './processes.ts';
import { startService } from './service.ts';
import { drawAddress, type KnownAccounts, makeAccounts } from './uniform-accounts.ts';

export interface UniformSize {
  /** Rounds of what answers at once. */
  readonly plain: number;
  /** Rounds of what sends a mail; as many accounts are made. */
  readonly mailed: number;
  /** Rounds of what hashes a password. */
  readonly hashed: number;
}

export const wholeUniform: UniformSize = { plain: 20_000, mailed: 400, hashed: 60 };
export const quickUniform: UniformSize = { plain: 2_000, mailed: 80, hashed: 15 };

const poolSize = 32;
const shortestTtlSeconds = 60;
const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
const statusRequest = requestBytes({ method: 'GET', path: '/api/v1/status' });

const randomKey = () =>
  Array.from(randomBytes(31), (byte) => '0123456789abcdefghijklmnopqrstuvwxyz'[byte % 36]).join('');
const many = <T>(make: () => T): T[] => Array.from({ length: poolSize }, make);

interface Keys {
  readonly secret: string;
  readonly metadata: string;
}

async function createSecret(connection: RawConnection, ttlSeconds: number, basic?: string): Promise<Keys> {
  const headers = basic === undefined ? json : { ...json, authorization: basic };
  const body = JSON.stringify({ secret: 'a value', ttl: ttlSeconds });
  const answer = await connection.send(
    requestBytes({ method: 'POST', path: '/api/v1/share', headers, body }),
  );
  if (answer.status !== 200) throw new Error(`a creation was answered with ${answer.status}: ${answer.body}`);
  const made = JSON.parse(answer.body) as { secret_key: string; metadata_key: string };
  return { secret: made.secret_key, metadata: made.metadata_key };
}

async function createMany(connection: RawConnection, ttlSeconds: number, basic?: string): Promise<Keys[]> {
  const all: Keys[] = [];
  for (let n = 0; n < poolSize; n += 1) all.push(await createSecret(connection, ttlSeconds, basic));
  return all;
}

type KeyPools = Readonly<Record<'unknown' | 'another unknown' | 'read' | 'burned' | 'expired', string[]>>;

/** Secrets in each state; the last expire after `shortestTtlSeconds`. */
async function makeKeys(connection: RawConnection, basic: string): Promise<KeyPools> {
  const read = await createMany(connection, 3_600);
  const burned = await createMany(connection, 3_600, basic);
  const headers = { ...json, authorization: basic };
  for (const { secret } of read)
    await connection.send(requestBytes({ method: 'POST', path: `/api/v1/secret/${secret}` }));
  for (const { metadata } of burned)
    await connection.send(
      requestBytes({ method: 'POST', path: `/api/v1/private/${metadata}/burn`, headers }),
    );
  const secretsOf = (all: readonly Keys[]) => all.map(({ secret }) => secret);
  return {
    unknown: many(randomKey),
    'another unknown': many(randomKey),
    read: secretsOf(read),
    burned: secretsOf(burned),
    expired: secretsOf(await createMany(connection, shortestTtlSeconds)),
  };
}

/** Draws one of prepared requests at random. */
function classOf(
  label: string,
  status: number,
  requests: readonly Buffer[],
  random: () => number,
): SampleClass {
  const draw = (): Sample => ({
    request: requests[Math.floor(random() * requests.length)] ?? Buffer.alloc(0),
    next: null,
  });
  return { label, status, draw };
}

type RequestOf = (key: string) => Buffer;

interface WayToAKey {
  /** Of every answer, whatever the key once led to. */
  readonly status: number;
  readonly requestOf: RequestOf;
}

const post = (path: string, body = '{}', headers: Record<string, string> = json) =>
  requestBytes({ method: 'POST', path, headers, body });
const get = (path: string, headers: Record<string, string> = {}) =>
  requestBytes({ method: 'GET', path, headers });

/** A nonce of nobody, as a program and as a browser sends it. */
const nonce = 'A'.repeat(22);
const look = JSON.stringify({ look: nonce });
const withCookie = { ...form, cookie: `__Host-mayfly-look=${nonce}` };
const lookField = `look=${nonce}`;

const waysToAKey: Readonly<Record<string, WayToAKey>> = {
  'a secret key, v1 reveal': { status: 404, requestOf: (key) => post(`/api/v1/secret/${key}`) },
  'a secret key, v2 inspect': { status: 404, requestOf: (key) => get(`/api/v2/secret/${key}`) },
  'a secret key, v2 status': { status: 404, requestOf: (key) => get(`/api/v2/secret/${key}/status`) },
  'a secret key, v2 done': {
    status: 200,
    requestOf: (key) => post(`/api/v2/secret/${key}/reveal/done`, look),
  },
  'a secret key, the page': { status: 404, requestOf: (key) => get(`/secret/${key}`) },
  'a secret key, the page done': {
    status: 303,
    requestOf: (key) => post(`/secret/${key}/done`, lookField, withCookie),
  },
};

function keyComparisons(pools: KeyPools, rounds: number, random: () => number): Comparison[] {
  return Object.entries(waysToAKey).map(([label, { status, requestOf }]) => ({
    ...{ label, rounds },
    classes: Object.entries(pools).map(([state, keys]) =>
      classOf(state, status, keys.map(requestOf), random),
    ),
  }));
}

/** Somebody else's metadata keys beside unknown ones. */
async function receiptComparison(
  connection: RawConnection,
  { owner, other }: KnownAccounts,
  rounds: number,
  random: () => number,
): Promise<Comparison> {
  const others = await createMany(connection, 3_600, other.basic);
  const requestOf: RequestOf = (key) =>
    post(`/api/v1/private/${key}`, '{}', { ...json, authorization: owner.basic });
  const of = (label: string, keys: readonly string[]) => classOf(label, 404, keys.map(requestOf), random);
  return {
    ...{ label: 'a metadata key, v1', rounds },
    classes: [
      of('unknown', many(randomKey)),
      of('another unknown', many(randomKey)),
      of(
        'of another account',
        others.map(({ metadata }) => metadata),
      ),
    ],
  };
}

function basicComparison({ owner }: KnownAccounts, rounds: number, random: () => number): Comparison {
  const requestOf = (username: string) => {
    const token = randomBytes(32).toString('hex');
    const authorization = `Basic ${Buffer.from(`${username}:${token}`).toString('base64')}`;
    return get('/api/v1/authcheck', { authorization });
  };
  const of = (label: string, usernames: readonly string[]) =>
    classOf(label, 401, usernames.map(requestOf), random);
  return {
    ...{ label: 'a log-in by Basic with a wrong token', rounds },
    classes: [
      of('unknown', many(drawAddress)),
      of('another unknown', many(drawAddress)),
      of(
        'known',
        many(() => owner.username),
      ),
    ],
  };
}

const cookies = new Map<string, string>();
const attribute = (tag: string, name: string) => new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? '';

/** The form at a path, as a browser sends it back: with the cookies it brought and what it holds hidden. */
async function fillForm(
  connection: RawConnection,
  path: string,
  typed: Readonly<Record<string, string>>,
): Promise<Buffer> {
  const cookie = () => [...cookies].map((pair) => pair.join('=')).join('; ');
  const page = await connection.send(get(path, cookies.size === 0 ? {} : { cookie: cookie() }));
  const set = page.headers.get('set-cookie')?.split(';')[0]?.split('=') ?? [];
  if (set[0] !== undefined && set[0] !== '') cookies.set(set[0], set.slice(1).join('='));
  const forms = page.body.match(/<form\b[\s\S]*?<\/form>/g) ?? [];
  const own = forms.find((text) => attribute(text.slice(0, text.indexOf('>')), 'action') === path) ?? '';
  const hidden = (own.match(/<input\b[^>]*type="hidden"[^>]*>/g) ?? []).map((tag): [string, string] => [
    attribute(tag, 'name'),
    attribute(tag, 'value'),
  ]);
  const body = new URLSearchParams([...hidden, ...Object.entries(typed)]).toString();
  return post(path, body, cookies.size === 0 ? form : { ...form, cookie: cookie() });
}

const takeFrom = (addresses: readonly string[]) => {
  let taken = 0;
  return (): string => {
    taken += 1;
    return addresses[(taken - 1) % addresses.length] ?? '';
  };
};

/** Each sample with another address, because one that was just asked for is quiet for a while. */
function formComparison(
  label: string,
  path: string,
  rounds: number,
  known: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Comparison {
  const isHashed = 'password' in more;
  const of = (name: string, drawOne: () => string): SampleClass => ({
    label: name,
    status: isHashed ? 422 : 303,
    draw: async (connection) => ({
      request: await fillForm(connection, path, { email: drawOne(), ...more }),
      next: statusRequest,
    }),
  });
  const classes = [
    of('unknown', drawAddress),
    of('another unknown', drawAddress),
    of('known', takeFrom(known)),
  ];
  return { label, rounds, classes };
}

/** @param server limits nobody; its folder holds `accounts` */
async function measureWith(
  server: BenchServer,
  accounts: KnownAccounts,
  size: UniformSize,
  random: () => number,
): Promise<TimingFigure[]> {
  const figures: TimingFigure[] = [];
  /** On a connection of its own, because one that has been idle for long is closed. */
  const connected = async <T>(work: (connection: RawConnection) => Promise<T>): Promise<T> => {
    const connection = await openConnection(server.port);
    try {
      return await work(connection);
    } finally {
      connection.destroy();
    }
  };
  const take = async (comparison: Comparison) => {
    console.error(comparison.label);
    figures.push(...(await connected((connection) => compare(connection, comparison, random))));
  };
  const pools = await connected((connection) => makeKeys(connection, accounts.owner.basic));
  const expiredAt = Date.now() + (shortestTtlSeconds + 1) * 1_000;
  const receipts = await connected((connection) =>
    receiptComparison(connection, accounts, size.plain, random),
  );
  const { usernames, withPassword } = accounts;
  const guess = { password: 'not the password of anybody' };
  await take(formComparison('/forgotten', '/forgotten', size.mailed, usernames));
  await take(formComparison('/sign-up', '/sign-up', size.mailed, usernames));
  await take(formComparison('/log-in, wrong password', '/log-in', size.hashed, withPassword, guess));
  await take(basicComparison(accounts, size.plain, random));
  await take(receipts);
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, expiredAt - Date.now())));
  for (const comparison of keyComparisons(pools, size.plain, random)) await take(comparison);
  return figures;
}

/** Starts a server of its own, without limits, on a folder with accounts. */
export async function measureUniform(size: UniformSize): Promise<TimingFigure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-'));
  const random = seededFractions(announceSeed('uniform'));
  try {
    // The rounds that only warm up take addresses too.
    const accounts = await makeAccounts(folder, Math.ceil(size.mailed * 1.1) + 1);
    await using server = await startService({ folder, dataDir: '.', rateLimits: 'off' });
    return await measureWith(server, accounts, size, random);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What is called even. */
const evenShare = 0.03;

export const isEven = ({ ratio }: TimingFigure): boolean => Math.abs(ratio - 1) <= evenShare;
