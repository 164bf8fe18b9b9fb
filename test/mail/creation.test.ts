/**
 * Mail as part of a creation: it never delays it, never carries more than the link, and the receipt shows its true
 * state.
 */

import { describe, expect, it } from 'bun:test';
import PostalMime from 'postal-mime';
import { mailTroubles } from '../../src/core/secrets/link-mail.ts';
import type { ReceiptView } from '../../src/core/secrets/outcomes.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { createSmtpMailer } from '../../src/mail/smtp.ts';
import type { DeliveryState } from '../../src/protocol/vocabulary.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { noOptions } from '../support/inputs.ts';
import { smtpServerOf } from '../support/settings.ts';
import { openPostOffice, type PostOffice, type Treatment } from './post-office.ts';

const canary = { value: 'canary-value-7f3a', passphrase: 'canary-passphrase-91bc' };

interface Setting extends AsyncDisposable {
  readonly app: TestApp;
  readonly office: PostOffice;
  create(): Promise<ReceiptView>;
  receipt(of: ReceiptView): Promise<ReceiptView>;
}

/** @param until when the mail server greets */
async function open(treatments: Treatment[], until: Promise<void> = Promise.resolve()): Promise<Setting> {
  const office = await openPostOffice(treatments, {
    onConnect: (_session, done) => void until.then(() => done()),
  });
  const mailer = createSmtpMailer({
    server: smtpServerOf(office.url),
    from: 'noreply@mail.example.com',
    sleep: async () => {},
  });
  await mailer.prepare();
  const app = createTestApp({ mailer });
  const owner = await app.account('ann@example.com');
  const caller = await app.service.authenticate(owner.username, owner.token);
  if (caller === null) throw new Error('the account is not known');
  const options = {
    recipient: new Sensitive('jo@example.org'),
    passphrase: new Sensitive(canary.passphrase),
  };
  return {
    app,
    office,
    async create() {
      const made = await app.service.conceal(
        { ...noOptions, value: new Sensitive(canary.value), ...options },
        caller,
      );
      if (made.outcome !== 'created') throw new Error(`not created: ${made.outcome}`);
      return made.receipt;
    },
    async receipt({ metadataKey }) {
      const found = await app.service.findReceipt({ metadataKey, authority: 'owner' }, caller);
      if (found.outcome !== 'found') throw new Error('the receipt is not found');
      return found.receipt;
    },
    async [Symbol.asyncDispose]() {
      mailer.close();
      await office[Symbol.asyncDispose]();
    },
  };
}

describe('a creation with a recipient', () => {
  it('sends one mail with the link, and neither value, passphrase nor metadata key in any part of it (P9, P18)', async () => {
    await using setting = await open([]);
    const receipt = await setting.create();
    await setting.app.service.settled();
    expect(setting.office.arrived.map(({ to }) => to)).toEqual([['jo@example.org']]);
    const raw = setting.office.arrived[0]?.raw ?? '';
    const { text = '', html = '', subject = '' } = await PostalMime.parse(raw);
    for (const part of [text, html])
      expect(part).toContain(`https://mayfly.example/secret/${receipt.secretKey}`);
    for (const part of [raw, text, html, subject]) {
      for (const hidden of [canary.value, canary.passphrase, receipt.metadataKey])
        expect(part).not.toContain(hidden);
    }
  });

  const endings: readonly [string, Treatment[], DeliveryState, string | null][] = [
    ['accepts', [], 'accepted', '250 OK: message queued'],
    ['refuses for now, then accepts', [{ at: 'sender', reply: 450 }], 'accepted', '250 OK: message queued'],
    ['refuses for good', [{ at: 'recipient', reply: 550 }], 'refused', '550 Told to'],
    ['says later every time', Array(5).fill({ at: 'message', reply: 451 }), 'given_up', '451 Told to'],
    [
      'breaks off every time',
      Array(5).fill({ at: 'message', does: 'drop' }),
      'given_up',
      mailTroubles.unanswered,
    ],
  ];
  for (const [what, treatments, state, reply] of endings) {
    it(`is answered before a mail server that ${what} has even greeted; its receipt ends with ${state} (T28, P6)`, async () => {
      const answered = Promise.withResolvers<void>();
      await using setting = await open(treatments, answered.promise);
      const receipt = await setting.create();
      expect([receipt.delivery?.state, setting.office.attempts()]).toEqual(['queued', 0]);
      answered.resolve();
      await setting.app.service.settled();
      const { delivery } = await setting.receipt(receipt);
      expect([delivery?.state, delivery?.reply]).toEqual([state, reply]);
    });
  }
});

describe('a creation while the mail server is down', () => {
  it('is answered at once, and its record soon says so while the mail is tried again, and at its end', async () => {
    const office = await openPostOffice();
    await office[Symbol.asyncDispose]();
    const paused = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const mailer = createSmtpMailer({
      server: smtpServerOf(office.url),
      from: 'noreply@mail.example.com',
      sleep() {
        paused.resolve();
        return goOn.promise;
      },
    });
    const app = createTestApp({ mailer });
    const owner = await app.account('ann@example.com');
    const headers = {
      authorization: `Basic ${btoa(`${owner.username}:${owner.token}`)}`,
      'content-type': 'application/json',
    };
    const body = JSON.stringify({ secret: { secret: canary.value, recipient: 'jo@example.org' } });
    const made = await app.fetch('/api/v2/secret/conceal', { method: 'POST', headers, body });
    const { record } = (await made.json()) as { record: { metadata: { key: string; delivery: object } } };
    expect([made.status, record.metadata.delivery]).toEqual([
      200,
      expect.objectContaining({ state: 'queued', reply: null }),
    ]);
    const deliveryNow = async () => {
      const answer = await app.fetch(`/api/v2/private/${record.metadata.key}`, { headers });
      return ((await answer.json()) as typeof made & { record: { delivery: object } }).record.delivery;
    };
    await paused.promise;
    await new Promise((noted) => setImmediate(noted));
    const reply = 'The mail server cannot be reached.';
    expect(await deliveryNow()).toMatchObject({ state: 'queued', reply });
    goOn.resolve();
    await app.service.settled();
    expect(await deliveryNow()).toMatchObject({ state: 'given_up', reply });
    mailer.close();
  });
});
