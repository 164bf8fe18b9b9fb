/**
 * API v2: a creation that is sent again with the same `Idempotency-Key`.
 *
 * Every answer in this file is also checked against the OpenAPI document (see `documented-app.ts`).
 */
import { describe, expect, it } from 'bun:test';
import { createHash, randomBytes } from 'node:crypto';
import type { TestAppOptions } from '../support/app.ts';
import { count } from '../support/counts.ts';
import { type Call, createDocumentedApp } from './documented-app.ts';

async function scene(options: TestAppOptions = {}) {
  const app = createDocumentedApp(options);
  const alice = await app.account();
  const { authorization } = alice;
  const sent = (key: string, call: Call) => ({ ...call, headers: { authorization, 'idempotency-key': key } });
  const send = (path: string, key: string, json: unknown) => app.call(path, sent(key, { json }));
  const conceal = (key: string, fields: object = {}) =>
    send('/secret/conceal', key, { secret: { secret: 'hello', ...fields } });
  const generate = (key: string, fields: object = {}) => send('/secret/generate', key, { secret: fields });
  const recent = async () => (await app.call('/private/recent', { headers: { authorization } })).body.records;
  return { app, alice, authorization, send, conceal, generate, recent };
}

const keysIn = ({ body }: { body: ReturnType<typeof JSON.parse> }) => [
  body.record.secret.key,
  body.record.metadata.key,
];

/** What a client would seal: only its form matters here. */
function endToEndSample() {
  const [linkProof, proof] = [randomBytes(32), randomBytes(32)];
  const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('base64url');
  return {
    sealed: {
      v: 1,
      ciphertext: randomBytes(256 + 16).toString('base64url'),
      link_hash: hashOf(linkProof),
      proof_hash: hashOf(proof),
      passphrase: false,
    },
    proofs: { link_proof: linkProof.toString('base64url'), proof: proof.toString('base64url') },
  };
}

describe('an Idempotency-Key', () => {
  it('makes equal requests one secret, which every answer gives the keys of (P5)', async () => {
    const { app, conceal, recent } = await scene();
    const first = await conceal('order 1', { memo: 'one', passphrase: 'open' });
    expect(first.body.details.repeated).toBeUndefined();
    const second = await conceal('order 1', { memo: 'one', passphrase: 'open' });
    expect([second.status, second.body.details.repeated]).toEqual([200, true]);
    expect(second.body.record).toEqual(first.body.record);
    expect(await recent()).toHaveLength(1);
    const json = { passphrase: 'open' };
    const { body } = await app.call(`/secret/${keysIn(first)[0]}/reveal`, { json });
    expect(body.record.secret_value).toBe('hello');
  });

  it('makes one secret of 200 equal requests at once, and the others are told to try again', async () => {
    const { conceal, recent } = await scene();
    const answers = await Promise.all(Array.from({ length: 200 }, () => conceal('all at once')));
    const done = answers.filter(({ status }) => status === 200);
    const told = answers.filter(({ status }) => status === 409);
    expect(done.length + told.length).toBe(200);
    for (const { body, headers } of told) {
      expect([body.error, headers.get('retry-after')]).toEqual(['in_flight', '1']);
    }
    expect(new Set(done.map((each) => keysIn(each).join())).size).toBe(1);
    expect(await recent()).toHaveLength(1);
    expect((await conceal('all at once')).body.details.repeated).toBe(true);
  });

  it('is of one token: another token with the same key makes a secret of its own', async () => {
    const { app, conceal, alice } = await scene();
    const bob = await app.account('bob@example.com');
    const json = { secret: { secret: 'hello' } };
    const headers = { authorization: bob.authorization, 'idempotency-key': 'k' };
    const made = [
      await conceal('k'),
      await app.call('/secret/conceal', { json, headers }),
      await conceal('l'),
    ];
    expect(new Set(made.flatMap(keysIn)).size).toBe(6);
    expect(alice.id).not.toBe(bob.id);
  });

  it('with another body or path is refused, also while it is in flight, and ten of those lock it', async () => {
    const { conceal, generate, recent } = await scene();
    const [made, other] = await Promise.all([conceal('k'), conceal('k', { ttl: 60 })]);
    expect([made.status, other.status, other.body.error]).toEqual([200, 422, 'idempotency_mismatch']);
    expect((await generate('k', { secret: 'hello' })).status).toBe(422);
    for (let sent = 2; sent < 9; sent += 1)
      expect((await conceal('k', { memo: `${sent}` })).status).toBe(422);
    expect((await conceal('k')).status).toBe(200);
    expect((await conceal('k', { memo: 'the tenth' })).status).toBe(422);
    expect((await conceal('k')).body.error).toBe('idempotency_mismatch');
    expect(await recent()).toHaveLength(1);
  });

  it('is answered with the state as it now is, and the keys as they were', async () => {
    const { app, authorization, conceal } = await scene();
    const json = { ttl: 3_600 };
    const first = await conceal('read', json);
    const [secretKey, metadataKey] = keysIn(first);
    app.clock.advance(100);
    const waiting = await conceal('read', json);
    expect(waiting.body.record.secret).toMatchObject({ state: 'new', secret_ttl: 3_500 });
    await app.call(`/secret/${secretKey}/reveal`, { method: 'POST' });
    const gone = await conceal('read', json);
    expect(keysIn(gone)).toEqual([secretKey, metadataKey]);
    const { secret, metadata } = gone.body.record;
    expect(secret).toMatchObject({ state: 'received', is_received: true, secret_ttl: 0 });
    expect(metadata).toMatchObject({ state: 'received', secret_key: null, share_url: '' });
    const burned = await conceal('burned', json);
    const headers = { authorization };
    await app.call(`/private/${keysIn(burned)[1]}/burn`, { method: 'POST', headers });
    const afterwards = (await conceal('burned', json)).body.record.secret;
    expect(afterwards).toMatchObject({ key: keysIn(burned)[0], state: 'burned', is_received: false });
  });

  it('of a receipt that is gone too is answered with 404 and the keys, and creates nothing', async () => {
    const { app, conceal, recent } = await scene();
    const first = await conceal('short', { ttl: 60 });
    app.clock.advance(60);
    expect((await conceal('short', { ttl: 60 })).body.record.secret.state).toBe('expired');
    app.clock.advance(60);
    const { status, body } = await conceal('short', { ttl: 60 });
    const [secret_key, metadata_key] = keysIn(first);
    expect([status, body]).toEqual([
      404,
      { success: false, error: 'unknown_secret', message: 'Unknown secret', secret_key, metadata_key },
    ]);
    expect(await recent()).toHaveLength(0);
  });

  it('makes other keys after 24 hours, so that no link comes to life again', async () => {
    const { app, conceal } = await scene();
    const first = await conceal('daily', { ttl: 60 });
    app.clock.advance(86_399);
    expect((await conceal('daily', { ttl: 60 })).status).toBe(404);
    app.clock.advance(1);
    const next = await conceal('daily', { ttl: 60 });
    expect(next.body.details.repeated).toBeUndefined();
    for (const key of keysIn(next)) expect(keysIn(first)).not.toContain(key);
  });

  it('gives a generated value again while the secret waits, and not once it is gone', async () => {
    const { app, generate } = await scene();
    const fields = { length: 30, charset: ['digits'] };
    const first = await generate('value', fields);
    const value = first.body.record.secret.secret_value;
    expect(value).toMatch(/^[2-9]{30}$/);
    expect((await generate('value', fields)).body.record).toEqual(first.body.record);
    const revealed = await app.call(`/secret/${keysIn(first)[0]}/reveal`, { method: 'POST' });
    expect(revealed.body.record.secret_value).toBe(value);
    const gone = await generate('value', fields);
    expect(gone.body.record.secret).toMatchObject({ state: 'received', secret_value: '' });
    expect(keysIn(gone)).toEqual(keysIn(first));
  });

  it('sends one mail, and a request that was refused leaves the key free', async () => {
    const { app, conceal } = await scene();
    const wrong = await conceal('mail', { recipient: 'nobody@@example.org' });
    expect([wrong.status, wrong.body.field]).toEqual([422, 'secret.recipient']);
    expect((await conceal('domain', { share_domain: 'other.example' })).status).toBe(422);
    expect((await conceal('domain')).status).toBe(200);
    const json = { recipient: 'joe@example.org' };
    for (let sent = 0; sent < 3; sent += 1) expect((await conceal('mail', json)).status).toBe(200);
    await app.service.settled();
    expect(app.mails).toHaveLength(1);
  });

  it('works for an end-to-end secret', async () => {
    const { app, conceal, recent } = await scene();
    const { sealed, proofs } = endToEndSample();
    const json = { secret: undefined, sealed };
    const [first, second] = [await conceal('sealed', json), await conceal('sealed', json)];
    expect(second.body.record).toEqual(first.body.record);
    expect(await recent()).toHaveLength(1);
    const revealed = await app.call(`/secret/${keysIn(second)[0]}/reveal`, { json: proofs });
    expect(revealed.body.record.sealed.ciphertext).toBe(sealed.ciphertext);
  });

  it('is ignored and named where there is no API token, below /guest too', async () => {
    const { app, authorization } = await scene();
    const json = { secret: 'hello' };
    const anonymous = { 'idempotency-key': 'k' };
    for (const [path, headers] of [
      ['/secret/conceal', anonymous],
      ['/guest/secret/conceal', { ...anonymous, authorization }],
    ] as const) {
      const made = [await app.call(path, { json, headers }), await app.call(path, { json, headers })];
      expect(new Set(made.flatMap(keysIn)).size).toBe(4);
      for (const { body } of made) expect(body.details.ignored).toEqual(['Idempotency-Key']);
    }
  });

  it('has 1 to 255 characters of ASCII, and is one: two headers arrive as a list', async () => {
    const { conceal } = await scene();
    for (const key of ['', 'k'.repeat(256), 'schlüssel'.replace('ü', '\u00fc'), 'a, b', 'a,b']) {
      const { status, body } = await conceal(key);
      expect([status, body.error, body.field]).toEqual([422, 'invalid_field', 'Idempotency-Key']);
    }
    for (const key of ['k', '"quoted"', '~'.repeat(255)]) expect((await conceal(key)).status).toBe(200);
  });

  it('works in the other dialect too', async () => {
    const { conceal, recent } = await scene({ v2Dialect: 'upstream' });
    expect(keysIn(await conceal('k'))).toEqual(keysIn(await conceal('k')));
    expect(await recent()).toHaveLength(1);
  });

  it(`gives every secret keys of its own, ${count({ usual: 100, long: 5_000 })} of them`, async () => {
    const { conceal } = await scene();
    const total = count({ usual: 100, long: 5_000 });
    const seen = new Set<string>();
    for (let n = 0; n < total; n += 1) for (const key of keysIn(await conceal(`${n}`))) seen.add(key);
    expect(seen.size).toBe(2 * total);
    for (const key of seen) expect(key).toMatch(/^[0-9a-z]{31}$/);
  });
});
