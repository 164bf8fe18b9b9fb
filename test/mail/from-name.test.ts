/** Whose name appears in the From of a mail: the sender's and the service's, always with the one sending address. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import PostalMime from 'postal-mime';
import type { AccountMail, SecretLinkMail } from '../../src/core/mailer.ts';
import { createSmtpMailer } from '../../src/mail/smtp.ts';
import { smtpServerOf } from '../support/settings.ts';
import { openPostOffice, type PostOffice, sampleAccountMails, sampleMail } from './post-office.ts';

const address = 'noreply@mail.example.com';

let office: PostOffice;
beforeAll(async () => {
  office = await openPostOffice();
});
afterAll(() => office[Symbol.asyncDispose]());

interface Settings {
  readonly from?: string;
  readonly siteName?: string;
}

/** The From of the mail as it arrived: the whole header line, and how a mail program reads it. */
async function sent(mail: SecretLinkMail | AccountMail, { from = address, ...site }: Settings = {}) {
  const mailer = createSmtpMailer({ server: smtpServerOf(office.url), from, ...site });
  const { state } = await ('kind' in mail ? mailer.sendAccountMail(mail) : mailer.sendSecretLink(mail));
  mailer.close();
  expect(state).toBe('accepted');
  const raw = office.arrived.at(-1)?.raw ?? '';
  const parsed = await PostalMime.parse(raw);
  expect(parsed.from?.address).toBe(address);
  return {
    name: parsed.from?.name,
    line: /^From: .*$/m.exec(raw.replace(/\r\n[ \t]+/g, ' '))?.[0].trimEnd(),
  };
}

const ofSite = { name: 'Mayfly', host: 'secrets.example.com' };

describe('the From of a mail with a link', () => {
  it('names the account that sends it, and the service', async () => {
    expect(await sent(sampleMail({ brand: ofSite }))).toEqual({
      name: 'ann@example.com via Mayfly',
      line: `From: "ann@example.com via Mayfly" <${address}>`,
    });
  });

  it('names the service by its brand, or by the name in MAYFLY_MAIL_FROM where that has one', async () => {
    const mail = sampleMail({ brand: { name: 'Example Safe' } });
    expect((await sent(mail, { siteName: 'Example Safe' })).name).toBe('ann@example.com via Example Safe');
    const named = { siteName: 'Example Safe', from: `Vault <${address}>` };
    expect((await sent(mail, named)).name).toBe('ann@example.com via Vault');
  });

  it('names a share domain by its own brand, whatever the site is called', async () => {
    const mail = sampleMail({ brand: { name: 'Customer Safe', host: 'safe.customer.example' } });
    const named = { siteName: 'Example Safe', from: `Vault <${address}>` };
    expect((await sent(mail, named)).name).toBe('ann@example.com via Customer Safe');
  });

  it('names the sender by the name that it chose, once where that is the name of the domain too', async () => {
    const named = { senderName: 'IT Helpdesk', brand: ofSite };
    expect((await sent(sampleMail(named))).name).toBe('IT Helpdesk via Mayfly');
    const ofDomain = { senderName: 'Customer Safe', brand: { name: 'Customer Safe' } };
    expect((await sent(sampleMail(ofDomain))).name).toBe('Customer Safe');
  });

  it('names the host where the brand has no letter', async () => {
    const mail = sampleMail({ brand: { name: '\u200b', host: 'secrets.example.com' } });
    expect((await sent(mail)).name).toBe('ann@example.com via secrets.example.com');
  });

  it('is in the language of the mail', async () => {
    expect((await sent(sampleMail({ brand: ofSite, locale: 'de' }))).name).toBe(
      'ann@example.com über Mayfly',
    );
    expect((await sent(sampleMail({ brand: ofSite, locale: 'ja' }))).name).toBe(
      'ann@example.com（Mayfly 経由）',
    );
  });

  it.each([
    'Ann "the Boss" <boss@evil.example>, x@evil.example',
    'ann\\"@example.com',
    'ann@example.com\r\nBcc: evil@example.net',
    '=?utf-8?q?evil=40example.net?=',
    'jörg@bücher.example',
  ])('stays one address and one line, whatever the account is called: %j', async (from) => {
    const { name, line } = await sent(sampleMail({ from, brand: ofSite }));
    expect(name).toEndWith(' via Mayfly');
    expect(name).not.toContain('=?');
    expect(line).toEndWith(` <${address}>`);
  });
});

describe('the From of a mail about an account', () => {
  it('names the service: by its brand, or by the name in MAYFLY_MAIL_FROM', async () => {
    for (const mail of sampleAccountMails({ brand: ofSite })) {
      expect((await sent(mail)).line).toMatch(/^From: "?Mayfly"? <noreply@mail\.example\.com>$/);
      expect((await sent(mail, { from: `"Vault, Inc." <${address}>` })).name).toBe('Vault, Inc.');
    }
    const [signUp] = sampleAccountMails();
    if (signUp === undefined) throw new Error('there is no sample');
    expect((await sent(signUp, { siteName: 'Example Safe' })).name).toBe('Example Safe');
  });

  it('names the share domain where the mail is about a secret on one', async () => {
    const [notice] = sampleAccountMails({ brand: { name: 'Customer Safe' } }).filter(
      (mail) => 'brand' in mail,
    );
    if (notice === undefined) throw new Error('there is no sample');
    expect((await sent(notice, { from: `Vault <${address}>` })).name).toBe('Customer Safe');
  });
});
