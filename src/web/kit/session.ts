/**
 * Binds a session to one browser. No cookie contains a key, a value or an address. Over https, the session's cookie and the sign-in form's
 * have the `__Host-` prefix (RFC 6265bis §4.1.3.2: Secure, this host only, every path), so that no neighbouring host or plain connection
 * can plant one.
 */
import type { BegunSession } from '../../core/account.ts';
import type { UnixSeconds } from '../../core/time.ts';

/** Returns the first cookie with this name, or `''` if there is none. @param cookies the raw `Cookie` header */
export function cookieIn(cookies: string, name: string): string {
  const found = cookies.split(';').find((cookie) => cookie.trimStart().startsWith(`${name}=`));
  return found === undefined ? '' : found.slice(found.indexOf('=') + 1).trim();
}

export interface SessionCookie {
  /** Returns the session's token as sent, or `''` if there is none. */
  in(cookies: string): string;
  set(session: BegunSession, now: UnixSeconds): string;
  clear(): string;
}

export function createSessionCookie(isSecure: boolean): SessionCookie {
  const name = isSecure ? '__Host-mayfly' : 'mayfly';
  // Lax, not Strict: a reader who follows an emailed link to the recent list should be logged in. Forms carry the session's token anyway.
  const rules = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    in: (cookies) => cookieIn(cookies, name),
    set: ({ token, expiresAt }, now) =>
      `${name}=${token.expose()}; Max-Age=${Math.max(0, expiresAt - now)}; ${rules}`,
    clear: () => `${name}=; Max-Age=0; ${rules}`,
  };
}
