/**
 * Trying the mail server out, for the operator.
 *
 * Owns: how far one can go without sending (connection, greeting, encryption, log-in), and the one test mail that is sent
 * when asked for. Invariant: it uses the settings and the checks that mail itself uses, so what it finds is true of mail;
 * it ends within a bounded time, and tries each thing once.
 */
import type { Sensitive } from '../core/sensitive.ts';
import { composeMessage, namesOf } from './compose.ts';
import { type AttemptFault, toFault } from './faults.ts';
import { serviceName } from './from-name.ts';
import { parseAddress } from './mailbox.ts';
import { type ConnectionOptions, openOnce } from './pool.ts';
import { explain } from './probe-words.ts';
import { toReplyLine } from './reply.ts';
import { type SmtpServerOptions, toConnection } from './smtp.ts';
import type { SmtpSettings, SmtpTls } from './smtp-url.ts';
import { renderTestMail } from './test-mail.ts';

export interface MailProbeOptions extends SmtpServerOptions {
  /** Who gets the test mail; `null`: none is sent. */
  readonly recipient: Sensitive<string> | null;
  /** The site's host, which the test mail names. */
  readonly site: string;
  /** A BCP 47 tag. */
  readonly locale: string;
}

export interface MailAnswer {
  /** `later`: nothing is wrong, and the server wants to be asked once more. */
  readonly outcome: 'well' | 'later' | 'failed';
  /** What was found and, unless it is well, what to do. */
  readonly words: string;
}

export interface MailProbe {
  readonly server: MailAnswer;
  /** `null` when none was asked for, or the server was not even reached. */
  readonly testMail: MailAnswer | null;
}

const usualProbeTimeoutMs = 10_000;
/** Connection, encryption, log-in: each may take its time. */
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
  const to = parseAddress(options.recipient.expose());
  if (to === null)
    return {
      server,
      testMail: { outcome: 'failed', words: 'The recipient must be one address: name@host.' },
    };
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

function describe({ host, port, tls, login }: SmtpSettings, isLoggedIn: boolean): string {
  const loggedIn = isLoggedIn
    ? 'takes the log-in'
    : 'offers no log-in, so the one in MAYFLY_SMTP_URL is not used';
  const where = `${host} answers on port ${port}, ${encryptionWords[tls]}`;
  return login === null ? where : `${where}, and ${loggedIn}`;
}
