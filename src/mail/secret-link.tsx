/**
 * The mail that tells a recipient about a secret.
 *
 * Owns: its words, per locale. Invariant: pure; it holds the link and the sender's name and nothing else that is
 * secret: never the value, the passphrase or the metadata key.
 */
import type { SecretLinkMail } from '../core/ports.ts';
import { toLocale } from '../locale/negotiate.ts';
import { formatMoment } from '../locale/times.ts';
import { translate } from '../locale/translate.ts';
import { type RenderedMail, renderMail, setApart, setFaceApart } from './frame.tsx';

export function renderSecretLink(mail: SecretLinkMail): RenderedMail {
  const locale = toLocale(mail.locale);
  const sender = setApart(mail.from.expose());
  return renderMail({
    locale,
    face: mail.face,
    subject: translate(locale, 'mail.subject', { sender }),
    body: [
      translate(locale, 'mail.intro', { sender }),
      { link: mail.link.expose(), label: translate(locale, 'mail.open') },
      translate(locale, 'mail.once'),
      translate(locale, 'mail.until', { date: formatMoment(locale, mail.expiresAt) }),
      translate(locale, mail.hasPassphrase ? 'mail.passphrase' : 'mail.noPassphrase', { sender }),
    ],
    small: [
      translate(locale, 'mail.unexpected', { sender }),
      translate(locale, 'mail.sentBy', setFaceApart(mail.face)),
      translate(locale, 'mail.automatic'),
    ],
  });
}
