/**
 * The layout of every email as text and HTML, and the emails to recipients. The JSX renderer escapes all text in the HTML, which loads
 * nothing and tracks no reader. Both forms have the same content. Foreign text (a name, an address, a host) is kept on one line and cannot
 * change the direction of the text around it. The email to a recipient contains the link and the sender's name, never the value, the
 * passphrase or the metadata key.
 */
import { raw } from 'hono/html';
import type { FC } from 'hono/jsx';
import { isDeliverable } from '../core/mail/recipients.ts';
import type { MailBrand, SecretLinkMail } from '../core/mailer.ts';
import { directionOf, type MessageKey, toLocale } from '../locale/catalogues.ts';
import { formatMoment, translate } from '../locale/translate.ts';
import { toPrintable, toSingleLine } from './mailbox.ts';

export interface RenderedMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** A link with a label is the main action and also appears as a button. */
export interface MailLink {
  readonly link: string;
  readonly label: string | null;
}

export interface MailWords {
  readonly locale: string;
  /** Sets the heading and the button's colour; `null` for no heading and Mayfly's colour. */
  readonly brand: MailBrand | null;
  readonly subject: string;
  readonly body: readonly (string | MailLink)[];
  readonly small: readonly string[];
}

// FIRST STRONG ISOLATE and POP DIRECTIONAL ISOLATE (Unicode TR 9): text between them has its own direction.
const [isolate, endIsolate] = ['\u2068', '\u2069'];

/** Puts isolates around foreign text until the email is rendered. `toSingleLine` removes any from the text itself. */
export function setApart(text: string): string {
  return isolate + toSingleLine(text) + endIsolate;
}

/** Isolates the sender's name and host for a sentence; the host replaces an invisible name. */
export function setBrandApart(brand: MailBrand): { name: string; host: string } {
  const host = setApart(brand.host);
  return { name: toSingleLine(brand.name) === '' ? host : setApart(brand.name), host };
}

function withoutIsolates(text: string): string {
  return text.replaceAll(isolate, '').replaceAll(endIsolate, '');
}

export function renderMail(words: MailWords): RenderedMail {
  return {
    // Mail programs would decode a name like `=?utf-8?q?…?=` (RFC 2047), line breaks included.
    subject: withoutIsolates(words.subject).replaceAll('=?', '= ?'),
    text: renderText(words),
    html: `<!doctype html>${String(<MailPage {...words} />)}`,
  };
}

function renderText({ locale, brand, body, small }: MailWords): string {
  const heading = brand === null ? [] : [setBrandApart(brand).name];
  const paragraphs = body.map((part) => (typeof part === 'string' ? part : toPrintable(part.link)));
  const text = `${[...heading, ...paragraphs, small.join('\n')].join('\n\n')}\n`;
  // Plain text has no other way to isolate names. Left-to-right text needs it too rarely to justify invisible characters.
  return directionOf(locale) === 'rtl' ? text : withoutIsolates(text);
}

// Many mail programs drop the style sheet but keep inline styles. So inline styles colour no text or background but the button's, which
// need contrast only with each other. The program chooses all others, dark or light, unless it uses the sheet.
const styleSheet = [
  'body{background:#f6f3ec;color:#1d2624}a{color:#1b5a4b}',
  '.card{background:#fffdf9;border-color:#e0dacd!important}',
  '.small,.code{color:#535f5b}',
  '@media(prefers-color-scheme:dark){',
  'body{background:#121817;color:#e8edea}',
  '.card{background:#1a2221;border-color:#2d3836!important}',
  '.small,.code{color:#a6b3ae}a{color:#83d3bb}}',
].join('');
const bodyStyle =
  'margin:0;padding:24px 12px;font:16px/1.5 system-ui,-apple-system,Segoe UI,Roboto,sans-serif';
const columnStyle = 'max-width:34em;margin:0 auto';
const cardStyle = 'padding:12px 24px;border:1px solid #9aa39f;border-radius:12px';
const smallStyle = 'padding:8px 25px;font-size:14px';
const headingStyle = 'font-size:18px;font-weight:600';
const buttonStyle =
  'display:inline-block;padding:12px 24px;border-radius:8px;color:#ffffff;text-decoration:none;font-weight:600';
const ownColour = '#1d5c4d';
const linkStyle =
  'overflow-wrap:anywhere;word-break:break-all;font-family:ui-monospace,Menlo,Consolas,monospace;font-size:14px';

/** Anything but six hex digits could inject more than a colour. */
function colourOf(brand: MailBrand | null): string {
  return /^#[0-9a-f]{6}$/i.exec(brand?.colour ?? '')?.[0] ?? ownColour;
}

const MailPage: FC<MailWords> = ({ locale, brand, subject, body, small }) => (
  <html lang={locale} dir={directionOf(locale)}>
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>{withoutIsolates(subject)}</title>
      <style>{raw(styleSheet)}</style>
    </head>
    <body style={bodyStyle}>
      {/* Repeats language and direction, because mail programs take the column out of its document. */}
      <div lang={locale} dir={directionOf(locale)} style={columnStyle}>
        <div class="card" style={cardStyle}>
          {brand === null ? null : (
            <p style={headingStyle}>
              <Sentence text={setBrandApart(brand).name} />
            </p>
          )}
          {body.map((part) =>
            typeof part === 'string' ? (
              <p>
                <Sentence text={part} />
              </p>
            ) : (
              <LinkPart link={toPrintable(part.link)} label={part.label} colour={colourOf(brand)} />
            ),
          )}
        </div>
        <div class="small" style={smallStyle}>
          {small.map((text) => (
            <p>
              <Sentence text={text} />
            </p>
          ))}
        </div>
      </div>
    </body>
  </html>
);

/** Puts isolated text into elements with their own direction. */
const Sentence: FC<{ text: string }> = ({ text }) => (
  <>
    {text
      .split(/[\u2068\u2069]/)
      .map((piece, index) => (index % 2 === 1 ? <span dir="auto">{piece}</span> : piece))}
  </>
);

/** Always shows the address in full, left to right, so that it can be checked and copied. */
const LinkPart: FC<MailLink & { colour: string }> = ({ link, label, colour }) => (
  <>
    {label === null ? null : (
      <p>
        <a href={link} style={`${buttonStyle};background:${colour}`}>
          {label}
        </a>
      </p>
    )}
    <p class="code" style={linkStyle}>
      {label === null ? (
        <a href={link} dir="ltr">
          {link}
        </a>
      ) : (
        <span dir="ltr">{link}</span>
      )}
    </p>
  </>
);

/** Returns the address of the sender's account, for replies; `null` if it is not deliverable. */
export function replyAddressOf({ from }: SecretLinkMail): string | null {
  return isDeliverable(from.expose()) ? from.expose() : null;
}

/** Anyone can choose any name, so the address is also shown. */
export function senderOf(
  { from, senderName }: Pick<SecretLinkMail, 'from' | 'senderName'>,
  say: (key: MessageKey) => string,
) {
  const address = setApart(from.expose());
  if (senderName === null) return { address, sender: address, both: address, chosen: [] };
  const sender = setApart(senderName);
  return { address, sender, both: `${sender} (${address})`, chosen: [say('secret.nameChosen')] };
}

export function renderSecretLink(mail: SecretLinkMail): RenderedMail {
  const locale = toLocale(mail.locale);
  const { address, sender, both, chosen } = senderOf(mail, (key) => translate(locale, key));
  const replies = replyAddressOf(mail) === null ? 'mail.automatic' : 'mail.replies';
  return renderMail({
    locale,
    brand: mail.brand,
    subject: translate(locale, 'mail.subject', { sender }),
    body: [
      translate(locale, 'mail.intro', { sender: both }),
      { link: mail.link.expose(), label: translate(locale, 'mail.open') },
      translate(locale, 'mail.once'),
      translate(locale, 'mail.until', { date: formatMoment(locale, mail.expiresAt) }),
      translate(locale, mail.hasPassphrase ? 'mail.passphrase' : 'mail.noPassphrase', { sender }),
    ],
    small: [
      translate(locale, 'mail.unexpected', { sender: both }),
      ...chosen,
      translate(locale, 'mail.sentBy', setBrandApart(mail.brand)),
      translate(locale, replies, { address }),
    ],
  });
}

export function renderTestMail(host: string, language: string): RenderedMail {
  const locale = toLocale(language);
  const site = setApart(host);
  return renderMail({
    locale,
    brand: null,
    subject: translate(locale, 'mail.test.subject', { site }),
    body: [translate(locale, 'mail.test.intro', { site })],
    small: [translate(locale, 'mail.automatic')],
  });
}
