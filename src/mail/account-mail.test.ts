/** The text of the mails about an account. */
import { describe, expect, it } from 'bun:test';
import { linksOf, sampleAccountMails } from '../../test/mail/post-office.ts';
import type { AccountMail } from '../core/mailer.ts';
import { Sensitive } from '../core/sensitive.ts';
import type { MessageKey } from '../locale/catalogues.ts';
import { translate } from '../locale/translate.ts';
import { renderAccountMail } from './account-mail.tsx';

const subjects: Record<AccountMail['kind'], string> = {
  sign_up: 'Finish signing up at secrets.example.com',
  reset: 'Choose a new password for secrets.example.com',
  already_signed_up: 'You already have an account at secrets.example.com',
  password_changed: 'Your password at secrets.example.com was changed',
  password_set: 'Your password at secrets.example.com was set',
  token_created: 'A new API token for your account at secrets.example.com',
  account_deleted: 'Your account was deleted',
  code: 'Your code to open a secret',
  secret_read: 'Your secret was opened',
  secret_burned: 'Your secret was burned',
  secret_expiring: 'Your secret expires soon',
  request_answered: 'An answer to your request',
};

const say = (key: MessageKey) => translate('en', key);

function whyOf(mail: AccountMail): string {
  if (!('brand' in mail)) return 'ignore this email';
  if (mail.kind === 'code') return say('mail.code.unexpected');
  return say(mail.kind === 'request_answered' ? 'mail.requestAnswered.why' : 'mail.notice.why');
}

function sample(kind: AccountMail['kind']): AccountMail {
  const mail = sampleAccountMails().find((one) => one.kind === kind);
  if (mail === undefined) throw new Error(`no sample of ${kind}`);
  return mail;
}

/** The URLs in a text, duplicates included. */
function addressesIn(text: string): string[] {
  return text.match(/https?:\/\/[^"<\s]+/g) ?? [];
}

describe('the mails about an account', () => {
  for (const mail of sampleAccountMails()) {
    const { subject, text, html } = renderAccountMail(mail);

    it(`${mail.kind}: the subject says what it is about`, () => {
      expect(subject).toBe(subjects[mail.kind]);
    });

    it(`${mail.kind}: holds the links it was given and no other, once as text, to press and to read in HTML`, () => {
      const links = linksOf(mail);
      expect(addressesIn(text)).toEqual(links);
      expect([...html.matchAll(/href="([^"]*)"/g)].map((match) => match[1])).toEqual(links);
      expect(addressesIn(html)).toEqual(links.flatMap((link) => [link, link]));
    });

    it(`${mail.kind}: says ${'brand' in mail ? 'why it came' : 'that ignoring it is safe'}, and that nobody reads an answer`, () => {
      for (const said of [text, html]) {
        expect(said).toContain(whyOf(mail));
        expect(said).toContain(say('mail.automatic'));
      }
    });

    it(`${mail.kind}: loads nothing, tracks nobody and stays small`, () => {
      expect(html).not.toMatch(
        /<(img|link|script|iframe|object|video|audio|source|form|input)\b|url\(|@import|\ssrc=/i,
      );
      expect(html.length).toBeLessThan(4_000);
    });
  }

  it('say until when a link works, in UTC', () => {
    for (const kind of ['sign_up', 'reset'] as const) {
      const { text, html } = renderAccountMail(sample(kind));
      for (const said of [text, html])
        expect(said).toMatch(/until Wednesday,? 18 November 2026 at 11:06 UTC/);
    }
  });

  it('name the token that was created, on one line that it cannot leave', () => {
    const mail = { ...sample('token_created'), name: 'a\u202eb\nBcc: <i>x</i>' } as AccountMail;
    const { subject, text, html } = renderAccountMail(mail);
    expect(text).toContain('named “a b Bcc: <i>x</i>” was created');
    expect(html).toContain('&lt;i&gt;x&lt;/i&gt;');
    expect(subject).not.toContain('Bcc');
  });

  it('say that the API tokens were revoked with the password, only if they were', () => {
    const mail = sample('password_changed');
    const said = say('mail.passwordChanged.tokens');
    expect(renderAccountMail(mail).text).toContain(said);
    expect(renderAccountMail({ ...mail, tokens: 'keep' } as AccountMail).text).not.toContain(said);
  });

  it('name the account that was deleted, and say that its secrets are gone', () => {
    const { text } = renderAccountMail(sample('account_deleted'));
    expect(text).toContain('The account jo@example.org was deleted');
    expect(text).toContain('were burned');
  });

  const happenings = [
    ['secret_read', 'was opened', 'Opened'],
    ['secret_burned', 'was burned', 'Burned'],
    ['secret_expiring', 'expires soon', 'Expires'],
  ] as const;
  for (const [kind, words, label] of happenings) {
    it(`${kind}: says what happened, when, and when the secret was made, which is all that names it`, () => {
      const { text, html } = renderAccountMail(sample(kind));
      for (const said of [text, html]) {
        expect(said).toContain(words);
        expect(said).toMatch(new RegExp(`${label}: Wednesday,? 18 November 2026 at 11:06 UTC`));
        expect(said).toMatch(/Created: Friday,? 6 November 2026 at 21:20 UTC/);
        expect(said).toContain(say('mail.notice.onlyTime'));
      }
      expect(text.split('\n')[0]).toBe('Example Safe');
      expect(text).toContain('Sent by Example Safe at secrets.example.com.');
    });
  }

  it('request_answered: says when somebody answered, and where to open it, with no link', () => {
    const { text } = renderAccountMail(sample('request_answered'));
    for (const words of ['mail.requestAnswered.intro', 'mail.requestAnswered.next'] as const)
      expect(text.replaceAll('\n', ' ')).toContain(say(words));
    expect(text).toMatch(/Sent: Wednesday,? 18 November 2026 at 11:06 UTC/);
  });

  it('code: names the sender and the site, and has the code in the subject only if the operator wants it there', () => {
    const mail = { ...sample('code'), senderName: 'Anna' } as AccountMail;
    const inSubject = { ...mail, isInSubject: true } as AccountMail;
    const { subject, text, html } = renderAccountMail(mail);
    expect([subject, renderAccountMail(inSubject).subject]).toEqual([
      'Your code to open a secret',
      '493 207 is your code to open a secret',
    ]);
    expect(text).toContain('You are opening a secret from Anna (anna@example.com).');
    for (const said of [text, html]) {
      expect(said).toContain('493 207');
      expect(said).toContain(say('secret.nameChosen'));
      expect(said).toContain(say('mail.code.never'));
    }
    expect(text).toContain('Sent by Example Safe at secrets.example.com.');
  });

  it('code: keeps the two halves of the code in their order where text runs from right to left', () => {
    for (const locale of ['ar', 'he']) {
      const { text, html } = renderAccountMail({ ...sample('code'), locale });
      expect(text).toContain('\u2068493 207\u2069');
      expect(html).toContain('<span dir="auto">493 207</span>');
    }
  });

  it('name a site by its host and port, in ASCII, whatever stands in the rest of its address', () => {
    const forgottenUrl = 'http://bücher.example:8080/<b>/forgotten';
    const mail = {
      kind: 'password_changed',
      to: new Sensitive('jo@example.org'),
      locale: 'en',
      forgottenUrl,
    };
    const { subject, html } = renderAccountMail(mail as AccountMail);
    expect(subject).toBe('Your password at xn--bcher-kva.example:8080 was changed');
    expect(html).not.toContain('<b>');
  });

  it('fall back to English for a language that is not spoken', () => {
    expect(renderAccountMail({ ...sample('account_deleted'), locale: 'xx' }).html).toContain('lang="en"');
  });
});
