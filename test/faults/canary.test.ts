/**
 * Searches for what must not be left anywhere after a full life.
 *
 * Proves that values, passphrases, keys, tokens, addresses and memos are in no file, no log, no environment and no answer
 * where they do not belong (P9, P11, P18), and that the sealed bytes of what is gone are gone too (P10).
 */
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { openPostOffice } from '../mail/post-office.ts';
import { type Canary, findCanaries } from '../support/canary.ts';
import { type Canaries, type LivedLife, live } from '../support/life.ts';
import { requestBytes, sendOnce } from '../support/raw-client.ts';
import {
  type Credentials,
  createAccount,
  freePort,
  makeDataDir,
  type StartedServer,
  startServer,
} from '../support/started-server.ts';

setDefaultTimeout(90_000);

type Kind = keyof Canaries;

/** What may appear where, and why. */
const allowed: readonly (readonly [place: RegExp, kinds: readonly Kind[], because: string])[] = [
  [/^data\/mayfly\.db/, ['usernames'], 'the accounts table: the interface returns the username as custid'],
  [/^data\/outbox\//, ['recipients', 'usernames'], 'the mail itself: to whom, and who sent it'],
  [/^the operator's mail server$/, ['recipients', 'usernames'], 'the same mail, over SMTP'],
];

/** A leaked text may be truncated, so its unique parts are searched for as well. */
function withParts(content: Canary['content']): Canary['content'][] {
  return typeof content === 'string' ? [content, ...(content.match(/[0-9a-f]{12,}/g) ?? [])] : [content];
}

function toNeedles(canaries: Canaries, kinds: readonly Kind[]): Canary[] {
  return kinds.flatMap((kind) =>
    canaries[kind].flatMap((content) => withParts(content).map((part) => ({ name: kind, content: part }))),
  );
}

const allKinds: readonly Kind[] = [
  'values',
  'passphrases',
  'secretKeys',
  'metadataKeys',
  'tokens',
  'recipients',
  'usernames',
  'memos',
  'notes',
  'idempotencyKeys',
  'sealed',
  'ends',
];

/** Drops empty blocks, which are most of a database and its ballast. */
function withoutEmptyBlocks(bytes: Buffer): Buffer {
  const empty = Buffer.alloc(4096);
  const kept: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += empty.length) {
    const block = bytes.subarray(at, at + empty.length);
    if (!block.equals(empty.subarray(0, block.length))) kept.push(block);
  }
  return Buffer.concat(kept);
}

interface Place {
  readonly name: string;
  readonly bytes: Buffer;
}

async function filesIn(folder: string, name: string): Promise<Place[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Promise.all(
    files.map(async (file) => {
      const path = join(file.parentPath, file.name);
      return { name: `${name}${path.slice(folder.length)}`, bytes: withoutEmptyBlocks(await readFile(path)) };
    }),
  );
}

/** The leaks found, as `place: kind, form`. */
function scan(places: readonly Place[], life: Pick<LivedLife, 'canaries' | 'mailed'>): string[] {
  return places.flatMap(({ name, bytes }) => {
    const exempt = new Set(allowed.filter(([place]) => place.test(name)).flatMap(([, kinds]) => kinds));
    let needles = toNeedles(
      life.canaries,
      allKinds.filter((kind) => !exempt.has(kind)),
    );
    // A mail may hold its own link, so a part of it too, but never the key of a secret that was not mailed.
    if (exempt.has('recipients') && !name.includes('mayfly.db'))
      needles = needles.filter(
        ({ content }) => !life.mailed.some(({ secretKey }) => secretKey.includes(String(content))),
      );
    return findCanaries(bytes, needles).map(({ canary, form }) => `${name}: ${canary}, ${form}`);
  });
}

const processPlaces = async ({ pid }: StartedServer): Promise<Place[]> =>
  Promise.all(
    ['environ', 'cmdline'].map(async (name) => ({
      name: `/proc/${name}`,
      bytes: await readFile(`/proc/${pid}/${name}`),
    })),
  );

const outputPlaces = ({ stdout, stderr }: StartedServer): Place[] => [
  { name: 'stdout', bytes: Buffer.from(stdout()) },
  { name: 'stderr', bytes: Buffer.from(stderr()) },
];

interface SealedRow {
  readonly position: number;
  readonly state: string;
  readonly expires_at: number;
  readonly sealed_secret: Uint8Array;
}

/** How many sealed memos are stored. */
function countMemos(dataDir: string): number {
  using database = new Database(join(dataDir, 'mayfly.db'), { readonly: true });
  return database.query<{ memos: number }, []>('SELECT count(*) AS memos FROM memos').get()?.memos ?? 0;
}

/** Uses a separate connection and closes it at once: an open reader would block erasure. */
function readRows(dataDir: string): SealedRow[] {
  using database = new Database(join(dataDir, 'mayfly.db'), { readonly: true });
  return database
    .query<SealedRow, []>('SELECT position, state, expires_at, sealed_secret FROM records')
    .all();
}

/** Pieces of the sealed bytes; any piece found in a file means a copy. */
function piecesOf({ sealed_secret }: SealedRow): Buffer[] {
  const bytes = Buffer.from(sealed_secret);
  return [0.25, 0.5, 0.75].map((share) => {
    const at = Math.floor(bytes.length * share) - 12;
    return bytes.subarray(at, at + 24);
  });
}

async function countPieces(dataDir: string, rows: readonly SealedRow[]): Promise<number> {
  const files = await filesIn(dataDir, 'data');
  const database = files.filter(({ name }) => name.includes('mayfly.db'));
  return rows.flatMap(piecesOf).filter((piece) => database.some(({ bytes }) => bytes.includes(piece))).length;
}

async function stop(server: StartedServer): Promise<void> {
  server.kill('SIGTERM');
  expect((await server.exited).code).toBe(0);
}

interface Lived {
  readonly life: LivedLife;
  readonly before: readonly SealedRow[];
  readonly places: readonly Place[];
}

let made: { readonly dataDir: string; readonly owner: Credentials };
beforeAll(async () => {
  const dataDir = await makeDataDir();
  const username = `owner.${Math.random().toString(16).slice(2, 12)}@example.org`;
  made = { dataDir, owner: await createAccount(dataDir, username) };
});
afterAll(() => rm(made.dataDir, { recursive: true, force: true }));

async function metricsAt(port: number): Promise<string> {
  const { body, status } = await sendOnce(port, requestBytes({ method: 'GET', path: '/metrics' }));
  expect([status, body.includes('mayfly_')]).toEqual([200, true]);
  return body;
}

/** Runs one life on a fresh folder and stops the server; returns everything that could hold a trace. */
async function liveAndStop(dataDir: string, env: Readonly<Record<string, string>>): Promise<Lived> {
  await cp(made.dataDir, dataDir, { recursive: true });
  const { owner } = made;
  const [temp, metricsPort] = [await makeDataDir(), await freePort()];
  try {
    const plans = join(temp, 'plans.json');
    await writeFile(plans, '{"anonymous":{"ttlMinSeconds":1}}');
    await using server = await startServer({
      dataDir,
      env: { MAYFLY_PLANS_FILE: plans, MAYFLY_INTERNAL_PORT: String(metricsPort), TMPDIR: temp, ...env },
    });
    let before: SealedRow[] = [];
    const life = await live(server.port, owner, {
      beforeReading: () => {
        before = readRows(dataDir);
      },
    });
    const ballast = withoutEmptyBlocks(await readFile(join(made.dataDir, 'ballast')));
    // 16 MiB of noise: as long as they are what they were before this life, they hold nothing of it.
    const isUntouched = ({ name, bytes }: Place) => name === 'data/ballast' && bytes.equals(ballast);
    const files = async () =>
      [...(await filesIn(dataDir, 'data')), ...(await filesIn(temp, 'temp'))].filter(
        (place) => !isUntouched(place),
      );
    const metrics = { name: 'metrics', bytes: Buffer.from(await metricsAt(metricsPort)) };
    const running = [...(await files()), ...(await processPlaces(server)), metrics];
    await stop(server);
    return { life, before, places: [...running, ...(await files()), ...outputPlaces(server)] };
  } finally {
    await rm(temp, { recursive: true, force: true });
  }
}

const answered = [
  'values',
  'passphrases',
  'tokens',
  'recipients',
  'idempotencyKeys',
  'sealed',
  'ends',
] as const;

/** No answer may hold values, passphrases, tokens or plain addresses; keys are part of the interface. */
function scanAnswers({ answers, canaries }: LivedLife): string[] {
  const needles = toNeedles(canaries, answered);
  const texts = answers.map(
    ({ status, body, headers }) => `${status}\n${[...headers].join('\n')}\n${body}\n`,
  );
  // All at once, and one by one only to tell which.
  if (findCanaries(texts.join('\n'), needles).length === 0) return [];
  return texts.flatMap((text) =>
    findCanaries(text, needles).map(
      ({ canary, form }) => `an answer ${text.slice(0, 3)}: ${canary}, ${form}`,
    ),
  );
}

describe('P9, P18: after a full life nothing secret is in the data folder, the log, the process or an answer', () => {
  for (const level of ['debug', 'info', 'warn', 'error'])
    test(`with the log at ${level}`, async () => {
      const dataDir = await makeDataDir();
      try {
        const { life, places } = await liveAndStop(dataDir, { MAYFLY_LOG_LEVEL: level });
        expect(scan(places, life)).toEqual([]);
        expect(scanAnswers(life)).toEqual([]);
        // The scan covered something: mails and memos were kept, and the log is not empty where it should not be.
        expect(places.filter(({ name }) => name.includes('outbox')).length).toBeGreaterThanOrEqual(2);
        expect(countMemos(dataDir)).toBe(3);
        const log = places.find(({ name }) => name === 'stdout')?.bytes.length ?? 0;
        if (level === 'debug' || level === 'info') expect(log).toBeGreaterThan(1_000);
      } finally {
        await rm(dataDir, { recursive: true, force: true });
      }
    });

  test('with a mail server that refuses the address and repeats it', async () => {
    const dataDir = await makeDataDir();
    try {
      await using office = await openPostOffice([
        { at: 'recipient', reply: 550 },
        { at: 'message', reply: 554 },
      ]);
      const env = { MAYFLY_LOG_LEVEL: 'debug', MAYFLY_SMTP_URL: office.url };
      const { life, places } = await liveAndStop(dataDir, env);
      expect(scan(places, life)).toEqual([]);
      expect(scanAnswers(life)).toEqual([]);
      expect(office.attempts()).toBeGreaterThan(0);
      const dialog = { name: "the operator's mail server", bytes: Buffer.from(office.offered.join('\n')) };
      expect(scan([dialog], life)).toEqual([]);
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});

/** A mail server that refuses every message and repeats all of it, decoded as a person would read it. */
async function openParrot() {
  const quoted: string[] = [];
  const office = await openPostOffice([], {
    async onData(stream, { envelope }, done) {
      const raw = Buffer.concat(await Array.fromAsync(stream as AsyncIterable<Uint8Array>)).toString('utf8');
      const { text = '' } = await PostalMime.parse(raw);
      const [link = ''] = /https?:\S+\/secret\/[0-9a-z]{31}/.exec(text) ?? [];
      const [, key = ''] = /secret\/([0-9a-z]{31})/.exec(link) ?? [];
      const [to] = envelope.rcptTo.map(({ address }) => address);
      quoted.push(key);
      const saying = `Refused: <${to}> ${link} ${Buffer.from(link).toString('base64')} ${Buffer.from(key).toString('hex')}`;
      done(Object.assign(new Error(saying), { responseCode: 554 }));
    },
  });
  return { office, quoted };
}

/** How many mails have a note of the server's reply. */
function countNotes(dataDir: string): number {
  using database = new Database(join(dataDir, 'mayfly.db'), { readonly: true });
  const sql = 'SELECT count(*) AS notes FROM deliveries WHERE note_box IS NOT NULL';
  return database.query<{ notes: number }, []>(sql).get()?.notes ?? 0;
}

test('P9, P18: a reply that quotes the link and the address, in any disguise, is in no file and no log', async () => {
  const dataDir = await makeDataDir();
  try {
    const { office, quoted } = await openParrot();
    await using _office = office;
    const env = { MAYFLY_LOG_LEVEL: 'debug', MAYFLY_SMTP_URL: office.url };
    const { life, places } = await liveAndStop(dataDir, env);
    expect(life.mailed.map(({ secretKey }) => secretKey).filter((key) => quoted.includes(key))).not.toEqual(
      [],
    );
    expect(scan(places, life)).toEqual([]);
    // The reply was kept, sealed, so the scan covered it.
    expect(countNotes(dataDir)).toBeGreaterThan(0);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});

/** Waits until the sweep at the start has erased what has expired; bounded. */
async function awaitSweep(dataDir: string, position: number): Promise<void> {
  for (let polls = 0; polls < 500; polls += 1) {
    const row = readRows(dataDir).find((one) => one.position === position);
    if (row === undefined || row.sealed_secret.every((byte) => byte === 0)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('what had expired was not erased');
}

test('P10: the sealed bytes of what was read, burned or has expired are in no file of the store', async () => {
  const dataDir = await makeDataDir();
  try {
    const { before } = await liveAndStop(dataDir, {});
    const after = readRows(dataDir);
    const ended = before.filter(({ position }) =>
      after.some((row) => row.position === position && row.state !== 'w'),
    );
    const waiting = before.filter((row) => !ended.includes(row));
    const [fleeting] = [...waiting].sort((a, b) => a.expires_at - b.expires_at);
    const kept = waiting.filter((row) => row !== fleeting);
    expect(ended.length).toBe(11);
    expect(await countPieces(dataDir, ended)).toBe(0);
    // Self-test: the secret that still waits is found.
    expect(await countPieces(dataDir, kept)).toBe(kept.flatMap(piecesOf).length);
    expect(kept.length).toBe(1);
    if (fleeting === undefined) throw new Error('nothing has expired');
    await using server = await startServer({ dataDir });
    await awaitSweep(dataDir, fleeting.position);
    await stop(server);
    expect(await countPieces(dataDir, [fleeting])).toBe(0);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});

describe('the scan, tested on itself', () => {
  const life = {
    mailed: [{ secretKey: 'm'.repeat(31), metadataKey: 'n'.repeat(31) }],
    canaries: {
      values: ['value "0123456789abcdef01" <ü&/\\>'],
      passphrases: ['passphrase fedcba9876543210fe'],
      secretKeys: ['s'.repeat(31), 'm'.repeat(31)],
      metadataKeys: ['k'.repeat(31)],
      tokens: ['7'.repeat(64)],
      recipients: ['jo@example.org'],
      usernames: ['owner@example.org'],
      memos: ['memo 0f1e2d3c4b5a697887'],
      notes: ['note 8f7e6d5c4b3a291807'],
      idempotencyKeys: ['order 00112233445566778899'],
      sealed: ['q'.repeat(43)],
      ends: ['e'.repeat(22)],
    },
  };
  const place = (text: string, name = 'stdout') => [{ name, bytes: Buffer.from(text) }];

  test('a server that logs the address of a request is caught', async () => {
    await using server = await startServer({
      command: ['test/support/defective-server.ts'],
      env: { DEFECT: 'log-url' },
    });
    const [secretKey = ''] = life.canaries.secretKeys;
    await sendOnce(server.port, requestBytes({ method: 'POST', path: `/api/v1/secret/${secretKey}` }));
    await stop(server);
    expect(scan(outputPlaces(server), life)).toEqual(['stdout: secretKeys, raw']);
  });

  test('every kind and a part of a value are caught in every disguise', () => {
    for (const kind of allKinds) {
      const [text = ''] = life.canaries[kind];
      const bytes = Buffer.from(text);
      for (const disguise of [
        text,
        bytes.toString('hex'),
        bytes.toString('base64'),
        encodeURIComponent(text),
      ])
        expect(scan(place(`x ${disguise} y`), life).length).toBeGreaterThan(0);
    }
    expect(scan(place('cut short: 0123456789abcdef01'), life).length).toBeGreaterThan(0);
  });

  test('only a mail may hold a link, and only one that was mailed', () => {
    expect(scan(place('m'.repeat(31), 'data/outbox/a.eml'), life)).toEqual([]);
    expect(scan(place('s'.repeat(31), 'data/outbox/a.eml'), life)).not.toEqual([]);
    expect(scan(place('s'.repeat(31), 'data/mayfly.db-wal'), life)).not.toEqual([]);
  });
});
