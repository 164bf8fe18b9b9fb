/**
 * What this browser itself has done with a secret: made it, opened it or burned it. So its page can warn someone who made it without
 * an account, and say later "you opened it here", which the server says to nobody else (P17): it only repeats what the browser sends.
 *
 * No script reads it, and it holds no value. While a secret waits, its key is the link: the cookie of the browser that made it holds a
 * hash of the key, and its path does not name the key (P18). Later the key opens nothing, and the cookie belongs to the path of that
 * one secret.
 */
import { createHash } from 'node:crypto';
import { cookieIn } from '../kit/session.ts';

export interface Ended {
  readonly what: 'opened' | 'burned';
  readonly at: number;
}

export interface HereCookie {
  /** For the answer to the creation, as long as the secret may wait. */
  made(secretPath: string, ttlSeconds: number): string;
  ended(secretPath: string, ended: Ended): string;
  isMadeHere(cookies: string, secretPath: string): boolean;
  endedHere(cookies: string): Ended | null;
}

const name = 'here';
const endedSeconds = 7 * 86_400;
const endedForm = /^(opened|burned)-(\d{10})$/;

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

/**
 * One of sixteen, so that a browser that makes many links sends few: a newer link takes an older one's place. 96 bits of a key that
 * has 160: nobody gets from one to the other.
 */
function madeCookie(secretPath: string): { readonly name: string; readonly value: string } {
  const digest = createHash('sha256').update(`mayfly/here ${secretPath}`).digest('hex');
  return { name: `made-${digest.slice(0, 1)}`, value: digest.slice(1, 25) };
}

/** @param isSecure whether the site is served over https. */
export function createHereCookie(isSecure: boolean): HereCookie {
  const rules = `HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  return {
    made(path, ttlSeconds) {
      const made = madeCookie(path);
      return `${made.name}=${made.value}; Path=${folderOf(path)}; Max-Age=${ttlSeconds}; ${rules}`;
    },
    ended: (path, { what, at }) => `${name}=${what}-${at}; Path=${path}; Max-Age=${endedSeconds}; ${rules}`,
    isMadeHere(cookies, path) {
      const made = madeCookie(path);
      return cookieIn(cookies, made.name) === made.value;
    },
    endedHere(cookies) {
      const [, what, at] = endedForm.exec(cookieIn(cookies, name)) ?? [];
      return what === 'opened' || what === 'burned' ? { what, at: Number(at) } : null;
    },
  };
}
