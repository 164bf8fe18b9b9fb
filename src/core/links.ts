/** Every address that people are given, built from configuration and never from a request (P20). */
import { receiptLink, secretLink } from '../protocol/link.ts';
import type { Ticket } from './account.ts';
import type { MetadataKey, SecretKey } from './keys.ts';

export interface Links {
  /** Origin and path of this installation, without a trailing slash. */
  readonly baseUrl: string;
  /** The site's own host name, without a port. */
  readonly siteHost: string;
  /** In digits, even the scheme's default. */
  readonly sitePort: string;
  /** The link to share: on the share domain if there is one. */
  secretUrl(key: SecretKey, shareDomain: string): string;
  /** The creator's page, always on the site itself. */
  receiptUrl(key: MetadataKey): string;
  /** Completes a sign-up, with the mailed ticket. */
  signUpUrl(ticket: Ticket): string;
  /** Replaces a forgotten password, with the mailed ticket. */
  resetUrl(ticket: Ticket): string;
  readonly logInUrl: string;
  /** The list of an account's secrets. */
  readonly recentUrl: string;
  readonly forgottenUrl: string;
  /** Origin of the links on this share domain; of the site when it is `''`. */
  linkOrigin(shareDomain: string): string;
}

/** @param baseUrl an absolute http(s) URL, maybe with a path */
export function createLinks(baseUrl: string): Links {
  const parsed = new URL(baseUrl);
  const base = parsed.origin + parsed.pathname.replace(/\/+$/, '');
  return {
    baseUrl: base,
    siteHost: parsed.hostname,
    sitePort: parsed.port || (parsed.protocol === 'https:' ? '443' : '80'),
    secretUrl: (key, shareDomain) => secretLink(key, shareDomain, base),
    receiptUrl: (key) => receiptLink(key, base),
    signUpUrl: (ticket) => `${base}/sign-up/${ticket}`,
    resetUrl: (ticket) => `${base}/reset/${ticket}`,
    logInUrl: `${base}/log-in`,
    recentUrl: `${base}/recent`,
    forgottenUrl: `${base}/forgotten`,
    linkOrigin: (shareDomain) => (shareDomain === '' ? parsed.origin : `https://${shareDomain}`),
  };
}

/**
 * Whether a host name refers to this machine alone (RFC 6761 §6.3, RFC 1122 §3.2.1.3, RFC 4291 §2.5.3).
 * @param host in lower case; an IPv6 address with or without its brackets
 */
export function isLoopbackHost(host: string): boolean {
  return ['localhost', '::1', '[::1]'].includes(host) || /^127(?:\.[0-9]{1,3}){3}$/.test(host);
}

/** No host name has a colon or ends in a number. */
const addressForm = /:|^\d+(?:\.\d+){3}$/;

/** Hosts that no outsider can point elsewhere: addresses, `localhost` and single-label names. */
export function isPrivateName(name: string): boolean {
  return isLoopbackHost(name) || name.endsWith('.localhost') || addressForm.test(name) || !name.includes('.');
}

/** Whether a URL leads to this machine, whichever machine opens it. */
export function isLoopbackUrl(url: string): boolean {
  return isLoopbackHost(new URL(url).hostname);
}
