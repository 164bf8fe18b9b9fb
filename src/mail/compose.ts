/**
 * From a mail of any kind to one message for one recipient.
 *
 * Owns: the headers, and the mailer that both ways of handing mail over share. Invariant: exactly one recipient, the
 * same in the envelope and in `To`; no Cc, no Bcc; no file and no address is read to build it. `Auto-Submitted`
 * (RFC 3834) keeps holiday answers away; the Message-ID is random, is the same on every attempt (so that a retry after a
 * lost reply can be recognised), and holds no key.
 */
import { randomBytes } from 'node:crypto';
import type { SendMailOptions } from 'nodemailer';
import type { Mailer } from '../domain/ports.ts';
import type { DeliveryState } from '../domain/secret.ts';
import type { Sensitive } from '../domain/sensitive.ts';
import { renderAccountMail } from './account-mail.tsx';
import type { RenderedMail } from './frame.tsx';
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

/** What became of a mail that was handed over. */
export type Delivered = Exclude<DeliveryState, 'queued'>;

export interface ComposingMailerOptions {
  readonly from: Mailbox;
  readonly now: () => Date;
  /** May reject: the mail is then not sent. */
  readonly deliver: (message: SendMailOptions, date: Date) => Promise<Delivered>;
}

/** A mailer that composes every kind of mail and leaves the handing over to `deliver`. It never rejects. */
export function createComposingMailer({ from, now, deliver }: ComposingMailerOptions): Mailer {
  async function send(to: Sensitive<string>, render: () => RenderedMail): Promise<Delivered> {
    try {
      const recipient = parseAddress(to.expose());
      if (recipient === null) return 'not_sent';
      const date = now();
      return await deliver(compose(from, recipient, render(), date), date);
    } catch {
      return 'not_sent';
    }
  }
  return {
    sendSecretLink: (mail) => send(mail.to, () => renderSecretLink(mail)),
    sendAccountMail: (mail) => send(mail.to, () => renderAccountMail(mail)),
  };
}

/** @param to one plain address, as `parseAddress` gives it */
function compose(
  from: Mailbox,
  to: string,
  { subject, text, html }: RenderedMail,
  date: Date,
): SendMailOptions {
  const messageId = randomBytes(16).toString('hex');
  return {
    from: { name: from.name, address: from.address },
    to: { name: '', address: to },
    envelope: { from: from.address, to: [to] },
    subject,
    text,
    html,
    messageId: `<${messageId}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
    date,
    headers: { 'Auto-Submitted': 'auto-generated' },
    xMailer: false,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
