/**
 * The name beside the sender's address: "jo@example.com via Mayfly".
 *
 * Owns: whose name it is. The share domain's own brand goes before the name in `MAYFLY_MAIL_FROM`, and that before the
 * site's. Invariant: pure; one line, and no mail program decodes it a second time (RFC 2047). Quoting is the library's.
 */
import type { AccountMail, MailFace, SecretLinkMail } from '../core/ports.ts';
import { toLocale } from '../locale/negotiate.ts';
import { translate } from '../locale/translate.ts';
import { toSingleLine } from './mailbox.ts';

export interface ServiceNames {
  /** In the setting of the sender; `''` when it has none. */
  readonly ofSender: string;
  /** The site's brand. */
  readonly ofSite: string;
}

/** The built-in brand. */
export const ownSiteName = 'Mayfly';

function toName(text: string): string {
  return toSingleLine(text).replaceAll('=?', '= ?');
}

/** Of a mail that has no other: one about an account, or a test. */
export function serviceName({ ofSender, ofSite }: ServiceNames): string {
  return ofSender === '' ? toName(ofSite) : ofSender;
}

function faceName(face: MailFace, names: ServiceNames): string {
  if (face.name === names.ofSite) return serviceName(names);
  const name = toName(face.name);
  return name === '' ? toName(face.host) : name;
}

export function fromName(mail: SecretLinkMail | AccountMail, names: ServiceNames): string {
  const name = 'face' in mail ? faceName(mail.face, names) : serviceName(names);
  if ('kind' in mail) return name;
  const sender = toName(mail.from.expose());
  return sender === '' ? name : translate(toLocale(mail.locale), 'mail.from', { sender, name });
}
