/**
 * From a page as a value to its response.
 *
 * Owns: the headers that say how an answer may be used, and what is compressed. Invariants: every answer carries the
 * common headers and a policy; nothing that repeats what was sent is compressed.
 */

import type { Call } from '../http/exchange.ts';
import { pageResponse, withCommonHeaders } from '../http/headers.ts';
import type { SiteFile } from './assets.ts';
import { gzip } from './gzip.ts';
import { contentSecurityPolicy, type Frame } from './kit/layout.tsx';
import type { PageReply } from './page-route.ts';

/** What an answer depends on besides itself. */
export interface Answered {
  readonly call: Call;
  readonly frame: Frame;
}

/** For what is no page: opened by itself, a picture runs, loads and sends nothing. */
const filePolicy = "default-src 'none'; frame-ancestors 'none'; sandbox";

export function toResponse(answered: Answered, reply: PageReply): Response {
  const response = contentResponse(answered, reply);
  const isPage = reply.content.kind === 'page';
  const policy = isPage ? contentSecurityPolicy(answered.frame.brand) : filePolicy;
  response.headers.set('content-security-policy', policy);
  response.headers.set('cross-origin-opener-policy', 'same-origin');
  response.headers.set('cross-origin-resource-policy', 'same-origin');
  for (const [name, value] of Object.entries(reply.headers ?? {})) response.headers.set(name, value);
  for (const cookie of reply.cookies ?? []) response.headers.append('set-cookie', cookie);
  return response;
}

function contentResponse(answered: Answered, { status, content }: PageReply): Response {
  const { requestId } = answered.call;
  switch (content.kind) {
    case 'page':
      return pageContent(answered, status, content);
    case 'file':
      return fileResponse(content.file, acceptsGzip(answered.call.request), requestId);
    case 'none':
      return withCommonHeaders(new Response(null, { status }), requestId);
    case 'json':
      return withCommonHeaders(Response.json(content.value, { status }), requestId);
    case 'text': {
      const response = new Response(content.text, { status, headers: { 'content-type': content.type } });
      return withCommonHeaders(response, requestId);
    }
  }
}

/**
 * Compressed is only what repeats nothing that was sent: an answer to a GET that holds no form token. Otherwise
 * the length would tell, guess by guess, what stands beside the guess (BREACH).
 */
function mayCompress({ call, frame }: Answered): boolean {
  const holdsToken = frame.formToken !== '' || frame.signInToken !== '';
  return !holdsToken && call.request.method === 'GET' && acceptsGzip(call.request);
}

function acceptsGzip(request: Request): boolean {
  return /(?:^|,)\s*gzip\s*(?:,|;(?!\s*q=0(?:\.0*)?\s*(?:,|$))|$)/i.test(
    request.headers.get('accept-encoding') ?? '',
  );
}

type PageContent = Extract<PageReply['content'], { kind: 'page' }>;

function pageContent(answered: Answered, status: number, { markup, gzipped }: PageContent): Response {
  const plain = pageResponse(status, markup, answered.call.requestId);
  // No cache may keep a page; one that does it nevertheless should not mix readers up.
  plain.headers.set('vary', 'Accept-Encoding, Accept-Language, Cookie');
  if (!mayCompress(answered)) return plain;
  const packed = gzipped ?? gzip(markup, 6);
  plain.headers.set('content-encoding', 'gzip');
  return new Response(packed, { status, headers: plain.headers });
}

const forEver = 'public, max-age=31536000, immutable';

function fileResponse(file: SiteFile, acceptsPacked: boolean, requestId: string): Response {
  const packed = acceptsPacked ? file.gzipped : null;
  const response = new Response(packed ?? file.bytes, { headers: { 'content-type': file.type } });
  withCommonHeaders(response, requestId).headers.set('cache-control', forEver);
  if (file.gzipped !== null) response.headers.set('vary', 'Accept-Encoding');
  if (packed !== null) response.headers.set('content-encoding', 'gzip');
  return response;
}
