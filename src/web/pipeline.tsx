/**
 * The pages' side of the pipeline (`http/pipeline.ts`): brand, session, checks that a form came from our page and this session, and a page
 * for every refusal. Share domains have no sessions and serve none of the site's own pages.
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
import type { Assets } from './assets/assets.ts';
import type { HostBrands } from './brand/brand.ts';
import { errorReply } from './kit/error-page.tsx';
import { type Form, parseForm, parseUpload } from './kit/form.ts';
import { formTokenField, isOwnForm, type SignInTokenOf } from './kit/form-token.ts';
import { chooseLanguage, languageCookie, languageIn, offeredLanguage, wordsIn } from './kit/language.ts';
import { languageReply } from './kit/language-page.tsx';
import type { Frame } from './kit/layout.tsx';
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
import type { SessionCookie } from './kit/session.ts';
import { damagedReply } from './secrets/secret-refusals.tsx';

export interface Site extends Observers {
  readonly settings: Settings;
  readonly limiter: RateLimiter;
  readonly clientAddressOf: ClientAddressOf;
  readonly readBody: ReadBody;
  readonly uploadCapBytes: number;
  readonly href: Href;
  readonly origin: string;
  /** Either `''` or `/path`. */
  readonly basePath: string;
  readonly accounts: Pick<AccountService, 'openSession'>;
  readonly sessionCookie: SessionCookie;
  readonly signInTokenOf: SignInTokenOf;
  readonly hostBrands: HostBrands;
  readonly assets: () => Assets;
  readonly staticPages: StaticPages;
}

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

/** A request in progress: later steps refine `frame` and `signedIn`. */
class Visit extends Call<PageTarget> {
  readonly page: PageRoute | null;
  readonly query: URLSearchParams;
  readonly cookies: string;
  /** The raw `Host` header; `''` if absent. */
  readonly host: string;
  frame: Frame;
  signedIn: SignedIn | null = null;
  sessionFault: { readonly error: unknown } | null = null;
  newCookie: string | null = null;
  /** Once `true`, the page itself may respond to problems. */
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
      return orElsewhere(visit, withCookie(visit.newCookie, withLanguage(visit, reply, site)), site);
    },
    problemOf: pageProblemOf,
    recover,
    word: (visit, problem) => orMended(visit, errorReply(visit.frame, problem), site),
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
    ...wordsIn(localeOf(site, visit, null)),
    href: site.href,
    ...site.hostBrands.configured(host),
    assets: site.assets(),
    visitor: null,
    formToken: '',
    signInToken: '',
    here: page !== null && isSafe(request.method) ? hereOf(path, query) : null,
    isLink: page?.name === 'secret',
    settings: site.settings,
  };
}

/** @param domain the share domain's language */
function localeOf(site: Site, visit: Omit<Visit, 'frame'>, domain: string | null): Locale {
  return chooseLanguage(site.settings, {
    address: visit.query.get('lang'),
    account: visit.signedIn?.caller.account.locale ?? null,
    cookie: languageIn(visit.cookies),
    domain,
    acceptLanguage: visit.request.headers.get('accept-language'),
  });
}

function hereOf(path: string, query: URLSearchParams): string {
  const rest = new URLSearchParams(query);
  rest.delete('lang');
  return rest.size === 0 ? path : `${path}?${rest}`;
}

function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Loads brand and session first, so that every response, even a refusal, has the right style and language. */
async function prepare(visit: Visit, site: Site): Promise<void> {
  const { page } = visit;
  if (page?.isFile === true) return;
  await applyBrand(visit, site);
  if (visit.frame.domain === null) await recognise(visit, site);
  if (page?.isSignIn === true && visit.signedIn === null) bindToBrowser(visit, site);
}

/** Applies a share domain's brand, and its language unless the reader has chosen one. */
async function applyBrand(visit: Visit, site: Site): Promise<void> {
  const { brand, domain } = await site.hostBrands.of(visit.host);
  if (domain === null) return;
  visit.frame = {
    ...visit.frame,
    brand,
    domain,
    ...wordsIn(localeOf(site, visit, domain.brand.locale)),
  };
}

/** Looks up the session, whose account sets the language. If this fails, `admit` throws the error later. */
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
  const visitor = { username: caller.account.username };
  visit.frame = { ...visit.frame, ...wordsIn(localeOf(site, visit, null)), visitor, formToken };
}

/** Binds a sign-in form, shown or submitted, to this browser. */
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
  // Thrown only now that the page can return the form: an unresponsive store must not lose what was typed.
  if (visit.sessionFault !== null && page.needsNoSession !== true) throw visit.sessionFault.error;
  assertAllowed(visit.countAnother());
  if (action.needsAccount !== true || visit.signedIn !== null) return visit.caller;
  const { here } = visit.frame;
  const back = here === null ? '' : `?${new URLSearchParams({ back: here })}`;
  return { kind: 'answered', reply: seeOther(site.href('logIn') + back) };
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
    async attempt(isAnother, act) {
      try {
        if (isAnother) assertAllowed(visit.countAnother());
        return await act();
      } catch (error) {
        const problem = pageProblemOf(error, visit.requestId);
        if (problem.problem === 'internal') visit.reportFault(error);
        return problem;
      }
    },
    form() {
      form ??= readForm();
      return form;
    },
  };
}

/** Checks that the form was issued to this session or, for a sign-in form without one, to this browser. */
async function demandOwnSession(visit: Visit, target: PageTarget): Promise<void> {
  const sent = (await pageRequestOf(visit, target).form()).text(formTokenField);
  const { formToken, signInToken } = visit.frame;
  if (!isSameText(sent, formToken || signInToken)) throw new StaleForm();
}

function isSameText(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

async function handle(visit: Visit, target: PageTarget, staticPages: StaticPages): Promise<PageReply> {
  const { page, action } = target;
  const { brand, messages, href } = visit.frame;
  if (action === page.get && page.isFile !== true && choosesLanguage(visit))
    return languageReply(visit.frame);
  const request = pageRequestOf(visit, target);
  // A page cached from another spelling of its address (`/%61bout`) would repeat that spelling.
  const isPlain = visit.rawQuery === '' && visit.path === href(page.name, request.key);
  const isStatic = action.isStatic === true && action === page.get && visit.signedIn === null && isPlain;
  if (!isStatic) {
    const reply = await action.handle(request);
    return action === page.get && isPlain && request.key === '' ? { ...reply, repeatsNothing: true } : reply;
  }
  const route = `${page.name} ${request.key}`;
  return staticPages.get({ brand, route, locale: messages.locale }, () => action.handle(request));
}

function choosesLanguage({ query }: Visit): boolean {
  return query.get('lang') === '';
}

const ofKeys = /^\/(?:secret|receipt|private|ask|answers)\//;

/** Redirects if an unknown key belongs to another region. The key's format alone decides (P17). */
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
const ticketForm = /^([0-9a-f]{64})[_-]*[^\w-]/;

/**
 * Repairs a damaged link if it can only mean one address. The browser keeps the part after `#`; only the page's script can move a fragment
 * out of the path.
 */
function orMended({ request, frame, path, page, match }: Visit, reply: PageReply, site: Site): PageReply {
  if (reply.status !== 404 || !isSafe(request.method)) return reply;
  const ticket = ticketForm.exec(decodeLeniently(match?.values[0] ?? ''))?.[1];
  if (ticket !== undefined && (page?.name === 'completeSignUp' || page?.name === 'reset'))
    return movedTo(site.href(page.name, ticket));
  const link = parseLink(site.origin + plainSpelling(path));
  if (link?.server !== site.origin + site.basePath) return reply;
  if (link.kind === 'secret' && link.fragment !== null) return damagedReply(frame);
  if (link.kind !== 'secret' && link.kind !== 'receipt') return reply;
  const address = site.href(link.kind, link.key);
  return address === path ? reply : movedTo(address);
}

function withCookie(cookie: string | null, reply: PageReply): PageReply {
  if (cookie === null || reply.content.kind !== 'page') return reply;
  return { ...reply, cookies: [...(reply.cookies ?? []), cookie] };
}

function withLanguage({ query }: Visit, reply: PageReply, site: Site): PageReply {
  const asked = offeredLanguage(site.settings, query.get('lang'));
  return withCookie(asked && languageCookie(asked, site), reply);
}

const passing: ReadonlySet<PageProblem['problem']> = new Set([
  'rate_limited',
  'unavailable',
  'storage_full',
  'stale_form',
]);

/** Lets the page respond to a temporary problem, so that no form is lost. Returns `null` if it cannot. */
function recover(visit: Visit, problem: PageProblem): Promise<PageReply> | null {
  const target = visit.endpoint?.target;
  if (target === undefined || !visit.isOwnForm) return null;
  const { refuse, takesFile } = target.action;
  const isAnswerable =
    passing.has(problem.problem) || (takesFile === true && problem.problem === 'body_too_large');
  if (refuse === undefined || !isAnswerable) return null;
  return refuse(pageRequestOf(visit, target), problem).then((reply) => withCookie(visit.newCookie, reply));
}

/**
 * Returns a response if the share domain does not serve the page, or `null` if it does. Someone else's host never shows account pages or
 * accepts their forms; redirects to the site use the configuration (P20). Links open on every share domain, even if only its owner may
 * share.
 * @throws RequestProblem `not_found` for a form that share domains do not have
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
  if (!isClosed || (!isPost && (route.name !== 'home' || choosesLanguage(visit)))) return null;
  const page = <DomainClosedPage frame={frame} domain={frame.domain} />;
  return pageReply(isPost ? 403 : 200, page);
}

/** Shows the registered name, never the request's spelling (P20). */
const DomainClosedPage: FC<{ frame: Frame; domain: BrandedDomain }> = ({ frame, domain }) => {
  const { say } = frame.messages;
  // Isolates the name from right-to-left text around it.
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
