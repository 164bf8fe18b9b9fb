/**
 * API v2, the recent list: its pages, and that it shows only the account's own records.
 *
 * Every answer in this file is also checked against the OpenAPI document (see `documented-app.ts`).
 */
import { describe, expect, it } from 'bun:test';
import { as, concealer } from './concealing.ts';
import { createDocumentedApp } from './documented-app.ts';

const app = createDocumentedApp();
const alice = await app.account('alice@example.com');
const bob = await app.account('bob@example.com');

const conceal = concealer(app, as(alice));

describe('GET /private/recent and GET /receipt/recent', () => {
  const own = createDocumentedApp();

  it('answer an empty page to a new account', async () => {
    const carol = await own.account('carol@example.com');
    for (const path of ['/private/recent', '/receipt/recent']) {
      const { body } = await own.call(path, { headers: as(carol) });
      const now = own.clock.now();
      expect(body).toEqual({
        success: true,
        custid: 'carol@example.com',
        count: 0,
        records: [],
        details: {
          type: 'list',
          since: now,
          now,
          has_items: false,
          received: [],
          notreceived: [],
          next_cursor: null,
        },
      });
    }
  });

  it('list pages, newest first, that neither repeat nor skip when secrets are made meanwhile (P16)', async () => {
    const dora = await own.account('dora@example.com');
    const made: string[] = [];
    for (let number = 0; number < 7; number += 1) {
      made.unshift((await conceal({ recipient: 'joe@example.org' }, as(dora), own)).metadataKey);
      own.clock.advance(1);
    }
    const listed: string[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { body } = await own.call(`/private/recent?limit=3${query}`, { headers: as(dora) });
      expect(body.count).toBe(body.records.length);
      expect(body.details.has_items).toBe(true);
      for (const record of body.records) {
        const { secret_key, share_path, share_url, secret_ttl, recipients } = record;
        expect([secret_key, share_path, share_url, secret_ttl > 0]).toEqual([null, '', '', true]);
        expect(recipients).toBe('jo*****@e*****.org');
      }
      listed.push(...body.records.map((record: { key: string }) => record.key));
      cursor = body.details.next_cursor;
      await conceal({}, as(dora), own);
    } while (cursor !== null);
    expect(listed).toEqual(made);
  });

  it('divide the page into what is gone and what waits', async () => {
    const erin = await own.account('erin@example.com');
    const first = await conceal({}, as(erin), own);
    await conceal({}, as(erin), own);
    await conceal({}, as(await own.account('other@example.com')), own);
    await own.call(`/secret/${first.key}/reveal`, { method: 'POST' });
    const { body } = await own.call('/private/recent', { headers: as(erin) });
    expect(body.details.received.map((record: { key: string }) => record.key)).toEqual([first.metadataKey]);
    expect(body.details.notreceived).toHaveLength(1);
    const gone = body.details.received[0];
    expect([gone.secret_ttl, gone.share_url, gone.recipients]).toEqual([0, '', '']);
    expect(body.count).toBe(2);
    expect(JSON.stringify(body)).not.toContain(first.key);
  });

  for (const limit of ['1', '200', '050', '']) {
    it(`take the limit ${JSON.stringify(limit)}`, async () => {
      expect((await app.call(`/private/recent?limit=${limit}`, { headers: as(alice) })).status).toBe(200);
    });
  }

  for (const limit of ['0', '201', '-1', '1.5', 'all', '1e2', '%20', '9999999999999999999']) {
    it(`refuse the limit ${limit} with 422`, async () => {
      const { status, body } = await app.call(`/private/recent?limit=${limit}`, { headers: as(alice) });
      expect([status, body.error, body.field]).toEqual([422, 'invalid_field', 'limit']);
    });
  }

  it("refuse another account's cursor, and a changed one, with 422 (P16)", async () => {
    for (let made = 0; made < 2; made += 1) {
      await conceal();
      await conceal({}, as(bob));
    }
    const page = await app.call('/private/recent?limit=1', { headers: as(alice) });
    const cursor: string = page.body.details.next_cursor;
    expect(cursor).toMatch(/^[0-9A-Za-z_-]{150}$/);
    const changed = `${cursor.slice(0, -1)}${cursor.endsWith('A') ? 'Q' : 'A'}`;
    for (const [account, given] of [
      [bob, cursor],
      [alice, changed],
    ] as const) {
      const path = `/private/recent?limit=1&cursor=${given}`;
      const { status, body } = await app.call(path, { headers: as(account) });
      expect([status, body.error, body.field]).toEqual([422, 'invalid_field', 'cursor']);
    }
    const next = await app.call(`/private/recent?limit=1&cursor=${cursor}`, { headers: as(alice) });
    expect(next.status).toBe(200);
  });

  it('refuse a cursor that is none, a limit given twice and a broken escape', async () => {
    const headers = as(alice);
    const wrong = await app.call('/private/recent?cursor=%00nonsense', { headers });
    expect([wrong.status, wrong.body.field]).toEqual([422, 'cursor']);
    expect((await app.call('/private/recent?limit=1&limit=2', { headers })).status).toBe(400);
    expect((await app.call('/private/recent?cursor=%', { headers })).status).toBe(400);
  });

  it('need an account', async () => {
    expect((await app.call('/private/recent')).status).toBe(401);
    expect((await app.call('/receipt/recent')).status).toBe(401);
  });
});
