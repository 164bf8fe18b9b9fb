/**
 * The mark that lets the creator's browser show the link once, right after creation.
 *
 * Owns: one cookie. Invariant: it holds no key and no value, only the fact; it belongs to the path of one receipt, lives
 * a minute, is sent to no other site and seen by no script, and goes when it has been used.
 */
import { cookieIn } from '../cookies.ts';

const name = 'just-created';
const lifetimeSeconds = 60;

export interface JustCreated {
  /** For the answer to the creation. @param receiptPath the path of the receipt's page. */
  set(receiptPath: string): string;
  /** For the page that has shown the link. */
  clear(receiptPath: string): string;
  isIn(cookies: string): boolean;
}

/** @param isSecure whether the site is served over https. */
export function createJustCreated(isSecure: boolean): JustCreated {
  const rules = `HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  return {
    set: (path) => `${name}=1; Path=${path}; Max-Age=${lifetimeSeconds}; ${rules}`,
    clear: (path) => `${name}=; Path=${path}; Max-Age=0; ${rules}`,
    isIn: (cookies) => cookieIn(cookies, name) === '1',
  };
}
