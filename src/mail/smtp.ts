/**
 * Mail over SMTP.
 *
 * Owns: the hand-over to the operator's mail server. Invariant: nothing is kept on disk (a queue entry would be a link at
 * rest, P9) and nothing waits for ever: the number of mails in memory, the attempts and the time of each are bounded, and
 * what does not fit is `not_sent`. It never rejects, and the caller is never held up by it.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { SendMailOptions } from 'nodemailer';
import type { Handover, OnRetry } from '../core/ports.ts';
import { type Courier, deliver } from './attempts.ts';
import { type ComposingMailer, createComposingMailer, type Letter, notSent } from './compose.ts';
import { type DkimSettings, toDkimSigner } from './dkim.ts';
import { ownSiteName } from './from-name.ts';
import { MailSettingError } from './mail-setting.ts';
import { toMailbox, toReturnPath } from './mailbox.ts';
import { type ConnectionOptions, openPool } from './pool.ts';
import { parseSmtpUrl } from './smtp-url.ts';
import { createMessageWriter } from './write.ts';

/** The settings of a mail server, and of what is handed to it. */
export interface SmtpServerOptions {
  /** See `parseSmtpUrl`. */
  readonly url: string;
  /** `name@host` or `Name <name@host>`. */
  readonly from: string;
  /** The site's brand, which mail bears where `from` has no name (Mayfly). */
  readonly siteName?: string;
  /** Where undeliverable mail returns to; to `from` when absent. */
  readonly returnPath?: string | null;
  /** What mail is signed with; it is not signed when absent. */
  readonly dkim?: DkimSettings | null;
  /** Longest time for one attempt, a server that trickles included (30 s). */
  readonly attemptTimeoutMs?: number;
  /** In PEM, in place of the system's authorities: who vouches for the server's certificate. */
  readonly trustedAuthority?: string;
}

export interface SmtpMailerOptions extends SmtpServerOptions {
  /** Pauses before the second, third … attempt (5 s, 1, 5 and 15 minutes: greylisting takes minutes). */
  readonly retryDelaysMs?: readonly number[];
  /** Mails in memory at once (500). */
  readonly maxPending?: number;
  readonly now?: () => Date;
  /** Waits; rejects when the signal aborts. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly onFault?: Courier['onFault'];
  readonly onAnswer?: Courier['onAnswer'];
}

export interface SmtpMailer extends ComposingMailer {
  /** Loads the library, about 50 ms of computing: call it once the server listens, so that no request pays for it. */
  prepare(): Promise<void>;
  /** Gives up what waits for another attempt, and closes the connections. Mails in hand end as `not_sent`. */
  close(): void;
}

const usualRetryDelaysMs = [5_000, 60_000, 300_000, 900_000];
const usualAttemptTimeoutMs = 30_000;
const usualMaxPending = 500;

/** What the options say, checked. @throws MailSettingError when one of them is not what it must be. */
export function toConnection(options: SmtpServerOptions) {
  const settings = parseSmtpUrl(options.url);
  if ('error' in settings) throw new MailSettingError('server', settings.error);
  const connection: ConnectionOptions = {
    settings,
    dkim: options.dkim == null ? null : toDkimSigner(options.dkim),
    timeoutMs: options.attemptTimeoutMs ?? usualAttemptTimeoutMs,
    trustedAuthority: options.trustedAuthority ?? null,
  };
  const returnPath = options.returnPath == null ? null : toReturnPath(options.returnPath);
  const { siteName = ownSiteName } = options;
  return { connection, sender: { from: toMailbox(options.from), siteName, returnPath } };
}

/** @throws MailSettingError when an option is not what it must be. */
export function createSmtpMailer(options: SmtpMailerOptions): SmtpMailer {
  const { connection, sender } = toConnection(options);
  const stop = new AbortController();
  const writer = createMessageWriter(connection.dkim);
  const pool = lazily(() => openPool(connection));
  const courier: Courier = {
    transport: pool.get,
    retryDelaysMs: options.retryDelaysMs ?? usualRetryDelaysMs,
    attemptTimeoutMs: connection.timeoutMs,
    sleep: options.sleep ?? ((milliseconds, signal) => wait(milliseconds, undefined, { signal, ref: false })),
    onFault: options.onFault ?? (() => {}),
    onAnswer: options.onAnswer ?? (() => {}),
    stopped: stop.signal,
  };
  const maxPending = options.maxPending ?? usualMaxPending;
  let pending = 0;

  const isFull = () => pending >= maxPending || stop.signal.aborted;

  async function write(message: SendMailOptions): Promise<Buffer> {
    // What would not be sent is not worth a signature.
    if (isFull()) throw new RangeError('There are too many mails under way.');
    return writer.write(message);
  }

  async function deliverBounded(letter: Letter, onRetry: OnRetry): Promise<Handover> {
    if (isFull()) return notSent;
    pending += 1;
    try {
      return await deliver(letter, courier, onRetry);
    } finally {
      pending -= 1;
    }
  }

  const now = options.now ?? (() => new Date());
  return {
    ...createComposingMailer({ sender, now, write, deliver: deliverBounded }),
    async prepare() {
      await Promise.all([writer.prepare(), pool.get()]);
    },
    close() {
      stop.abort();
      pool.ifOpen((transport) => transport.close({ force: true }));
    },
  };
}

function lazily<T>(open: () => Promise<T>): { get(): Promise<T>; ifOpen(use: (value: T) => void): void } {
  let opened: Promise<T> | null = null;
  return {
    get() {
      opened ??= open();
      return opened;
    },
    ifOpen(use) {
      opened?.then(use, () => {});
    },
  };
}
