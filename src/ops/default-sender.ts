/** The sender of mail where none is set, and what is said of it. */
import { isIP } from 'node:net';

/** Mail needs a domain behind its @; an installation without one is being tried out (RFC 2606 keeps `.invalid` for that). */
function mailHostOf(url: string): string {
  const { hostname } = new URL(url);
  return hostname.includes('.') && isIP(hostname) === 0 ? hostname : 'mayfly.invalid';
}

export function defaultSender(baseUrl: string): string {
  return `mayfly@${mailHostOf(baseUrl)}`;
}

/** What is said behind a sender that no mail server can answer to; `''` where there is nothing to say. */
export function senderAdvice(mailFrom: string): string {
  return mailFrom.endsWith('@mayfly.invalid') ? ', which is nobody’s address: set MAYFLY_MAIL_FROM' : '';
}
