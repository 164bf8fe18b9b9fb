/**
 * What it means when a mail could not be handed over.
 *
 * Owns: the reading of the library's errors. Invariant: a fault is temporary only when the server said so (4yz,
 * RFC 5321 §4.2.1) or when the connection broke; it is the recipient's only when the server said no for good to the
 * sender, the recipient or the message. A log-in that is refused or missing (RFC 4954 §4.7, §6) and a certificate that
 * nobody vouches for are the operator's, and trying again does not mend them.
 */
import type { MailTrouble } from '../core/mail/link-mail.ts';

/** What went wrong at one attempt. */
export interface AttemptFault {
  /** `ETLS`, `EAUTH`, `EENVELOPE`, … */
  readonly code: string;
  /** The system's own code where there is one, such as `ECONNREFUSED` or `CERT_HAS_EXPIRED`; else `''`. */
  readonly cause: string;
  /** The command that was under way, such as `RCPT TO`; `CONN` for none. */
  readonly command: string;
  /** Which wait was too long, such as `GREETING_TIMEOUT`; else `''`. */
  readonly timeout: string;
  /** `null` when the server did not reply. */
  readonly replyCode: number | null;
  /** As the server wrote it: never shown before `toReplyLine`. */
  readonly response: string | null;
}

/**
 * - `later`: another attempt may end better.
 * - `refused`: the server said no for good.
 * - `unsendable`: it never came to an answer about this mail, and will not.
 */
export type Judgement = 'later' | 'refused' | 'unsendable';

const certificateCauses = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_SSL|ERR_TLS/;

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function toFault(error: unknown): AttemptFault {
  const raw = (typeof error === 'object' && error !== null ? error : {}) as Readonly<Record<string, unknown>>;
  const cause = textOf(raw.originalCode);
  const response = textOf(raw.response);
  // The library reports both as a broken socket; only one of them is worth another attempt.
  const isTlsFault = raw.code === 'ESOCKET' && certificateCauses.test(cause);
  return {
    code: isTlsFault ? 'ETLS' : textOf(raw.code) || 'EUNKNOWN',
    cause,
    command: textOf(raw.command),
    timeout: textOf(raw.timeoutType),
    replyCode: typeof raw.responseCode === 'number' ? raw.responseCode : null,
    response: response === '' ? null : response,
  };
}

const connectionFaults: ReadonlySet<string> = new Set([
  'ECONNECTION',
  'ESOCKET',
  'ETIMEDOUT',
  'EDNS',
  'EABORT',
]);

/** "Authentication required" and its kin, which a server may also say to the sender's address. */
const logInReplyCodes: ReadonlySet<number> = new Set([530, 534, 535, 538]);

export function isAboutLogIn({ code, replyCode }: AttemptFault): boolean {
  return code === 'EAUTH' || (replyCode !== null && logInReplyCodes.has(replyCode));
}

export function judge(fault: AttemptFault): Judgement {
  const { code, replyCode } = fault;
  if (replyCode === null) return isBrokenConnection(fault) ? 'later' : 'unsendable';
  if (replyCode >= 400 && replyCode < 500) return 'later';
  const isAboutMail = (code === 'EENVELOPE' || code === 'EMESSAGE') && !isAboutLogIn(fault);
  return replyCode >= 500 && isAboutMail ? 'refused' : 'unsendable';
}

const unreachableCauses: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
]);

/** What to say of an attempt that ended with the connection; `null` where it ended otherwise. */
export function troubleOf(fault: AttemptFault): MailTrouble | null {
  const { code, cause, timeout, replyCode } = fault;
  if (replyCode !== null || !isBrokenConnection(fault)) return null;
  const isUnreached = code === 'EDNS' || timeout === 'CONNECT_TIMEOUT' || unreachableCauses.has(cause);
  return isUnreached ? 'unreachable' : 'unanswered';
}

function isBrokenConnection({ code, cause, command }: AttemptFault): boolean {
  // A handshake that breaks off without a word about why is a broken line like any other.
  return connectionFaults.has(code) || (code === 'ETLS' && command === 'CONN' && cause === '');
}
