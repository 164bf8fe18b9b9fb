/**
 * Links, built from configuration and never from a request (P20).
 *
 * Owns: the form of every address a person is given.
 */
import type { Ticket } from './accounts/accounts.ts';
import type { MetadataKey, SecretKey } from './keys.ts';

export interface Links {
  /** Origin and path of this installation, without a trailing slash. */
  readonly baseUrl: string;
  /** The site's own host name, without a port. */
  readonly siteHost: string;
  /** Its port in digits, also where the scheme's own one is not written. */
  readonly sitePort: string;
  /** The link to give away: on the share domain when there is one. */
  secretUrl(key: SecretKey, shareDomain: string): string;
  /** The creator's page, always on the site itself. */
  receiptUrl(key: MetadataKey): string;
  /** Where a sign-up is completed, with the ticket of the mail. */
  signUpUrl(ticket: Ticket): string;
  /** Where a forgotten password is replaced, with the ticket of the mail. */
  resetUrl(ticket: Ticket): string;
  readonly logInUrl: string;
  /** Where an account's secrets are listed. */
  readonly recentUrl: string;
  readonly forgottenUrl: string;
  /** Origin of the links on this share domain; of the site when it is `''`. */
  linkOrigin(shareDomain: string): string;
}

/** @param baseUrl an absolute http(s) URL; a path in it is kept. */
export function createLinks(baseUrl: string): Links {
  const parsed = new URL(baseUrl);
  const base = parsed.origin + parsed.pathname.replace(/\/+$/, '');
  const path = base.slice(parsed.origin.length);
  const baseFor = (shareDomain: string) => (shareDomain === '' ? base : `https://${shareDomain}${path}`);
  return {
    baseUrl: base,
    siteHost: parsed.hostname,
    sitePort: parsed.port || (parsed.protocol === 'https:' ? '443' : '80'),
    secretUrl: (key, shareDomain) => `${baseFor(shareDomain)}/secret/${key}`,
    receiptUrl: (key) => `${base}/receipt/${key}`,
    signUpUrl: (ticket) => `${base}/sign-up/${ticket}`,
    resetUrl: (ticket) => `${base}/reset/${ticket}`,
    logInUrl: `${base}/log-in`,
    recentUrl: `${base}/recent`,
    forgottenUrl: `${base}/forgotten`,
    linkOrigin: (shareDomain) => (shareDomain === '' ? parsed.origin : `https://${shareDomain}`),
  };
}
