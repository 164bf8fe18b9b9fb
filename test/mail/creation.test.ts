/** Mail as part of a creation: never in its way, never more than the link, and told truly on the receipt. */
import { describe, expect, it } from 'bun:test';
import PostalMime from 'postal-mime';
import type { ReceiptView } from '../../src/domain/outcomes.ts';
import { Sensitive } from '../../src/domain/sensitive.ts';
import { createSmtpMailer } from '../../src/mail/smtp.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { openPostOffice, type PostOffice, type Treatment } from './post-office.ts';

const canary = { value: 'canary-value-7f3a', passphrase: 'canary-passphrase-91bc' };

interface Setting extends AsyncDisposable {
  readonly app: TestApp;
  readonly office: PostOffice;
  create(): Promise<ReceiptView>;
  receipt(of: ReceiptView): Promise<ReceiptView>;
}

async function open(treatments: Treatment[]): Promise<Setting> {
  const office = await openPostOffice(treatments);
  const mailer = createSmtpMailer({
    url: office.url,
    from: 'noreply@mail.example.com',
    attemptTimeoutMs: 400,
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
      const made = await app.service.conceal({ value: new Sensitive(canary.value), ...options }, caller);
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

  const stall: Treatment = { at: 'message', does: 'stall' };
  const endings: readonly [string, Treatment[], string][] = [
    ['accepts', [], 'accepted'],
    ['refuses for now, then accepts', [{ at: 'recipient', reply: 450 }], 'accepted'],
    ['refuses for good', [{ at: 'recipient', reply: 550 }], 'refused'],
    ['stalls every time', [stall, stall, stall], 'not_sent'],
  ];
  for (const [what, treatments, state] of endings) {
    it(`is not held up by a mail server that ${what}; its receipt ends with ${state} (T28, P6)`, async () => {
      await using setting = await open(treatments);
      const started = performance.now();
      const receipt = await setting.create();
      expect(performance.now() - started).toBeLessThan(200);
      expect(receipt.delivery?.state).toBe('queued');
      await setting.app.service.settled();
      expect((await setting.receipt(receipt)).delivery?.state).toBe(state as 'accepted');
    });
  }
});
