/**
 * API v2, `PATCH` with `ttl`: another lifetime for a waiting secret, from now on.
 *
 * Every answer in this file is also checked against the OpenAPI document (see `documented-app.ts`).
 */
import { describe, expect, it } from 'bun:test';
import type { DialectName } from '../../src/api/version.ts';
import { createDocumentedApp } from './documented-app.ts';

type Json = Record<string, unknown>;

const day = 86_400;

/** Alice's account, whose plan allows 14 days, with a secret of a week. */
async function sceneOf(v2Dialect: DialectName = 'documented') {
  const app = createDocumentedApp({ v2Dialect });
  const [alice, bob] = [await app.account('alice@example.com'), await app.account('bob@example.com')];
  const headers = { authorization: alice.authorization };
  async function made(fields: Json = {}, who: Readonly<Record<string, string>> = headers) {
    const json = { secret: { secret: 'x', ttl: 7 * day, ...fields } };
    const { metadata, secret } = (await app.call('/secret/conceal', { json, headers: who })).body.record;
    return { key: secret.key as string, metadataKey: metadata.key as string };
  }
  const change = (
    metadataKey: string,
    json: unknown,
    who: Readonly<Record<string, string>> = headers,
    of = 'receipt',
  ) => app.call(`/${of}/${metadataKey}`, { method: 'PATCH', json, headers: who });
  const told = async (metadataKey: string) =>
    (await app.call(`/private/${metadataKey}`, { headers })).body.record;
  const reveal = (key: string) => app.call(`/secret/${key}/reveal`, { json: { continue: true } });
  return { app, headers, others: { authorization: bob.authorization }, made, change, told, reveal };
}

for (const dialect of ['documented', 'upstream'] as const) {
  describe(`PATCH with ttl, as ${dialect}`, () => {
    it('gives the secret that long from now on, in a number or in digits, by either path', async () => {
      const { app, headers, made, change } = await sceneOf(dialect);
      const { metadataKey } = await made();
      app.clock.advance(day);
      for (const [of, ttl, seconds] of [
        ['receipt', 3_600, 3_600],
        ['private', '7200', 7_200],
        ['receipt', 13 * day, 13 * day],
        ['private', '0060', 60],
      ] as const) {
        const { status, body } = await change(metadataKey, { ttl }, headers, of);
        expect([status, body.details.adjusted]).toEqual([200, undefined]);
        expect(body.record).toMatchObject({
          state: 'new',
          secret_ttl: seconds,
          metadata_ttl: day + 2 * seconds,
        });
        expect((await app.call(`/receipt/${metadataKey}`, { headers })).body).toEqual(body);
      }
    });

    it('leaves the link as it was, until the new expiry and no longer (P8)', async () => {
      for (const late of [0, 1]) {
        const { app, made, change, reveal } = await sceneOf(dialect);
        const { key, metadataKey } = await made();
        app.clock.advance(3 * day);
        await change(metadataKey, { ttl: 10 * day });
        app.clock.advance(10 * day - 1 + late);
        const { status, body } = await reveal(key);
        expect([status, body.record?.secret_value]).toEqual(late === 0 ? [200, 'x'] : [404, undefined]);
      }
    });

    it('grants the nearest possible, and says so', async () => {
      const { app, made, change } = await sceneOf(dialect);
      const { metadataKey } = await made();
      app.clock.advance(3 * day);
      for (const [ttl, asked, granted] of [
        [1, 1, 60],
        ['59', 59, 60],
        [11 * day + 1, 11 * day + 1, 11 * day],
        ['9'.repeat(30), Number.MAX_SAFE_INTEGER, 11 * day],
      ] as const) {
        const { status, body } = await change(metadataKey, { ttl });
        expect([status, body.record.secret_ttl, body.details.adjusted]).toEqual([
          200,
          granted,
          { ttl: { asked, granted } },
        ]);
      }
    });

    it('changes nothing where it is zero, empty, null or absent', async () => {
      const { app, made, change } = await sceneOf(dialect);
      const { metadataKey } = await made();
      app.clock.advance(day);
      for (const fields of [{ ttl: 0 }, { ttl: '0' }, { ttl: '' }, { ttl: null }, {}]) {
        const { status, body } = await change(metadataKey, fields);
        expect([status, body.record.secret_ttl, body.details.adjusted]).toEqual([200, 6 * day, undefined]);
      }
    });

    it('is refused by name when it is no whole number, and nothing changes', async () => {
      const { made, change, told } = await sceneOf(dialect);
      const { metadataKey } = await made({ memo: 'first' });
      for (const ttl of [-1, 1.5, '-1', '1.5', '1h', ' 60', true, [60], {}]) {
        const { status, body } = await change(metadataKey, { memo: 'second', ttl });
        expect([status, body.error, body.field]).toEqual([422, 'invalid_field', 'ttl']);
      }
      expect(await told(metadataKey)).toMatchObject({ secret_ttl: 7 * day, memo: 'first' });
    });

    it('is refused with the record once the secret is read, burned or expired, and the memo stays (P7)', async () => {
      const { app, headers, made, change, reveal } = await sceneOf(dialect);
      const [read, burned, expired] = [await made(), await made(), await made({ ttl: 60 })];
      await reveal(read.key);
      await app.call(`/private/${burned.metadataKey}/burn`, { json: { continue: true }, headers });
      app.clock.advance(60);
      for (const [{ metadataKey }, state] of [
        [read, 'received'],
        [burned, 'burned'],
        [expired, 'expired'],
      ] as const) {
        const { status, body } = await change(metadataKey, { ttl: day, memo: 'too late' });
        expect([status, body.error]).toEqual([409, 'already_gone']);
        expect(body.record).toMatchObject({ key: metadataKey, state, memo: '' });
        expect((await change(metadataKey, { ttl: null, memo: 'in time' })).body.record.memo).toBe('in time');
      }
    });

    it('sets lifetime and memo at once, or neither', async () => {
      const { made, change, told } = await sceneOf(dialect);
      const { metadataKey } = await made();
      const { body } = await change(metadataKey, { memo: 'for Al', ttl: day });
      expect(body.record).toMatchObject({ memo: 'for Al', secret_ttl: day });
      const refused = await change(metadataKey, { memo: 'x'.repeat(501), ttl: 2 * day });
      expect([refused.status, refused.body.field]).toEqual([422, 'memo']);
      expect(await told(metadataKey)).toMatchObject({ memo: 'for Al', secret_ttl: day });
    });

    it('is answered as unknown for a key that opens nothing', async () => {
      const { change } = await sceneOf(dialect);
      for (const key of ['0'.repeat(31), 'x']) {
        const { status, body } = await change(key, { ttl: day });
        expect([status, body.error, body.metadata_key]).toEqual([404, 'unknown_secret', key]);
      }
    });
  });
}

describe('PATCH with ttl', () => {
  it("answers another account's key exactly as an unknown one, and changes nothing (P16)", async () => {
    const { made, change, others, told } = await sceneOf();
    const { metadataKey } = await made();
    const foreign = await change(metadataKey, { ttl: 60 }, others);
    const unknown = await change('0'.repeat(31), { ttl: 60 }, others);
    expect(foreign.status).toBe(404);
    expect(foreign.body).toEqual({ ...unknown.body, metadata_key: metadataKey });
    expect((await change(metadataKey, { ttl: 60 }, {})).status).toBe(401);
    expect((await told(metadataKey)).secret_ttl).toBe(7 * day);
  });

  it('is for whoever holds the key, where the dialect is upstream', async () => {
    const { made, change, others } = await sceneOf('upstream');
    const { metadataKey } = await made();
    for (const who of [others, {}])
      expect((await change(metadataKey, { ttl: 3_600 }, who)).body.record.secret_ttl).toBe(3_600);
  });

  it('is open to any account that holds the key of a record made without one, as far as that plan allowed', async () => {
    const { made, change, others } = await sceneOf();
    const { metadataKey } = await made({ ttl: 3_600 }, {});
    const { body } = await change(metadataKey, { ttl: 14 * day }, others);
    expect(body.record.secret_ttl).toBe(7 * day);
    expect(body.details.adjusted).toEqual({ ttl: { asked: 14 * day, granted: 7 * day } });
  });

  it('names the lifetime of a secret that an earlier version stored as the field that is wrong', async () => {
    const app = createDocumentedApp({
      wrapService: (service) => ({ ...service, change: async () => ({ outcome: 'lifetime_fixed' }) }),
    });
    const { authorization } = await app.account('alice@example.com');
    const call = { method: 'PATCH', json: { ttl: day }, headers: { authorization } };
    const { status, body } = await app.call(`/receipt/${'0'.repeat(31)}`, call);
    expect([status, body.error, body.field]).toEqual([422, 'invalid_field', 'ttl']);
  });
});
