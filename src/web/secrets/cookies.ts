/** Cookies about one secret in one browser. No script can read them, and none contains a value or a key that opens anything. */
import { createHash } from 'node:crypto';
import { codeSeconds } from '../../core/ports/codes.ts';
import { lookSeconds } from '../../protocol/limits.ts';
import { cookieIn } from '../kit/session.ts';
import { lookOf } from './look-cookie.ts';

export interface Ended {
  readonly what: 'opened' | 'burned';
  readonly at: number;
}

const name = 'here';
const endedSeconds = 7 * 86_400;
const endedForm = /^(opened|burned)-(\d{10})$/;

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

/** Half of the nonce under which this browser asked for a code, and the obfuscated address. */
export interface CodeSent {
  readonly field: string;
  readonly to: string;
}

/** Uses few names, so that a browser with many links sends few cookies. 96 bits of hash are too few to recover a 160-bit key. */
function namedAfter(what: 'made' | 'code', secretPath: string) {
  const digest = createHash('sha256').update(`mayfly/here ${secretPath}`).digest('hex');
  // Codes do not last long, and one must not take another's place.
  const nameLength = what === 'made' ? 1 : 4;
  return { name: `${what}-${digest.slice(0, nameLength)}`, value: digest.slice(4, 28) };
}

/** Lax, so that a link that is opened from a mail or a chat has them as well. */
const rulesFor = (isSecure: boolean) => `HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;

/**
 * What this browser did with a secret: created, opened or burned it. The secret's page can then warn a creator without an account, and
 * later show "you opened it here". It repeats only what the browser sends (P17).
 *
 * While a secret waits, its key is the link, so the cookie's value is a hash of the key, and its path omits the key (P18). Later the key
 * opens nothing, so the cookie is scoped to that secret's path.
 */
export function createHereCookie(isSecure: boolean) {
  const rules = rulesFor(isSecure);
  return {
    made(secretPath: string, ttlSeconds: number): string {
      const made = namedAfter('made', secretPath);
      return `${made.name}=${made.value}; Path=${folderOf(secretPath)}; Max-Age=${ttlSeconds}; ${rules}`;
    },
    ended: (secretPath: string, { what, at }: Ended) =>
      `${name}=${what}-${at}; Path=${secretPath}; Max-Age=${endedSeconds}; ${rules}`,
    isMadeHere(cookies: string, secretPath: string): boolean {
      const made = namedAfter('made', secretPath);
      return cookieIn(cookies, made.name) === made.value;
    },
    /** Kept for as long as the second look that its code may open. */
    codeSent(secretPath: string, { field, to }: CodeSent): string {
      const { name, value } = namedAfter('code', secretPath);
      const kept = `${name}=${value}.${field}.${Buffer.from(to).toString('base64url')}`;
      return `${kept}; Path=${folderOf(secretPath)}; Max-Age=${codeSeconds + lookSeconds}; ${rules}`;
    },
    /** Returns `null` also without the nonce's other half. */
    codeSentHere(cookies: string, secretPath: string): CodeSent | null {
      const { name, value } = namedAfter('code', secretPath);
      const [secret, field = '', to = ''] = cookieIn(cookies, name).split('.');
      if (secret !== value || lookOf(cookies, field) === null) return null;
      return { field, to: Buffer.from(to, 'base64url').toString() };
    },
    endedHere(cookies: string): Ended | null {
      const [, what, at] = endedForm.exec(cookieIn(cookies, name)) ?? [];
      return what === 'opened' || what === 'burned' ? { what, at: Number(at) } : null;
    },
  };
}
export type HereCookie = ReturnType<typeof createHereCookie>;

/** Lets the creator's browser show the link once, right after creation. The cookie is scoped to the receipt's path and cleared on use. */
export function createJustCreated(isSecure: boolean) {
  const created = 'just-created';
  const rules = rulesFor(isSecure);
  return {
    set: (receiptPath: string) => `${created}=1; Path=${receiptPath}; Max-Age=60; ${rules}`,
    clear: (receiptPath: string) => `${created}=; Path=${receiptPath}; Max-Age=0; ${rules}`,
    isIn: (cookies: string) => cookieIn(cookies, created) === '1',
  };
}
export type JustCreated = ReturnType<typeof createJustCreated>;
