/**
 * Why an email was not accepted, and how much of the reason may be shown.
 *
 * A fault is temporary only if the server said so (4yz, RFC 5321 §4.2.1) or the connection broke. It is attributed to the recipient only if
 * the server permanently refused the sender, the recipient or the message. A refused or missing log-in (RFC 4954 §4.7, §6) and an untrusted
 * certificate need the operator, so a retry does not help.
 *
 * A server may quote the message or the envelope in its reply, even broken across lines, so hidden texts are removed from every line that
 * leaves this file. They are removed before shortening, because a cut could leave part of one.
 */
import type { MailTrouble } from '../core/secrets/link-mail.ts';
import { toPrintable } from './mailbox.ts';

export interface AttemptFault {
  /** `ETLS`, `EAUTH`, `EENVELOPE`, … */
  readonly code: string;
  /** The system's code, such as `ECONNREFUSED` or `CERT_HAS_EXPIRED`; otherwise `''`. */
  readonly cause: string;
  /** The command in progress, such as `RCPT TO`; `CONN` if there was none. */
  readonly command: string;
  /** The step that timed out, such as `GREETING_TIMEOUT`; otherwise `''`. */
  readonly timeout: string;
  readonly replyCode: number | null;
  /** As the server wrote it: never shown without `toReplyLine`. */
  readonly response: string | null;
}

/**
 * - `later`: a retry may succeed.
 * - `refused`: the server refused permanently.
 * - `unsendable`: the server never judged this email, and never will.
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
  // The library also reports TLS faults as broken sockets, but retrying does not help with those.
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

/** "Authentication required" and the like, which a server may also send in reply to the sender's address. */
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

/** Returns `null` if the fault is not a connection failure. */
export function troubleOf(fault: AttemptFault): MailTrouble | null {
  const { code, cause, timeout, replyCode } = fault;
  if (replyCode !== null || !isBrokenConnection(fault)) return null;
  const isUnreached = code === 'EDNS' || timeout === 'CONNECT_TIMEOUT' || unreachableCauses.has(cause);
  return isUnreached ? 'unreachable' : 'unanswered';
}

function isBrokenConnection({ code, cause, command }: AttemptFault): boolean {
  // A handshake that breaks off without a reason counts as a broken connection.
  return connectionFaults.has(code) || (code === 'ETLS' && command === 'CONN' && cause === '');
}

/** The limit that `Handover` documents. */
const longestReplyLength = 300;
const placeholder = '…';

/**
 * @param reply from the library: each line begins with the reply code
 * @param hidden texts to remove, ignoring case
 * @returns `null` if nothing readable is left
 */
export function toReplyLine(reply: string | null, hidden: readonly string[]): string | null {
  // Longest first: the key is part of the link.
  const terms = hidden.filter((term) => term !== '').sort((one, other) => other.length - one.length);
  let line = toPrintable(withoutRepeatedCodes(reply ?? ''))
    .replace(/ +/g, ' ')
    .trim();
  for (const term of terms) line = line.replace(patternOf(term), placeholder);
  return line === '' ? null : shorten(line);
}

/** Every line of a reply repeats its code (RFC 5321 §4.2.1); removes the repetitions, which would split words. */
function withoutRepeatedCodes(reply: string): string {
  return reply.replace(/(\r?\n)\d{3}(?:[ -]|$)/gm, '$1').replace(/^(\d{3})-/, '$1 ');
}

/** Also matches the term when split by a line break (now a space) or by a soft line break in quoted-printable text. */
function patternOf(term: string): RegExp {
  const characters = [...term].map((character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
  return new RegExp(characters.join('(?:=? )?'), 'giu');
}

function shorten(line: string): string {
  if (line.length <= longestReplyLength) return line;
  const start = line.slice(0, longestReplyLength - placeholder.length);
  // Never leave half of a surrogate pair.
  return start.replace(/[\ud800-\udbff]$/, '') + placeholder;
}
