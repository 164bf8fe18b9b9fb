/** All URLs given to people, built from configuration and never from a request (P20). */
import { receiptLink, secretLink } from '../protocol/link.ts';
import type { Ticket } from './account.ts';
import type { MetadataKey, SecretKey } from './keys.ts';

export interface Links {
  /** Origin and path of this installation, without a trailing slash. */
  readonly baseUrl: string;
  /** The site's own host name, without a port. */
  readonly siteHost: string;
  /** The port in digits, even if it is the scheme's default. */
  readonly sitePort: string;
  /** Returns the link to share, on the share domain if there is one. */
  secretUrl(key: SecretKey, shareDomain: string): string;
  /** Returns the creator's page, always on the site itself. */
  receiptUrl(key: MetadataKey): string;
  /** Returns the link that completes a sign-up. */
  signUpUrl(ticket: Ticket): string;
  /** Returns the link that sets a new password. */
  resetUrl(ticket: Ticket): string;
  readonly logInUrl: string;
  /** The page that lists an account's secrets. */
  readonly recentUrl: string;
  readonly forgottenUrl: string;
  /** Returns the origin of links on this share domain, or the site's origin for `''`. */
  linkOrigin(shareDomain: string): string;
}

/** @param baseUrl an absolute http(s) URL, possibly with a path */
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
 * Checks whether a host name refers to this machine alone (RFC 6761 §6.3, RFC 1122 §3.2.1.3, RFC 4291 §2.5.3).
 * @param host in lower case; an IPv6 address with or without brackets
 */
export function isLoopbackHost(host: string): boolean {
  return ['localhost', '::1', '[::1]'].includes(host) || /^127(?:\.[0-9]{1,3}){3}$/.test(host);
}

/** No host name has a colon or ends in a number. */
const addressForm = /:|^\d+(?:\.\d+){3}$/;

/** Checks for a host that no outsider can point elsewhere: an address, `localhost` or a single-label name. */
export function isPrivateName(name: string): boolean {
  return isLoopbackHost(name) || name.endsWith('.localhost') || addressForm.test(name) || !name.includes('.');
}

/** Checks whether a URL always points to the machine that opens it. */
export function isLoopbackUrl(url: string): boolean {
  return isLoopbackHost(new URL(url).hostname);
}

/** Recognises a trial: other machines can neither connect nor follow links. */
export function isForThisMachineAlone({
  host,
  baseUrl,
}: {
  readonly host: string;
  readonly baseUrl: string;
}): boolean {
  return isLoopbackHost(host.toLowerCase()) && isLoopbackUrl(baseUrl);
}
