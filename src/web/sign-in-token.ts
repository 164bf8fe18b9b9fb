/**
 * What binds a form of a way into an account to the browser that it was shown to, while there is no session to do it.
 *
 * Invariant: a form passes only with the token that follows from the cookie beside it, so another site can neither log
 * somebody in as whom it likes nor act in their place: it neither reads the cookie nor, over https, plants one (`__Host-`). A cookie that is there stays as it
 * is, so that forms in several tabs all work. The token is a hash of the cookie and the server keeps nothing.
 */
import { createHash, randomBytes } from 'node:crypto';
import { cookieIn } from './cookies.ts';

export interface SignInToken {
  /** What the form carries: 32 hex digits. */
  readonly formToken: string;
  /** The cookie to set with the form; `null` when the browser has one. */
  readonly cookie: string | null;
}

export type SignInTokenOf = (cookies: string) => SignInToken;

const valueForm = /^[0-9a-f]{32}$/;

/** @param isSecure whether the site is served over https. */
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
