/**
 * Mail over SMTP: connections, attempts and retries. Nothing is kept on disk, because a queue entry would be a link at rest (P9). Emails in
 * memory, attempts and their duration are limited; an email beyond a limit is `not_sent`. Every attempt sends the same message with the
 * same Message-ID, so that a server that greylists, or whose reply was lost, recognises it. Sending never rejects or blocks its caller.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { SendMailOptions } from 'nodemailer';
import type { SmtpServer, SmtpTls } from '../config/addresses.ts';
import type { Handover, OnRetry } from '../core/mailer.ts';
import { type MailTrouble, mailTroubles } from '../core/secrets/link-mail.ts';
import {
  type ComposingMailer,
  createComposingMailer,
  createMessageWriter,
  type Letter,
  type MessageWriter,
  notSent,
  ownSiteName,
} from './compose.ts';
import { type AttemptFault, isAboutLogIn, judge, toFault, toReplyLine, troubleOf } from './faults.ts';
import { domainOf, toMailbox, toReturnPath } from './mailbox.ts';
import { type DkimSettings, type DkimSigner, toDkimSigner } from './settings.ts';

export interface SmtpServerOptions {
  readonly server: SmtpServer;
  readonly from: string;
  /** The site's brand name, used if `from` has no name. Default: Mayfly. */
  readonly siteName?: string;
  /** Where undeliverable mail is returned. Default: `from`. */
  readonly returnPath?: string | null;
  /** The name in the greeting (EHLO). Default: the domain of `from`. */
  readonly helo?: string | null;
  /** If absent, mail is unsigned. */
  readonly dkim?: DkimSettings | null;
  /** Time limit for one attempt, even if the server trickles its replies. Default: 30 s. */
  readonly attemptTimeoutMs?: number;
  /** In PEM; replaces the system's certificate authorities. */
  readonly trustedAuthority?: string;
}

export interface SmtpMailerOptions extends SmtpServerOptions {
  /** Pauses before the second, third … attempt. Default: 5 s, 1, 5 and 15 minutes, because greylisting takes minutes. */
  readonly retryDelaysMs?: readonly number[];
  /** Limit on emails in memory. Default: 500. */
  readonly maxPending?: number;
  readonly now?: () => Date;
  /** Rejects when the signal aborts. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly onFault?: Courier['onFault'];
  readonly onAnswer?: Courier['onAnswer'];
}

export interface SmtpMailer extends ComposingMailer, Pick<MessageWriter, 'prepare'> {
  /** Gives up pending retries and closes the connections. Emails in progress end as `not_sent`. */
  close(): void;
}

const usualRetryDelaysMs = [5_000, 60_000, 300_000, 900_000];
const usualAttemptTimeoutMs = 30_000;
const usualMaxPending = 500;

/** @throws MailSettingError */
export function toConnection(options: SmtpServerOptions) {
  const from = toMailbox(options.from);
  const connection: ConnectionOptions = {
    settings: options.server,
    helo: options.helo ?? domainOf(from.address),
    dkim: options.dkim == null ? null : toDkimSigner(options.dkim),
    timeoutMs: options.attemptTimeoutMs ?? usualAttemptTimeoutMs,
    trustedAuthority: options.trustedAuthority ?? null,
  };
  const returnPath = options.returnPath == null ? null : toReturnPath(options.returnPath);
  const { siteName = ownSiteName } = options;
  return { connection, sender: { from, siteName, returnPath } };
}

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
    // Do not sign mail that will not be sent.
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

/** Why an attempt failed, for the operator's log: codes only, because a reply may repeat the address. */
export interface MailFault {
  /** The library's code, such as `EAUTH`, `ETLS`, `ETIMEDOUT`, `EENVELOPE`. */
  readonly code: string;
  /** The server's reply code; `null` if there was no reply. */
  readonly replyCode: number | null;
  readonly willRetry: boolean;
}

export interface Courier {
  readonly transport: () => Promise<Transport>;
  readonly retryDelaysMs: readonly number[];
  readonly attemptTimeoutMs: number;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** @param trouble `null` unless the connection failed */
  readonly onFault: (fault: MailFault, trouble: MailTrouble | null) => void;
  readonly onAnswer: () => void;
  readonly stopped: AbortSignal;
}

/** Extra time for a pause and an attempt on a busy machine: a late email must not count as lost. */
const slackSeconds = 5;

/** Attempts delivery until it succeeds or fails for good. Rejects if stopped between two attempts. */
export async function deliver(letter: Letter, courier: Courier, onRetry: OnRetry): Promise<Handover> {
  let said: string | null = null;
  for (let attempt = 0; ; attempt += 1) {
    const ending = await attemptOnce(letter, courier);
    if (ending.outcome === 'accepted' || ending.fault.replyCode !== null) courier.onAnswer();
    if (ending.outcome === 'accepted')
      return { state: 'accepted', reply: toReplyLine(ending.response, letter.hidden) };
    said = replyOf(ending.fault, letter) ?? said;
    const trouble = courier.stopped.aborted ? null : troubleOf(ending.fault);
    const reply = said ?? (trouble === null ? null : mailTroubles[trouble]);
    const judgement = judge(ending.fault);
    const delayMs = courier.retryDelaysMs[attempt];
    const willRetry = judgement === 'later' && delayMs !== undefined && !courier.stopped.aborted;
    courier.onFault({ code: ending.fault.code, replyCode: ending.fault.replyCode, willRetry }, trouble);
    if (judgement === 'refused') return { state: 'refused', reply };
    if (judgement === 'unsendable' || courier.stopped.aborted) return notSent;
    if (delayMs === undefined) return { state: 'given_up', reply };
    onRetry(Math.ceil((delayMs + courier.attemptTimeoutMs) / 1_000) + slackSeconds, reply);
    await courier.sleep(delayMs, courier.stopped);
  }
}

type Ending =
  | { readonly outcome: 'accepted'; readonly response: string }
  | { readonly outcome: 'failed'; readonly fault: AttemptFault };

async function attemptOnce({ envelope, bytes }: Letter, courier: Courier): Promise<Ending> {
  const signal = AbortSignal.any([AbortSignal.timeout(courier.attemptTimeoutMs), courier.stopped]);
  try {
    const transport = await courier.transport();
    const { response } = await transport.sendMail({ envelope, raw: bytes, signal });
    return { outcome: 'accepted', response };
  } catch (error) {
    return { outcome: 'failed', fault: toFault(error) };
  }
}

/** A reply about the log-in is for the operator (its code is in the log), not for a receipt's reader. */
function replyOf(fault: AttemptFault, { hidden }: Letter): string | null {
  return isAboutLogIn(fault) ? null : toReplyLine(fault.response, hidden);
}

export interface Transport {
  sendMail(message: SendMailOptions): Promise<{ readonly response: string }>;
  close(options?: { force?: boolean }): void;
}

export interface ConnectionOptions {
  readonly settings: SmtpServer;
  /** The library's default is the machine's name, or `[127.0.0.1]` in a container, which strict servers refuse. */
  readonly helo: string;
  readonly dkim: DkimSigner | null;
  /** Time limit per step. */
  readonly timeoutMs: number;
  readonly trustedAuthority: string | null;
}

/** A running server accepts connections quickly, and an unreachable one should be noticed soon. */
const longestConnectMs = 10_000;
const maxConnections = 3;
const maxReplyBytes = 16_384;

const encryption: Readonly<Record<SmtpTls, object>> = {
  implicit: { secure: true },
  required: { secure: false, requireTLS: true },
  opportunistic: { secure: false, opportunisticTLS: true },
  never: { secure: false, ignoreTLS: true },
};

function connectionSettings(options: ConnectionOptions) {
  const { settings, helo, timeoutMs, trustedAuthority } = options;
  const { host, port, tls, login } = settings;
  return {
    name: helo,
    host,
    port,
    ...encryption[tls],
    tls: {
      minVersion: 'TLSv1.2' as const,
      ...(tls === 'opportunistic' ? { rejectUnauthorized: false } : {}),
      ...(trustedAuthority === null ? {} : { ca: trustedAuthority }),
    },
    ...(login === null ? {} : { auth: { user: login.user, pass: login.password.expose() } }),
    dnsTimeout: Math.min(timeoutMs, longestConnectMs),
    connectionTimeout: Math.min(timeoutMs, longestConnectMs),
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    maxResponseSize: maxReplyBytes,
  };
}

/**
 * Creates a pool for messages that are already written and signed. Loads the library only now, because loading takes about 50 ms, too long
 * for startup. Opens no connection yet.
 */
export async function openPool(options: ConnectionOptions): Promise<Transport> {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    ...connectionSettings(options),
    pool: true,
    maxConnections,
    // Only `deliver` retries, so that every attempt is counted.
    maxRequeues: 0,
  });
  // If a connection breaks while idle, the next email opens a new one.
  transport.on('error', () => {});
  return transport;
}

/**
 * Opens a new connection per call, to test the server, and signs what it sends.
 * @param onLoggedIn called after a successful log-in; never if the server offers no log-in
 */
export async function openOnce(options: ConnectionOptions, onLoggedIn: () => void = () => {}) {
  const { createTransport } = await import('nodemailer');
  const ignore = () => {};
  const info = (entry: unknown) => {
    if ((entry as { action?: unknown }).action === 'authenticated') onLoggedIn();
  };
  const logger = { trace: ignore, debug: ignore, info, warn: ignore, error: ignore, fatal: ignore };
  const signing = options.dkim === null ? {} : { dkim: options.dkim };
  return createTransport({ ...connectionSettings(options), ...signing, logger });
}
