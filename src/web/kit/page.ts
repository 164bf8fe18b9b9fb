/**
 * A page as a value, its problems, and its response. Only `toResponse` builds responses: each has the common headers and a policy, and none
 * that may repeat input next to a form token is compressed.
 */
import type { FC } from 'hono/jsx';
import type { Caller, SignedIn } from '../../core/account.ts';
import type { IsAbandoned } from '../../core/ports/claims.ts';
import { accepts, gzip } from '../../http/compression.ts';
import { pageResponse, withCommonHeaders } from '../../http/headers.ts';
import type { LimitClass } from '../../http/operation.ts';
import { problemOf } from '../../http/pipeline.ts';
import { type Problem, RequestProblem } from '../../http/problem.ts';
import type { LimitedCall, LimitRefusal, RateLimiter } from '../../http/rate-limit.ts';
import type { Locale } from '../../locale/catalogues.ts';
import type { SiteFile } from '../assets/assets.ts';
import type { Brand } from '../brand/brand.ts';
import type { Form } from './form.ts';
import { contentSecurityPolicy, type Frame } from './layout.tsx';
import type { RouteName } from './routes.ts';

export interface PageRequest {
  readonly frame: Frame;
  /** The key in the path, as given; `''` if there is none. */
  readonly key: string;
  readonly query: URLSearchParams;
  /** The raw `Host` header; `''` if there is none. It only selects among configured hosts (P20). */
  readonly host: string;
  readonly clientPrefix: string;
  readonly cookies: string;
  readonly userAgent: string;
  /** `null` without a session. */
  readonly signedIn: SignedIn | null;
  readonly caller: Caller;
  /** Whether the browser has closed the connection. */
  readonly isAbandoned: IsAbandoned;
  /**
   * Does one of the things that a form asks for, and returns a problem rather than lose what the others did.
   * @param isAnother counts it against the limit; the first was counted as the request
   */
  attempt<T>(isAnother: boolean, act: () => Promise<T>): Promise<T | PageProblem>;
  /** Reads the body once, up to a limit. Rejects with `RequestProblem`. */
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
  /** The page's script may show pictures that it decrypted. */
  readonly showsPictures?: true;
  /** The page repeats nothing of the request but its language, so its length reveals nothing about a token in it. */
  readonly repeatsNothing?: true;
}

type PageHandler = (request: PageRequest) => PageReply | Promise<PageReply>;

export interface PageAction {
  readonly handle: PageHandler;
  readonly limit: LimitClass;
  readonly bodyCapBytes?: number | ((caller: Caller) => number);
  /** Accepts a file in its form (`multipart/form-data`), and therefore a larger body. */
  readonly takesFile?: true;
  /** Sends logged-out visitors to the log-in without reading the body of their request (P21). */
  readonly needsAccount?: true;
  /** The same for every visitor without a session or query, except for language and brand: rendered once and kept. */
  readonly isStatic?: true;
  /** Handles problems that arise outside the handler; if absent, the error page is shown. */
  readonly refuse?: (request: PageRequest, problem: PageProblem) => Promise<PageReply>;
}

export interface PageRoute {
  readonly name: RouteName;
  /** Also handles HEAD. Changes nothing (P4). */
  readonly get?: PageAction;
  readonly post?: PageAction;
  /** A file, the same for everyone: no session is looked up. */
  readonly isFile?: true;
  /** Never served on a share domain: people must not type a password on somebody else's host. */
  readonly onSiteOnly?: true;
  /** Logs in or signs up: without a session, its form is bound to the browser that received it. */
  readonly isSignIn?: true;
  /** A share domain's owner may close this page to the public. */
  readonly isSharing?: true;
  /** Shown as if logged out while sessions cannot be looked up. */
  readonly needsNoSession?: true;
}

/** A page that is the same for everyone. */
export function staticPage(name: RouteName, handle: PageHandler): PageRoute {
  return { name, needsNoSession: true, get: { limit: 'none', isStatic: true, handle } };
}

export function pageReply(
  status: number,
  page: ReturnType<FC> | string,
  headers: PageReply['headers'] = {},
): PageReply {
  return { status, content: { kind: 'page', markup: `<!doctype html>${page}` }, headers };
}

export function jsonReply(status: number, value: unknown): PageReply {
  return { status, content: { kind: 'json', value } };
}

/** 303: the browser continues with GET, so that a reload repeats nothing (RFC 9110 §15.4.4). */
export function seeOther(location: string, cookies: readonly string[] = []): PageReply {
  return { status: 303, content: { kind: 'none' }, headers: { location }, cookies };
}

/** 307, like the router's redirects: the page is on another host. */
export function elsewhere(location: string): PageReply {
  return { status: 307, content: { kind: 'none' }, headers: { location } };
}

/** 308: the address has a new spelling (RFC 9110 §15.4.9). */
export function movedTo(location: string): PageReply {
  return { status: 308, content: { kind: 'none' }, headers: { location } };
}

export type PageProblem =
  | Problem
  /** The form was issued to another session: somebody has since logged in or out. */
  | { readonly problem: 'stale_form' }
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

/** @throws RequestProblem if a limit refused the call */
export function assertAllowed(refusal: LimitRefusal | null): void {
  if (refusal === null) return;
  const { retryAfterSeconds, headers } = refusal;
  throw new RequestProblem({ problem: 'rate_limited', retryAfterSeconds }, headers);
}

export function pageProblemOf(error: unknown, requestId: string): PageProblem {
  return error instanceof StaleForm ? { problem: 'stale_form' } : problemOf(error, requestId);
}

interface Answered {
  readonly request: Request;
  readonly requestId: string;
  readonly frame: Frame;
}

/** For files: a picture opened by itself runs, loads and sends nothing. */
const filePolicy = "default-src 'none'; frame-ancestors 'none'; sandbox";

export function toResponse(answered: Answered, reply: PageReply): Response {
  const response = contentResponse(answered, reply);
  response.headers.set('content-security-policy', policyOf(answered, reply));
  if (reply.content.kind === 'page') response.headers.set('cross-origin-opener-policy', 'same-origin');
  response.headers.set('cross-origin-resource-policy', 'same-origin');
  for (const [name, value] of Object.entries(reply.headers ?? {})) response.headers.set(name, value);
  for (const cookie of reply.cookies ?? []) response.headers.append('set-cookie', cookie);
  return isKnown(answered.request, response) ? notModified(response) : response;
}

/** RFC 9110 §13.1.2. */
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
      return fileResponse(content.file, answered.request, requestId);
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

/** Never compresses a form token together with what was sent: the length would reveal the token guess by guess (BREACH). */
function mayCompress({ request, frame }: Answered, { repeatsNothing }: PageReply): boolean {
  const holdsToken = frame.formToken !== '' || frame.signInToken !== '';
  const isSafe = !holdsToken || repeatsNothing === true;
  return isSafe && request.method === 'GET' && accepts(request, 'gzip');
}

type PageContent = Extract<PageReply['content'], { kind: 'page' }>;

function pageContent(answered: Answered, reply: PageReply, { markup, gzipped }: PageContent): Response {
  const { status } = reply;
  const plain = pageResponse(status, markup, answered.requestId);
  // No cache may keep a page; one that does so anyway should not mix up readers.
  plain.headers.set('vary', 'Accept-Encoding, Accept-Language, Cookie');
  if (!mayCompress(answered, reply)) return plain;
  const packed = gzipped ?? gzip(markup, 6);
  plain.headers.set('content-encoding', 'gzip');
  return new Response(packed, { status, headers: plain.headers });
}

/** `no-transform`: a rewritten script fails its integrity check, and without its script a page cannot encrypt secrets. */
const forEver = 'public, max-age=31536000, immutable, no-transform';

function fileResponse(file: SiteFile, request: Request, requestId: string): Response {
  const small = accepts(request, 'br') ? file.brotli?.() : undefined;
  const packed = small ?? (accepts(request, 'gzip') ? file.gzipped : null);
  const response = new Response(packed ?? file.bytes, { headers: { 'content-type': file.type } });
  withCommonHeaders(response, requestId).headers.set('cache-control', forEver);
  if (file.gzipped !== null) response.headers.set('vary', 'Accept-Encoding');
  if (packed !== null) response.headers.set('content-encoding', small === undefined ? 'gzip' : 'br');
  return response;
}

/**
 * Pages that are the same for every visitor without a session, rendered and compressed once, since that work is most of the cost of serving
 * the start page. They depend only on language and brand; pages with a key, query or session are never kept.
 */
export interface StaticPages {
  /** Returns the kept reply, or calls `make` and keeps its reply if that is a page with status 200. */
  get(
    at: { readonly brand: Brand; readonly route: string; readonly locale: Locale },
    make: () => PageReply | Promise<PageReply>,
  ): Promise<PageReply>;
}

/** About 8 MB: every page in each language for two brands. Share domains can have any number of brands. */
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

/** Numbers brands, never reusing a number, so that a page's key does not keep its brand in memory. */
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
