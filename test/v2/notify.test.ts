/**
 * API v2: the notices an account gets, the domain that a request arrives on, and the region that answers.
 *
 * Every answer in this file is also checked against the OpenAPI document (see `documented-app.ts`).
 */
import { describe, expect, it } from 'bun:test';
import { parseRegionLabel } from '../../src/core/keys.ts';
import { giveDomain } from '../support/own-domain.ts';
import { createDocumentedApp } from './documented-app.ts';

async function scene() {
  const app = createDocumentedApp();
  const alice = await app.account('alice@example.com', 'identity');
  const headers = { authorization: alice.authorization };
  const conceal = (fields: object, who: Record<string, string> = headers) =>
    app.call('/secret/conceal', { json: { secret: { secret: 'x', ...fields } }, headers: who });
  return { app, alice, headers, conceal };
}

describe('the field notify', () => {
  it('is a list or a text with commas, none, or as the account has it', async () => {
    const { app, alice, conceal } = await scene();
    await app.store.setNotify(alice.id, ['expiring']);
    const wanted: readonly [object, readonly string[]][] = [
      [{}, ['expiring']],
      [{ notify: null }, ['expiring']],
      [{ notify: '' }, ['expiring']],
      [{ notify: 'none' }, []],
      [{ notify: [] }, []],
      [{ notify: 'expiring,read' }, ['read', 'expiring']],
      [{ notify: ['burned', 'read', 'burned'] }, ['read', 'burned']],
    ];
    for (const [fields, told] of wanted) {
      const { status, body } = await conceal(fields);
      expect([status, body.record.metadata.notify]).toEqual([200, told]);
    }
  });

  it('stands in the record, for generate too, and in the list', async () => {
    const { app, headers } = await scene();
    const made = await app.call('/secret/generate', { json: { secret: { notify: ['read'] } }, headers });
    const { key } = made.body.record.metadata;
    expect((await app.call(`/private/${key}`, { headers })).body.record.notify).toEqual(['read']);
    const listed = await app.call('/private/recent', { headers });
    expect(listed.body.records[0].notify).toEqual(['read']);
  });

  it('is refused by name when it is anything else', async () => {
    const { conceal } = await scene();
    for (const notify of ['reading', 'read,', 'none,read', ['none'], ['read', 7], 7, {}, true]) {
      const { status, body } = await conceal({ notify });
      expect([status, body.error, body.field]).toEqual([422, 'invalid_field', 'secret.notify']);
    }
  });

  it('needs an account, unless it asks for nothing', async () => {
    const { conceal } = await scene();
    const { status, body } = await conceal({ notify: 'read' }, {});
    expect([status, body.error]).toEqual([401, 'account_required']);
    expect(body.message).toBe('An account is required to be notified.');
    expect((await conceal({ notify: 'none' }, {})).status).toBe(200);
  });

  it('is kept: the account is told what it asked for, and nothing else', async () => {
    const { app, headers, conceal } = await scene();
    const { key } = (await conceal({ notify: ['read'] })).body.record.secret;
    await app.call(`/secret/${key}/reveal`, { method: 'POST' });
    const { key: metadataKey } = (await conceal({ notify: ['read'] })).body.record.metadata;
    await app.call(`/private/${metadataKey}/burn`, { method: 'POST', headers });
    await app.service.settled();
    expect(app.accountMails.map(({ kind, to }) => [kind, to.expose()])).toEqual([
      ['secret_read', 'alice@example.com'],
    ]);
  });
});

describe('a request that arrives on a share domain', () => {
  it('makes links there, for everybody where its owner lets them, in conceal and generate', async () => {
    const { app, alice, headers } = await scene();
    await giveDomain(app.store, alice.id, 'open.alice.example');
    const host = { host: 'open.alice.example' };
    for (const path of ['/secret/conceal', '/secret/generate']) {
      const call = path === '/secret/conceal' ? { json: { secret: 'x' } } : { method: 'POST' };
      for (const who of [host, { ...host, ...headers }]) {
        const { body } = await app.call(path, { ...call, headers: who });
        expect(body.record.share_domain).toBe('open.alice.example');
        expect(body.record.metadata.share_url).toStartWith('https://open.alice.example/secret/');
      }
    }
  });

  it('is refused without an account where its owner shares alone, and stores nothing', async () => {
    const { app, alice, headers } = await scene();
    await giveDomain(app.store, alice.id, 'closed.alice.example', { isPublic: false });
    const host = { host: 'closed.alice.example' };
    const { status, body } = await app.call('/secret/conceal', { json: { secret: 'x' }, headers: host });
    expect([status, body.error]).toEqual([403, 'public_sharing_disabled']);
    expect(body.message).toBe('Public sharing disabled for domain: closed.alice.example');
    const own = await app.call('/secret/conceal', {
      json: { secret: 'x' },
      headers: { ...host, ...headers },
    });
    expect(own.body.record.share_domain).toBe('closed.alice.example');
  });

  it('on any other name makes links on the site (P20)', async () => {
    const { app } = await scene();
    for (const host of ['mayfly.example', 'evil.example', 'evil.example:80', '127.0.0.1:3000']) {
      const { body } = await app.call('/secret/conceal', { json: { secret: 'x' }, headers: { host } });
      expect(body.record.metadata.share_url).toStartWith('https://mayfly.example/secret/');
    }
  });
});

describe('the region', () => {
  it('stands in the status where there are regions', async () => {
    const own = parseRegionLabel('eu');
    if (own === null) throw new Error('no label');
    const regions = { own, all: [{ label: own, baseUrl: 'https://eu.mayfly.example' }] };
    const { body } = await createDocumentedApp({ regions }).call('/status');
    expect(body).toEqual({ success: true, status: 'nominal', locale: 'en', region: 'eu' });
  });
});
