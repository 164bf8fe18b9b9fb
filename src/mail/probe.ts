/**
 * Tries the mail server for the operator: connection, greeting, encryption, log-in, and one test mail on request.
 *
 * It uses the settings and checks of real mail, so what it finds is true of real mail. It tries each thing once, within a bounded time.
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
  /** Gets the test mail; `null` to send none. */
  readonly recipient: Sensitive<string> | null;
  /** The site's host, which the test mail names. */
  readonly site: string;
  /** A BCP 47 tag. */
  readonly locale: string;
}

export interface MailAnswer {
  /** `later`: nothing is wrong, but the server asks to be tried again. */
  readonly outcome: 'well' | 'later' | 'failed';
  /** What was found and, unless all is well, what to do. */
  readonly words: string;
}

export interface MailProbe {
  readonly server: MailAnswer;
  /** `null` when none was asked for or the server was not reached. */
  readonly testMail: MailAnswer | null;
}

const usualProbeTimeoutMs = 10_000;
/** Connection, encryption and log-in may each take that long. */
const stepsOfLogIn = 3;

/** @throws MailSettingError when an option is not what it must be. */
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
      words: `taken by the server, which said: ${toReplyLine(response, [to]) ?? ''}`,
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
    ? 'takes the log-in'
    : 'offers no log-in, so the one in MAYFLY_SMTP_URL is not used';
  const where = `${host} answers on port ${port}, ${encryptionWords[tls]}`;
  return login === null ? where : `${where}, and ${loggedIn}`;
}

interface Explanation {
  readonly fits: (fault: AttemptFault, settings: SmtpServer) => boolean;
  readonly words: (settings: SmtpServer) => string;
}

const isTemporary = ({ replyCode }: AttemptFault) => replyCode !== null && replyCode < 500;
const at = ({ host, port }: SmtpServer) => `${host} on port ${port}`;

/** The first row that fits wins, so narrow ones come before wide ones. No sentence repeats what the settings keep secret. */
const rows: readonly Explanation[] = [
  {
    fits: ({ code }) => code === 'EDNS',
    words: ({ host }) => `There is no host named ${host}, or no name server answers: check MAYFLY_SMTP_URL.`,
  },
  {
    fits: ({ cause }) => cause === 'ECONNREFUSED',
    words: ({ host, port }) =>
      `${host} does not answer on port ${port}, nothing listens there: check host and port in MAYFLY_SMTP_URL.`,
  },
  {
    fits: ({ cause }) => /^(EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL)$/.test(cause),
    words: ({ host }) => `There is no way to ${host} from here: check this machine’s network.`,
  },
  {
    fits: ({ timeout }) => timeout === 'CONNECT_TIMEOUT',
    words: (settings) =>
      `${at(settings)} does not answer: something in between keeps the connection out. Many networks close port 25; mail is handed over on 465 (smtps) or 587 (smtp).`,
  },
  {
    fits: ({ cause }) => cause === 'ERR_TLS_CERT_ALTNAME_INVALID',
    words: ({ host }) =>
      `The certificate of ${host} is for another name: write the name that stands in it into MAYFLY_SMTP_URL.`,
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
        ? `${at(settings)} does not encrypt from the first byte: write smtp:// for that port, or smtps:// with port 465.`
        : `${at(settings)} and this machine know no kind of encryption in common: it must speak TLS 1.2 or later.`,
  },
  {
    fits: ({ code, command }) => code === 'ETLS' && command === 'STARTTLS',
    words: (settings) =>
      `${at(settings)} offers no encryption (STARTTLS): write smtps:// with port 465 if it has that; only where the whole way to it is safe add ?tls=never.`,
  },
  {
    fits: ({ code, command }) => code === 'ETLS' && command !== 'CONN',
    words: ({ host }) => `${host} breaks off the encryption: look into its log.`,
  },
  {
    fits: ({ code, cause }) => code === 'ETLS' && cause !== '',
    words: ({ host }) =>
      `Nobody whom this machine trusts vouches for the certificate of ${host}: give the server one that is, or name its authority’s certificate in NODE_EXTRA_CA_CERTS.`,
  },
  {
    fits: (fault) => isAboutLogIn(fault) && isTemporary(fault),
    words: ({ host }) => `${host} cannot check the log-in at present: try again later.`,
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
        ? `${host} wants a log-in: write user and password into MAYFLY_SMTP_URL, smtp://user:password@${host}.`
        : `${host} did not take the log-in, perhaps because it allows none on this port: try 587 (smtp) or 465 (smtps).`,
  },
  {
    fits: ({ response }) => /\b(?:EHLO|HELO)\b/i.test(response ?? ''),
    words: ({ host }) =>
      `${host} refuses the name that it is greeted with: set MAYFLY_MAIL_HELO to a name of this machine that is in the DNS.`,
  },
  {
    fits: (fault) => isTemporary(fault) && /^(MAIL FROM|RCPT TO|DATA)$/.test(fault.command),
    words: ({ host }) =>
      `${host} asks to come back later, as many do with strangers (greylisting). Mayfly tries again by itself for about 20 minutes; here, run this once more in some minutes.`,
  },
  {
    fits: isTemporary,
    words: ({ host }) => `${host} asks to come back later: try again, and look into its log if that lasts.`,
  },
  {
    fits: ({ command, replyCode }) => command === 'MAIL FROM' && replyCode !== null,
    words: ({ host }) =>
      `${host} refuses the sender: let MAYFLY_MAIL_FROM (and MAYFLY_MAIL_RETURN_PATH) be an address that it may send for.`,
  },
  {
    fits: ({ command, replyCode }) => command === 'RCPT TO' && replyCode !== null,
    words: ({ host }) =>
      `${host} refuses the recipient: check the address, and whether the server passes mail on for this machine or this log-in.`,
  },
  {
    fits: ({ command, replyCode }) => command === 'DATA' && replyCode !== null,
    words: ({ host }) =>
      `${host} refuses the message: its reply says why; often the sender’s domain lacks SPF or DKIM.`,
  },
  {
    fits: ({ code, replyCode }) => code === 'EPROTOCOL' && replyCode !== null,
    words: ({ host }) => `${host} does not want to talk to this machine: ask whoever runs it to let it in.`,
  },
  {
    fits: ({ code }) => code === 'EPROTOCOL',
    words: (settings) =>
      `${at(settings)} is no mail server, or not one that is understood here: check host and port in MAYFLY_SMTP_URL.`,
  },
  {
    fits: ({ code, timeout }, { tls }) => (code === 'EABORT' || timeout !== '') && tls !== 'implicit',
    words: (settings) =>
      `${at(settings)} takes the connection and falls silent: if that port encrypts from the first byte, write smtps://; else look into its log.`,
  },
  {
    fits: ({ code, timeout }) => code === 'EABORT' || timeout !== '',
    words: (settings) => `${at(settings)} takes the connection and falls silent: look into its log.`,
  },
  {
    fits: ({ code }) => /^(ECONNECTION|ESOCKET|ETLS)$/.test(code),
    words: (settings) =>
      `${at(settings)} breaks the connection off: check that the port is one for mail, and look into the server’s log.`,
  },
];

/** What went wrong and what to do, in one or two sentences. */
function explain(fault: AttemptFault, settings: SmtpServer): string {
  const row = rows.find(({ fits }) => fits(fault, settings));
  return row?.words(settings) ?? `${at(settings)} does not take mail (${fault.code}): look into its log.`;
}
