/**
 * The pages' side of the pipeline (`http/pipeline.ts`): brand, session, forms of our own and of this session, and a page
 * for every refusal. On a share domain no session is looked up, and what belongs to the site alone is not served.
 */

import { timingSafeEqual } from 'node:crypto';
import { domainToUnicode } from 'node:url';
import type { FC } from 'hono/jsx';
import type { Settings } from '../config/read.ts';
import type { SignedIn } from '../core/account.ts';
import type { AccountService } from '../core/accounts/service.ts';
import { regionElsewhere } from '../core/keys.ts';
import type { BrandedDomain } from '../core/share-domains/service.ts';
import type { ReadBody } from '../http/body.ts';
import type { ClientAddressOf } from '../http/client-address.ts';
import { mayChange } from '../http/operation.ts';
import {
  type Arrival,
  Call,
  createPipeline,
  type Observers,
  type Serve,
  type Served,
  type Side,
  type SideAdmission,
} from '../http/pipeline.ts';
import { RequestProblem } from '../http/problem.ts';
import type { RateLimiter } from '../http/rate-limit.ts';
import { createRouteTable, decodeLeniently, plainSpelling, type Way } from '../http/routes.ts';
import type { Locale } from '../locale/catalogues.ts';
import { parseLink } from '../protocol/link.ts';
import type { HostBrands } from './brand/brand.ts';
import type { Assets } from './client/assets.ts';
import { renderErrorPage } from './kit/error-page.tsx';
import { type Form, parseForm, parseUpload } from './kit/form.ts';
import { chooseLanguage, languageCookie, languageIn, offeredLanguage } from './kit/language.ts';
import { type Frame, renderPage } from './kit/layout.tsx';
import { MessagePage } from './kit/message-page.tsx';
import {
  assertAllowed,
  elsewhere,
  movedTo,
  type PageAction,
  type PageProblem,
  type PageReply,
  type PageRequest,
  type PageRoute,
  pageProblemOf,
  pageReply,
  StaleForm,
  type StaticPages,
  seeOther,
  toResponse,
} from './kit/page.ts';
import { type Href, routes } from './kit/routes.ts';
import { formTokenField, isOwnForm, type SessionCookie, type SignInTokenOf } from './kit/session.ts';
import { wordsIn } from './kit/words.ts';
import { damagedReply } from './secrets/secret-refusals.tsx';

export interface Site extends Observers {
  readonly settings: Settings;
  readonly limiter: RateLimiter;
  readonly clientAddressOf: ClientAddressOf;
  readonly readBody: ReadBody;
  /** The largest form with a file. */
  readonly uploadCapBytes: number;
  readonly href: Href;
  /** The site's own origin, serialised. */
  readonly origin: string;
  /** `''`, or `/path`. */
  readonly basePath: string;
  readonly accounts: Pick<AccountService, 'openSession'>;
  readonly sessionCookie: SessionCookie;
  readonly signInTokenOf: SignInTokenOf;
  readonly hostBrands: HostBrands;
  readonly assets: Assets;
  readonly staticPages: StaticPages;
}

/** One action of a page, as the route table has it. */
interface PageTarget extends Served {
  readonly page: PageRoute;
  readonly action: PageAction;
}

interface PageTypes {
  readonly target: PageTarget;
  readonly call: Visit;
  readonly reply: PageReply;
  readonly ownProblem: PageProblem;
}

/** One request of a page under way: `frame` and `signedIn` grow as more is known. */
class Visit extends Call<PageTarget> {
  /** `null`: there is no such page. */
  readonly page: PageRoute | null;
  readonly query: URLSearchParams;
  /** The raw `Cookie` header; `''` when there is none. */
  readonly cookies: string;
  /** The raw `Host` header; `''` when there is none. */
  readonly host: string;
  frame: Frame;
  signedIn: SignedIn | null = null;
  /** Why the session cannot be looked up just now. */
  sessionFault: { readonly error: unknown } | null = null;
  /** Set with the page, whatever the page is. */
  newCookie: string | null = null;
  /** From here on the page itself may answer what goes wrong. */
  isOwnForm = false;
  pageRequest: PageRequest | null = null;

  constructor(arrival: Arrival<PageTarget>, site: Site) {
    super(arrival, site);
    const { match, request } = arrival;
    this.page = (match?.route.get ?? match?.route.post)?.target.page ?? null;
    this.query = new URLSearchParams(this.rawQuery);
    this.cookies = request.headers.get('cookie') ?? '';
    this.host = request.headers.get('host') ?? '';
    this.frame = frameOf(site, this);
  }
}

/** @param pages every address of `routes.ts`, each by one page */
export function createPagePipeline(site: Site, pages: readonly PageRoute[]): Serve {
  const { onAnswer, onFault, staticPages } = site;
  const side: Side<PageTypes> = {
    onAnswer,
    onFault,
    routes: createRouteTable(
      site.basePath,
      pages.flatMap((page) => waysTo(page, site)),
      { trailingSlash: false, encodedLetters: true },
    ),
    sharing: null,
    open: (arrival) => new Visit(arrival, site),
    prepare: (visit) => prepare(visit, site),
    admit: (visit, target) => admit(visit, target, site),
    decode: (visit, { target }) =>
      target.action === target.page.post ? demandOwnSession(visit, target) : null,
    handle: async (visit, target) => {
      const reply = orMended(visit, await handle(visit, target, staticPages), site);
      return orElsewhere(visit, withNewCookie(visit, withLanguage(visit, reply, site)), site);
    },
    problemOf: pageProblemOf,
    recover,
    word: (visit, problem) => {
      const { status, markup } = renderErrorPage(visit.frame, problem);
      return orMended(visit, pageReply(status, markup), site);
    },
    noContent: (headers) => ({ status: 204, content: { kind: 'none' }, headers }),
    respond: toResponse,
    nameOf: ({ page }) => (page === null ? null : `web.${page.name}`),
  };
  return createPipeline(side);
}

function waysTo(page: PageRoute, { uploadCapBytes }: Site): Way<PageTarget>[] {
  const way = (method: 'GET' | 'POST', action: PageAction | undefined): Way<PageTarget>[] => {
    if (action === undefined) return [];
    const { limit, bodyCapBytes } =
      action.takesFile === true ? { ...action, bodyCapBytes: uploadCapBytes } : action;
    const cap = bodyCapBytes === undefined ? {} : { bodyCapBytes };
    return [{ method, path: routes[page.name], target: { page, action, limit, ...cap } }];
  };
  return [...way('GET', page.get), ...way('POST', page.post)];
}

function frameOf(site: Site, visit: Omit<Visit, 'frame'>): Frame {
  const { page, request, host, path, query } = visit;
  return {
    words: wordsIn(localeOf(site, visit, null)),
    href: site.href,
    ...site.hostBrands.configured(host),
    assets: site.assets,
    visitor: null,
    formToken: '',
    signInToken: '',
    here: page !== null && isSafe(request.method) ? hereOf(path, query) : null,
    settings: site.settings,
  };
}

/** @param domain the language of the share domain */
function localeOf(site: Site, visit: Omit<Visit, 'frame'>, domain: string | null): Locale {
  return chooseLanguage(site.settings, {
    address: visit.query.get('lang'),
    account: visit.signedIn?.caller.account.locale ?? null,
    cookie: languageIn(visit.cookies),
    domain,
    acceptLanguage: visit.request.headers.get('accept-language'),
  });
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

/** Brand and session, so that whatever comes after, a refusal too, is a page in their look and language. */
async function prepare(visit: Visit, site: Site): Promise<void> {
  const { page } = visit;
  if (page?.isFile === true) return;
  await applyBrand(visit, site);
  if (visit.frame.domain === null) await recognise(visit, site);
  if (page?.isSignIn === true && visit.signedIn === null) bindToBrowser(visit, site);
}

/** On a share domain the page has the owner's brand, and is in the language of the domain unless the reader has one. */
async function applyBrand(visit: Visit, site: Site): Promise<void> {
  const { brand, domain } = await site.hostBrands.of(visit.host);
  if (domain === null) return;
  visit.frame = { ...visit.frame, brand, domain, words: wordsIn(localeOf(site, visit, domain.brand.locale)) };
}

/** Looks the session up; the page is then in the language of its account. A fault is kept until the page is found. */
async function recognise(visit: Visit, site: Site): Promise<void> {
  const token = site.sessionCookie.in(visit.cookies);
  if (token === '') return;
  try {
    visit.signedIn = await site.accounts.openSession(token);
  } catch (error) {
    visit.sessionFault = { error };
  }
  if (visit.signedIn === null) return;
  const { caller, formToken } = visit.signedIn;
  visit.caller = caller;
  const words = wordsIn(localeOf(site, visit, null));
  visit.frame = { ...visit.frame, words, visitor: { username: caller.account.username }, formToken };
}

/** A form that is shown now, or was sent now, is bound to this browser. */
function bindToBrowser(visit: Visit, { signInTokenOf }: Site): void {
  const { formToken, cookie } = signInTokenOf(visit.cookies);
  visit.frame = { ...visit.frame, signInToken: formToken };
  visit.newCookie = cookie;
}

function admit(visit: Visit, { page, action }: PageTarget, site: Site): SideAdmission<PageTypes> {
  const elsewhere = answerOnShareDomain(visit, page, site);
  if (elsewhere !== null) return { kind: 'answered', reply: elsewhere };
  if (mayChange(visit.request.method) && !isOwnForm(visit.request, site.origin)) {
    return { kind: 'refused', problem: { problem: 'cross_site' } };
  }
  visit.isOwnForm = true;
  // Only now, where the page can give a form back: nothing typed is lost to a store that does not answer.
  if (visit.sessionFault !== null && page.needsNoSession !== true) throw visit.sessionFault.error;
  assertAllowed(visit.countAnother());
  if (action.needsAccount !== true || visit.signedIn !== null) return visit.caller;
  return { kind: 'answered', reply: seeOther(site.href('logIn')) };
}

function pageRequestOf(visit: Visit, { page }: PageTarget): PageRequest {
  visit.pageRequest ??= toPageRequest(visit, page);
  return visit.pageRequest;
}

function toPageRequest(visit: Visit, page: PageRoute): PageRequest {
  const { frame, signedIn, caller, query, cookies, host, match, clientPrefix, isAbandoned } = visit;
  const { headers } = visit.request;
  let form: Promise<Form> | null = null;
  const readForm = async () => {
    const parse = page.post?.takesFile === true ? parseUpload : parseForm;
    return parse(await visit.body(), headers);
  };
  return {
    frame,
    key: decodeLeniently(match?.values[0] ?? ''),
    query,
    host,
    clientPrefix,
    cookies,
    userAgent: headers.get('user-agent') ?? '',
    signedIn,
    caller,
    isAbandoned,
    form() {
      form ??= readForm();
      return form;
    },
  };
}

/** A form acts for the session it was shown to; without one for nobody, or for the browser where it leads to an account. */
async function demandOwnSession(visit: Visit, target: PageTarget): Promise<void> {
  const sent = (await pageRequestOf(visit, target).form()).text(formTokenField);
  const { formToken, signInToken } = visit.frame;
  if (!isSameText(sent, formToken || signInToken)) throw new StaleForm();
}

/** Takes as long for a wrong text as for the right one of its length. */
function isSameText(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

async function handle(visit: Visit, target: PageTarget, staticPages: StaticPages): Promise<PageReply> {
  const { page, action } = target;
  const { brand, words, href } = visit.frame;
  const request = pageRequestOf(visit, target);
  // Another spelling of the address (`/%61bout`) would appear in the page.
  const isPlain = visit.rawQuery === '' && visit.path === href(page.name, request.key);
  const isStatic = action.isStatic === true && action === page.get && visit.signedIn === null && isPlain;
  if (!isStatic) return action.handle(request);
  const route = `${page.name} ${request.key}`;
  return staticPages.get({ brand, route, locale: words.locale }, () => action.handle(request));
}

const ofKeys = /^\/(?:secret|receipt|private)\//;

/** A key unknown here may belong to another region; its form alone says so (P17). */
function orElsewhere(
  { page, request, path, rawQuery, match }: Visit,
  reply: PageReply,
  site: Site,
): PageReply {
  if (reply.status !== 404 || page === null || !ofKeys.test(routes[page.name]) || !isSafe(request.method))
    return reply;
  const { region: own, regions } = site.settings;
  const region = regionElsewhere(decodeLeniently(match?.values[0] ?? ''), own, regions);
  const address = path.slice(site.basePath.length) + (rawQuery === '' ? '' : `?${rawQuery}`);
  return region === null ? reply : elsewhere(region.baseUrl + address);
}

/** With more after it than a mailed link has. */
const ticketForm = /^([0-9a-f]{64})[_-]*[^\w-]/;

/**
 * Where a link leads that was damaged on its way, if only one can be meant. The browser takes along what follows `#`; an end that came
 * in the path is put back by the page's script alone.
 */
function orMended({ request, frame, path, page, match }: Visit, reply: PageReply, site: Site): PageReply {
  if (reply.status !== 404 || !isSafe(request.method)) return reply;
  const ticket = ticketForm.exec(decodeLeniently(match?.values[0] ?? ''))?.[1];
  if (ticket !== undefined && (page?.name === 'completeSignUp' || page?.name === 'reset'))
    return movedTo(site.href(page.name, ticket));
  const link = parseLink(site.origin + plainSpelling(path));
  if (link === null || link.server !== site.origin + site.basePath) return reply;
  if (link.kind === 'secret' && link.fragment !== null) return damagedReply(frame);
  const address = site.href(link.kind === 'secret' ? 'secret' : 'receipt', link.key);
  return address === path ? reply : movedTo(address);
}

function withNewCookie({ newCookie }: Visit, reply: PageReply): PageReply {
  if (newCookie === null || reply.content.kind !== 'page') return reply;
  return { ...reply, cookies: [...(reply.cookies ?? []), newCookie] };
}

/** A language that the address asks for stays with the browser when the reader goes on. */
function withLanguage({ query }: Visit, reply: PageReply, site: Site): PageReply {
  const asked = offeredLanguage(site.settings, query.get('lang'));
  if (asked === null || reply.content.kind !== 'page') return reply;
  return { ...reply, cookies: [...(reply.cookies ?? []), languageCookie(asked, site)] };
}

const passing: ReadonlySet<PageProblem['problem']> = new Set([
  'rate_limited',
  'unavailable',
  'storage_full',
  'stale_form',
]);

/** The page's own answer to what will pass, so that a form is not lost. */
function recover(visit: Visit, problem: PageProblem): Promise<PageReply> | null {
  const target = visit.endpoint?.target;
  if (target === undefined || !visit.isOwnForm) return null;
  const { refuse, takesFile } = target.action;
  const isAnswerable =
    passing.has(problem.problem) || (takesFile === true && problem.problem === 'body_too_large');
  if (refuse === undefined || !isAnswerable) return null;
  return refuse(pageRequestOf(visit, target), problem).then((reply) => withNewCookie(visit, reply));
}

/**
 * What a share domain does not serve itself; `null` if the route answers. Account pages are never shown, nor their forms
 * accepted, on a host that belongs to somebody else; redirects to the site come from the configuration (P20). Secret links
 * open on every share domain, even where only the owner may share.
 * @throws RequestProblem `not_found` for what a share domain does not have
 */
function answerOnShareDomain(visit: Visit, route: PageRoute, site: Site): PageReply | null {
  const { frame } = visit;
  if (frame.domain === null) return null;
  const isPost = visit.request.method === 'POST';
  if (route.onSiteOnly === true) {
    if (isPost) throw new RequestProblem({ problem: 'not_found' });
    const query = visit.rawQuery === '' ? '' : `?${visit.rawQuery}`;
    return seeOther(site.origin + visit.path + query);
  }
  const isClosed = route.isSharing === true && !frame.domain.brand.isPublic;
  if (!isClosed || (!isPost && route.name !== 'home')) return null;
  const page = <DomainClosedPage frame={frame} domain={frame.domain} />;
  return pageReply(isPost ? 403 : 200, renderPage(page));
}

/** Names the domain as it is registered, never as the request spells it (P20). */
const DomainClosedPage: FC<{ frame: Frame; domain: BrandedDomain }> = ({ frame, domain }) => {
  const { say } = frame.words;
  // Isolated, so that the name keeps its order in a right-to-left text.
  const name = `\u2068${domainToUnicode(domain.name)}\u2069`;
  return (
    <MessagePage
      frame={frame}
      title={say('domainClosed.title')}
      lead={say('domainClosed.lead', { domain: name })}
    >
      <h2>{say('domainClosed.next')}</h2>
      <ul class="points">
        <li>{say('domainClosed.open')}</li>
        <li>{say('domainClosed.ask')}</li>
      </ul>
    </MessagePage>
  );
};
