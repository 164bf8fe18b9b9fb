import { describe, expect, it } from 'bun:test';
import type { MailBrand } from '../core/mailer.ts';
import { Sensitive } from '../core/sensitive.ts';
import type { MessageKey } from '../locale/catalogues.ts';
import { type MessageParams, translate } from '../locale/translate.ts';
import { renderMail, renderSecretLink, setApart } from './messages.tsx';

const link = 'https://secrets.example.com/secret/0123456789';

function render(locale: string, name: string, brand: MailBrand | null = null) {
  return renderMail({
    locale,
    brand,
    subject: `${setApart(name)} schreibt`,
    body: [`${setApart(name)} hat (${setApart(name)}) etwas.`, { link, label: 'Auf' }, { link, label: null }],
    small: ['Klein'],
  });
}

describe('the frame of a mail', () => {
  it('names its language and its direction, on the document and on the column that mail programs keep', () => {
    for (const [locale, direction] of [
      ['de', 'ltr'],
      ['he', 'rtl'],
      ['ar', 'rtl'],
    ] as const) {
      const { html } = render(locale, 'ann');
      expect(html.split(`lang="${locale}" dir="${direction}"`)).toHaveLength(3);
    }
  });

  it('gives foreign text its own direction, and shows links from left to right', () => {
    const { html } = render('he', 'ann@example.com');
    expect(html.split('<span dir="auto">ann@example.com</span>')).toHaveLength(3);
    expect(html).toContain(`<span dir="ltr">${link}</span>`);
    expect(html).toContain(`<a href="${link}" dir="ltr">${link}</a>`);
  });

  it('isolates foreign text in right-to-left plain text alone, and never in a subject or in HTML', () => {
    const marks = /[\u2066-\u2069\u202a-\u202e]/g;
    const [he, de] = [render('he', 'ann'), render('de', 'ann')];
    expect(he.text.match(marks)?.join('')).toBe('\u2068\u2069\u2068\u2069');
    for (const clean of [he.subject, he.html, de.subject, de.html, de.text]) expect(clean).not.toMatch(marks);
  });

  it('lets no name bring marks of its own, break a line or become markup', () => {
    const evil = '\u2069\u202e<b>x</b>\r\nBcc: e@example.net\u2068';
    const { subject, text, html } = render('he', evil);
    expect(subject).toBe('<b>x</b> Bcc: e@example.net schreibt');
    expect(text.split('\n')[0]).toBe(
      '\u2068<b>x</b> Bcc: e@example.net\u2069 hat (\u2068<b>x</b> Bcc: e@example.net\u2069) etwas.',
    );
    expect(html).not.toContain('<b>');
  });

  it('shows every link in full, with a button only where there is something to do', () => {
    const { text, html } = render('de', 'ann');
    expect(text.split(link)).toHaveLength(3);
    expect(html.split(`href="${link}"`)).toHaveLength(3);
    expect(html.split(`>${link}<`)).toHaveLength(3);
    expect(html.match(/>Auf</g)).toHaveLength(1);
  });

  const brand = { name: 'Example Safe', host: 'secrets.example.com', colour: '#7a0019' };

  it('is headed by the name of its sender, and its button has their colour with white on it', () => {
    const { text, html } = render('de', 'ann', brand);
    expect(text.split('\n').slice(0, 2)).toEqual(['Example Safe', '']);
    expect(html).toMatch(
      /<p style="[^"]*font-weight:600[^"]*"><span dir="auto">Example Safe<\/span><\/p><p>/,
    );
    expect(html).toMatch(/style="[^"]*color:#ffffff[^"]*;background:#7a0019">Auf</);
    expect(render('he', 'ann', brand).text).toStartWith('\u2068Example Safe\u2069\n\n');
  });

  it('is headed by the host where the name is empty, and by nothing where it has no brand', () => {
    expect(render('de', 'ann', { ...brand, name: ' \u200b' }).text).toStartWith('secrets.example.com\n\n');
    expect(render('de', 'ann').text).toStartWith('ann hat');
  });

  it('has our own colour where there is none, or where it is more than a colour', () => {
    for (const colour of [null, '', '#fff', '#7a0019;background:url(//evil.example)'])
      expect(render('de', 'ann', { ...brand, colour }).html).toContain(';background:#1d5c4d">Auf<');
  });

  it('takes its colours from a sheet for light and dark, and holds none without it but those of the button', () => {
    const { html } = render('de', 'ann', brand);
    const [, sheet = ''] = /<style>([^<]*)<\/style>/.exec(html) ?? [];
    const [light = '', dark = ''] = sheet.split('@media(prefers-color-scheme:dark)');
    for (const scheme of [light, dark])
      expect(scheme).toMatch(/body\{background:#[0-9a-f]{6};color:#[0-9a-f]{6}\}/);
    const inline = [...html.matchAll(/ style="([^"]*)"/g)].map(([, style = '']) => style);
    const coloured = inline.filter((style) => /(^|;)(color|background)/.test(style));
    expect(coloured).toEqual([expect.stringContaining('color:#ffffff')]);
  });

  it('keeps a link in one line', () => {
    const broken = renderMail({
      locale: 'de',
      brand: null,
      subject: '',
      body: [{ link: `${link}\r\nBcc: e@example.net`, label: null }],
      small: [],
    });
    for (const part of [broken.text, broken.html]) expect(part).toContain(`${link} Bcc: e@example.net`);
  });
});

const say = (key: MessageKey, params?: MessageParams) => translate('en', key, params);

function renderLink(
  changes: { from?: string; senderName?: string; link?: string; hasPassphrase?: boolean } = {},
) {
  return renderSecretLink({
    to: new Sensitive('jo@example.org'),
    from: new Sensitive(changes.from ?? 'ann@example.com'),
    senderName: changes.senderName ?? null,
    link: new Sensitive(changes.link ?? link),
    hasPassphrase: changes.hasPassphrase ?? false,
    expiresAt: 1_795_000_000,
    locale: 'en',
    brand: { name: 'Example Safe', host: 'secrets.example.com', colour: null },
  });
}

describe('the mail to a recipient', () => {
  it('says who sent it, that the link opens once, until when in UTC, and whether a passphrase is needed', () => {
    const { subject, text, html } = renderLink({ hasPassphrase: true });
    expect(subject).toBe('ann@example.com sent you a secret');
    for (const said of [text, html.replaceAll(/<\/?span[^>]*>/g, '')]) {
      expect(said).toContain(say('mail.intro', { sender: 'ann@example.com' }));
      expect(said).toContain(link);
      expect(said).toContain(say('mail.once'));
      expect(said).toMatch(/Wednesday,? 18 November 2026 at 11:06 UTC/);
      expect(said).toContain(say('mail.passphrase', { sender: 'ann@example.com' }));
    }
    expect(renderLink().text).toContain(say('mail.noPassphrase'));
  });

  it('says where replies go: to the sender, whose address can be replied to', () => {
    for (const from of ['ann@example.com', "o'neil+tag=x@example.com"])
      expect(renderLink({ from }).text).toContain(say('mail.replies', { address: from }));
    for (const from of [
      '',
      'ann',
      'ann@localhost',
      'Ann <ann@example.com>',
      'ann@example.com, x@example.net',
    ])
      expect(renderLink({ from }).text).toContain(say('mail.automatic'));
  });

  it('says the address with a name that was chosen, and that it was', () => {
    const { subject, text, html } = renderLink({ senderName: 'IT Helpdesk', hasPassphrase: true });
    expect(subject).toBe('IT Helpdesk sent you a secret');
    for (const said of [text, html.replaceAll(/<\/?span[^>]*>/g, '')]) {
      expect(said).toContain(say('mail.intro', { sender: 'IT Helpdesk (ann@example.com)' }));
      expect(said).toContain(say('mail.passphrase', { sender: 'IT Helpdesk' }));
      expect(said).toContain(say('mail.unexpected', { sender: 'IT Helpdesk (ann@example.com)' }));
      expect(said).toContain(say('secret.nameChosen'));
    }
    expect(renderLink().text).not.toContain(say('secret.nameChosen'));
  });

  it('says which service sent it: its name above, name and host below', () => {
    const { text, html } = renderLink();
    expect(text.split('\n')[0]).toBe('Example Safe');
    for (const said of [text, html.replaceAll(/<\/?span[^>]*>/g, '')])
      expect(said).toContain('Sent by Example Safe at secrets.example.com.');
  });

  it('escapes the sender and the link in HTML', () => {
    const { html } = renderLink({
      from: '<img src=x onerror=alert(1)>"\'&',
      link: 'https://x.example/"><script>1</script>',
    });
    expect(html).not.toContain('<img');
    expect(html).not.toContain('<script');
    expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;');
  });

  it('loads nothing and tracks nobody: the link is the only address in it', () => {
    const { html } = renderLink();
    expect(html).not.toMatch(
      /<(img|link|script|iframe|object|video|audio|source|form|input)\b|url\(|@import|\ssrc=/i,
    );
    expect(new Set(html.match(/https?:\/\/[^"<\s]+/g))).toEqual(new Set([link]));
    expect(html.length).toBeLessThan(4_000);
  });

  it('keeps the subject on one line and free of invisible marks', () => {
    const { subject } = renderLink({ from: 'a@b.org\r\nBcc: evil@example.net\u2028\u202e\u0000\u200b' });
    expect(subject).toBe('a@b.org Bcc: evil@example.net sent you a secret');
  });
});
