/**
 * Burning several secrets from the list, or changing when they expire: each gets exactly what its receipt's page would have done with
 * it, and what was not done is said.
 */
import { describe, expect, it } from 'bun:test';
import { builtInRateLimits } from '../../src/config/json-files.ts';
import { anonymous } from '../../src/core/account.ts';
import { ServiceError } from '../../src/core/errors.ts';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/app.ts';
import { lockWindow } from '../support/lockout.ts';
import { guess } from '../support/service-bench.ts';
import { type SignedInVisitor, signUpAs } from './signed-in.ts';
import { postForm, type Visit, wordsOf } from './visit.ts';
import { makeWaiting, type Waiting } from './waiting.ts';
import { words } from './words.ts';

interface Desk {
  readonly app: TestApp;
  readonly jo: SignedInVisitor;
  readonly eve: SignedInVisitor;
  /** Sends a form of Jo's session. */
  post(path: string, fields: Readonly<Record<string, string>>): Promise<Visit>;
}

async function createDesk(options: TestAppOptions = {}): Promise<Desk> {
  const app = createTestApp(options);
  const jo = await signUpAs(app, 'jo@example.com');
  const eve = await signUpAs(app, 'eve@example.com');
  const post: Desk['post'] = (path, fields) =>
    postForm(app, path, { 'form-token': jo.signedIn.formToken, ...fields }, { cookie: jo.cookie });
  return { app, jo, eve, post };
}

const selected = (keys: readonly string[]) =>
  Object.fromEntries(keys.map((key, at) => [`selected-${at}`, key]));

/** What the two actions send to the list, and what they send to a receipt. */
const actions = {
  burn: { page: 'burn', fields: {}, onList: { act: 'burn', sure: 'yes' } },
  lifetime: { page: 'lifetime', fields: { ttl: '259200' }, onList: { act: 'lifetime', ttl: '259200' } },
  'too long a lifetime': {
    page: 'lifetime',
    fields: { ttl: '1209600' },
    onList: { act: 'lifetime', ttl: '1209600' },
  },
} as const;

/** Makes a secret in each state that it can be in when somebody acts on it. */
const cases: Readonly<Record<string, (desk: Desk) => Promise<string>>> = {
  waiting: async (desk) => (await make(desk)).metadataKey,
  'about to expire': async (desk) => (await make(desk, { ttlSeconds: 90_000 })).metadataKey,
  'with a passphrase': async (desk) => (await make(desk, { passphrase: 'p' })).metadataKey,
  locked: async (desk) => {
    const made = await make(desk, { passphrase: 'right' });
    await lockWindow(desk.app, made.secretKey);
    return made.metadataKey;
  },
  opened: async (desk) => {
    const made = await make(desk);
    await desk.app.service.reveal(guess(made.secretKey), anonymous);
    return made.metadataKey;
  },
  burned: async (desk) => {
    const { metadataKey } = await make(desk);
    await desk.post(`/receipt/${metadataKey}/burn`, {});
    return metadataKey;
  },
  expired: async (desk) => (await make(desk, { ttlSeconds: 86_400 })).metadataKey,
  'of another account': async ({ app, eve }) =>
    (await makeWaiting(app, { caller: eve.signedIn.caller, ttlSeconds: 604_800 })).metadataKey,
  'made without an account': async ({ app }) => (await makeWaiting(app, { ttlSeconds: 604_800 })).metadataKey,
  unknown: async () => '0'.repeat(31),
  'not a key': async () => '../x',
};

function make(
  { app, jo }: Desk,
  options: { ttlSeconds?: number; passphrase?: string } = {},
): Promise<Waiting> {
  return makeWaiting(app, { ttlSeconds: 604_800, ...options, caller: jo.signedIn.caller });
}

/** Everything about the record that can change, and what was reported of it. */
async function standing({ app }: Desk, metadataKey: string): Promise<unknown> {
  const found = await app.service.findReceipt({ metadataKey, authority: 'holder' }, anonymous);
  if (found.outcome === 'unknown') return 'unknown';
  const { state, secretTtlSeconds, ttlSeconds, burnedBy, burnedAt, locked, memo } = found.receipt;
  return { state, secretTtlSeconds, ttlSeconds, burnedBy, burnedAt, isLocked: locked !== null, memo };
}

const happened = ({ app }: Desk) =>
  app.events
    .map(({ event }) => event)
    .filter((event) => event === 'burned' || event === 'lifetime_changed')
    .toSorted();

const names = Object.keys(cases);

/** Two desks alike: one acts on each secret's own page, the other on all of them from the list. */
async function bothWays(action: keyof typeof actions, again: boolean) {
  const [onPages, onList] = [await createDesk(), await createDesk()];
  const { page, fields, onList: listFields } = actions[action];
  const keysAt = async (desk: Desk) => {
    const keys: string[] = [];
    for (const name of names) keys.push(await (cases[name]?.(desk) ?? ''));
    desk.app.clock.advance(86_400);
    return again ? [...keys, ...keys] : keys;
  };
  const [pageKeys, listKeys] = [await keysAt(onPages), await keysAt(onList)];
  for (const key of pageKeys) await onPages.post(`/receipt/${encodeURIComponent(key)}/${page}`, fields);
  const answer = await onList.post('/recent', { ...listFields, ...selected(listKeys) });
  const standings = async (desk: Desk, keys: readonly string[]) => {
    const found: Record<string, unknown> = {};
    for (const [at, name] of names.entries()) found[name] = await standing(desk, keys[at] ?? '');
    return found;
  };
  return {
    answer,
    one: { ...(await standings(onPages, pageKeys)), happened: happened(onPages) },
    several: { ...(await standings(onList, listKeys)), happened: happened(onList) },
    faults: [...onPages.app.faults, ...onList.app.faults],
  };
}

describe('what is selected in the list', () => {
  for (const action of Object.keys(actions) as (keyof typeof actions)[]) {
    it.each([false, true])(
      `${action}: gets what its receipt’s page does (everything twice: %p)`,
      async (again) => {
        const { answer, one, several, faults } = await bothWays(action, again);
        expect(several).toEqual(one);
        expect(one.happened.length).toBeGreaterThan(0);
        expect(answer.status).toBe(409);
        expect(faults).toEqual([]);
      },
    );
  }

  it('self-test: a burn that is left out is noticed', async () => {
    const { one, several } = await bothWays('burn', false);
    expect({ ...several, happened: several.happened.slice(1) }).not.toEqual(one);
  });

  it('is burned only after a question that names each and changes nothing', async () => {
    const desk = await createDesk();
    const keys = [(await make(desk)).metadataKey, (await make(desk)).metadataKey];
    const asked = await desk.post('/recent', { act: 'burn', ...selected(keys) });
    expect(asked.status).toBe(200);
    expect(wordsOf(asked.html)).toContain(words('recent.burnTitle'));
    const kept = [...asked.html.matchAll(/name="selected-\d" value="([^"]*)"/g)].map(([, key]) => key ?? '');
    expect(kept).toEqual(keys);
    for (const key of keys) expect(await standing(desk, key)).toMatchObject({ state: 'new' });
    const burned = await desk.post('/recent?state=waiting', { sure: 'yes', ...selected(kept) });
    expect([burned.status, burned.headers.get('location')]).toEqual([303, '/recent?state=waiting&done=burn']);
    for (const key of keys) expect(await standing(desk, key)).toMatchObject({ state: 'burned' });
  });

  it('says of each what was not done, and why, and hides nothing that was', async () => {
    const desk = await createDesk();
    const [waiting, old] = [await make(desk), await make(desk, { ttlSeconds: 100_000 })];
    const opened = await make(desk);
    await desk.app.service.reveal(guess(opened.secretKey), anonymous);
    desk.app.clock.advance(50_000);
    const keys = [waiting, old, opened].map(({ metadataKey }) => metadataKey);
    const fields = { act: 'lifetime', ttl: '1209600', ...selected([...keys, '0'.repeat(31)]) };
    const { status, html } = await desk.post('/recent', fields);
    expect(status).toBe(409);
    const rows = html.split('<li class="item">').slice(1).map(wordsOf);
    expect(rows).toHaveLength(4);
    expect(rows[3]).toContain(words('recent.unknown'));
    const done = await desk.post('/recent', { act: 'lifetime', ttl: '3600', ...selected(keys.slice(0, 2)) });
    expect(done.headers.get('location')).toBe('/recent?done=lifetime');
  });

  it('counts as one request for each: the rest is refused by name, and what was done stays done', async () => {
    const few = { limit: 3, windowSeconds: 3_600, burst: 3 };
    const manage = { anonymous: few, account: few };
    const desk = await createDesk({ rateLimits: { ...builtInRateLimits, manage } });
    const keys: string[] = [];
    for (let made = 0; made < 5; made += 1) keys.push((await make(desk)).metadataKey);
    const { status, html } = await desk.post('/recent', { sure: 'yes', ...selected(keys) });
    expect(status).toBe(409);
    const states = await Promise.all(keys.map((key) => standing(desk, key)));
    expect(states.map((each) => (each as { state: string }).state)).toEqual([
      ...['burned', 'burned', 'burned'],
      ...['new', 'new'],
    ]);
    expect(html.match(/Too many attempts/g)).toHaveLength(2);
    expect(keys.filter((key) => html.includes(key))).toEqual(keys.slice(3));
  });

  it('goes on where the store fails for one of them', async () => {
    let burns = 0;
    const desk = await createDesk({
      wrapStore: (store) => ({
        ...store,
        burn: async (...given) => {
          burns += 1;
          if (burns === 2) throw new ServiceError('unavailable', 'the store is away');
          return store.burn(...given);
        },
      }),
    });
    const keys: string[] = [];
    for (let made = 0; made < 3; made += 1) keys.push((await make(desk)).metadataKey);
    const { status, html } = await desk.post('/recent', { sure: 'yes', ...selected(keys) });
    expect(status).toBe(409);
    expect(keys.filter((key) => html.includes(key))).toEqual(keys.slice(1, 2));
    expect(await standing(desk, keys[2] ?? '')).toMatchObject({ state: 'burned' });
  });

  it('is left alone without the session’s form token, without a session, and by a GET (P4, P16)', async () => {
    const desk = await createDesk();
    const { metadataKey } = await make(desk);
    const fields = { sure: 'yes', ...selected([metadataKey]) };
    const { cookie } = desk.jo;
    const others = [
      await postForm(desk.app, '/recent', fields, { cookie }),
      await postForm(
        desk.app,
        '/recent',
        { ...fields, 'form-token': desk.eve.signedIn.formToken },
        { cookie },
      ),
      await postForm(desk.app, '/recent', fields),
      await postForm(desk.app, `/recent?${new URLSearchParams(fields)}`, {}, { cookie }),
    ];
    expect(others.map(({ status }) => status)).toEqual([403, 403, 303, 403]);
    await desk.app.fetch(`/recent?${new URLSearchParams(fields)}`, { headers: { cookie } });
    expect(await standing(desk, metadataKey)).toMatchObject({ state: 'new' });
  });

  it('may be nothing, which is said', async () => {
    const desk = await createDesk();
    const { headers } = await desk.post('/recent', { act: 'burn' });
    expect(headers.get('location')).toBe('/recent?done=none');
  });
});
