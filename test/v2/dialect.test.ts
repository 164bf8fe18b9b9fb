/**
 * API v2 in its two dialects: every row of the table, in each of them.
 *
 * Every answer in this file is also checked against the OpenAPI document (see `documented-app.ts`).
 */
import { describe, expect, it } from 'bun:test';
import { dialectOf, differences } from '../../src/api/v2/dialect.ts';
import type { DialectName } from '../../src/api/version.ts';
import { startServer } from '../support/started-server.ts';
import { createDocumentedApp, type DocumentedApp } from './documented-app.ts';

const names = ['documented', 'upstream'] as const satisfies readonly DialectName[];
const unknownKey = '0'.repeat(31);
const formType = 'application/x-www-form-urlencoded';

interface Scene {
  readonly app: DocumentedApp;
  /** The secret key of a secret of Alice's account, without a passphrase. */
  readonly key: string;
  readonly metadataKey: string;
  readonly alice: Readonly<Record<string, string>>;
  readonly bob: Readonly<Record<string, string>>;
}

async function sceneOf(v2Dialect: DialectName): Promise<Scene> {
  const app = createDocumentedApp({ v2Dialect });
  const [alice, bob] = [await app.account('alice@example.com'), await app.account('bob@example.com')];
  const headers = { authorization: alice.authorization };
  const { body } = await app.call('/secret/conceal', { json: { secret: { secret: 'hello' } }, headers });
  const { secret, metadata } = body.record;
  const bobs = { authorization: bob.authorization };
  return { app, key: secret.key, metadataKey: metadata.key, alice: headers, bob: bobs };
}

/** What can be observed of a row from outside, and what must be seen in each dialect. */
interface Sight {
  readonly observe: (scene: Scene) => Promise<unknown>;
  readonly documented: unknown;
  readonly upstream: unknown;
}

/** One for each row: a missing one does not compile. */
const sights: Readonly<Record<keyof typeof differences, Sight>> = {
  managementAccess: {
    async observe({ app, metadataKey }) {
      const looked = await app.call(`/private/${metadataKey}`);
      const changed = await app.call(`/receipt/${metadataKey}`, { method: 'PATCH', json: { memo: 'm' } });
      const burned = await app.call(`/receipt/${metadataKey}/burn`, { json: { continue: true } });
      const recent = await app.call('/private/recent');
      return [looked.status, changed.status, burned.status, recent.status];
    },
    documented: [401, 401, 401, 401],
    upstream: [200, 200, 200, 401],
  },
  managementAuthority: {
    async observe({ app, metadataKey, bob }) {
      const looked = await app.call(`/receipt/${metadataKey}`, { headers: bob });
      const memo = { method: 'PATCH', json: { memo: 'm' }, headers: bob };
      const changed = await app.call(`/private/${metadataKey}`, memo);
      const burned = await app.call(`/private/${metadataKey}/burn`, {
        json: { continue: true },
        headers: bob,
      });
      return [looked.status, looked.body.record?.custid, changed.status, burned.status];
    },
    documented: [404, undefined, 404, 404],
    upstream: [200, 'alice@example.com', 200, 200],
  },
  revealNeedsContinue: {
    async observe({ app, key }) {
      const bodies = [
        { method: 'POST' },
        { json: {} },
        { json: { continue: '' } },
        { json: { continue: false } },
      ];
      const values = [];
      for (const call of bodies)
        values.push((await app.call(`/secret/${key}/reveal`, call)).body.record?.secret_value ?? null);
      return values;
    },
    documented: ['hello', null, null, null],
    upstream: [null, null, null, null],
  },
  burnNeedsContinue: {
    async observe({ app, metadataKey, alice: headers }) {
      const path = `/private/${metadataKey}/burn`;
      const { status, body } = await app.call(path, { method: 'POST', headers });
      const after = await app.call(`/private/${metadataKey}`, { headers });
      return [status, body.field, after.body.record.state];
    },
    documented: [200, undefined, 'burned'],
    upstream: [422, 'continue', 'new'],
  },
  burnNeedsPassphrase: {
    async observe({ app, alice, bob }) {
      const statuses = [];
      for (const [headers, passphrase] of [
        [{}, 'wrong'],
        [bob, 'wrong'],
        [alice, 'wrong'],
        [{}, undefined],
        [{}, ''],
        [bob, undefined],
        [alice, undefined],
        [alice, 'pw'],
        [{}, 'pw'],
      ] as const) {
        const made = await app.call('/secret/conceal', {
          json: { secret: 'x', passphrase: 'pw' },
          headers: alice,
        });
        const path = `/receipt/${made.body.record.metadata.key}/burn`;
        const { status, body } = await app.call(path, { json: { continue: true, passphrase }, headers });
        statuses.push(status === 422 ? body.message : [status, body.details?.ignored]);
      }
      return statuses;
    },
    documented: [
      ...[
        [401, undefined],
        [404, undefined],
        [200, ['passphrase']],
        [401, undefined],
        [401, undefined],
      ],
      ...[
        [404, undefined],
        [200, undefined],
        [200, ['passphrase']],
        [401, undefined],
      ],
    ],
    upstream: [...Array(6).fill('Double check that passphrase'), ...Array(3).fill([200, undefined])],
  },
  looksWithoutPassphrase: {
    async observe({ app }) {
      const made = await app.call('/secret/conceal', { json: { secret: 'x', passphrase: 'pw' } });
      const { key } = made.body.record.secret;
      const seen = [];
      for (const path of ['', '/guest'])
        for (const query of ['', '?passphrase=', '?passphrase=wrong', '?passphrase=pw']) {
          const { status, body } = await app.call(`${path}/secret/${key}${query}`);
          const { correct_passphrase: isRight, show_secret: isShown } = body.details ?? {};
          seen.push(status === 200 ? [body.record.has_passphrase, isRight, isShown] : status);
        }
      return seen;
    },
    documented: [...[422, 422, 422, [true, true, false]], ...[422, 422, 422, [true, true, false]]],
    upstream: [
      ...[[true, false, false], [true, false, false], 422, [true, true, false]],
      ...[[true, false, false], [true, false, false], 422, [true, true, false]],
    ],
  },
  unknownRecordKeys: {
    async observe({ app, alice: headers }) {
      const { body: looked } = await app.call(`/private/${unknownKey}`, { headers });
      const patch = { method: 'PATCH', json: { memo: 'm' }, headers };
      const { body: changed } = await app.call(`/receipt/${unknownKey}`, patch);
      const burn = { json: { continue: true }, headers };
      const { body: burned } = await app.call(`/guest/receipt/${unknownKey}/burn`, burn);
      const deliver = { json: { recipient: 'joe@example.org' }, headers };
      const { body: sent } = await app.call(`/private/${unknownKey}/deliver`, deliver);
      return [looked, changed, burned, sent].map((body) => [body.metadata_key, body.secret_key]);
    },
    documented: Array(4).fill([unknownKey, undefined]),
    upstream: Array(4).fill([unknownKey, unknownKey]),
  },
  readsForms: {
    async observe({ app }) {
      const none = await app.call('/secret/conceal', { method: 'POST' });
      const raw = 'secret[secret]=a+b%26%C3%A9&secret[passphrase]=p%2Bw&secret[ttl]=300&kind=conceal';
      const { status, body } = await app.call('/secret/conceal', { raw, contentType: formType });
      if (status !== 200) return [none.status, status];
      const { key, lifespan } = body.record.secret;
      const read = await app.call(`/secret/${key}/reveal`, {
        raw: 'continue=true&passphrase=p%2Bw',
        contentType: `${formType}; charset=UTF-8`,
      });
      return [none.status, status, lifespan, body.details.ignored, read.body.record.secret_value];
    },
    documented: [400, 415],
    upstream: [422, 200, 300, ['kind'], 'a b&é'],
  },
  unknownStatusIsAnswered: {
    async observe({ app, key }) {
      const waiting = await app.call(`/secret/${key}/status`);
      const { status, body } = await app.call(`/secret/${unknownKey}/status`);
      return [waiting.body.record.state, status, body.record?.state ?? body.error];
    },
    documented: ['new', 404, 'unknown_secret'],
    upstream: ['new', 200, 'unknown'],
  },
  readTtl: {
    async observe({ app }) {
      const granted = [];
      for (const ttl of [-5, '-5', 'abc', '90abc', 61.9, '', 0, null, true, '300']) {
        const { status, body } = await app.call('/secret/generate', { json: { secret: { ttl } } });
        granted.push(status === 200 ? body.record.secret.lifespan : status);
      }
      return granted;
    },
    documented: [422, 422, 422, 422, 422, 604_800, 604_800, 604_800, 422, 300],
    upstream: [60, 60, 60, 90, 61, 604_800, 604_800, 604_800, 422, 300],
  },
};

describe('the table of the dialects', () => {
  for (const [name, sight] of Object.entries(sights)) {
    for (const dialect of names) {
      it(`${name}: the dialect ${dialect} answers as its row says`, async () => {
        expect(await sight.observe(await sceneOf(dialect))).toEqual(sight[dialect]);
      });
    }

    it(`${name}: the two sides differ`, () => {
      expect(sight.documented).not.toEqual(sight.upstream);
    });
  }

  it('has a sight and evidence for every row, and both dialects take every row', () => {
    expect(Object.keys(sights).sort()).toEqual(Object.keys(differences).sort());
    for (const { evidence } of Object.values(differences)) expect(evidence).toMatch(/existing service/);
    for (const dialect of names) {
      const sides = Object.entries(differences).map(([name, row]) => [name, row[dialect]]);
      expect(Object.fromEntries(sides)).toEqual(dialectOf(dialect));
    }
  });
});

describe('in both dialects', () => {
  for (const dialect of names) {
    it(`${dialect}: no GET and no HEAD consumes or changes anything (P4)`, async () => {
      const { app, key, metadataKey, alice: headers } = await sceneOf(dialect);
      const before = await app.call(`/private/${metadataKey}`, { headers });
      const query = '?continue=true&passphrase=';
      for (const path of [
        `/secret/${key}${query}`,
        `/guest/secret/${key}${query}`,
        `/secret/${key}/status${query}`,
        `/private/${metadataKey}${query}`,
        `/receipt/${metadataKey}${query}`,
        '/private/recent?continue=true',
      ]) {
        for (const method of ['GET', 'HEAD']) await app.call(path, { method, headers });
        await app.call(`/secret/${key}/reveal?continue=true`, { method: 'GET' });
      }
      expect((await app.call(`/private/${metadataKey}`, { headers })).body).toEqual(before.body);
      const { body } = await app.call(`/secret/${key}/reveal`, { json: { continue: true } });
      expect(body.record.secret_value).toBe('hello');
    });

    it(`${dialect}: consumes and burns when told to continue, once (P1, P7)`, async () => {
      const { app, key, metadataKey, alice: headers } = await sceneOf(dialect);
      const reveal = () => app.call(`/secret/${key}/reveal`, { json: { continue: 'true' } });
      expect((await reveal()).body.record.secret_value).toBe('hello');
      expect((await reveal()).status).toBe(404);
      const burn = await app.call(`/private/${metadataKey}/burn`, { json: { continue: true }, headers });
      expect([burn.status, burn.body.error, burn.body.record.state]).toEqual([
        409,
        'already_gone',
        'received',
      ]);
    });

    it(`${dialect}: sends mail for nobody but the owner (P16)`, async () => {
      const { app, metadataKey, bob } = await sceneOf(dialect);
      const call = { json: { recipient: 'joe@example.org' } };
      const path = `/private/${metadataKey}/deliver`;
      expect((await app.call(path, call)).status).toBe(401);
      expect((await app.call(path, { ...call, headers: bob })).status).toBe(404);
    });
  }
});

describe('the upstream dialect', () => {
  it('says what it made of a ttl that was no number', async () => {
    const { app } = await sceneOf('upstream');
    for (const [asked, granted] of [
      ['abc', 60],
      [-5, 60],
      ['90abc', 90],
    ] as const) {
      const { body } = await app.call('/secret/conceal', { json: { secret: 'x', ttl: asked } });
      expect(body.details.adjusted).toEqual({ ttl: { asked, granted } });
    }
  });

  it('asks the passphrase also of a look that does not consume (P14)', async () => {
    const { app } = await sceneOf('upstream');
    const made = await app.call('/secret/conceal', { json: { secret: 'hello', passphrase: 'pw' } });
    const path = `/secret/${made.body.record.secret.key}/reveal`;
    expect((await app.call(path, { json: {} })).status).toBe(422);
    expect((await app.call(path, { json: { passphrase: 'pw' } })).body.details).toMatchObject({
      continue: false,
      correct_passphrase: true,
    });
    const read = await app.call(path, { json: { passphrase: 'pw', continue: true } });
    expect(read.body.record.secret_value).toBe('hello');
  });

  it('counts a wrong passphrase of a burn and of a look with those of reveals, and a missing one never (P14)', async () => {
    const { app, alice: headers } = await sceneOf('upstream');
    const json = { secret: 'x', passphrase: 'pw' };
    const { secret, metadata } = (await app.call('/secret/conceal', { json, headers })).body.record;
    const doors = [
      (passphrase?: string) =>
        app.call(`/guest/receipt/${metadata.key}/burn`, { json: { continue: true, passphrase } }),
      (passphrase?: string) =>
        app.call(`/secret/${secret.key}${passphrase === undefined ? '' : `?passphrase=${passphrase}`}`),
      (passphrase?: string) => app.call(`/secret/${secret.key}/reveal`, { json: { passphrase } }),
    ];
    const statusesOf = async (passphrase?: string) => {
      const statuses = [];
      for (const ask of doors) statuses.push((await ask(passphrase)).status);
      return statuses;
    };
    for (const _ of Array(5)) expect(await statusesOf()).toEqual([422, 200, 422]);
    expect(await statusesOf('wrong')).toEqual([422, 422, 422]);
    expect(await statusesOf('bad')).toEqual([422, 422, 429]);
    expect(await statusesOf('pw')).toEqual([429, 429, 429]);
    expect(await statusesOf()).toEqual([422, 200, 422]);
    const burn = { json: { continue: true }, headers };
    expect((await app.call(`/receipt/${metadata.key}/burn`, burn)).body.record.state).toBe('burned');
  });

  const refused: readonly [string, string, number][] = [
    ['a name twice', 'secret[ttl]=60&secret[ttl]=70&secret[secret]=x', 400],
    ['a form and a text of one name', 'secret=x&secret[ttl]=60', 400],
    ['a name twice in a flat form', 'secret=x&ttl=60&ttl=60', 400],
    ['a nesting of two levels', 'secret[secret][x]=x', 400],
    ['a list', 'secret[recipient][]=x&secret[secret]=x', 400],
    ['a broken escape', 'secret[secret]=%zz', 400],
    ['an escape that is no UTF-8', 'secret[secret]=%ff', 400],
    ['no value', 'secret[ttl]=60', 422],
  ];
  for (const [what, raw, status] of refused) {
    it(`refuses a form with ${what} with ${status}`, async () => {
      const { app } = await sceneOf('upstream');
      expect((await app.call('/secret/conceal', { raw, contentType: formType })).status).toBe(status);
    });
  }

  it('reads no other content type', async () => {
    const { app } = await sceneOf('upstream');
    for (const contentType of [
      'text/plain',
      'multipart/form-data; boundary=x',
      `${formType}; charset=latin1`,
      null,
    ]) {
      const { status } = await app.call('/secret/conceal', { raw: 'secret=x', contentType });
      expect([contentType, status]).toEqual([contentType, 415]);
    }
  });
});

it('a started server speaks the dialect, and the languages, of its settings', async () => {
  const env = { MAYFLY_V2_DIALECT: 'upstream', MAYFLY_LOCALES: 'de,fr', MAYFLY_DEFAULT_LOCALE: 'de' };
  await using server = await startServer({ env });
  const base = `http://127.0.0.1:${server.port}/api/v2`;
  const status = await fetch(`${base}/secret/${unknownKey}/status`);
  expect([status.status, (await status.json()).record.state]).toEqual([200, 'unknown']);
  const body = new URLSearchParams({ 'secret[secret]': 'x', 'secret[locale]': 'es', 'secret[ttl]': '-1' });
  const made = await (await fetch(`${base}/secret/conceal`, { method: 'POST', body })).json();
  expect(made.details.adjusted).toEqual({
    ttl: { asked: '-1', granted: 60 },
    locale: { asked: 'es', granted: 'de' },
  });
});
