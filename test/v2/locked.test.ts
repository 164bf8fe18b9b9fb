/**
 * API v2: a lock by wrong passphrases in the creator's record, and `PATCH` with `"attempts": "more"`, which lifts it (P14).
 *
 * Every answer in this file is also checked against the OpenAPI document (see `documented-app.ts`).
 */
import { describe, expect, it } from 'bun:test';
import { lockLife, lockWindow } from '../support/lockout.ts';
import { createDocumentedApp } from './documented-app.ts';

async function sceneOf() {
  const app = createDocumentedApp();
  const [alice, bob] = [await app.account('alice@example.com'), await app.account('bob@example.com')];
  const headers = { authorization: alice.authorization };
  const json = { secret: { secret: 'x', passphrase: 'right', ttl: 604_800 } };
  const { metadata, secret } = (await app.call('/secret/conceal', { json, headers })).body.record;
  const [key, metadataKey] = [secret.key as string, metadata.key as string];
  const change = (fields: unknown, who: Readonly<Record<string, string>> = headers) =>
    app.call(`/receipt/${metadataKey}`, { method: 'PATCH', json: fields, headers: who });
  const told = async () => (await app.call(`/receipt/${metadataKey}`, { headers })).body.record.locked;
  const reveal = () => app.call(`/secret/${key}/reveal`, { json: { passphrase: 'right' } });
  return { app, headers, others: { authorization: bob.authorization }, key, metadata, change, told, reveal };
}

describe('record.locked', () => {
  it('is null, or says by what and until when, in every record of the creator', async () => {
    const { app, headers, key, metadata, told, change } = await sceneOf();
    expect([metadata.locked, await told()]).toEqual([null, null]);
    await lockWindow(app, key);
    const locked = { by: 'passphrase', until: app.clock.now() + 600 };
    expect(await told()).toEqual(locked);
    expect((await app.call('/private/recent', { headers })).body.records[0].locked).toEqual(locked);
    expect((await change({ memo: 'm' })).body.record).toMatchObject({ memo: 'm', locked });
    await lockLife(app, key);
    await lockLife(app, key);
    expect(await told()).toEqual({ by: 'passphrase', until: null });
  });

  it('is no business of the link’s holder', async () => {
    const { app, key } = await sceneOf();
    await lockLife(app, key);
    expect(JSON.stringify((await app.call(`/secret/${key}/status`)).body)).not.toContain('locked');
  });
});

describe('too_many_attempts', () => {
  it('says in how many minutes a guess is allowed, or that the creator must allow more', async () => {
    const { app, key, reveal } = await sceneOf();
    await lockWindow(app, key);
    app.clock.advance(1);
    const later = await reveal();
    expect([later.status, later.headers.get('retry-after')]).toEqual([429, '599']);
    expect(later.body).toMatchObject({
      error: 'too_many_attempts',
      message: 'Too many wrong passphrases were tried on this secret; please try again in 10 minutes',
    });
    app.clock.advance(599);
    await lockLife(app, key);
    const forGood = await reveal();
    expect([forGood.status, Number(forGood.headers.get('retry-after'))]).toEqual([429, 604_800 - 3_600]);
    expect(forGood.body.message).toBe(
      'Too many wrong passphrases were tried on this secret; it stays locked until its creator allows more: ask them',
    );
  });
});

describe('PATCH with "attempts": "more"', () => {
  it('lifts the lock, and the right passphrase opens', async () => {
    const { app, key, change, told, reveal } = await sceneOf();
    await lockLife(app, key);
    expect((await reveal()).status).toBe(429);
    expect((await change({ attempts: null })).body.record.locked).toEqual({ by: 'passphrase', until: null });
    const { status, body } = await change({ attempts: 'more', memo: 'm' });
    expect([status, body.record.locked, body.record.memo, body.details.ignored]).toEqual([
      200,
      null,
      'm',
      undefined,
    ]);
    expect([await told(), (await reveal()).status]).toEqual([null, 200]);
  });

  it('is one word and no other', async () => {
    const { change } = await sceneOf();
    for (const attempts of ['', 'less', 'More', 100, true, ['more']]) {
      const { status, body } = await change({ attempts });
      expect([status, body.error, body.field]).toEqual([422, 'invalid_field', 'attempts']);
    }
  });

  it('is refused to another account and to nobody, and once the secret is gone', async () => {
    const { change, others, reveal } = await sceneOf();
    const more = { attempts: 'more' };
    expect([(await change(more, others)).status, (await change(more, {})).status]).toEqual([404, 401]);
    await reveal();
    const { status, body } = await change(more);
    expect([status, body.error, body.record.state]).toEqual([409, 'already_gone', 'received']);
  });
});
