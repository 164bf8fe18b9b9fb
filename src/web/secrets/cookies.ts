/** Cookies about one secret in one browser. No script can read them, and none contains a value or a key that opens anything. */
import { createHash } from 'node:crypto';
import { cookieIn } from '../kit/session.ts';

export interface Ended {
  readonly what: 'opened' | 'burned';
  readonly at: number;
}

/**
 * What this browser did with a secret: created, opened or burned it. The secret's page can then warn a creator without an account, and
 * later show "you opened it here". It repeats only what the browser sends (P17).
 *
 * While a secret waits, its key is the link, so the cookie's value is a hash of the key, and its path omits the key (P18). Later the key
 * opens nothing, so the cookie is scoped to that secret's path.
 */
export interface HereCookie {
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

/** Uses one of sixteen names, so that a browser with many links sends few cookies. 96 bits of hash are too few to recover a 160-bit key. */
function madeCookie(secretPath: string): { readonly name: string; readonly value: string } {
  const digest = createHash('sha256').update(`mayfly/here ${secretPath}`).digest('hex');
  return { name: `made-${digest.slice(0, 1)}`, value: digest.slice(1, 25) };
}

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

/** Lets the creator's browser show the link once, right after creation. The cookie is scoped to the receipt's path and cleared on use. */
export interface JustCreated {
  set(receiptPath: string): string;
  clear(receiptPath: string): string;
  isIn(cookies: string): boolean;
}

export function createJustCreated(isSecure: boolean): JustCreated {
  const created = 'just-created';
  const rules = `HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  return {
    set: (path) => `${created}=1; Path=${path}; Max-Age=60; ${rules}`,
    clear: (path) => `${created}=; Path=${path}; Max-Age=0; ${rules}`,
    isIn: (cookies) => cookieIn(cookies, created) === '1',
  };
}
