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
  const app = createTestApp({ ...options, wrapStore: (store) => watched(store, changes) });
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
