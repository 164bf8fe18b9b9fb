/**
 * Clients that leave while their request waits, over real connections: a reveal or burn whose client has left takes
 * nothing (P3), wherever it waited.
 *
 * Each wait is a barrier: it is full once every request has reached it, it opens once the server has noticed that every
 * client is gone, and only what happens after that counts.
 */
import { afterEach, describe, expect, it } from 'bun:test';
import { connect, type Socket } from 'node:net';
import { createAccount } from '../../src/core/accounts/admin.ts';
import { systemRandom } from '../../src/crypto/random.ts';
import type { MemoryStore } from '../stores/memory.ts';
import { openSqliteSubject } from '../stores/subjects.ts';
import { createTestApp, fastHasher, type TestApp, type TestAppOptions } from '../support/app.ts';
import { requestBytes } from '../support/raw-client.ts';
import { withMethod } from '../web/store-method.ts';
import { makeWaiting, type Waiting, type WaitingOptions } from '../web/waiting.ts';

const clients = 20;
const passphrase = 'right';
const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
const json = { 'Content-Type': 'application/json' };

interface Door {
  readonly name: string;
  readonly path: (waiting: Waiting) => string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const reveals: readonly Door[] = [
  {
    name: 'v1',
    path: ({ secretKey }) => `/api/v1/secret/${secretKey}`,
    headers: form,
    body: `passphrase=${passphrase}`,
  },
  {
    name: 'v2',
    path: ({ secretKey }) => `/api/v2/secret/${secretKey}/reveal`,
    headers: json,
    body: JSON.stringify({ passphrase }),
  },
  {
    name: 'the secret’s page',
    path: ({ secretPath }) => secretPath,
    headers: form,
    body: `open=now&passphrase=${passphrase}`,
  },
];

const burnsByLink: readonly Door[] = [
  {
    name: 'v2',
    path: ({ secretKey }) => `/api/v2/secret/${secretKey}/burn`,
    headers: json,
    body: JSON.stringify({ passphrase }),
  },
  {
    name: 'the secret’s page',
    path: ({ secretPath }) => `${secretPath}/burn`,
    headers: form,
    body: `burn=now&passphrase=${passphrase}`,
  },
];

/** What the link and its passphrase are enough for, and the store's decision about each. */
const byLink = [
  ...reveals.map((door) => [`a reveal through ${door.name}`, door, 'claim'] as const),
  ...burnsByLink.map((door) => [`a burn by the link through ${door.name}`, door, 'burnFound'] as const),
];

const v1Burn: Door = {
  name: 'v1',
  path: ({ metadataKey }) => `/api/v1/private/${metadataKey}/burn`,
  headers: form,
  body: `passphrase=${passphrase}`,
};
const burns: readonly Door[] = [
  v1Burn,
  {
    name: 'v2',
    path: ({ metadataKey }) => `/api/v2/private/${metadataKey}/burn`,
    headers: json,
    body: '{}',
  },
  {
    name: 'the receipt’s page',
    path: ({ metadataKey }) => `/receipt/${metadataKey}/burn`,
    headers: form,
    body: '',
  },
];

/** Counts arrivals, and holds them while closed. */
class Barrier {
  #isClosed = false;
  #arrived = 0;
  readonly #full = Promise.withResolvers<void>();
  readonly #open = Promise.withResolvers<void>();
  readonly full = this.#full.promise;

  close(): void {
    this.#isClosed = true;
  }

  open(): void {
    this.#isClosed = false;
    this.#open.resolve();
  }

  async pass(): Promise<void> {
    if (!this.#isClosed) return;
    this.#arrived += 1;
    if (this.#arrived === clients) this.#full.resolve();
    await this.#open.promise;
  }
}

interface Scene {
  readonly app: TestApp;
  readonly port: number;
  readonly barrier: Barrier;
  /** Resolves when the server has noticed that every client is gone. */
  readonly allSeenLeaving: Promise<void>;
  /** Resolves when no request is in progress. */
  readonly settled: () => Promise<unknown>;
}

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function openScene(barrier: Barrier, options: TestAppOptions): Scene {
  const app = createTestApp(options);
  const seen = Promise.withResolvers<void>();
  let leaving = 0;
  const answers: (Response | Promise<Response>)[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    development: false,
    fetch(request, peer) {
      request.signal.addEventListener('abort', () => {
        leaving += 1;
        if (leaving === clients) seen.resolve();
      });
      const answer = app.handler(request, peer);
      answers.push(answer);
      return answer;
    },
  });
  ends.push(() => server.stop(true));
  const settled = () => Promise.all(answers);
  return { app, port: server.port ?? 0, barrier, allSeenLeaving: seen.promise, settled };
}

/** Writes a whole request on its own connection. */
function send(port: number, bytes: Buffer): Socket {
  const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
  socket.on('error', () => {});
  return socket;
}

type Made = Pick<WaitingOptions, 'passphrase'>;

function makeMany({ app }: Scene, count: number, options: Made): Promise<Waiting[]> {
  return Promise.all(Array.from({ length: count }, () => makeWaiting(app, options)));
}

function makeAll(scene: Scene, options: Made = { passphrase }): Promise<Waiting[]> {
  return makeMany(scene, clients, options);
}

function sendAll(
  { port }: Scene,
  { path, headers, body }: Door,
  all: readonly Waiting[],
  more: Readonly<Record<string, string>> = {},
): Socket[] {
  return all.map((waiting) => {
    const request = { method: 'POST', path: path(waiting), headers: { ...headers, ...more }, body };
    return send(port, requestBytes(request));
  });
}

/** Every client waits, every client leaves, the barrier opens; returns what is left of the secrets. */
async function leaveAtBarrier(
  scene: Scene,
  door: Door,
  all: readonly Waiting[],
  headers: Readonly<Record<string, string>> = {},
): Promise<Left> {
  scene.barrier.close();
  const sockets = sendAll(scene, door, all, headers);
  await scene.barrier.full;
  for (const socket of sockets) socket.destroy();
  await scene.allSeenLeaving;
  scene.barrier.open();
  await scene.settled();
  return lookAt(scene, all);
}

interface Left {
  readonly waiting: number;
  readonly readable: number;
}

const allOfThem: Left = { waiting: clients, readable: clients };

async function lookAt({ app }: Scene, all: readonly Waiting[]): Promise<Left> {
  let [waiting, readable] = [0, 0];
  for (const { secretKey } of all) {
    const anonymous = { kind: 'anonymous' } as const;
    const status = await app.service.secretStatus({ secretKey }, anonymous);
    waiting += Number(status.outcome === 'waiting');
    const { headers, body, path } = reveals[0] ?? v1Burn;
    const given = { secretKey, metadataKey: '', secretPath: '' };
    const read = await app.fetch(path(given), { method: 'POST', headers, body });
    readable += Number(read.status === 200 && (await read.json()).value === 'canary');
  }
  return { waiting, readable };
}

/** A scene whose store holds every request at one of its methods. */
function heldAt(
  name: 'findSecret' | 'findReceipt' | 'reserve' | 'refund',
  options: TestAppOptions = {},
): Scene {
  const barrier = new Barrier();
  const wrapStore = (store: MemoryStore): MemoryStore => {
    const method: (...args: never[]) => Promise<unknown> = store[name];
    const held = async (...args: never[]) => {
      await barrier.pass();
      return method(...args);
    };
    return withMethod(store, name, held as MemoryStore[typeof name]);
  };
  return openScene(barrier, { ...options, wrapStore });
}

function heldAtHasher(options: TestAppOptions = {}): Scene {
  const barrier = new Barrier();
  const hasher: TestAppOptions['hasher'] = {
    ...fastHasher,
    async stretch(text, salt, place) {
      await barrier.pass();
      return fastHasher.stretch(text, salt, place);
    },
  };
  return openScene(barrier, { ...options, hasher });
}

describe.each(byLink)('%s', (_name, door, decision) => {
  it('keeps a secret whose reader left while the passphrase was hashed (P3)', async () => {
    const scene = heldAtHasher();
    expect(await leaveAtBarrier(scene, door, await makeAll(scene))).toEqual(allOfThem);
  });

  it.each(['findSecret', 'reserve', 'refund'] as const)(
    'keeps a secret whose reader left while the store was at %s (P3)',
    async (method) => {
      const scene = heldAt(method);
      expect(await leaveAtBarrier(scene, door, await makeAll(scene))).toEqual(allOfThem);
    },
  );

  it('keeps a secret whose reader left while the decision waited for another batch (P3)', async () => {
    const scene = await openSqliteScene(decision);
    expect(await leaveBehindBatch(scene, door)).toEqual(allOfThem);
  });

  it('is not abandoned by readers who wait (self-test)', async () => {
    const scene = heldAtHasher();
    const all = await makeAll(scene);
    scene.barrier.close();
    const sockets = sendAll(scene, door, all);
    await scene.barrier.full;
    scene.barrier.open();
    await scene.settled();
    expect(await lookAt(scene, all)).toEqual({ waiting: 0, readable: 0 });
    for (const socket of sockets) socket.destroy();
  });
});

describe.each(burns.map((door) => [door.name, door] as const))('a burn through %s', (_name, door) => {
  it('keeps a secret whose creator left while the store was busy (P3)', async () => {
    const scene = heldAt('findReceipt');
    const { authorization } = await scene.app.account();
    const all = await makeAll(scene);
    expect(await leaveAtBarrier(scene, door, all, headersOf(door, authorization))).toEqual(allOfThem);
  });

  it('keeps a secret whose creator left while the burn waited for another batch (P3)', async () => {
    const scene = await openSqliteScene('burn');
    expect(await leaveBehindBatch(scene, door, headersOf(door, scene.authorization))).toEqual(allOfThem);
  });
});

describe.each(reveals.map((door) => [door.name, door] as const))('a reveal through %s', (_name, door) => {
  it.each([
    ['without', {}],
    ['with', { passphrase }],
  ])(
    '%s a passphrase, with another request in its packet, takes nothing without an answer (P3)',
    async (_kind, options) => {
      const scene = await openSqliteScene('claim');
      scene.barrier.open();
      let lost = 0;
      for (const { secretKey, ...rest } of await makeMany(scene, 60, options)) {
        const { path, headers, body } = door;
        const reveal = requestBytes({ method: 'POST', path: path({ secretKey, ...rest }), headers, body });
        const answer = await everythingSentTo(scene.port, Buffer.concat([reveal, nextRequest]));
        await scene.settled();
        const status = await scene.app.service.secretStatus({ secretKey }, { kind: 'anonymous' });
        lost += Number(status.outcome !== 'waiting' && !answer.includes('canary'));
      }
      expect(lost).toBe(0);
    },
  );
});

const nextRequest = requestBytes({ method: 'GET', path: '/api/v1/status', headers: { Connection: 'close' } });

/** Everything the server sends until it closes the connection. */
function everythingSentTo(port: number, bytes: Buffer): Promise<string> {
  return new Promise((resolve) => {
    let answered = '';
    const socket = send(port, bytes);
    socket.on('data', (part) => {
      answered += part.toString('utf8');
    });
    socket.on('close', () => resolve(answered));
  });
}

describe('a burn that asks for the passphrase', () => {
  it('keeps a secret whose creator left while the passphrase was hashed (P3)', async () => {
    const scene = heldAtHasher({ dialect: 'upstream' });
    expect(await leaveAtBarrier(scene, v1Burn, await makeAll(scene))).toEqual(allOfThem);
  });

  it.each(['findSecret', 'reserve', 'refund'] as const)(
    'keeps a secret whose creator left while the store was at %s (P3)',
    async (method) => {
      const scene = heldAt(method, { dialect: 'upstream' });
      expect(await leaveAtBarrier(scene, v1Burn, await makeAll(scene))).toEqual(allOfThem);
    },
  );
});

/** Pages take no credentials. */
function headersOf(door: Door, authorization: string): Readonly<Record<string, string>> {
  return door.path({ secretPath: '', secretKey: '', metadataKey: '' }).startsWith('/api/')
    ? { Authorization: authorization }
    : {};
}

interface SqliteScene extends Scene {
  /** Holds the writer at its batch until the returned function is called. */
  readonly hold: () => () => void;
  /** For an account in this store. */
  readonly authorization: string;
}

/** A scene over the embedded store. Its barrier only counts the requests that asked for the decision; it holds none. */
async function openSqliteScene(decision: 'claim' | 'burn' | 'burnFound'): Promise<SqliteScene> {
  const subject = await openSqliteSubject();
  ends.push(() => subject.close());
  const barrier = new Barrier();
  barrier.close();
  const wrapStore = (): MemoryStore => {
    const { store } = subject;
    const method: (...args: never[]) => Promise<unknown> = store[decision];
    const counted = (...args: never[]) => {
      const decided = method(...args);
      void barrier.pass();
      return decided;
    };
    return withMethod(store, decision, counted as MemoryStore[typeof decision]);
  };
  const scene = openScene(barrier, { wrapStore });
  const made = await createAccount(
    { store: subject.store, random: systemRandom },
    { email: 'al@example.com', plan: 'basic' },
  );
  if (made.outcome !== 'created') throw new Error(made.outcome);
  const authorization = `Basic ${btoa(`${made.username}:${made.token.expose()}`)}`;
  return { ...scene, hold: () => subject.holdWrites(), authorization };
}

/** Every decision waits behind a batch that another process holds up; every client leaves; the batch is released. */
async function leaveBehindBatch(
  scene: SqliteScene,
  door: Door,
  headers: Readonly<Record<string, string>> = {},
): Promise<Left> {
  const plain: Door = { ...door, body: door.body.replace(passphrase, '') };
  const all = await makeAll(scene, {});
  const release = scene.hold();
  const earlier = makeWaiting(scene.app);
  await turns();
  const sockets = sendAll(scene, plain, all, headers);
  await scene.barrier.full;
  for (const socket of sockets) socket.destroy();
  await scene.allSeenLeaving;
  release();
  await earlier;
  await scene.settled();
  return lookAt(scene, all);
}

async function turns(): Promise<void> {
  for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve));
}
