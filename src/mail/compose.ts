/**
 * Turns an email of any kind into one signed message for one recipient, who is the same in the envelope and in `To`. There is no Cc or Bcc,
 * and no content is loaded from a file or a URL. `Auto-Submitted` (RFC 3834) prevents out-of-office replies. The Message-ID is random and
 * contains no key. All computation happens here and sending costs almost nothing, so an email that is never sent can cost the same (P17).
 */
import { randomBytes } from 'node:crypto';
import type { SendMailOptions } from 'nodemailer';
import type {
  AccountMail,
  AccountMailer,
  Handover,
  MailBrand,
  Mailer,
  OnRetry,
  SecretLinkMail,
} from '../core/mailer.ts';
import { toLocale } from '../locale/catalogues.ts';
import { translate } from '../locale/translate.ts';
import { renderAccountMail } from './account-mail.tsx';
import { domainOf, type Mailbox, parseAddress, toSingleLine, toUnicodeAddress } from './mailbox.ts';
import { type RenderedMail, renderSecretLink, replyAddressOf } from './messages.tsx';
import type { DkimSigner } from './settings.ts';

/** One message to one recipient, written and signed: every attempt sends the same bytes. */
export interface Letter {
  readonly envelope: { readonly from: string; readonly to: string };
  readonly bytes: Buffer;
  readonly date: Date;
  /** Texts to remove from a server's reply before it is shown. */
  readonly hidden: readonly string[];
}

export const notSent: Handover = { state: 'not_sent', reply: null };

export interface Sender {
  readonly from: Mailbox;
  readonly siteName: string;
  /** Where undeliverable mail is returned; `null` for the address of `from`. */
  readonly returnPath: string | null;
}

export interface ComposingMailerOptions {
  readonly sender: Sender;
  readonly now: () => Date;
  /** Returns the final bytes, signed if so configured. If it rejects, the email is not sent. */
  readonly write: (message: SendMailOptions) => Promise<Buffer>;
  /** If it rejects, the email is not sent. */
  readonly deliver: (letter: Letter, onRetry: OnRetry) => Promise<Handover>;
}

export type ComposingMailer = Mailer & AccountMailer;

/** Creates a mailer whose methods never reject. */
export function createComposingMailer(options: ComposingMailerOptions): ComposingMailer {
  const { sender, now, write, deliver } = options;

  async function letterOf(mail: SecretLinkMail | AccountMail, render: () => RenderedMail): Promise<Letter> {
    const to = parseAddress(mail.to.expose());
    if (to === null) throw new RangeError('The recipient is not one plain address.');
    const date = now();
    const name = fromName(mail, namesOf(sender));
    const replyTo = 'kind' in mail ? null : replyAddressOf(mail);
    const written = { ...render(), fromName: name, replyTo };
    const { envelope, ...message } = composeMessage(sender, to, written, date);
    return { envelope, bytes: await write(message), date, hidden: hiddenOf(mail, to) };
  }

  async function send(letter: Promise<Letter>, onRetry: OnRetry = () => {}): Promise<Handover> {
    try {
      return await deliver(await letter, onRetry);
    } catch {
      return notSent;
    }
  }

  return {
    sendSecretLink: (mail, onRetry) =>
      send(
        letterOf(mail, () => renderSecretLink(mail)),
        onRetry,
      ),
    sendAccountMail: (mail) => send(letterOf(mail, () => renderAccountMail(mail))),
    async writeAccountMail(mail) {
      const letter = letterOf(mail, () => renderAccountMail(mail));
      await letter.catch(() => undefined);
      return { send: () => send(letter) };
    },
  };
}

/** Returns every form of the address, the link, and the key at the end of the link. */
function hiddenOf(mail: SecretLinkMail | AccountMail, to: string): string[] {
  const addresses = [mail.to.expose(), to, toUnicodeAddress(to)];
  const link = 'link' in mail ? mail.link.expose() : '';
  return [...addresses, link, link.slice(link.lastIndexOf('/') + 1)];
}

export function namesOf({ from, siteName }: Sender): ServiceNames {
  return { ofSender: from.name, ofSite: siteName };
}

export function composeMessage(
  { from, returnPath }: Sender,
  to: string,
  {
    subject,
    text,
    html,
    fromName: name,
    replyTo = null,
  }: RenderedMail & { readonly fromName: string; readonly replyTo?: string | null },
  date: Date,
): SendMailOptions & Pick<Letter, 'envelope'> {
  const messageId = randomBytes(16).toString('hex');
  return {
    from: { name, address: from.address },
    to: { name: '', address: to },
    ...(replyTo === null ? {} : { replyTo: { name: '', address: replyTo } }),
    envelope: { from: returnPath ?? from.address, to },
    subject,
    text,
    html,
    messageId: `<${messageId}@${domainOf(from.address)}>`,
    date,
    headers: { 'Auto-Submitted': 'auto-generated' },
    xMailer: false,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

export interface ServiceNames {
  /** The name in the sender setting; may be empty. */
  readonly ofSender: string;
  readonly ofSite: string;
}

export const ownSiteName = 'Mayfly';

function toName(text: string): string {
  return toSingleLine(text).replaceAll('=?', '= ?');
}

export function serviceName({ ofSender, ofSite }: ServiceNames): string {
  return ofSender === '' ? toName(ofSite) : ofSender;
}

function brandName(brand: MailBrand, names: ServiceNames): string {
  if (brand.name === names.ofSite) return serviceName(names);
  const name = toName(brand.name);
  return name === '' ? toName(brand.host) : name;
}

/**
 * Returns the name next to the sender's address, as in "jo@example.com via Mayfly". A share domain's brand overrides the name in
 * `MAYFLY_MAIL_FROM`, which overrides the site's. The name is one line that no mail program decodes a second time (RFC 2047).
 */
export function fromName(mail: SecretLinkMail | AccountMail, names: ServiceNames): string {
  const name = 'brand' in mail ? brandName(mail.brand, names) : serviceName(names);
  if ('kind' in mail) return name;
  const sender = toName(mail.senderName ?? mail.from.expose());
  return sender === '' || sender === name
    ? name
    : translate(toLocale(mail.locale), 'mail.from', { sender, name });
}

export interface MessageWriter {
  write(message: SendMailOptions): Promise<Buffer>;
  /** Loads the library, which takes about 50 ms of CPU time: call it once the server is listening, so that no request waits for it. */
  prepare(): Promise<void>;
}

export function createMessageWriter(dkim: DkimSigner | null): MessageWriter {
  const open = async () => {
    const { createTransport } = await import('nodemailer');
    const signing = dkim === null ? {} : { dkim };
    return createTransport({ streamTransport: true, buffer: true, newline: 'windows', ...signing });
  };
  let opened: ReturnType<typeof open> | null = null;
  const composer = () => {
    opened ??= open();
    return opened;
  };
  return {
    async write(message) {
      const { message: bytes } = await (await composer()).sendMail(message);
      return Buffer.isBuffer(bytes) ? bytes : Buffer.concat(await Array.fromAsync(bytes));
    },
    async prepare() {
      await composer();
    },
  };
}
