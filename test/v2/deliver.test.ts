/**
 * API v2, the mail to the recipient: its delivery, and sending it again or elsewhere.
 *
 * Every answer in this file is also checked against the OpenAPI document (see `documented-app.ts`).
 */
import { describe, expect, it } from 'bun:test';
import { builtInRateLimits } from '../../src/config/json-files.ts';
import type { Handover } from '../../src/core/mailer.ts';
import type { TestAccount, TestAppOptions } from '../support/app.ts';
import { type Call, createDocumentedApp } from './documented-app.ts';

const as = ({ authorization }: TestAccount) => ({ authorization });

async function scene(options: TestAppOptions = {}, fields: object = { recipient: 'joe@example.org' }) {
  const app = createDocumentedApp(options);
  const alice = await app.account('alice@example.com');
  const bob = await app.account('bob@example.com');
  const headers = as(alice);
  const made = await app.call('/secret/conceal', { json: { secret: 'x', ...fields }, headers });
  const { metadata, secret } = made.body.record;
  const deliver = (call: Call = { method: 'POST' }, who: TestAccount | null = alice, name = 'private') =>
    app.call(`/${name}/${metadata.key}/deliver`, { ...call, headers: who === null ? {} : as(who) });
  const look = async () => (await app.call(`/private/${metadata.key}`, { headers })).body.record;
  return { app, alice, bob, metadata, key: secret.key as string, deliver, look };
}

const to = (recipient: unknown, rest: object = {}): Call => ({ json: { recipient, ...rest } });

describe('POST /private/:key/deliver and /receipt/:key/deliver', () => {
  it('send the mail again, and answer the record as GET does', async () => {
    for (const name of ['private', 'receipt']) {
      const { app, deliver, look, metadata } = await scene();
      await app.service.settled();
      for (const call of [{ method: 'POST' }, { json: {} }, to(null), to(''), to([])]) {
        const { status, body } = await deliver(call, undefined, name);
        expect(status).toBe(200);
        expect(body).toMatchObject({
          success: true,
          custid: 'alice@example.com',
          details: { type: 'record' },
        });
        expect(body.record).toMatchObject({
          key: metadata.key,
          recipients: 'jo*****@e*****.org',
          delivery: { state: 'queued', at: app.clock.now(), reply: null },
        });
        await app.service.settled();
        expect((await look()).delivery).toEqual({ state: 'accepted', at: app.clock.now(), reply: '250 OK' });
      }
      expect(app.mails.map((mail) => mail.to.expose())).toEqual(Array(6).fill('joe@example.org'));
    }
  });

  it('send it to another address, which the record and the list then show, obfuscated', async () => {
    const { app, alice, deliver, look, key } = await scene();
    await app.service.settled();
    const { body } = await deliver(to('ann@elsewhere.example', { locale: 'de' }));
    expect(body.record).toMatchObject({ recipients: 'an*****@e*****.example', show_recipients: true });
    await app.service.settled();
    const [mail] = app.mails.slice(-1);
    expect([mail?.to.expose(), mail?.locale]).toEqual(['ann@elsewhere.example', 'de']);
    expect(mail?.link.expose()).toBe(`https://mayfly.example/secret/${key}`);
    expect((await look()).recipients).toBe('an*****@e*****.example');
    const listed = await app.call('/private/recent', { headers: as(alice) });
    expect(listed.body.records[0]).toMatchObject({
      recipients: 'an*****@e*****.example',
      delivery: { state: 'accepted', reply: '250 OK' },
    });
    expect((await deliver(to(['joe@example.org']))).body.record.recipients).toBe('jo*****@e*****.org');
  });

  it('send a secret that never had an address, once one is named', async () => {
    const { app, deliver } = await scene({}, {});
    const { status, body } = await deliver();
    expect([status, body.error, body.field]).toEqual([422, 'invalid_field', 'recipient']);
    expect((await deliver(to('ann@elsewhere.example'))).status).toBe(200);
    await app.service.settled();
    expect(app.mails).toHaveLength(1);
  });

  it('refuse what is no address, and repeat none (P18, P26)', async () => {
    const { app, deliver } = await scene({}, {});
    for (const recipient of ['nobody', 'a@b.example, c@d.example', 'a@b.example\r\nBcc: c@d.example']) {
      const { status, body } = await deliver(to(recipient));
      expect([status, body.error, body.field]).toEqual([422, 'invalid_field', 'recipient']);
      expect(JSON.stringify(body)).not.toContain(JSON.stringify(recipient).slice(1, -1));
    }
    for (const recipient of [7, {}, ['a@b.example', 'c@d.example'], [7]])
      expect((await deliver(to(recipient))).body).toMatchObject({
        error: 'invalid_field',
        field: 'recipient',
      });
    expect((await deliver({ json: { locale: 7 } })).body).toMatchObject({ field: 'locale' });
    expect((await deliver({ json: [] })).status).toBe(422);
    expect(app.mails).toEqual([]);
  });

  it('refuse while a mail of the secret is under way', async () => {
    const accepted = Promise.withResolvers<Handover>();
    let handedOver = 0;
    const sendSecretLink = () => {
      handedOver += 1;
      return accepted.promise;
    };
    const mailer = { sendSecretLink, sendAccountMail: () => accepted.promise };
    const { app, deliver, look } = await scene({ mailer });
    const { status, body } = await deliver();
    expect([status, body.error]).toEqual([409, 'delivery_in_flight']);
    accepted.resolve({ state: 'accepted', reply: '250 OK' });
    await app.service.settled();
    expect([handedOver, (await look()).delivery.state]).toEqual([1, 'accepted']);
  });

  it('refuse once the secret is gone, with the record', async () => {
    const { app, deliver, key } = await scene();
    await app.service.settled();
    await app.call(`/secret/${key}/reveal`, { method: 'POST' });
    for (const call of [{ method: 'POST' }, to('ann@elsewhere.example')]) {
      const { status, body } = await deliver(call);
      expect([status, body.error, body.record.state]).toEqual([409, 'already_gone', 'received']);
    }
    await app.service.settled();
    expect(app.mails).toHaveLength(1);
  });

  it('P16: are unknown to another account and closed without one', async () => {
    const { app, bob, deliver, metadata } = await scene();
    await app.service.settled();
    for (const call of [{ method: 'POST' }, to('bob@example.com')]) {
      const told = await deliver(call, bob);
      expect([told.status, told.body.error, told.body.metadata_key]).toEqual([
        404,
        'unknown_secret',
        metadata.key,
      ]);
      expect((await deliver(call, null)).body.error).toBe('not_authorized');
    }
    await app.service.settled();
    expect(app.mails).toHaveLength(1);
  });

  it('let any account send what was made anonymously, whose key it holds', async () => {
    const { app, bob } = await scene();
    const made = await app.call('/secret/conceal', { json: { secret: 'x' } });
    const path = `/private/${made.body.record.metadata.key}/deliver`;
    const { status } = await app.call(path, { ...to('ann@elsewhere.example'), headers: as(bob) });
    expect(status).toBe(200);
    await app.service.settled();
    expect(app.mails.at(-1)?.from.expose()).toBe('bob@example.com');
  });
});

describe('the bounds on mails', () => {
  const one = { limit: 1, windowSeconds: 3_600, burst: 1 };
  const many = { ...builtInRateLimits.mail };

  it('P21: are a 429 with Retry-After, on creation and on delivery, and nothing is stored', async () => {
    for (const [name, other] of [
      ['mail', 'mailbox'],
      ['mailbox', 'mail'],
    ] as const) {
      const rateLimits = { ...builtInRateLimits, [name]: { anonymous: one, account: one }, [other]: many };
      const { app, alice, deliver, look } = await scene({ rateLimits });
      await app.service.settled();
      const before = await look();
      const json = { secret: 'y', recipient: 'JOE@example.org' };
      const create = () => app.call('/secret/conceal', { json, headers: as(alice) });
      for (const refused of [await deliver(), await create()]) {
        expect([refused.status, refused.body.error]).toEqual([429, 'rate_limited']);
        expect(refused.headers.get('retry-after')).toBe('3600');
      }
      expect(await look()).toEqual(before);
      const listed = await app.call('/private/recent', { headers: as(alice) });
      expect(listed.body.count).toBe(1);
      expect(app.mails).toHaveLength(1);
    }
  });
});
