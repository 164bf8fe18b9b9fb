/**
 * P4 for every address: GET, HEAD and OPTIONS of all pages and both APIs, over a store that records every call that changes
 * something. The addresses come from the tables that serve them, so new ones are tried automatically.
 */
import { describe, expect, it } from 'bun:test';
import type { SecretService } from '../../src/core/secrets/service.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { routes } from '../../src/web/kit/routes.ts';
import { clientStays } from '../stores/conformance/check.ts';
import type { MemoryStore } from '../stores/memory.ts';
import { useStoreFolder } from '../stores/store-folder.ts';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/app.ts';
import { noOptions } from '../support/inputs.ts';
import { giveDomain } from '../support/own-domain.ts';
import { surfacesOf } from '../v2/documented-app.ts';
import { password, signUpAs } from '../web/signed-in.ts';

const isReading = /^(?:now|usedBytes|rootKidsInUse|find|list)/;
/** Any request notes when its session or token was last used. */
const notes = ['noteSessionUse', 'noteTokenUse'];
/** Passphrase guesses are counted everywhere, even where a right one only inspects: `GET /api/v2/secret/:key`. */
const guesses = ['reserve', 'refund'];

function watched(store: MemoryStore, changes: string[]): MemoryStore {
  return new Proxy(store, {
    get(target, name, receiver) {
      const method: unknown = Reflect.get(target, name, receiver);
      if (typeof method !== 'function' || typeof name !== 'string' || isReading.test(name)) return method;
      return (...given: unknown[]) => {
        changes.push(name);
        return Reflect.apply(method, target, given);
      };
    },
  });
}

/** Matches secret keys and metadata keys alike. */
const secretForm = /^[0-9a-z]{31}$/;

interface Furnished {
  readonly app: TestApp;
  /** Values to try for `:key`. */
  readonly keys: readonly string[];
  readonly visitors: readonly Readonly<Record<string, string>>[];
  /** The changing store methods called since the last time. */
  takeChanges(): string[];
}

/** An installation with one of everything that a GET could change. */
async function furnish(options: TestAppOptions = {}): Promise<Furnished> {
  const changes: string[] = [];
  const { wrapStore = (store: MemoryStore) => store, ...rest } = options;
  const app = createTestApp({ ...rest, wrapStore: (store) => watched(wrapStore(store), changes) });
  const { signedIn, cookie } = await signUpAs(app, 'alice@example.com');
  const { caller } = signedIn;
  await app.store.setPlan(caller.account.id, 'identity');
  await giveDomain(app.store, caller.account.id, 'secrets.example.org');
  const made = await app.accounts.createToken(signedIn, {
    name: 'all',
    scopes: ['create', 'manage', 'read-recent'],
    expiresAt: null,
    password: new Sensitive(password),
    locale: 'en',
  });
  if (made.outcome !== 'created') throw new Error(made.outcome);
  const basic = Buffer.from(`alice@example.com:${made.token.expose()}`).toString('base64');
  const keys: string[] = ['secrets.example.org', '1', 'no-such-key'];
  for (const who of [caller, { kind: 'anonymous' } as const]) {
    for (const passphrase of ['', 'a passphrase']) {
      const input = { ...noOptions, value: new Sensitive('unread'), passphrase: new Sensitive(passphrase) };
      const created = await app.service.conceal(input, who);
      if (created.outcome !== 'created') throw new Error(created.outcome);
      keys.push(created.receipt.secretKey ?? '', created.receipt.metadataKey);
    }
  }
  await app.accounts.requestReset({ email: 'alice@example.com', locale: 'en' });
  await app.accounts.settled();
  const mail = app.accountMails.at(-1);
  if (mail === undefined || !('link' in mail)) throw new Error('no ticket was mailed');
  keys.push(mail.link.expose().split('/').at(-1) ?? '');
  changes.length = 0;
  const visitors = [
    {},
    { cookie },
    { authorization: `Basic ${basic}` },
    { cookie, host: 'secrets.example.org' },
    { 'secret-passphrase': 'a%20passphrase' },
    { 'secret-passphrase': 'wrong' },
  ];
  return { app, keys, visitors, takeChanges: () => changes.splice(0) };
}

function addressesOf({ app, keys }: Furnished): string[] {
  const paths = new Set<string>(Object.values(routes));
  for (const { base, operations } of surfacesOf(app)) {
    for (const { path, aliases } of operations)
      for (const each of [path, ...(aliases ?? []).map((alias) => alias.path)]) paths.add(base + each);
  }
  return [...paths].flatMap((path) =>
    /:\w+/.test(path) ? keys.map((key) => path.replaceAll(/:\w+/g, key)) : [path],
  );
}

/** Returns the names of the query parameters that are read during `run`. */
async function namesAskedFor(run: () => Promise<void>): Promise<Set<string>> {
  const names = new Set<string>();
  const { get, has } = URLSearchParams.prototype;
  URLSearchParams.prototype.get = function (name) {
    names.add(name);
    return get.call(this, name);
  };
  URLSearchParams.prototype.has = function (name, ...rest) {
    names.add(name);
    return has.call(this, name, ...rest);
  };
  try {
    await run();
  } finally {
    Object.assign(URLSearchParams.prototype, { get, has });
  }
  return names;
}

/** Likely names of a hidden switch, besides those that are read, and values that might turn it on. */
const likelyNames = [
  'open',
  'reveal',
  'continue',
  'confirm',
  'view',
  'burn',
  'passphrase',
  '_method',
  'method',
];
const likelyValues = ['', 'yes', 'true', '1', 'on', 'open', 'POST', 'a passphrase'];

interface Watching {
  ask(method: string, address: string, headers: Readonly<Record<string, string>>): Promise<void>;
  /** Each change made by a safe request, as `GET /path: method`; empty when P4 is kept. */
  readonly found: ReadonlySet<string>;
}

function watch({ app, takeChanges }: Furnished): Watching {
  const found = new Set<string>();
  return {
    found,
    async ask(method, address, headers) {
      await (await app.fetch(address, { method, headers })).arrayBuffer();
      const isInspecting = 'secret-passphrase' in headers || address.includes('passphrase=');
      const allowed = new Set([...notes, ...(isInspecting && address.startsWith('/api/v2/') ? guesses : [])]);
      for (const name of takeChanges()) if (!allowed.has(name)) found.add(`${method} ${address}: ${name}`);
    },
  };
}

async function askPlainly(place: Furnished, { ask }: Watching): Promise<void> {
  for (const address of addressesOf(place))
    for (const headers of place.visitors)
      for (const method of ['GET', 'HEAD', 'OPTIONS']) await ask(method, address, headers);
}

/** Only for addresses with the keys of a waiting secret, or without a key. */
async function askWithQueries(
  place: Furnished,
  { ask }: Watching,
  names: ReadonlySet<string>,
): Promise<void> {
  const [signedInHere = {}] = place.visitors.slice(1);
  const addresses = addressesOf({
    ...place,
    keys: place.keys.filter((key) => secretForm.test(key)).slice(0, 2),
  });
  for (const address of addresses)
    for (const name of names)
      for (const value of likelyValues)
        await ask('GET', `${address}?${new URLSearchParams({ [name]: value })}`, signedInHere);
}

describe('GET, HEAD and OPTIONS', () => {
  it('change nothing, at any address, whoever asks and with whatever query (P4)', async () => {
    const place = await furnish();
    expect(addressesOf(place).length).toBeGreaterThan(300);
    const watching = watch(place);
    const asked = await namesAskedFor(() => askPlainly(place, watching));
    await askWithQueries(place, watching, new Set([...asked, ...likelyNames]));
    expect([...watching.found]).toEqual([]);
    expect(place.app.faults).toEqual([]);
    const secrets = place.keys.filter((key) => secretForm.test(key));
    const statuses = await Promise.all(secrets.map((key) => place.app.fetch(`/api/v2/secret/${key}/status`)));
    expect(statuses.filter(({ status }) => status === 200)).toHaveLength(4);
  }, 120_000);

  it('self-test: a page that opens a secret for a query, or notes that its receipt was looked at, is found', async () => {
    const opening = (service: SecretService): SecretService => ({
      ...service,
      async secretStatus(input, caller) {
        const outcome = await service.secretStatus(input, caller);
        await service.reveal(
          {
            passphrase: null,
            proofs: null,
            ...input,
            clientPrefix: '192.0.2.0/24',
            isAbandoned: clientStays,
          },
          caller,
        );
        return outcome;
      },
    });
    const noting = (service: SecretService): SecretService => ({
      ...service,
      findReceipt: service.viewReceipt,
    });
    for (const [wrapService, change] of [
      [opening, 'claim'],
      [noting, 'markViewed'],
    ] as const) {
      const place = await furnish({ wrapService });
      const watching = watch(place);
      await askPlainly(place, watching);
      expect([...watching.found].some((each) => each.endsWith(`: ${change}`))).toBe(true);
    }
  }, 120_000);
});

/** What a browser says of the page that a request comes from; `null`: it says nothing. */
const sites = [null, 'none', 'same-origin', 'same-site', 'cross-site'] as const;

describe('a passphrase that is sent along with GET, HEAD and OPTIONS', () => {
  const folder = useStoreFolder();

  /** Everything in the files but when a session was last used. */
  function dump(): string {
    const tables = folder.valuesOf("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
    return tables.map(([name]) => Bun.inspect(folder.valuesOf(`SELECT * FROM "${name}"`))).join('\n');
  }

  async function place() {
    await using stack = new AsyncDisposableStack();
    const store = stack.use(await folder.open());
    const furnished = await furnish({ wrapStore: () => store });
    const kept = stack.move();
    return { ...furnished, [Symbol.asyncDispose]: () => kept.disposeAsync() };
  }

  const ways: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['', { 'secret-passphrase': 'wrong' }],
    ['', { 'secret-passphrase': 'a%20passphrase' }],
    ['?passphrase=wrong', {}],
    ['?pass%70hrase=wrong&passphrase=wrong', {}],
  ];

  it('by the page of another site is refused, and changes nothing at any address (P4)', async () => {
    await using furnished = await place();
    const { app, takeChanges } = furnished;
    const before = dump();
    const tried = new Set<string>();
    for (const address of addressesOf(furnished))
      for (const [query, passphrase] of ways)
        for (const site of ['same-site', 'cross-site'])
          for (const method of ['GET', 'HEAD', 'OPTIONS']) {
            const headers = { ...passphrase, 'sec-fetch-site': site };
            const { status } = await app.fetch(address + query, { method, headers });
            const takesGuess = /^\/api\/v2\/(?:guest\/)?secret\/[0-9a-z]{31}$/.test(address);
            if (method !== 'OPTIONS' && takesGuess) tried.add(`${status}`);
            expect([method, address, query, site, takeChanges()]).toEqual([method, address, query, site, []]);
          }
    expect([...tried]).toEqual(['403']);
    expect(dump()).toBe(before);
  }, 120_000);

  it('is a guess otherwise, at the one address that takes it, and changes nothing else (P4, P14)', async () => {
    await using furnished = await place();
    const { app, takeChanges } = furnished;
    const counted = new Set<string>();
    for (const address of addressesOf(furnished))
      for (const [query, passphrase] of ways)
        for (const site of sites.slice(0, 3)) {
          const headers = { ...passphrase, ...(site !== null && { 'sec-fetch-site': site }) };
          await app.fetch(address + query, { headers });
          for (const change of takeChanges())
            counted.add(
              `${address.replace(/[0-9a-z]{31}/, 'KEY')}: ${guesses.includes(change) ? 'a guess' : change}`,
            );
        }
    expect([...counted].sort()).toEqual(['/api/v2/guest/secret/KEY: a guess', '/api/v2/secret/KEY: a guess']);
    expect(folder.countOf('attempts')).toBeGreaterThan(0);
  }, 120_000);

  it('from an allowed origin is a guess, as anywhere else', async () => {
    const origin = 'https://friend.example';
    const { app, keys } = await furnish({ allowedOrigins: [origin] });
    const [, , , open = '', , locked = ''] = keys;
    const headers = { origin, 'sec-fetch-site': 'cross-site', 'secret-passphrase': 'wrong' };
    expect((await app.fetch(`/api/v2/secret/${open}`, { headers })).status).toBe(200);
    expect((await app.fetch(`/api/v2/secret/${locked}`, { headers })).status).toBe(422);
  });
});
