/** The words of the mail to a recipient. */
import { describe, expect, it } from 'bun:test';
import { Sensitive } from '../core/sensitive.ts';
import { renderSecretLink } from './secret-link.tsx';

const link = 'https://secrets.example.com/secret/0123456789abcdefghijklmnopqrstu';

function render(changes: { from?: string; link?: string; hasPassphrase?: boolean } = {}) {
  return renderSecretLink({
    to: new Sensitive('jo@example.org'),
    from: new Sensitive(changes.from ?? 'ann@example.com'),
    link: new Sensitive(changes.link ?? link),
    hasPassphrase: changes.hasPassphrase ?? false,
    expiresAt: 1_795_000_000,
    locale: 'en',
    face: { name: 'Example Safe', host: 'secrets.example.com', colour: null },
  });
}

describe('the mail to a recipient', () => {
  it('says who sent it, that the link opens once, until when in UTC, and whether a passphrase is needed', () => {
    const { subject, text, html } = render({ hasPassphrase: true });
    expect(subject).toBe('ann@example.com sent you a secret');
    for (const said of [text, html.replaceAll(/<\/?span[^>]*>/g, '')]) {
      expect(said).toContain('ann@example.com has something secret for you');
      expect(said).toContain(link);
      expect(said).toContain('The link opens once');
      expect(said).toMatch(/until Wednesday,? 18 November 2026 at 11:06 UTC/);
      expect(said).toContain('You need a passphrase');
    }
    expect(render().text).toContain('No passphrase is needed');
  });

  it('says which service sent it: its name above, name and host below', () => {
    const { text, html } = render();
    expect(text.split('\n')[0]).toBe('Example Safe');
    for (const said of [text, html.replaceAll(/<\/?span[^>]*>/g, '')])
      expect(said).toContain('Sent by Example Safe at secrets.example.com.');
  });

  it('escapes the sender and the link in HTML', () => {
    const { html } = render({
      from: '<img src=x onerror=alert(1)>"\'&',
      link: 'https://x.example/"><script>1</script>',
    });
    expect(html).not.toContain('<img');
    expect(html).not.toContain('<script');
    expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;');
  });

  it('loads nothing and tracks nobody: the link is the only address in it', () => {
    const { html } = render();
    expect(html).not.toMatch(
      /<(img|link|script|iframe|object|video|audio|source|form|input)\b|url\(|@import|\ssrc=/i,
    );
    expect(new Set(html.match(/https?:\/\/[^"<\s]+/g))).toEqual(new Set([link]));
    expect(html.length).toBeLessThan(4_000);
  });

  it('keeps the subject on one line and free of invisible marks', () => {
    const { subject } = render({ from: 'a@b.org\r\nBcc: evil@example.net\u2028\u202e\u0000\u200b' });
    expect(subject).toBe('a@b.org Bcc: evil@example.net sent you a secret');
  });
});
