/**
 * The outbox: mail kept as files, for trying the service out without a mail server.
 *
 * Owns: `$MAYFLY_DATA_DIR/outbox/*.eml`, mode 0600 in a folder of mode 0700. Invariant: a file's name tells its time
 * and nothing else, no key and no address. The files hold live links: the one exception to the promise that nothing at
 * rest opens without the link (P9), and the start says so.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mailer } from '../domain/ports.ts';
import { composeSecretLink } from './compose.ts';
import { type Mailbox, toMailbox } from './mailbox.ts';

export interface OutboxOptions {
  /** Made when the first mail is kept. */
  readonly directory: string;
  /** `name@host` or `Name <name@host>`. */
  readonly from: string;
  readonly now?: () => Date;
}

export interface OutboxMailer extends Mailer {
  /** Loads the library, about 50 ms of computing: call it once the server listens, so that no request pays for it. */
  prepare(): Promise<void>;
}

/** @throws RangeError when `from` is not one mailbox. */
export function createOutboxMailer(options: OutboxOptions): OutboxMailer {
  const from = toMailbox(options.from);
  const now = options.now ?? (() => new Date());
  return {
    async sendSecretLink(mail) {
      try {
        return await keep(mail, from, options.directory, now());
      } catch {
        return 'not_sent';
      }
    },
    async prepare() {
      await loadComposer();
    },
  };
}

async function loadComposer() {
  const { createTransport } = await import('nodemailer');
  return createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
}

async function keep(
  mail: Parameters<Mailer['sendSecretLink']>[0],
  from: Mailbox,
  directory: string,
  date: Date,
): Promise<'accepted' | 'not_sent'> {
  const messageId = randomBytes(16).toString('hex');
  const message = composeSecretLink(mail, from, { messageId, date });
  if (message === null) return 'not_sent';
  const composer = await loadComposer();
  const { message: bytes } = await composer.sendMail(message);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const name = `${date.toISOString().replace(/[:.]/g, '-')}-${randomBytes(4).toString('hex')}.eml`;
  await writeFile(join(directory, name), bytes, { mode: 0o600, flag: 'wx' });
  return 'accepted';
}
