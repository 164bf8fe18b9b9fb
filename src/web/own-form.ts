/**
 * Whether a POST comes from a form of this site.
 *
 * Owns: the defence against forms of other sites (OWASP CSRF cheat sheet, Fetch Metadata). Invariant: a browser that says
 * where a form was is believed; another site's form changes nothing.
 *
 * 1. `Sec-Fetch-Site` decides when it is there: `same-origin` (a form of ours) or `none` (typed by the person).
 *    Every current browser sends it over https and to localhost.
 * 2. Without it `Origin` decides: ours, or the origin of the host the request was sent to (a share domain).
 * 3. With neither, or with `Origin: null` (which our own `Referrer-Policy: no-referrer` makes browsers send), the form
 *    passes this check, and `serve.ts` goes on with what no other site can know, whatever the browser says or leaves out:
 *    - A form of a session carries that session's own token (`formTokenField`).
 *    - A form of a way into an account (log-in, sign-up, forgotten password) carries one that follows from a cookie of the
 *      browser that it was shown to (`sign-in-token.ts`), so that nobody is logged in as somebody else.
 *    - Every other form without a session (share, open, burn) acts with nothing but the keys in its own address, so
 *      another site could only do in this browser what it can do from its own server, with keys it has already.
 */
export const formTokenField = 'form-token';

export function isOwnForm(request: Request, siteOrigin: string): boolean {
  const site = request.headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin' || site === 'none';
  const origin = request.headers.get('origin');
  if (origin === null || origin === 'null' || origin === siteOrigin) return true;
  return URL.parse(origin)?.host === request.headers.get('host');
}
