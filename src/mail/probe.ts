/**
 * Tests the mail server for the operator: connection, greeting, encryption, log-in, and a test mail on request. It uses the settings and
 * checks of real mail, so the result applies to real mail. It tries each step once, with a time limit.
 */
import type { SmtpServer, SmtpTls } from '../config/addresses.ts';
import { trimAddress, unseenWords } from '../core/mail/recipients.ts';
import type { Sensitive } from '../core/sensitive.ts';
import { composeMessage, namesOf, serviceName } from './compose.ts';
import { type AttemptFault, isAboutLogIn, toFault, toReplyLine } from './faults.ts';
import { parseAddress } from './mailbox.ts';
import { renderTestMail } from './messages.tsx';
import { type ConnectionOptions, openOnce, type SmtpServerOptions, toConnection } from './smtp.ts';

export interface MailProbeOptions extends SmtpServerOptions {
  readonly recipient: Sensitive<string> | null;
  readonly site: string;
  readonly locale: string;
}

export interface MailAnswer {
  /** `later`: nothing is wrong, but the server asks for a retry. */
  readonly outcome: 'well' | 'later' | 'failed';
  readonly words: string;
}

export interface MailProbe {
  readonly server: MailAnswer;
  /** `null` if none was requested or the server was not reached. */
  readonly testMail: MailAnswer | null;
}

const usualProbeTimeoutMs = 10_000;
/** Connection, encryption and log-in may each take a full timeout. */
const stepsOfLogIn = 3;

/** @throws MailSettingError */
export async function probeMail(options: MailProbeOptions): Promise<MailProbe> {
  const attemptTimeoutMs = options.attemptTimeoutMs ?? usualProbeTimeoutMs;
  const { connection, sender } = toConnection({ ...options, attemptTimeoutMs });
  const reached = await logIn(connection);
  if (reached.outcome === 'failed')
    return { server: toAnswer(reached.fault, connection, []), testMail: null };
  const server = { outcome: 'well', words: describe(connection.settings, reached.isLoggedIn) } as const;
  if (options.recipient === null) return { server, testMail: null };
  const asked = options.recipient.expose();
  const to = parseAddress(trimAddress(asked));
  if (to === null) {
    const words = `The recipient must be one address: name@host${unseenWords(asked)}.`;
    return { server, testMail: { outcome: 'failed', words } };
  }
  const written = { ...renderTestMail(options.site, options.locale), fromName: serviceName(namesOf(sender)) };
  const message = composeMessage(sender, to, written, new Date());
  return { server, testMail: await send(message, to, connection) };
}

type Reached =
  | { readonly outcome: 'reached'; readonly isLoggedIn: boolean }
  | { readonly outcome: 'failed'; readonly fault: AttemptFault };

async function logIn(connection: ConnectionOptions): Promise<Reached> {
  let isLoggedIn = false;
  const transport = await openOnce(connection, () => {
    isLoggedIn = true;
  });
  const tooLong = Promise.withResolvers<never>();
  const silence = Object.assign(new Error('The server trickles'), { code: 'EABORT' });
  const timer = setTimeout(() => tooLong.reject(silence), connection.timeoutMs * stepsOfLogIn);
  try {
    await Promise.race([transport.verify(), tooLong.promise]);
    return { outcome: 'reached', isLoggedIn };
  } catch (error) {
    return { outcome: 'failed', fault: toFault(error) };
  } finally {
    clearTimeout(timer);
    transport.close();
  }
}

async function send(
  message: ReturnType<typeof composeMessage>,
  to: string,
  connection: ConnectionOptions,
): Promise<MailAnswer> {
  const transport = await openOnce(connection);
  const signal = AbortSignal.timeout(connection.timeoutMs * stepsOfLogIn);
  try {
    const { response } = await transport.sendMail({ ...message, signal });
    return {
      outcome: 'well',
      words: `accepted by the server, which said: ${toReplyLine(response, [to]) ?? ''}`,
    };
  } catch (error) {
    return toAnswer(toFault(error), connection, [to]);
  } finally {
    transport.close();
  }
}

function toAnswer(
  fault: AttemptFault,
  { settings }: ConnectionOptions,
  recipients: readonly string[],
): MailAnswer {
  const reply = toReplyLine(fault.response, [...recipients, settings.login?.password.expose() ?? '']);
  const words = explain(fault, settings) + (reply === null ? '' : ` It said: ${reply}`);
  const isLater = fault.replyCode !== null && fault.replyCode >= 400 && fault.replyCode < 500;
  return { outcome: isLater ? 'later' : 'failed', words };
}

const encryptionWords: Readonly<Record<SmtpTls, string>> = {
  implicit: 'encrypted from the first byte',
  required: 'encrypted (STARTTLS)',
  opportunistic: 'encrypted if it offers that',
  never: 'not encrypted',
};

function describe({ host, port, tls, login }: SmtpServer, isLoggedIn: boolean): string {
  const loggedIn = isLoggedIn
    ? 'accepts the log-in'
    : 'offers no log-in, so the one in MAYFLY_SMTP_URL is unused';
  const where = `${host} answers on port ${port}, ${encryptionWords[tls]}`;
  return login === null ? where : `${where}, and ${loggedIn}`;
}

interface Explanation {
  readonly fits: (fault: AttemptFault, settings: SmtpServer) => boolean;
  readonly words: (settings: SmtpServer) => string;
}

const isTemporary = ({ replyCode }: AttemptFault) => replyCode !== null && replyCode < 500;
const at = ({ host, port }: SmtpServer) => `${host} on port ${port}`;

/** The first match wins, so specific rows come first. No sentence repeats a secret setting. */
const rows: readonly Explanation[] = [
  {
    fits: ({ code }) => code === 'EDNS',
    words: ({ host }) => `No host is named ${host}, or no name server answers: check MAYFLY_SMTP_URL.`,
  },
  {
    fits: ({ cause }) => cause === 'ECONNREFUSED',
    words: ({ host, port }) =>
      `${host} does not answer on port ${port}: nothing listens there. Check host and port in MAYFLY_SMTP_URL.`,
  },
  {
    fits: ({ cause }) => /^(EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL)$/.test(cause),
    words: ({ host }) => `${host} cannot be reached from here: check this machine’s network.`,
  },
  {
    fits: ({ timeout }) => timeout === 'CONNECT_TIMEOUT',
    words: (settings) =>
      `${at(settings)} does not answer: something in between blocks the connection. Many networks block port 25; use 465 (smtps) or 587 (smtp).`,
  },
  {
    fits: ({ cause }) => cause === 'ERR_TLS_CERT_ALTNAME_INVALID',
    words: ({ host }) =>
      `The certificate of ${host} is for another name: use the name in the certificate in MAYFLY_SMTP_URL.`,
  },
  {
    fits: ({ cause }) => /EXPIRED|NOT_YET_VALID/.test(cause),
    words: ({ host }) =>
      `The certificate of ${host} is out of date, or this machine’s clock is wrong: renew the certificate or set the clock.`,
  },
  {
    fits: ({ cause }) => cause.startsWith('ERR_SSL'),
    words: (settings) =>
      settings.tls === 'implicit'
        ? `${at(settings)} does not encrypt from the first byte: use smtp:// for that port, or smtps:// with port 465.`
        : `${at(settings)} and this machine share no kind of encryption: the server needs TLS 1.2 or later.`,
  },
  {
    fits: ({ code, command }) => code === 'ETLS' && command === 'STARTTLS',
    words: (settings) =>
      `${at(settings)} offers no encryption (STARTTLS): use smtps:// with port 465 if it has that. Add ?tls=never only if the whole connection is on a safe network.`,
  },
  {
    fits: ({ code, command }) => code === 'ETLS' && command !== 'CONN',
    words: ({ host }) => `${host} breaks off the encryption: check its log.`,
  },
  {
    fits: ({ code, cause }) => code === 'ETLS' && cause !== '',
    words: ({ host }) =>
      `This machine does not trust the certificate of ${host}: give the server a trusted one, or set NODE_EXTRA_CA_CERTS to its authority’s certificate.`,
  },
  {
    fits: (fault) => isAboutLogIn(fault) && isTemporary(fault),
    words: ({ host }) => `${host} cannot check the log-in now: try again later.`,
  },
  {
    fits: ({ code }, { login }) => code === 'EAUTH' && login !== null,
    words: ({ host }) =>
      `${host} refuses the log-in: check user and password in MAYFLY_SMTP_URL, where each special character is percent-encoded (@ is %40).`,
  },
  {
    fits: isAboutLogIn,
    words: ({ host, login }) =>
      login === null
        ? `${host} requires a log-in: put user and password into MAYFLY_SMTP_URL, smtp://user:password@${host}.`
        : `${host} did not accept the log-in, perhaps because it allows none on this port: try 587 (smtp) or 465 (smtps).`,
  },
  {
    fits: ({ response }) => /\b(?:EHLO|HELO)\b/i.test(response ?? ''),
    words: ({ host }) =>
      `${host} refuses the name in the greeting: set MAYFLY_MAIL_HELO to a DNS name of this machine.`,
  },
  {
    fits: (fault) => isTemporary(fault) && /^(MAIL FROM|RCPT TO|DATA)$/.test(fault.command),
    words: ({ host }) =>
      `${host} asks to come back later, as many servers do with new senders (greylisting). Mayfly retries for about 20 minutes; run this test again in a few minutes.`,
  },
  {
    fits: isTemporary,
    words: ({ host }) => `${host} asks to come back later: try again, and check its log if that continues.`,
  },
  {
    fits: ({ command, replyCode }) => command === 'MAIL FROM' && replyCode !== null,
    words: ({ host }) =>
      `${host} refuses the sender: set MAYFLY_MAIL_FROM (and MAYFLY_MAIL_RETURN_PATH) to an address that it may send for.`,
  },
  {
    fits: ({ command, replyCode }) => command === 'RCPT TO' && replyCode !== null,
    words: ({ host }) =>
      `${host} refuses the recipient: check the address, and whether the server relays mail for this machine or log-in.`,
  },
  {
    fits: ({ command, replyCode }) => command === 'DATA' && replyCode !== null,
    words: ({ host }) =>
      `${host} refuses the message: its reply says why; often the sender’s domain lacks SPF or DKIM.`,
  },
  {
    fits: ({ code, replyCode }) => code === 'EPROTOCOL' && replyCode !== null,
    words: ({ host }) => `${host} refuses this machine: ask its operator to allow it.`,
  },
  {
    fits: ({ code }) => code === 'EPROTOCOL',
    words: (settings) =>
      `${at(settings)} is not a mail server, or uses an unknown protocol: check host and port in MAYFLY_SMTP_URL.`,
  },
  {
    fits: ({ code, timeout }, { tls }) => (code === 'EABORT' || timeout !== '') && tls !== 'implicit',
    words: (settings) =>
      `${at(settings)} accepts the connection, then does not respond: if that port encrypts from the first byte, use smtps://; otherwise check its log.`,
  },
  {
    fits: ({ code, timeout }) => code === 'EABORT' || timeout !== '',
    words: (settings) => `${at(settings)} accepts the connection, then does not respond: check its log.`,
  },
  {
    fits: ({ code }) => /^(ECONNECTION|ESOCKET|ETLS)$/.test(code),
    words: (settings) =>
      `${at(settings)} closes the connection: check that the port is for mail, and check the server’s log.`,
  },
];

function explain(fault: AttemptFault, settings: SmtpServer): string {
  const row = rows.find(({ fits }) => fits(fault, settings));
  return row?.words(settings) ?? `${at(settings)} does not accept mail (${fault.code}): check its log.`;
}
