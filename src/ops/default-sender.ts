/** The sender of mail where none is set. */
import { isIP } from 'node:net';

/** Mail needs a domain behind its @; an installation without one is being tried out (RFC 2606 keeps `.invalid` for that). */
function mailHostOf(url: string): string {
  const { hostname } = new URL(url);
  return hostname.includes('.') && isIP(hostname) === 0 ? hostname : 'mayfly.invalid';
}

export function defaultSender(baseUrl: string): string {
  return `mayfly@${mailHostOf(baseUrl)}`;
}
