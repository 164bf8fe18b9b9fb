/** The form of every mail: direction, foreign text, links. */
import { describe, expect, it } from 'bun:test';
import type { MailFace } from '../core/ports.ts';
import { renderMail, setApart } from './frame.tsx';

const link = 'https://secrets.example.com/secret/0123456789';

function render(locale: string, name: string, face: MailFace | null = null) {
  return renderMail({
    locale,
    face,
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

  const face = { name: 'Example Safe', host: 'secrets.example.com', colour: '#7a0019' };

  it('is headed by the name of whoever sent it, and its button has their colour with white on it', () => {
    const { text, html } = render('de', 'ann', face);
    expect(text.split('\n').slice(0, 2)).toEqual(['Example Safe', '']);
    expect(html).toMatch(
      /<p style="[^"]*font-weight:600[^"]*"><span dir="auto">Example Safe<\/span><\/p><p>/,
    );
    expect(html).toMatch(/style="[^"]*color:#ffffff[^"]*;background:#7a0019">Auf</);
    expect(render('he', 'ann', face).text).toStartWith('\u2068Example Safe\u2069\n\n');
  });

  it('is headed by the host where the name is empty, and by nothing where it has no face', () => {
    expect(render('de', 'ann', { ...face, name: ' \u200b' }).text).toStartWith('secrets.example.com\n\n');
    expect(render('de', 'ann').text).toStartWith('ann hat');
  });

  it('has our own colour where there is none, or where it is more than a colour', () => {
    for (const colour of [null, '', '#fff', '#7a0019;background:url(//evil.example)'])
      expect(render('de', 'ann', { ...face, colour }).html).toContain(';background:#1d5c4d">Auf<');
  });

  it('keeps a link in one line', () => {
    const broken = renderMail({
      locale: 'de',
      face: null,
      subject: '',
      body: [{ link: `${link}\r\nBcc: e@example.net`, label: null }],
      small: [],
    });
    for (const part of [broken.text, broken.html]) expect(part).toContain(`${link} Bcc: e@example.net`);
  });
});
