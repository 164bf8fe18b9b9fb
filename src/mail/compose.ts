/**
 * From a secret-link mail to one message for one recipient.
 *
 * Owns: the headers. Invariant: exactly one recipient, the same in the envelope and in `To`; no Cc, no Bcc; no file and
 * no address is read to build it. `Auto-Submitted` (RFC 3834) keeps holiday answers away; the Message-ID is random, is
 * the same on every attempt (so that a retry after a lost reply can be recognised), and holds no key.
 */
import type { SendMailOptions } from 'nodemailer';
import type { SecretLinkMail } from '../domain/ports.ts';
import { type Mailbox, parseAddress } from './mailbox.ts';
import { renderSecretLink } from './secret-link.tsx';

/** Headers that a message has, in lower case; there are no others. */
export const messageHeaders = [
  'from',
  'to',
  'subject',
  'message-id',
  'date',
  'auto-submitted',
  'mime-version',
  'content-type',
] as const;

/** The message, or `null` when the recipient is not exactly one plain address. */
export function composeSecretLink(
  mail: SecretLinkMail,
  from: Mailbox,
  stamp: { readonly messageId: string; readonly date: Date },
): SendMailOptions | null {
  const to = parseAddress(mail.to.expose());
  if (to === null) return null;
  const { subject, text, html } = renderSecretLink(mail);
  return {
    from: { name: from.name, address: from.address },
    to: { name: '', address: to },
    envelope: { from: from.address, to: [to] },
    subject,
    text,
    html,
    messageId: `<${stamp.messageId}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
    date: stamp.date,
    headers: { 'Auto-Submitted': 'auto-generated' },
    xMailer: false,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
