/**
 * Mail over SMTP.
 *
 * Owns: the hand-over to the operator's mail server, with bounded retries. Invariant: nothing is kept on disk (a queue
 * entry would be a link at rest, P9) and nothing waits for ever: the number of mails in memory, the attempts and the time
 * of each are bounded, and what does not fit is `not_sent`. It never rejects, and the caller is never held up by it.
 *
 * `accepted`: the server took it. `refused`: the server said no for good (5xx). `not_sent`: it could not be handed over.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { SendMailOptions } from 'nodemailer';
import type { Mailer } from '../domain/ports.ts';
import { createComposingMailer, type Delivered } from './compose.ts';
import { toMailbox } from './mailbox.ts';
import { parseSmtpUrl, type SmtpSettings } from './smtp-url.ts';

/** Why an attempt failed, for the operator's log: codes only, because a reply's text may repeat the address. */
export interface MailFault {
  /** The library's code, such as `EAUTH`, `ETLS`, `ETIMEDOUT`, `EENVELOPE`. */
  readonly code: string;
  /** The server's reply code; `null` when it did not reply. */
  readonly replyCode: number | null;
  readonly willRetry: boolean;
}

export interface SmtpMailerOptions {
  /** See `parseSmtpUrl`. */
  readonly url: string;
  /** `name@host` or `Name <name@host>`. */
  readonly from: string;
  /** Pauses before the second, third … attempt (2 s and 20 s). */
  readonly retryDelaysMs?: readonly number[];
  /** Longest time for one attempt, a server that trickles included (30 s). */
  readonly attemptTimeoutMs?: number;
  /** Mails in memory at once (500). */
  readonly maxPending?: number;
  readonly now?: () => Date;
  /** Waits; rejects when the signal aborts. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly onFault?: (fault: MailFault) => void;
}

export interface SmtpMailer extends Mailer {
  /** Loads the library, about 50 ms of computing: call it once the server listens, so that no request pays for it. */
  prepare(): Promise<void>;
  /** Gives up what waits for another attempt, and closes the connections. Mails in hand end as `not_sent`. */
  close(): void;
}

interface Transport {
  sendMail(message: SendMailOptions): Promise<unknown>;
  close(options?: { force?: boolean }): void;
}

interface Courier {
  readonly transport: () => Promise<Transport>;
  readonly retryDelaysMs: readonly number[];
  readonly attemptTimeoutMs: number;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly onFault: (fault: MailFault) => void;
  readonly stopped: AbortSignal;
}

const maxConnections = 3;

/** @throws RangeError when `url` or `from` is not what it must be. */
export function createSmtpMailer(options: SmtpMailerOptions): SmtpMailer {
  const settings = parseSmtpUrl(options.url);
  if ('error' in settings) throw new RangeError(`The mail server's URL: ${settings.error}`);
  const from = toMailbox(options.from);
  const attemptTimeoutMs = options.attemptTimeoutMs ?? 30_000;
  const stop = new AbortController();
  const pool = lazily(() => openPool(settings, attemptTimeoutMs));
  const courier: Courier = {
    transport: pool.get,
    retryDelaysMs: options.retryDelaysMs ?? [2_000, 20_000],
    attemptTimeoutMs,
    sleep: options.sleep ?? ((milliseconds, signal) => wait(milliseconds, undefined, { signal, ref: false })),
    onFault: options.onFault ?? (() => {}),
    stopped: stop.signal,
  };
  const maxPending = options.maxPending ?? 500;
  let pending = 0;

  async function deliverBounded(message: SendMailOptions): Promise<Delivered> {
    if (pending >= maxPending || stop.signal.aborted) return 'not_sent';
    pending += 1;
    try {
      return await deliver(message, courier);
    } finally {
      pending -= 1;
    }
  }

  const now = options.now ?? (() => new Date());
  return {
    ...createComposingMailer({ from, now, deliver: deliverBounded }),
    async prepare() {
      await pool.get();
    },
    close() {
      stop.abort();
      pool.ifOpen((transport) => transport.close({ force: true }));
    },
  };
}

async function deliver(message: SendMailOptions, courier: Courier): Promise<Delivered> {
  for (let attempt = 0; ; attempt += 1) {
    const fault = await attemptOnce(message, courier);
    if (fault === null) return 'accepted';
    const delayMs = courier.retryDelaysMs[attempt];
    const willRetry = isTemporary(fault) && delayMs !== undefined && !courier.stopped.aborted;
    courier.onFault({ ...fault, willRetry });
    if (!willRetry) return isRefusal(fault) ? 'refused' : 'not_sent';
    await courier.sleep(delayMs, courier.stopped);
  }
}

type AttemptFault = Omit<MailFault, 'willRetry'>;

/** `null` when the server took the mail. */
async function attemptOnce(message: SendMailOptions, courier: Courier): Promise<AttemptFault | null> {
  const signal = AbortSignal.any([AbortSignal.timeout(courier.attemptTimeoutMs), courier.stopped]);
  try {
    const transport = await courier.transport();
    await transport.sendMail({ ...message, signal });
    return null;
  } catch (error) {
    return toFault(error);
  }
}

function toFault(error: unknown): AttemptFault {
  const { code, responseCode } = (error ?? {}) as { code?: unknown; responseCode?: unknown };
  return {
    code: typeof code === 'string' ? code : 'EUNKNOWN',
    replyCode: typeof responseCode === 'number' ? responseCode : null,
  };
}

const connectionFaults = new Set(['ECONNECTION', 'ESOCKET', 'ETIMEDOUT', 'EDNS', 'EABORT']);

/** Whether another attempt may end better: a 4xx reply, or no reply because of the connection. */
function isTemporary(fault: AttemptFault): boolean {
  if (fault.replyCode !== null) return fault.replyCode >= 400 && fault.replyCode < 500;
  return connectionFaults.has(fault.code);
}

/** A 5xx reply to the sender, the recipient or the message; one to the log-in is the operator's concern. */
function isRefusal(fault: AttemptFault): boolean {
  return (fault.replyCode ?? 0) >= 500 && (fault.code === 'EENVELOPE' || fault.code === 'EMESSAGE');
}

/** The library is loaded here and not at the start, which it would delay by about 50 ms. Opens no connection yet. */
async function openPool(settings: SmtpSettings, timeoutMs: number): Promise<Transport> {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    pool: true,
    maxConnections,
    // Another attempt is this file's decision, so that all of them are counted.
    maxRequeues: 0,
    host: settings.host,
    port: settings.port,
    secure: settings.tls === 'implicit',
    requireTLS: settings.tls === 'required',
    ignoreTLS: settings.tls === 'never',
    tls: { minVersion: 'TLSv1.2' },
    ...(settings.login === null
      ? {}
      : { auth: { user: settings.login.user, pass: settings.login.password.expose() } }),
    dnsTimeout: timeoutMs,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    maxResponseSize: 16_384,
  });
  // A connection that breaks while idle is replaced at the next mail.
  transport.on('error', () => {});
  return transport;
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
