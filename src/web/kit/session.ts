/**
 * What binds a session and a form to one browser. No cookie holds a key, a value or an address. Over https those of a
 * session and of a way in have the `__Host-` prefix (RFC 6265bis §4.1.3.2: Secure, for this host alone, for every path), so
 * that no neighbouring host or plain connection can plant one.
 *
 * Another site's form changes nothing (OWASP CSRF cheat sheet, Fetch Metadata); a browser that says where a form was is
 * believed:
 *
 * 1. `Sec-Fetch-Site` decides when it is there: `same-origin` (a form of ours) or `none` (typed by the person).
 *    Every current browser sends it over https and to localhost.
 * 2. Without it `Origin` decides: ours, or the origin of the host the request was sent to (a share domain).
 * 3. With neither, or with `Origin: null` (which our own `Referrer-Policy: no-referrer` makes browsers send), the form
 *    passes this check, and the pipeline goes on with what no other site can know, whatever the browser says or leaves out:
 *    - A form of a session carries that session's own token (`formTokenField`).
 *    - A form of a way into an account (log-in, sign-up, forgotten password) carries one that follows from a cookie of the
 *      browser that it was shown to (`SignInToken`), so that nobody is logged in as somebody else.
 *    - Every other form without a session (share, open, burn) acts with nothing but the keys in its own address, so
 *      another site could only do in this browser what it can do from its own server, with keys it has already.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { BegunSession } from '../../core/account.ts';
import type { UnixSeconds } from '../../core/time.ts';

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

interface SignInToken {
  /** What the form carries: 32 hex digits. */
  readonly formToken: string;
  /** The cookie to set with the form; `null` when the browser has one. */
  readonly cookie: string | null;
}

export type SignInTokenOf = (cookies: string) => SignInToken;

const valueForm = /^[0-9a-f]{32}$/;

/**
 * A form passes only with the token that follows from the cookie sent with it, so another site can neither log somebody in
 * as whom it likes nor act in their place: it neither reads the cookie nor, over https, plants one. A cookie that is there
 * stays as it is, so that forms in several tabs all work. The token is a hash of the cookie; the server keeps nothing.
 * @param isSecure whether the site is served over https.
 */
export function createSignInTokens(isSecure: boolean): SignInTokenOf {
  const name = isSecure ? '__Host-mayfly-form' : 'mayfly-form';
  // Lax rather than Strict: a mailed link has to find the cookie there, or it would replace that of another tab.
  const rules = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return (cookies) => {
    const sent = cookieIn(cookies, name);
    if (valueForm.test(sent)) return { formToken: tokenOf(sent), cookie: null };
    const value = randomBytes(16).toString('hex');
    return { formToken: tokenOf(value), cookie: `${name}=${value}; ${rules}` };
  };
}

function tokenOf(value: string): string {
  return createHash('sha256').update(`mayfly/1/sign-in-form ${value}`).digest('hex').slice(0, 32);
}

export const formTokenField = 'form-token';

export function isOwnForm(request: Request, siteOrigin: string): boolean {
  const site = request.headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin' || site === 'none';
  const origin = request.headers.get('origin');
  if (origin === null || origin === 'null' || origin === siteOrigin) return true;
  return URL.parse(origin)?.host === request.headers.get('host');
}
