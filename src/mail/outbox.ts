/**
 * The outbox: mail as files in `$MAYFLY_DATA_DIR/outbox`, mode 0600 in a folder of mode 0700, for trying Mayfly out without a mail server.
 * A file name contains the time, but no key or address. The files contain live links, the one exception to the promise that nothing at rest
 * opens without the link (P9). Mayfly points this out at startup.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SendMailOptions } from 'nodemailer';
import type { Handover } from '../core/mailer.ts';
import {
  type ComposingMailer,
  createComposingMailer,
  createMessageWriter,
  type Letter,
  type MessageWriter,
  ownSiteName,
} from './compose.ts';
import { toMailbox } from './mailbox.ts';
import type { SmtpServerOptions } from './smtp.ts';

export interface OutboxOptions extends Pick<SmtpServerOptions, 'from' | 'siteName'> {
  readonly directory: string;
  readonly now?: () => Date;
}

export function createOutboxMailer(options: OutboxOptions): ComposingMailer & Pick<MessageWriter, 'prepare'> {
  const { write, prepare } = createMessageWriter(null);
  const mailer = createComposingMailer({
    sender: {
      from: toMailbox(options.from),
      siteName: options.siteName ?? ownSiteName,
      returnPath: null,
    },
    now: options.now ?? (() => new Date()),
    write: (message) => write(withReadableText(message)),
    deliver: (letter) => keep(letter, options.directory),
  });
  return { ...mailer, prepare };
}

async function keep({ bytes, date }: Letter, directory: string): Promise<Handover> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const name = `${date.toISOString().replace(/[:.]/g, '-')}-${randomBytes(4).toString('hex')}.eml`;
  await writeFile(join(directory, name), bytes, { mode: 0o600, flag: 'wx' });
  return { state: 'accepted', reply: null };
}

/** Leaves the text part unencoded, in whole lines: people may read the file with any tool, and the usual encoding would split the link. */
function withReadableText({ text, html, ...headers }: SendMailOptions): SendMailOptions {
  const partHeaders = 'Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n';
  return {
    ...headers,
    alternatives: [
      { raw: `${partHeaders}${String(text)}` },
      { contentType: 'text/html; charset=utf-8', content: String(html) },
    ],
  };
}
