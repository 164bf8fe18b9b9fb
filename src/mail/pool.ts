/**
 * Connections to the mail server.
 *
 * Owns: how the library is set up, for handing over and for trying out. Invariant: no more than `maxConnections` at once,
 * each step of a dialog bounded in time and each reply in size, and the encryption that the settings demand.
 */
import type { SendMailOptions } from 'nodemailer';
import type { DkimSigner } from './dkim.ts';
import type { SmtpSettings, SmtpTls } from './smtp-url.ts';

export interface Transport {
  sendMail(message: SendMailOptions): Promise<{ readonly response: string }>;
  close(options?: { force?: boolean }): void;
}

export interface ConnectionOptions {
  readonly settings: SmtpSettings;
  /** `null`: mail is not signed. */
  readonly dkim: DkimSigner | null;
  /** Longest time for each step. */
  readonly timeoutMs: number;
  /** In PEM, in place of the system's authorities; `null`: those. */
  readonly trustedAuthority: string | null;
}

/** A server that is there takes a connection at once; one that is not should be known soon. */
const longestConnectMs = 10_000;
const maxConnections = 3;
const maxReplyBytes = 16_384;

const encryption: Readonly<Record<SmtpTls, object>> = {
  implicit: { secure: true },
  required: { secure: false, requireTLS: true },
  opportunistic: { secure: false, opportunisticTLS: true },
  never: { secure: false, ignoreTLS: true },
};

/** What the library is told about one connection. */
function connectionSettings(options: ConnectionOptions) {
  const { settings, timeoutMs, trustedAuthority } = options;
  const { host, port, tls, login } = settings;
  return {
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
 * For messages that are written and signed already. The library is loaded here and not at the start, which it would delay
 * by about 50 ms. Opens no connection yet.
 */
export async function openPool(options: ConnectionOptions): Promise<Transport> {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    ...connectionSettings(options),
    pool: true,
    maxConnections,
    // Another attempt is `attempts.ts`'s decision, so that all of them are counted.
    maxRequeues: 0,
  });
  // A connection that breaks while idle is replaced at the next mail.
  transport.on('error', () => {});
  return transport;
}

/**
 * A connection for each call, to try the server out with; it signs what it sends.
 * @param onLoggedIn called when a log-in was taken; never where the server does not offer any
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
