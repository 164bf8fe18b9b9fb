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
import type { AccountMailer } from '../core/accounts/account-mail.ts';
import type { AccountMail, Handover, Mailer, OnRetry, SecretLinkMail } from '../core/ports.ts';
import { renderAccountMail } from './account-mail.tsx';
import type { RenderedMail } from './frame.tsx';
import { fromName, type ServiceNames } from './from-name.ts';
import { type Mailbox, parseAddress, toUnicodeAddress } from './mailbox.ts';
import { renderSecretLink } from './secret-link.tsx';

/** Headers that a message has, in lower case; there are no others, but the signature's where mail is signed. */
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

/** In front of the others where mail is signed. */
export const signatureHeader = 'dkim-signature';

/** One message on its way to one recipient, written and signed: every attempt offers the same bytes. */
export interface Letter {
  readonly envelope: { readonly from: string; readonly to: string };
  readonly bytes: Buffer;
  readonly date: Date;
  /** What no reply of a server may repeat. */
  readonly hidden: readonly string[];
}

export const notSent: Handover = { state: 'not_sent', reply: null };

export interface Sender {
  readonly from: Mailbox;
  /** The site's brand. */
  readonly siteName: string;
  /** Where undeliverable mail returns to; the address of `from` when it is `null`. */
  readonly returnPath: string | null;
}

export interface ComposingMailerOptions {
  readonly sender: Sender;
  readonly now: () => Date;
  /** The message as it travels, signed where mail is signed. May reject: the mail is then not sent. */
  readonly write: (message: SendMailOptions) => Promise<Buffer>;
  /** May reject: the mail is then not sent. */
  readonly deliver: (letter: Letter, onRetry: OnRetry) => Promise<Handover>;
}

export type ComposingMailer = Mailer & AccountMailer;

/** A mailer that writes every kind of mail and leaves the handing over to `deliver`. It never rejects. */
export function createComposingMailer(options: ComposingMailerOptions): ComposingMailer {
  const { sender, now, write, deliver } = options;

  async function letterOf(mail: SecretLinkMail | AccountMail, render: () => RenderedMail): Promise<Letter> {
    const to = parseAddress(mail.to.expose());
    if (to === null) throw new RangeError('The recipient is not one plain address.');
    const date = now();
    const name = fromName(mail, namesOf(sender));
    const { envelope, ...message } = composeMessage(sender, to, { ...render(), fromName: name }, date);
    return { envelope, bytes: await write(message), date, hidden: hiddenOf(mail, to) };
  }

  async function hand(letter: Promise<Letter>, onRetry: OnRetry = () => {}): Promise<Handover> {
    try {
      return await deliver(await letter, onRetry);
    } catch {
      return notSent;
    }
  }

  return {
    sendSecretLink: (mail, onRetry) =>
      hand(
        letterOf(mail, () => renderSecretLink(mail)),
        onRetry,
      ),
    sendAccountMail: (mail) => hand(letterOf(mail, () => renderAccountMail(mail))),
    async writeAccountMail(mail) {
      const letter = letterOf(mail, () => renderAccountMail(mail));
      await letter.catch(() => undefined);
      return { send: () => hand(letter) };
    },
  };
}

/** The address in each of its forms, the link, and the key that ends the link. */
function hiddenOf(mail: SecretLinkMail | AccountMail, to: string): string[] {
  const addresses = [mail.to.expose(), to, toUnicodeAddress(to)];
  const link = 'link' in mail ? mail.link.expose() : '';
  return [...addresses, link, link.slice(link.lastIndexOf('/') + 1)];
}

export function namesOf({ from, siteName }: Sender): ServiceNames {
  return { ofSender: from.name, ofSite: siteName };
}

/** @param to one plain address, as `parseAddress` gives it */
export function composeMessage(
  { from, returnPath }: Sender,
  to: string,
  { subject, text, html, fromName: name }: RenderedMail & { readonly fromName: string },
  date: Date,
): SendMailOptions & Pick<Letter, 'envelope'> {
  const messageId = randomBytes(16).toString('hex');
  return {
    from: { name, address: from.address },
    to: { name: '', address: to },
    envelope: { from: returnPath ?? from.address, to },
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
