/**
 * From a request to a page, in one fixed order.
 *
 * Owns: the pages' pipeline. Invariant: nothing escapes, every answer carries the common headers and the policy, and
 * what must not change anything has not run yet when a request is refused:
 *
 *   session -> route (404, 405, OPTIONS; HEAD as GET) -> form of our own -> limit -> form of this session -> handler
 */
import { timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import type { AccountService, SignedIn } from '../domain/account-outcomes.ts';
import { anonymous } from '../domain/accounts.ts';
import { BodyTimeout } from '../http/body.ts';
import type { PeerSource } from '../http/client-address.ts';
import { Call, type CallDeps } from '../http/exchange.ts';
import { methodForLog } from '../http/failure.ts';
import { pageResponse, withCommonHeaders } from '../http/headers.ts';
import type { MountDeps } from '../http/mount.ts';
import { RequestProblem } from '../http/problem.ts';
import type { Locale } from '../locale/catalogues.ts';
import type { Assets } from './assets.ts';
import type { Brands } from './brand/brand.ts';
import { languageCookie, languageIn, type SessionCookie } from './cookies.ts';
import { type Form, parseForm } from './form.ts';
import { gzip } from './gzip.ts';
import { chooseLanguage, offeredLanguage } from './language.ts';
import { contentSecurityPolicy, type Frame } from './layout.tsx';
import { formTokenField, isOwnForm } from './own-form.ts';
import { LimitReached, type PageProblem, pageProblemOf, StaleForm, takeLimit } from './page-problem.ts';
import type { PageAction, PageReply, PageRequest, PageRoute, SiteFile } from './page-route.ts';
import { renderNotice } from './pages/notice.tsx';
import type { Href } from './routes.ts';
import type { StillPages } from './still-pages.ts';
import { wordsIn } from './words.ts';

export interface Site extends Pick<MountDeps, 'limiter' | 'onAnswer' | 'onFault'>, CallDeps {
  readonly href: Href;
  /** The site's own origin, serialised. */
  readonly origin: string;
  /** `''`, or `/path`. */
  readonly basePath: string;
  readonly accounts: Pick<AccountService, 'openSession'>;
  readonly sessionCookie: SessionCookie;
  readonly brands: Brands;
  readonly assets: Assets;
  readonly stills: StillPages;
  /** The languages offered, and the one where a reader names none of them. */
  readonly locales: readonly Locale[];
  readonly defaultLocale: Locale;
  readonly signUpIsOpen: boolean;
}

/** One request on its way: `frame` and `signedIn` grow as more is known. */
interface Passage {
  readonly site: Site;
  readonly call: Call;
  readonly query: URLSearchParams;
  readonly cookies: string;
  signedIn: SignedIn | null;
  frame: Frame;
}

/** @param route `null`: there is no such page. Never rejects. */
export async function servePage(site: Site, context: Context, route: PageRoute | null): Promise<Response> {
  const passage = enter(site, context, route);
  const { call } = passage;
  let response: Response;
  try {
    response = toResponse(passage, await answer(passage, context, route));
  } catch (error) {
    response = answerFailure(passage, error);
  }
  site.onAnswer({
    requestId: call.requestId,
    operation: route === null ? null : `web.${route.name}`,
    method: methodForLog(call.request.method),
    status: response.status,
    durationMs: call.durationMs(),
    accountId: passage.signedIn?.caller.account.id ?? null,
  });
  return response;
}

function enter(site: Site, context: Context, route: PageRoute | null): Passage {
  const call = new Call(context.req.raw, context.env as PeerSource | undefined, site);
  const query = new URLSearchParams(call.rawQuery);
  const cookies = call.request.headers.get('cookie') ?? '';
  const passage = { site, call, query, cookies, signedIn: null };
  return { ...passage, frame: frameOf(passage, route) };
}

/** Looks the session up; the page is then in the language of its account. Always `null`: no fault. */
async function recognise(passage: Passage): Promise<null> {
  const token = passage.site.sessionCookie.in(passage.cookies);
  if (token === '') return null;
  passage.signedIn = await passage.site.accounts.openSession(token);
  if (passage.signedIn === null) return null;
  const { account } = passage.signedIn.caller;
  passage.frame = {
    ...passage.frame,
    words: wordsIn(localeOf(passage)),
    visitor: { username: account.username },
    formToken: passage.signedIn.formToken,
  };
  return null;
}

function toFault(error: unknown): { readonly error: unknown } {
  return { error };
}

function localeOf({ site, call, query, cookies, signedIn }: Omit<Passage, 'frame'>): Locale {
  return chooseLanguage(site, {
    address: query.get('lang'),
    account: signedIn?.caller.account.locale ?? null,
    cookie: languageIn(cookies),
    acceptLanguage: call.request.headers.get('accept-language'),
  });
}

function frameOf(passage: Omit<Passage, 'frame'>, route: PageRoute | null): Frame {
  const { site, call, query } = passage;
  return {
    words: wordsIn(localeOf(passage)),
    href: site.href,
    brand: site.brands.forHost(call.request.headers.get('host')),
    assets: site.assets,
    visitor: null,
    formToken: '',
    here: route !== null && isSafe(call.request.method) ? hereOf(call.path, query) : null,
    locales: site.locales,
    signUpIsOpen: site.signUpIsOpen,
  };
}

/** This page's own address, without the language that it was asked for in. */
function hereOf(path: string, query: URLSearchParams): string {
  const rest = new URLSearchParams(query);
  rest.delete('lang');
  return rest.size === 0 ? path : `${path}?${rest}`;
}

function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

async function answer(passage: Passage, context: Context, route: PageRoute | null): Promise<PageReply> {
  const { site, call } = passage;
  const fault = route?.isFile === true ? null : await recognise(passage).catch(toFault);
  if (route === null) throw new RequestProblem({ problem: 'not_found' });
  const allow = allowOf(route);
  if (call.request.method === 'OPTIONS')
    return { status: 204, content: { kind: 'none' }, headers: { allow } };
  const action = actionFor(route, call.request.method);
  if (action === undefined) throw new RequestProblem({ problem: 'method_not_allowed', allow });
  if (action === route.post && !isOwnForm(call.request, site.origin)) {
    throw new RequestProblem({ problem: 'cross_site' });
  }
  const request = toPageRequest(passage, context);
  try {
    // Only now, where the page can give a form back: nothing typed is lost to a store that does not answer.
    if (fault !== null && route.needsNoSession !== true) throw fault.error;
    countCall(passage, action);
    if (action === route.post) await demandOwnSession(request);
    return withLanguage(passage, await handle(passage, route, action, request));
  } catch (error) {
    return await refuse(action, request, error, call.requestId);
  }
}

async function handle(
  { site, call, frame, signedIn }: Passage,
  route: PageRoute,
  action: PageAction,
  request: PageRequest,
): Promise<PageReply> {
  // Another spelling of the address (`/%61bout`) would stand in the page.
  const isPlain = call.rawQuery === '' && call.path === frame.href(route.name);
  const isStill = action.isStill === true && action === route.get && signedIn === null && isPlain;
  if (!isStill) return action.handle(request);
  const { brand, words } = frame;
  return site.stills.get({ brand, route: route.name, locale: words.locale }, () => action.handle(request));
}

function actionFor(route: PageRoute, method: string): PageAction | undefined {
  if (method === 'POST') return route.post;
  return isSafe(method) ? route.get : undefined;
}

function allowOf(route: PageRoute): string {
  return [...(route.get ? ['GET', 'HEAD'] : []), ...(route.post ? ['POST'] : []), 'OPTIONS'].join(', ');
}

function toPageRequest(passage: Passage, context: Context): PageRequest {
  const { call, frame, signedIn, query, cookies } = passage;
  const { headers } = call.request;
  let form: Promise<Form> | null = null;
  const readForm = async () => parseForm(await call.body(), headers.get('content-type'));
  return {
    frame,
    key: context.req.param('key') ?? '',
    query,
    clientPrefix: call.clientPrefix,
    cookies,
    userAgent: headers.get('user-agent') ?? '',
    signedIn,
    caller: signedIn?.caller ?? anonymous,
    form() {
      form ??= readForm();
      return form;
    },
  };
}

function countCall({ site, call, signedIn }: Passage, { limit }: PageAction): void {
  if (limit === 'none') return;
  if (signedIn === null) takeLimit(site.limiter, limit, 'anonymous', call.clientPrefix);
  else takeLimit(site.limiter, limit, 'account', signedIn.caller.account.id);
}

/** Takes as long for a wrong text as for the right one of its length. */
function isSameText(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** A form acts for the session it was shown to, or for nobody when it was shown to nobody. */
async function demandOwnSession(request: PageRequest): Promise<void> {
  const sent = (await request.form()).text(formTokenField);
  if (!isSameText(sent, request.signedIn?.formToken ?? '')) throw new StaleForm();
}

/** A language that the address asks for stays with the browser when the reader goes on. */
function withLanguage({ site, query }: Passage, reply: PageReply): PageReply {
  const asked = offeredLanguage(site, query.get('lang'));
  if (asked === null || reply.content.kind !== 'page') return reply;
  return { ...reply, cookies: [...(reply.cookies ?? []), languageCookie(asked, site)] };
}

const passing: ReadonlySet<PageProblem['problem']> = new Set([
  'rate_limited',
  'unavailable',
  'storage_full',
  'stale_form',
]);

/** The page's own answer to what will pass, so that a form is not lost; everything else is thrown on. */
async function refuse(
  action: PageAction,
  request: PageRequest,
  error: unknown,
  requestId: string,
): Promise<PageReply> {
  const problem = pageProblemOf(error, requestId);
  if (action.refuse === undefined || !passing.has(problem.problem)) throw error;
  const reply = await action.refuse(request, problem);
  return { ...reply, headers: { ...reply.headers, ...headersOf(error, problem) } };
}

function answerFailure(passage: Passage, error: unknown): Response {
  const { site, call, frame } = passage;
  const problem = pageProblemOf(error, call.requestId);
  if (problem.problem === 'internal') site.onFault(error, call.requestId);
  const { status, markup } = renderNotice(frame, problem);
  const reply = { status, content: { kind: 'page', markup }, headers: headersOf(error, problem) } as const;
  return toResponse(passage, reply);
}

function headersOf(error: unknown, problem: PageProblem): Readonly<Record<string, string>> {
  return {
    ...('retryAfterSeconds' in problem ? { 'retry-after': String(problem.retryAfterSeconds) } : {}),
    ...(problem.problem === 'method_not_allowed' ? { allow: problem.allow } : {}),
    ...(error instanceof LimitReached ? error.headers : {}),
    ...(error instanceof BodyTimeout ? { connection: 'close' } : {}),
  };
}

/** For what is no page: opened by itself, a picture runs, loads and sends nothing. */
const filePolicy = "default-src 'none'; frame-ancestors 'none'; sandbox";

function toResponse(passage: Passage, reply: PageReply): Response {
  const response = contentResponse(passage, reply);
  const isPage = reply.content.kind === 'page';
  const policy = isPage ? contentSecurityPolicy(passage.frame.brand) : filePolicy;
  response.headers.set('content-security-policy', policy);
  response.headers.set('cross-origin-opener-policy', 'same-origin');
  response.headers.set('cross-origin-resource-policy', 'same-origin');
  for (const [name, value] of Object.entries(reply.headers ?? {})) response.headers.set(name, value);
  for (const cookie of reply.cookies ?? []) response.headers.append('set-cookie', cookie);
  return response;
}

function contentResponse(passage: Passage, { status, content }: PageReply): Response {
  const { requestId } = passage.call;
  switch (content.kind) {
    case 'page':
      return pageContent(passage, status, content);
    case 'file':
      return fileResponse(content.file, acceptsGzip(passage.call.request), requestId);
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
 * Compressed is only what repeats nothing that was sent: an answer to a GET that holds no session's token. Otherwise
 * the length would tell, guess by guess, what stands beside the guess (BREACH).
 */
function mayCompress({ call, signedIn }: Passage): boolean {
  return signedIn === null && call.request.method === 'GET' && acceptsGzip(call.request);
}

function acceptsGzip(request: Request): boolean {
  return /(?:^|,)\s*gzip\s*(?:,|;(?!\s*q=0(?:\.0*)?\s*(?:,|$))|$)/i.test(
    request.headers.get('accept-encoding') ?? '',
  );
}

type PageContent = Extract<PageReply['content'], { kind: 'page' }>;

function pageContent(passage: Passage, status: number, { markup, gzipped }: PageContent): Response {
  const plain = pageResponse(status, markup, passage.call.requestId);
  // No cache may keep a page; one that does it nevertheless should not mix readers up.
  plain.headers.set('vary', 'Accept-Encoding, Accept-Language, Cookie');
  if (!mayCompress(passage)) return plain;
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
