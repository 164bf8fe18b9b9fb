/**
 * A form on another site can change nothing (OWASP CSRF cheat sheet, Fetch Metadata):
 *
 * 1. `Sec-Fetch-Site` decides if present. It must be `same-origin` (our form) or `none` (typed by the person). Every current browser sends
 *    it over https and to localhost.
 * 2. Otherwise `Origin` decides. It must be ours, or the origin of the request's host (a share domain).
 * 3. With neither, or with `Origin: null` (which browsers send because of our `Referrer-Policy: no-referrer`), this check passes. The
 *    pipeline then requires, in every case, something that no other site can know:
 *    - A session's form carries the session's token (`formTokenField`).
 *    - A log-in, sign-up or forgotten-password form carries a token derived from a cookie of its browser (`SignInToken`), so that another
 *      site cannot log people in as somebody else.
 *    - All other forms without a session (share, open, burn) act only with the keys in their address: another site gains nothing that its
 *      own server could not do with the same keys.
 */
import { createHash, randomBytes } from 'node:crypto';
import { cookieIn } from './session.ts';

interface SignInToken {
  /** 32 hex digits. */
  readonly formToken: string;
  /** The cookie to set with the form; `null` if the browser already has one. */
  readonly cookie: string | null;
}

export type SignInTokenOf = (cookies: string) => SignInToken;

const valueForm = /^[0-9a-f]{32}$/;

/**
 * A form passes only with the token of the cookie sent with it. Another site can neither read that cookie nor, over https, plant one. An
 * existing cookie is kept, so that forms in several tabs all work. The token is a hash of the cookie; the server stores nothing.
 * @param isSecure whether the site is served over https
 */
export function createSignInTokens(isSecure: boolean): SignInTokenOf {
  const name = isSecure ? '__Host-mayfly-form' : 'mayfly-form';
  // Lax, not Strict: a page opened from an email would not get the cookie, and would replace the one that another tab uses.
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
