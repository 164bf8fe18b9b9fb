/**
 * A page as a value, what it can be refused for, and its response.
 *
 * A handler gets a request whose form is bounded and its own, and whose client is known; it answers with a page, a text or
 * a redirect. Only `toResponse` builds responses: every answer carries the common headers and a policy, and nothing that
 * repeats what was sent is compressed.
 */

import type { Caller, SignedIn } from '../../core/account.ts';
import type { IsAbandoned } from '../../core/ports/claims.ts';
import { acceptsGzip, gzip } from '../../http/compression.ts';
import { pageResponse, withCommonHeaders } from '../../http/headers.ts';
import type { LimitClass } from '../../http/operation.ts';
import { problemOf } from '../../http/pipeline.ts';
import { type Problem, RequestProblem } from '../../http/problem.ts';
import type { LimitedCall, LimitRefusal, RateLimiter } from '../../http/rate-limit.ts';
import type { Locale } from '../../locale/catalogues.ts';
import type { Brand } from '../brand/brand.ts';
import type { SiteFile } from '../client/assets.ts';
import type { Form } from './form.ts';
import { contentSecurityPolicy, type Frame } from './layout.tsx';
import type { RouteName } from './routes.ts';

export interface PageRequest {
  readonly frame: Frame;
  /** The key in the path as given; `''` when the path has none. */
  readonly key: string;
  readonly query: URLSearchParams;
  /** The raw `Host` header, which only ever chooses among what is configured (P20); `''` when there is none. */
  readonly host: string;
  readonly clientPrefix: string;
  /** The raw `Cookie` header; `''` when there is none. */
  readonly cookies: string;
  /** The raw `User-Agent` header; `''` when there is none. */
  readonly userAgent: string;
  /** `null` when nobody is logged in. */
  readonly signedIn: SignedIn | null;
  /** The account that is logged in, or anonymous. */
  readonly caller: Caller;
  /** Whether the browser has closed the connection by now. */
  readonly isAbandoned: IsAbandoned;
  /** Read once, bounded. Rejects with `RequestProblem`. */
  form(): Promise<Form>;
}

export interface PageReply {
  readonly status: number;
  readonly content:
    | { readonly kind: 'page'; readonly markup: string; readonly gzipped?: Uint8Array<ArrayBuffer> }
    | { readonly kind: 'text'; readonly text: string; readonly type: string }
    | { readonly kind: 'json'; readonly value: unknown }
    | { readonly kind: 'file'; readonly file: SiteFile }
    | { readonly kind: 'none' };
  readonly headers?: Readonly<Record<string, string>>;
  /** Any number of `Set-Cookie` values. */
  readonly cookies?: readonly string[];
  /** The page may start the worker that stretches passphrases. */
  readonly usesWorker?: true;
  /** Its script may show pictures that it made itself. */
  readonly showsPictures?: true;
  /** The page holds nothing that a request brings but its choice of language: its length tells nothing of a token in it. */
  readonly repeatsNothing?: true;
}

type PageHandler = (request: PageRequest) => PageReply | Promise<PageReply>;

export interface PageAction {
  readonly handle: PageHandler;
  /** Which limit its calls count against. */
  readonly limit: LimitClass;
  /** What its body may hold, where that is not the usual cap. */
  readonly bodyCapBytes?: number | ((caller: Caller) => number);
  /** Takes a file beside the fields of its form, as `multipart/form-data`, and so a larger body. */
  readonly takesFile?: true;
  /** All others are sent to the log-in, and their body is not read (P21). */
  readonly needsAccount?: true;
  /** The same for every visitor without a session and a query, but for language and brand: made once and kept. */
  readonly isStatic?: true;
  /** Answers in the page's own way what was refused around the handler; absent: with the common small page. */
  readonly refuse?: (request: PageRequest, problem: PageProblem) => Promise<PageReply>;
}

export interface PageRoute {
  readonly name: RouteName;
  /** Also answers HEAD. Changes nothing (P4). */
  readonly get?: PageAction;
  readonly post?: PageAction;
  /** A file, the same for everybody: nobody's session is looked up for it. */
  readonly isFile?: true;
  /**
   * Belongs to accounts, so it is never shown on a share domain, which is somebody else's: a person must not type a
   * password there.
   */
  readonly onSiteOnly?: true;
  /** A way into an account: while nobody is logged in, its form is bound to the browser that it was shown to. */
  readonly isSignIn?: true;
  /** Part of sharing, which the owner of a share domain may keep to itself. */
  readonly isSharing?: true;
  /** Shown as to a stranger when nobody's session can be looked up just now. */
  readonly needsNoSession?: true;
}

export function pageReply(status: number, markup: string, headers: PageReply['headers'] = {}): PageReply {
  return { status, content: { kind: 'page', markup }, headers };
}

/** 303: the browser goes on with GET, so that a reload repeats nothing (RFC 9110 §15.4.4). */
export function seeOther(location: string, cookies: readonly string[] = []): PageReply {
  return { status: 303, content: { kind: 'none' }, headers: { location }, cookies };
}

/**
 * 201: as `seeOther`, for a script, which cannot keep a browser from following a redirect (RFC 9110 §15.3.2). An empty page,
 * because of nothing at all a browser makes a document that says so, in a style that the policy blocks.
 */
export function createdAt(location: string, cookies: readonly string[]): PageReply {
  return { ...pageReply(201, '', { location }), cookies };
}

/** 307, as the router answers: the page is on another host. */
export function elsewhere(location: string): PageReply {
  return { status: 307, content: { kind: 'none' }, headers: { location } };
}

/** 308: the address has another spelling now (RFC 9110 §15.4.9). */
export function movedTo(location: string): PageReply {
  return { status: 308, content: { kind: 'none' }, headers: { location } };
}

export type PageProblem =
  | Problem
  /** The form was shown to another session than the one that sends it: somebody logged in or out in between. */
  | { readonly problem: 'stale_form' }
  /** No receipt has this key, or it is another account's. */
  | { readonly problem: 'unknown_receipt' };

export class StaleForm extends Error {
  override readonly name = 'StaleForm';
}

/** Counts one call against limits that all nodes share. Rejects with `RequestProblem`. */
export async function takeShared(
  limiter: Pick<RateLimiter, 'takeShared'>,
  calls: readonly LimitedCall[],
): Promise<void> {
  assertAllowed(await limiter.takeShared(calls));
}

/** @throws RequestProblem when a limit refused the call */
export function assertAllowed(refusal: LimitRefusal | null): void {
  if (refusal === null) return;
  const { retryAfterSeconds, headers } = refusal;
  throw new RequestProblem({ problem: 'rate_limited', retryAfterSeconds }, headers);
}

export function pageProblemOf(error: unknown, requestId: string): PageProblem {
  return error instanceof StaleForm ? { problem: 'stale_form' } : problemOf(error, requestId);
}

/** What an answer depends on besides itself. */
interface Answered {
  readonly request: Request;
  readonly requestId: string;
  readonly frame: Frame;
}

/** For what is no page and has none of its own: opened by itself, a picture runs, loads and sends nothing. */
const filePolicy = "default-src 'none'; frame-ancestors 'none'; sandbox";

export function toResponse(answered: Answered, reply: PageReply): Response {
  const response = contentResponse(answered, reply);
  response.headers.set('content-security-policy', policyOf(answered, reply));
  response.headers.set('cross-origin-opener-policy', 'same-origin');
  response.headers.set('cross-origin-resource-policy', 'same-origin');
  for (const [name, value] of Object.entries(reply.headers ?? {})) response.headers.set(name, value);
  for (const cookie of reply.cookies ?? []) response.headers.append('set-cookie', cookie);
  return isKnown(answered.request, response) ? notModified(response) : response;
}

/** Whether the client has it already (RFC 9110 §13.1.2). */
function isKnown({ headers }: Request, response: Response): boolean {
  const tag = response.headers.get('etag');
  return tag !== null && (headers.get('if-none-match') ?? '').includes(tag);
}

function notModified({ headers }: Response): Response {
  for (const name of ['content-length', 'content-type']) headers.delete(name);
  return new Response(null, { status: 304, headers });
}

function policyOf({ frame }: Answered, { content, usesWorker, showsPictures }: PageReply): string {
  const kind = showsPictures === true ? 'opening' : usesWorker === true ? 'worker' : 'plain';
  if (content.kind === 'page') return contentSecurityPolicy(frame.brand, kind);
  return (content.kind === 'file' ? content.file.policy : undefined) ?? filePolicy;
}

function contentResponse(answered: Answered, reply: PageReply): Response {
  const { status, content } = reply;
  const { requestId } = answered;
  switch (content.kind) {
    case 'page':
      return pageContent(answered, reply, content);
    case 'file':
      return fileResponse(content.file, acceptsGzip(answered.request), requestId);
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
 * Compressed is only an answer to a GET, where no form token can stand beside something that was sent. Otherwise the length
 * would tell, guess by guess, what stands beside the guess (BREACH).
 */
function mayCompress({ request, frame }: Answered, { repeatsNothing }: PageReply): boolean {
  const holdsToken = frame.formToken !== '' || frame.signInToken !== '';
  const isSafe = !holdsToken || repeatsNothing === true;
  return isSafe && request.method === 'GET' && acceptsGzip(request);
}

type PageContent = Extract<PageReply['content'], { kind: 'page' }>;

function pageContent(answered: Answered, reply: PageReply, { markup, gzipped }: PageContent): Response {
  const { status } = reply;
  const plain = pageResponse(status, markup, answered.requestId);
  // No cache may keep a page; one that does it nevertheless should not mix readers up.
  plain.headers.set('vary', 'Accept-Encoding, Accept-Language, Cookie');
  if (!mayCompress(answered, reply)) return plain;
  const packed = gzipped ?? gzip(markup, 6);
  plain.headers.set('content-encoding', 'gzip');
  return new Response(packed, { status, headers: plain.headers });
}

/** A rewritten script does not match its integrity, and a page without its script seals nothing. */
const forEver = 'public, max-age=31536000, immutable, no-transform';

function fileResponse(file: SiteFile, acceptsPacked: boolean, requestId: string): Response {
  const packed = acceptsPacked ? file.gzipped : null;
  const response = new Response(packed ?? file.bytes, { headers: { 'content-type': file.type } });
  withCommonHeaders(response, requestId).headers.set('cache-control', forEver);
  if (file.gzipped !== null) response.headers.set('vary', 'Accept-Encoding');
  if (packed !== null) response.headers.set('content-encoding', 'gzip');
  return response;
}

/**
 * Pages that are the same for every visitor without a session, rendered and compressed once, because that costs more for
 * the start page than everything else that is done for it. Such a page holds nothing of a request but its language and its
 * brand; one with a key, a query or a session is never kept.
 */
export interface StaticPages {
  /** The kept reply; otherwise that of `make`, kept when it is a page with status 200. */
  get(
    at: { readonly brand: Brand; readonly route: string; readonly locale: Locale },
    make: () => PageReply | Promise<PageReply>,
  ): Promise<PageReply>;
}

/** About 8 MB: every page in each language, for two brands. Bounded, because share domains bring brands without end. */
const maxKept = 256;

export function createStaticPages(): StaticPages {
  const kept = new Map<string, PageReply>();
  const numberOf = createNumbering();
  return {
    async get({ brand, route, locale }, make) {
      const key = `${numberOf(brand)} ${route} ${locale}`;
      const known = kept.get(key);
      if (known !== undefined) return known;
      const reply = await make();
      const { status, content, headers, cookies, ...rest } = reply;
      const isPlain = Object.keys(headers ?? {}).length === 0 && cookies === undefined;
      if (status !== 200 || content.kind !== 'page' || !isPlain) return reply;
      const gzipped = gzip(content.markup, 12);
      const packed: PageReply = { ...rest, status, content: { ...content, gzipped } };
      kept.set(key, packed);
      if (kept.size > maxKept) kept.delete(kept.keys().next().value ?? '');
      return packed;
    },
  };
}

/** A number for each brand, given again to none: its pages name it without keeping it. */
function createNumbering(): (brand: Brand) => number {
  const numbers = new WeakMap<Brand, number>();
  let last = 0;
  return (brand) => {
    const known = numbers.get(brand);
    if (known !== undefined) return known;
    last += 1;
    numbers.set(brand, last);
    return last;
  };
}
