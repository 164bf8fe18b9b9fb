/**
 * The headers that every answer carries, refusals included: caching, sniffing, referrer and robots rules (P19), and the
 * request id, which is drawn here and never taken from a request. The sets are built once and copied natively per answer,
 * because building six headers from an object costs twice as much as copying them.
 */
import { systemRandom } from '../crypto/random.ts';

const jsonContentType = 'application/json; charset=utf-8';
const htmlContentType = 'text/html; charset=utf-8';

/** The rules alone, for whoever builds another kind of answer. */
const commonHeaders: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex, nofollow, noarchive',
};

const bare = new Headers(commonHeaders);
const json = new Headers({ ...commonHeaders, 'content-type': jsonContentType });
/** A page with an address rewritten or a script added on its way is not ours any more (RFC 9111 §5.2.2.6). */
const html = new Headers({ ...commonHeaders, 'content-type': htmlContentType });
html.set('cache-control', 'no-store, no-transform');

const requestIdBytes = 10;

/** 20 random hex digits. */
export function newRequestId(): string {
  return systemRandom(requestIdBytes).toHex();
}

/** A JSON answer, or one without content when `text` is `null`. Headers may be added to it. */
export function jsonResponse(status: number, text: string | null, requestId: string): Response {
  const response = new Response(text, { status, headers: text === null ? bare : json });
  response.headers.set('x-request-id', requestId);
  return response;
}

/** A page; the caller adds its own content security policy. */
export function pageResponse(status: number, markup: string, requestId: string): Response {
  const response = new Response(markup, { status, headers: html });
  response.headers.set('x-request-id', requestId);
  return response;
}

/** Gives an answer that something else built (a redirect, a file) the common headers, in place. */
export function withCommonHeaders(response: Response, requestId: string): Response {
  for (const name in commonHeaders) response.headers.set(name, commonHeaders[name] ?? '');
  response.headers.set('x-request-id', requestId);
  return response;
}

/** States the length for HEAD (RFC 9110 §8.6): its answer is sent without the content, so the runtime would say 0. */
export function declareLength(response: Response, content: string | Uint8Array): void {
  response.headers.set('content-length', String(Buffer.byteLength(content)));
}

export function addHeaders(headers: Headers, added: Readonly<Record<string, string>>): void {
  for (const name in added) headers.set(name, added[name] ?? '');
}
