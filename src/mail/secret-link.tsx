/**
 * The mail that tells a recipient about a secret.
 *
 * Owns: its words and its look, per locale. Invariant: pure; it holds the link and the sender's name and nothing else
 * that is secret: never the value, the passphrase or the metadata key. The HTML is escaped by the JSX renderer, loads
 * nothing from anywhere and tracks nobody; the plain text says the same.
 */
import type { FC } from 'hono/jsx';
import type { SecretLinkMail } from '../domain/ports.ts';
import type { Locale } from '../locale/catalogues.ts';
import { toLocale } from '../locale/negotiate.ts';
import { formatMoment } from '../locale/times.ts';
import { translate } from '../locale/translate.ts';
import { toSingleLine } from './mailbox.ts';

export interface RenderedMail {
  /** One line. */
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

interface Words {
  readonly locale: Locale;
  readonly subject: string;
  readonly intro: string;
  readonly link: string;
  readonly open: string;
  readonly notes: readonly string[];
  readonly small: readonly string[];
}

export function renderSecretLink(mail: SecretLinkMail): RenderedMail {
  const words = wordsFor(mail);
  const paragraphs = [words.intro, words.link, words.notes.join('\n'), words.small.join('\n')];
  return {
    subject: words.subject,
    text: `${paragraphs.join('\n\n')}\n`,
    html: `<!doctype html>${String(<MailPage {...words} />)}`,
  };
}

function wordsFor(mail: SecretLinkMail): Words {
  const locale = toLocale(mail.locale);
  const sender = toSingleLine(mail.from.expose());
  return {
    locale,
    // A name like `=?utf-8?q?…?=` would be decoded by mail programs (RFC 2047), line breaks included.
    subject: translate(locale, 'mail.subject', { sender }).replaceAll('=?', '= ?'),
    intro: translate(locale, 'mail.intro', { sender }),
    link: mail.link.expose(),
    open: translate(locale, 'mail.open'),
    notes: [
      translate(locale, 'mail.once'),
      translate(locale, 'mail.until', { date: formatMoment(locale, mail.expiresAt) }),
      translate(locale, mail.hasPassphrase ? 'mail.passphrase' : 'mail.noPassphrase', { sender }),
    ],
    small: [translate(locale, 'mail.unexpected', { sender }), translate(locale, 'mail.automatic')],
  };
}

// Mail programs drop style sheets, so the few rules stand on the elements. Colours are left to the program: it knows
// whether it is dark; only the button, which needs contrast with itself, brings its own.
const bodyStyle = 'margin:0;padding:24px;font:16px/1.5 system-ui,-apple-system,Segoe UI,Roboto,sans-serif';
const columnStyle = 'max-width:34em;margin:0 auto';
const buttonStyle =
  'display:inline-block;padding:12px 20px;border-radius:6px;background:#1d5c4d;color:#ffffff;text-decoration:none;font-weight:600';
const linkStyle =
  'overflow-wrap:anywhere;word-break:break-all;font-family:ui-monospace,Menlo,Consolas,monospace;font-size:14px';

const MailPage: FC<Words> = (words) => (
  <html lang={words.locale}>
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>{words.subject}</title>
    </head>
    <body style={bodyStyle}>
      <div style={columnStyle}>
        <p>{words.intro}</p>
        <p>
          <a href={words.link} style={buttonStyle}>
            {words.open}
          </a>
        </p>
        <p style={linkStyle}>{words.link}</p>
        {words.notes.map((note) => (
          <p>{note}</p>
        ))}
        <hr />
        {words.small.map((note) => (
          <p style="font-size:14px">{note}</p>
        ))}
      </div>
    </body>
  </html>
);
