/**
 * The nonce of the second look (`core/secrets/look.ts`) in a browser that need not run scripts: HKDF of a cookie of this browser
 * and of a field of this page view. Nobody else knows the cookie, so nobody can make somebody open a secret under a nonce of their
 * own; each page view has another field, so one opening says nothing about another. A reload sends both again.
 *
 * The cookie needs https or this machine. Without it a form opens strictly once.
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

/** @returns whether a browser keeps such a cookie from this host */
export function createKeepsCookies(isSecure: boolean): (host: string) => boolean {
  return (host) => isSecure || loopback.test(host);
}

/** For one view of a page; `cookie` is `null` if the browser has one. */
export function drawLook(cookies: string): { readonly field: string; readonly cookie: string | null } {
  const draw = () => randomBytes(partBytes).toString('base64url');
  // One that is there stays, so that forms in several tabs all work.
  const cookie = sixteenBytesForm.test(cookieIn(cookies, cookieName))
    ? null
    : `${cookieName}=${draw()}; Max-Age=${cookieSeconds}; Path=/; HttpOnly; Secure; SameSite=Strict`;
  return { field: draw(), cookie };
}

/** `null` if either is missing. @param field as the form sent it */
export function lookOf(cookies: string, field: string): Uint8Array | null {
  const cookie = cookieIn(cookies, cookieName);
  if (!sixteenBytesForm.test(cookie) || !sixteenBytesForm.test(field)) return null;
  const both = Buffer.concat([nonceIn(cookie), nonceIn(field)]);
  return new Uint8Array(hkdfSync('sha256', both, '', 'mayfly/1/look-form', partBytes));
}
