/**
 * The pages' cookies.
 *
 * Owns: their names, their rules and the reading of the `Cookie` header. Invariants: no cookie holds a key, a value or an
 * address; the session's is HttpOnly and, over https, has the `__Host-` prefix (RFC 6265bis §4.1.3.2: Secure, for this
 * host alone, for every path), so that no neighbouring host or plain connection can plant one.
 */
import type { BegunSession } from '../core/accounts/accounts.ts';
import type { UnixSeconds } from '../core/time.ts';

/** The value of the first cookie of this name; `''` when there is none. @param cookies the raw `Cookie` header. */
export function cookieIn(cookies: string, name: string): string {
  const found = cookies.split(';').find((cookie) => cookie.trimStart().startsWith(`${name}=`));
  return found === undefined ? '' : found.slice(found.indexOf('=') + 1).trim();
}

export interface SessionCookie {
  /** The session's token as sent; `''` when there is none. */
  in(cookies: string): string;
  set(session: BegunSession, now: UnixSeconds): string;
  clear(): string;
}

/** @param isSecure whether the site is served over https. */
export function createSessionCookie(isSecure: boolean): SessionCookie {
  const name = isSecure ? '__Host-mayfly' : 'mayfly';
  // Lax rather than Strict: a link in a mail to the recent list should find its reader logged in, and every form of a
  // session carries its token besides.
  const rules = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    in: (cookies) => cookieIn(cookies, name),
    set: ({ token, expiresAt }, now) =>
      `${name}=${token.expose()}; Max-Age=${Math.max(0, expiresAt - now)}; ${rules}`,
    clear: () => `${name}=; Max-Age=0; ${rules}`,
  };
}

const languageName = 'mayfly-language';
const languageSeconds = 365 * 86_400;

export function languageIn(cookies: string): string {
  return cookieIn(cookies, languageName);
}

export interface CookieSite {
  /** `''`, or `/path`. */
  readonly basePath: string;
  readonly origin: string;
}

/** @param locale one of the offered tags. */
export function languageCookie(locale: string, site: CookieSite): string {
  return languageLine(locale, languageSeconds, site);
}

/** From then on the browser is asked again. */
export function clearLanguageCookie(site: CookieSite): string {
  return languageLine('', 0, site);
}

function languageLine(value: string, maxAgeSeconds: number, { basePath, origin }: CookieSite): string {
  const rules = `Path=${basePath}/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax`;
  return `${languageName}=${value}; ${rules}${origin.startsWith('https:') ? '; Secure' : ''}`;
}
