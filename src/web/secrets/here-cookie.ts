/**
 * What this browser itself has done with a secret: made it, opened it or burned it. So its page can warn whoever made it without an
 * account, and say later "you opened it here", which the server says to nobody else (P17): it only repeats what the browser sends.
 *
 * The cookie belongs to the path of that one secret, holds no key and no value, and no script reads it.
 */
import { cookieIn } from '../kit/session.ts';

export interface Ended {
  readonly what: 'opened' | 'burned';
  readonly at: number;
}

export interface HereCookie {
  /** For the answer to the creation, as long as the secret may wait. */
  made(secretPath: string, ttlSeconds: number): string;
  ended(secretPath: string, ended: Ended): string;
  isMadeHere(cookies: string): boolean;
  endedHere(cookies: string): Ended | null;
}

const name = 'here';
const endedSeconds = 7 * 86_400;
const endedForm = /^(opened|burned)-(\d{10})$/;

/** @param isSecure whether the site is served over https. */
export function createHereCookie(isSecure: boolean): HereCookie {
  const rules = `HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  const set = (value: string, path: string, seconds: number) =>
    `${name}=${value}; Path=${path}; Max-Age=${seconds}; ${rules}`;
  return {
    made: (path, ttlSeconds) => set('made', path, ttlSeconds),
    ended: (path, { what, at }) => set(`${what}-${at}`, path, endedSeconds),
    isMadeHere: (cookies) => cookieIn(cookies, name) === 'made',
    endedHere(cookies) {
      const [, what, at] = endedForm.exec(cookieIn(cookies, name)) ?? [];
      return what === 'opened' || what === 'burned' ? { what, at: Number(at) } : null;
    },
  };
}
