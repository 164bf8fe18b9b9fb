/**
 * Derives the second look's nonce (`core/secrets/look.ts`) without scripts, by HKDF from this browser's cookie and a form field of this
 * page view. Only this browser knows the cookie, so attackers cannot make someone open a secret under the attackers' nonce. Each page view
 * has a new field, so one opening reveals nothing about another. A reload sends both again.
 *
 * The cookie needs https or localhost. Without it, a form opens its secret strictly once.
 */
import { hkdfSync, randomBytes } from 'node:crypto';
import { nonceIn } from '../../core/secrets/look.ts';
import { sixteenBytesForm } from '../../protocol/base64url.ts';
import { cookieIn } from '../kit/session.ts';

const cookieName = '__Host-mayfly-look';
const cookieSeconds = 3_600;
const partBytes = 16;

export const lookFieldName = 'look';

const loopback = /^(?:localhost|(?:[\w-]+\.)+localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/** Returns a function that checks whether browsers keep a host's cookie. */
export function createKeepsCookies(isSecure: boolean): (host: string) => boolean {
  return (host) => isSecure || loopback.test(host);
}

const draw = () => randomBytes(partBytes).toString('base64url');

/**
 * Draws the field for one page view, and gives the cookie another hour. Keeps its value, so that forms in several tabs all work.
 * Lax, not Strict: a page opened from an email would not get the cookie, and would replace the one that another tab uses.
 */
export function drawLook(cookies: string): { readonly field: string; readonly cookie: string } {
  const kept = cookieIn(cookies, cookieName);
  const value = sixteenBytesForm.test(kept) ? kept : draw();
  const cookie = `${cookieName}=${value}; Max-Age=${cookieSeconds}; Path=/; HttpOnly; Secure; SameSite=Lax`;
  return { field: draw(), cookie };
}

/** Returns `null` if the cookie or field is missing or malformed. @param field as the form sent it */
export function lookOf(cookies: string, field: string): Uint8Array | null {
  const cookie = cookieIn(cookies, cookieName);
  if (!sixteenBytesForm.test(cookie) || !sixteenBytesForm.test(field)) return null;
  const both = Buffer.concat([nonceIn(cookie), nonceIn(field)]);
  return new Uint8Array(hkdfSync('sha256', both, '', 'mayfly/1/look-form', partBytes));
}
