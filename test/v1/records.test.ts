/** The record once its secret is gone, in every answer that shows it, and the fields next to it: both dialects. */
import { describe, expect, it } from 'bun:test';
import type { DialectName } from '../../src/api/version.ts';
import { giveDomain } from '../support/own-domain.ts';
import { createV1Caller, type Json, type V1Caller } from './caller.ts';

const start = 'custid metadata_key';
const key = 'secret_key';
const ttls = 'ttl metadata_ttl';
const left = 'secret_ttl';
const required = 'passphrase_required';

/** Names the fields of a record in order; absent fields are left out of the arguments. */
function fields(...names: string[]): string {
  return names.join(' ');
}

/** Every way in which a secret can end. */
const ends: Record<string, (caller: V1Caller, made: Json) => Promise<unknown>> = {
  received: (caller, made) => caller.post(`/secret/${made.secret_key}`, { passphrase: 'p' }),
  burned: async (caller, made) => {
    await caller.app.service.burn(
      { proof: null, metadataKey: made.metadata_key, authority: 'holder', isAbandoned: () => false },
      { kind: 'anonymous' },
    );
  },
  expired: async ({ app }, made) => app.clock.advance(Math.max(0, made.created + 600 - app.clock.now())),
};

async function sceneOf(dialect: DialectName) {
  const caller = createV1Caller({ dialect, baseUrl: 'https://mayfly.example/once' });
  const alice = await caller.app.account();
  const form = { ttl: '600', recipient: 'joe@example.org' };
  const made = await caller.share({ ...form, passphrase: 'p' }, alice);
  const open = await caller.share(form, alice);
  const views = (record: Json) => [
    ['GET', `/private/${record.metadata_key}`],
    ['POST', `/metadata/${record.metadata_key}`],
    ['GET', `/receipt/${record.metadata_key}`],
  ];
  return { caller, alice, made, open, views };
}

const keysOf = (record: object) => Object.keys(record).join(' ');

describe('a record of the documented dialect whose secret is gone', () => {
  for (const [state, end] of Object.entries(ends)) {
    it(`and ${state} has no secret_key and no secret_ttl, and still says whether a passphrase was required`, async () => {
      const { caller, alice, made, open, views } = await sceneOf('documented');
      for (const [record, needs] of [
        [made, true],
        [open, false],
      ] as const) {
        await end(caller, record);
        for (const [method = '', path = ''] of views(record)) {
          const { body } = await caller.send(method, path, { as: alice });
          const received = state === 'received' ? ['received'] : [];
          expect(keysOf(body)).toBe(
            fields(start, ttls, 'state recipient share_domain', required, 'created updated', ...received),
          );
          expect([body.state, body.passphrase_required]).toEqual([state, needs]);
        }
      }
      const { body } = await caller.get('/private/recent', alice);
      for (const [at, needs] of [false, true].entries()) {
        expect(keysOf(body[at])).toStartWith(fields(start, key, ttls, 'state'));
        expect([body[at].secret_key, body[at].passphrase_required]).toEqual([null, needs]);
        expect(body[at]).not.toHaveProperty(left);
      }
    });
  }

  it('is so in the burn answer, in the record and in its inner state', async () => {
    const { caller, alice, made } = await sceneOf('documented');
    const { body } = await caller.post(`/private/${made.metadata_key}/burn`, {}, alice);
    const end = fields('recipient share_domain', required, 'created updated');
    expect(keysOf(body)).toBe(fields(start, ttls, end, 'status state secret_shortkey'));
    expect(keysOf(body.state)).toBe(fields(start, ttls, 'state', end));
    expect([body.passphrase_required, body.state.passphrase_required]).toEqual([true, true]);
  });
});

describe('a record of the upstream dialect whose secret is gone', () => {
  for (const [state, end] of Object.entries(ends)) {
    const isRead = state === 'received';
    const [itsKey, itsTtl] = isRead ? [[], []] : [[key], [left]];
    it(`and ${state} has ${isRead ? 'neither key nor ttl of it' : 'an empty key and the ttl null'}, and no passphrase_required`, async () => {
      const { caller, alice, made, views } = await sceneOf('upstream');
      await end(caller, made);
      for (const [method = '', path = ''] of views(made)) {
        const { body } = await caller.send(method, path, { as: alice });
        const received = isRead ? ['received'] : [];
        const tail = fields('state recipient share_domain created updated', ...received, 'metadata_url');
        expect(keysOf(body)).toBe(fields(start, ...itsKey, ttls, ...itsTtl, tail));
        expect(body).toMatchObject(isRead ? { state } : { state, secret_key: '', secret_ttl: null });
      }
      const { body } = await caller.get('/private/recent', alice);
      expect(keysOf(body[1])).toStartWith(fields(start, key, ttls, ...itsTtl, 'state recipient'));
      expect(body[1]).toMatchObject({ secret_key: null, ...(isRead ? {} : { secret_ttl: null }) });
      expect(body[1]).not.toHaveProperty(required);
    });
  }

  it('is so in the burn answer, in the record and in its inner state', async () => {
    const { caller, alice, made } = await sceneOf('upstream');
    const { body } = await caller.post(`/private/${made.metadata_key}/burn`, { passphrase: 'p' }, alice);
    const end = 'recipient share_domain created updated metadata_url';
    expect(keysOf(body)).toBe(fields(start, key, ttls, left, end, 'status state secret_shortkey'));
    expect(keysOf(body.state)).toBe(fields(start, key, ttls, left, 'state', end));
    expect(body).toMatchObject({ secret_key: '', secret_ttl: null, state: { secret_key: '' } });
  });
});

for (const dialect of ['documented', 'upstream'] as const) {
  describe(`a live record of the ${dialect} dialect`, () => {
    it('in the recent list has what remains and whether a passphrase is required, in the order of a record', async () => {
      const { caller, alice, made, open } = await sceneOf(dialect);
      caller.app.clock.advance(100);
      for (const method of ['GET', 'POST']) {
        const { body } = await caller.send(method, '/receipt/recent', { as: alice });
        expect(body.map(keysOf)).toEqual([keysOf(open), keysOf(made)]);
        const remaining = { secret_key: null, secret_ttl: 500, metadata_ttl: 1_100 };
        expect(body).toEqual([
          { ...open, ...remaining },
          { ...made, ...remaining },
        ]);
        expect(body[1].passphrase_required).toBe(true);
      }
    });
  });
}

describe('metadata_url', () => {
  const headers = {
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    forwarded: 'host=evil.example',
  };

  it('stands beside every record of the upstream dialect, from configuration alone (P20)', async () => {
    const { caller, alice, made } = await sceneOf('upstream');
    const url = `https://mayfly.example/once/receipt/${made.metadata_key}`;
    expect(made.metadata_url).toBe(url);
    const ask = async (method: string, path: string, form = {}) =>
      (await caller.send(method, path, { as: alice, headers, form })).body;
    const record = `/private/${made.metadata_key}`;
    expect((await ask('GET', record)).metadata_url).toBe(url);
    expect((await ask('GET', '/private/recent'))[1].metadata_url).toBe(url);
    const burned = await ask('POST', `${record}/burn`, { passphrase: 'p' });
    expect([burned.metadata_url, burned.state.metadata_url]).toEqual([url, url]);
    const generated = await ask('POST', '/generate');
    expect(keysOf(generated)).toEndWith('created updated metadata_url value');
    expect(JSON.stringify(generated)).not.toContain('evil');
  });

  it('is on the site itself, also for a link on a share domain', async () => {
    const { caller, alice } = await sceneOf('upstream');
    await giveDomain(caller.app.store, alice.id, 'secrets.example.com');
    const made = await caller.share({ share_domain: 'secrets.example.com' }, alice);
    expect(made.share_domain).toBe('secrets.example.com');
    expect(made.metadata_url).toBe(`https://mayfly.example/once/receipt/${made.metadata_key}`);
  });

  it('is unknown to the documented dialect', async () => {
    const { caller, alice, made } = await sceneOf('documented');
    const { text } = await caller.get(`/private/${made.metadata_key}`, alice);
    expect(text + JSON.stringify(made)).not.toContain('metadata_url');
  });
});
