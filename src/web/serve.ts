/**
 * From a request to a page, in one fixed order.
 *
 * Owns: the pages' pipeline. Invariants: nothing escapes, every answer carries the common headers and the policy; on a
 * share domain no session is looked up; what must not change anything has not run yet when a request is refused:
 *
 *   face -> session -> route (404, 405, OPTIONS; HEAD as GET) -> what the share domain leaves to the site
 *     -> form of our own -> limit -> form of this session -> the end of the turn, if the browser is still there -> handler
 */
import { timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { anonymous, type SignedIn } from '../core/accounts/accounts.ts';
import type { AccountService } from '../core/accounts/service.ts';
import type { Regions } from '../core/regions.ts';
import { BodyTimeout, type ReadBody } from '../http/body.ts';
import type { PeerSource } from '../http/client-address.ts';
import { Call, type CallDeps } from '../http/exchange.ts';
import { methodForLog } from '../http/failure.ts';
import type { MountDeps } from '../http/mount.ts';
import { clientLeft, RequestProblem } from '../http/problem.ts';
import { endOfTurn } from '../http/turn.ts';
import type { Locale } from '../locale/catalogues.ts';
import type { Assets } from './assets.ts';
import type { Faces } from './brand/faces.ts';
import { languageCookie, languageIn, type SessionCookie } from './cookies.ts';
import { answerOnShareDomain } from './domains/on-share-domain.tsx';
import { renderErrorPage } from './kit/error-page.tsx';
import { type Form, parseForm, parseUpload } from './kit/form.ts';
import type { Frame } from './kit/layout.tsx';
import { wordsIn } from './kit/words.ts';
import { chooseLanguage, offeredLanguage } from './language.ts';
import { formTokenField, isOwnForm } from './own-form.ts';
import {
  LimitReached,
  type PageAction,
  type PageProblem,
  type PageReply,
  type PageRequest,
  type PageRoute,
  pageProblemOf,
  StaleForm,
  takeLimit,
  toResponse,
} from './page.ts';
import type { Href } from './routes.ts';
import type { SignInTokenOf } from './sign-in-token.ts';
import type { StaticPages } from './static-pages.ts';

export interface Site extends Pick<MountDeps, 'limiter' | 'onAnswer' | 'onFault'>, CallDeps {
  readonly href: Href;
  /** The site's own origin, serialised. */
  readonly origin: string;
  /** `''`, or `/path`. */
  readonly basePath: string;
  readonly accounts: Pick<AccountService, 'openSession'>;
  readonly sessionCookie: SessionCookie;
  readonly signInTokenOf: SignInTokenOf;
  readonly faces: Faces;
  /** For routes that take a file. */
  readonly readUpload: ReadBody;
  /** `null` where there are none. */
  readonly regions: Regions | null;
  readonly assets: Assets;
  readonly staticPages: StaticPages;
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
  /** Set with the page, whatever the page is. */
  newCookie: string | null;
}

/** @param route `null`: there is no such page. Never rejects. */
export async function servePage(site: Site, context: Context, route: PageRoute | null): Promise<Response> {
  const passage = enter(site, context, route);
  const { call } = passage;
  let response: Response;
  try {
    response = toResponse(passage, withNewCookie(passage, await answer(passage, context, route)));
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
  const { clientAddressOf } = site;
  const call = new Call(context.req.raw, context.env as PeerSource | undefined, {
    clientAddressOf,
    readBody: bodyReaderFor(site, route?.post),
  });
  const query = new URLSearchParams(call.rawQuery);
  const cookies = call.request.headers.get('cookie') ?? '';
  const passage = { site, call, query, cookies, signedIn: null, newCookie: null };
  return { ...passage, frame: frameOf(passage, route) };
}

function bodyReaderFor(site: Site, post: PageAction | undefined): ReadBody {
  if (post?.takesFile === true) return site.readUpload;
  const capBytes = post?.bodyCapBytes;
  return capBytes === undefined ? site.readBody : (request) => site.readBody(request, capBytes);
}

/** Puts the face of the host over the page, which is then in the language of the share domain unless the reader has one. */
async function takeFace(passage: Passage): Promise<void> {
  const { brand, domain } = await passage.site.faces.of(hostOf(passage));
  if (domain === null) return;
  passage.frame = { ...passage.frame, brand, domain };
  passage.frame = { ...passage.frame, words: wordsIn(localeOf(passage)) };
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

/** A form that is shown now, or was sent now, is bound to this browser. */
function bindToBrowser(passage: Passage): void {
  const { formToken, cookie } = passage.site.signInTokenOf(passage.cookies);
  passage.frame = { ...passage.frame, signInToken: formToken };
  passage.newCookie = cookie;
}

function toFault(error: unknown): { readonly error: unknown } {
  return { error };
}

type Entering = Omit<Passage, 'frame'> & Partial<Pick<Passage, 'frame'>>;

function localeOf({ site, call, query, cookies, signedIn, frame }: Entering): Locale {
  return chooseLanguage(site, {
    address: query.get('lang'),
    account: signedIn?.caller.account.locale ?? null,
    cookie: languageIn(cookies),
    domain: frame?.domain?.brand.locale ?? null,
    acceptLanguage: call.request.headers.get('accept-language'),
  });
}

function hostOf({ call }: Pick<Passage, 'call'>): string {
  return call.request.headers.get('host') ?? '';
}

function frameOf(passage: Entering, route: PageRoute | null): Frame {
  const { site, call, query } = passage;
  return {
    words: wordsIn(localeOf(passage)),
    href: site.href,
    ...site.faces.configured(hostOf(passage)),
    assets: site.assets,
    visitor: null,
    formToken: '',
    signInToken: '',
    here: route !== null && isSafe(call.request.method) ? hereOf(call.path, query) : null,
    locales: site.locales,
    signUpIsOpen: site.signUpIsOpen,
    regions: site.regions,
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
  if (route?.isFile !== true) await takeFace(passage);
  const isNobodys = route?.isFile === true || passage.frame.domain !== null;
  const fault = isNobodys ? null : await recognise(passage).catch(toFault);
  if (route === null) throw new RequestProblem({ problem: 'not_found' });
  if (route.isSignIn === true && passage.signedIn === null) bindToBrowser(passage);
  const allow = allowOf(route);
  if (call.request.method === 'OPTIONS')
    return { status: 204, content: { kind: 'none' }, headers: { allow } };
  const action = actionFor(route, call.request.method);
  if (action === undefined) throw new RequestProblem({ problem: 'method_not_allowed', allow });
  const elsewhere = answerOnShareDomain(passage, route);
  if (elsewhere !== null) return elsewhere;
  if (action === route.post && !isOwnForm(call.request, site.origin)) {
    throw new RequestProblem({ problem: 'cross_site' });
  }
  const request = toPageRequest(passage, context, route);
  try {
    // Only now, where the page can give a form back: nothing typed is lost to a store that does not answer.
    if (fault !== null && route.needsNoSession !== true) throw fault.error;
    countCall(passage, action);
    if (action === route.post) {
      await demandOwnSession(request);
      await endOfTurn();
      if (request.isAbandoned()) throw new RequestProblem(clientLeft);
    }
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
  const isStatic = action.isStatic === true && action === route.get && signedIn === null && isPlain;
  if (!isStatic) return action.handle(request);
  const { brand, words } = frame;
  return site.staticPages.get({ brand, route: route.name, locale: words.locale }, () =>
    action.handle(request),
  );
}

function actionFor(route: PageRoute, method: string): PageAction | undefined {
  if (method === 'POST') return route.post;
  return isSafe(method) ? route.get : undefined;
}

function allowOf(route: PageRoute): string {
  return [...(route.get ? ['GET', 'HEAD'] : []), ...(route.post ? ['POST'] : []), 'OPTIONS'].join(', ');
}

function toPageRequest(passage: Passage, context: Context, route: PageRoute): PageRequest {
  const { call, frame, signedIn, query, cookies } = passage;
  const { headers } = call.request;
  let form: Promise<Form> | null = null;
  const readForm = async () => {
    const parse = route.post?.takesFile === true ? parseUpload : parseForm;
    return parse(await call.body(), headers.get('content-type'));
  };
  return {
    frame,
    key: context.req.param('key') ?? '',
    query,
    host: hostOf(passage),
    clientPrefix: call.clientPrefix,
    cookies,
    userAgent: headers.get('user-agent') ?? '',
    signedIn,
    caller: signedIn?.caller ?? anonymous,
    isAbandoned: call.isAbandoned,
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

/** A form acts for the session it was shown to; without one for nobody, or for the browser where it leads to an account. */
async function demandOwnSession(request: PageRequest): Promise<void> {
  const sent = (await request.form()).text(formTokenField);
  const { formToken, signInToken } = request.frame;
  if (!isSameText(sent, formToken || signInToken)) throw new StaleForm();
}

function withNewCookie({ newCookie }: Passage, reply: PageReply): PageReply {
  if (newCookie === null || reply.content.kind !== 'page') return reply;
  return { ...reply, cookies: [...(reply.cookies ?? []), newCookie] };
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
  const isAnswerable =
    passing.has(problem.problem) || (action.takesFile === true && problem.problem === 'body_too_large');
  if (action.refuse === undefined || !isAnswerable) throw error;
  const reply = await action.refuse(request, problem);
  return { ...reply, headers: { ...reply.headers, ...headersOf(error, problem) } };
}

function answerFailure(passage: Passage, error: unknown): Response {
  const { site, call, frame } = passage;
  const problem = pageProblemOf(error, call.requestId);
  if (problem.problem === 'internal') site.onFault(error, call.requestId);
  const { status, markup } = renderErrorPage(frame, problem);
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
