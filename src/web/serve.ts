/**
 * From a request to a page, in one fixed order.
 *
 * Owns: the pages' pipeline. Invariant: nothing escapes, every answer carries the common headers and the policy, and
 * what must not change anything has not run yet when a request is refused:
 *
 *   route (404, 405, OPTIONS; HEAD as GET) -> client prefix -> form of our own -> limit -> handler
 */
import type { Context } from 'hono';
import { BodyTimeout } from '../http/body.ts';
import type { PeerSource } from '../http/client-address.ts';
import { Call, type CallDeps } from '../http/exchange.ts';
import { methodForLog, problemOf } from '../http/failure.ts';
import { pageResponse, withCommonHeaders } from '../http/headers.ts';
import type { MountDeps } from '../http/mount.ts';
import { type Problem, RequestProblem } from '../http/problem.ts';
import { negotiateLocale } from '../locale/negotiate.ts';
import { parseForm } from './form.ts';
import { contentSecurityPolicy, type Frame } from './layout.tsx';
import { isOwnForm } from './own-form.ts';
import type { PageAction, PageReply, PageRequest, PageRoute } from './page-route.ts';
import { renderNotice } from './pages/notice.tsx';
import type { Href } from './routes.ts';
import { wordsIn } from './words.ts';

export interface Site extends Pick<MountDeps, 'limiter' | 'onAnswer' | 'onFault'>, CallDeps {
  readonly href: Href;
  /** The site's own origin, serialised. */
  readonly origin: string;
}

/** @param route `null`: there is no such page. Never rejects. */
export async function servePage(site: Site, context: Context, route: PageRoute | null): Promise<Response> {
  const call = new Call(context.req.raw, context.env as PeerSource | undefined, site);
  const words = wordsIn(negotiateLocale(call.request.headers.get('accept-language')));
  const frame = { words, href: site.href };
  let response: Response;
  try {
    response = toResponse(await answer(site, context, call, frame, route), call.requestId);
  } catch (error) {
    response = answerFailure(site, call, frame, error);
  }
  site.onAnswer({
    requestId: call.requestId,
    operation: route === null ? null : `web.${route.name}`,
    method: methodForLog(call.request.method),
    status: response.status,
    durationMs: call.durationMs(),
    accountId: null,
  });
  return response;
}

async function answer(
  site: Site,
  context: Context,
  call: Call,
  frame: Frame,
  route: PageRoute | null,
): Promise<PageReply> {
  if (route === null) throw new RequestProblem({ problem: 'not_found' });
  const allow = allowOf(route);
  if (call.request.method === 'OPTIONS')
    return { status: 204, content: { kind: 'none' }, headers: { allow } };
  const action = actionFor(route, call.request.method);
  if (action === undefined) throw new RequestProblem({ problem: 'method_not_allowed', allow });
  if (action === route.post && !isOwnForm(call.request, site.origin)) {
    throw new RequestProblem({ problem: 'cross_site' });
  }
  const request = toPageRequest(context, call, frame);
  try {
    takeLimit(site, action, request.clientPrefix);
    return await action.handle(request);
  } catch (error) {
    return await refuse(action, request, error, call.requestId);
  }
}

function actionFor(route: PageRoute, method: string): PageAction | undefined {
  if (method === 'POST') return route.post;
  return method === 'GET' || method === 'HEAD' ? route.get : undefined;
}

function allowOf(route: PageRoute): string {
  return [...(route.get ? ['GET', 'HEAD'] : []), ...(route.post ? ['POST'] : []), 'OPTIONS'].join(', ');
}

function toPageRequest(context: Context, call: Call, frame: Frame): PageRequest {
  const { request } = call;
  return {
    frame,
    key: context.req.param('key') ?? '',
    clientPrefix: call.clientPrefix,
    cookies: request.headers.get('cookie') ?? '',
    form: async () => parseForm(await call.body(), request.headers.get('content-type')),
  };
}

/** A refusal that brings the headers of its limit. */
class LimitReached extends RequestProblem {
  readonly headers: Readonly<Record<string, string>>;

  constructor(retryAfterSeconds: number, headers: Readonly<Record<string, string>>) {
    super({ problem: 'rate_limited', retryAfterSeconds });
    this.headers = headers;
  }
}

function takeLimit(site: Site, { limit }: PageAction, clientPrefix: string): void {
  if (limit === 'none') return;
  const refusal = site.limiter.take(limit, 'anonymous', clientPrefix);
  if (refusal !== null) throw new LimitReached(refusal.retryAfterSeconds, refusal.headers);
}

const passing: ReadonlySet<Problem['problem']> = new Set(['rate_limited', 'unavailable', 'storage_full']);

/** The page's own answer to what will pass, so that a form is not lost; everything else is thrown on. */
async function refuse(
  action: PageAction,
  request: PageRequest,
  error: unknown,
  requestId: string,
): Promise<PageReply> {
  const problem = problemOf(error, requestId);
  if (action.refuse === undefined || !passing.has(problem.problem)) throw error;
  const reply = await action.refuse(request, problem);
  return { ...reply, headers: { ...reply.headers, ...headersOf(error, problem) } };
}

function answerFailure(site: Site, call: Call, frame: Frame, error: unknown): Response {
  const problem = problemOf(error, call.requestId);
  if (problem.problem === 'internal') site.onFault(error, call.requestId);
  const { status, markup } = renderNotice(frame, problem);
  const reply = { status, content: { kind: 'page', markup }, headers: headersOf(error, problem) } as const;
  return toResponse(reply, call.requestId);
}

function headersOf(error: unknown, problem: Problem): Readonly<Record<string, string>> {
  return {
    ...('retryAfterSeconds' in problem ? { 'retry-after': String(problem.retryAfterSeconds) } : {}),
    ...(problem.problem === 'method_not_allowed' ? { allow: problem.allow } : {}),
    ...(error instanceof LimitReached ? error.headers : {}),
    ...(error instanceof BodyTimeout ? { connection: 'close' } : {}),
  };
}

function toResponse({ status, content, headers }: PageReply, requestId: string): Response {
  const response = contentResponse(status, content, requestId);
  response.headers.set('content-security-policy', contentSecurityPolicy);
  response.headers.set('cross-origin-opener-policy', 'same-origin');
  response.headers.set('cross-origin-resource-policy', 'same-origin');
  for (const [name, value] of Object.entries(headers ?? {})) response.headers.set(name, value);
  return response;
}

function contentResponse(status: number, content: PageReply['content'], requestId: string): Response {
  if (content.kind === 'page') return pageResponse(status, content.markup, requestId);
  if (content.kind === 'none') return withCommonHeaders(new Response(null, { status }), requestId);
  const response = new Response(content.text, { status, headers: { 'content-type': content.type } });
  return withCommonHeaders(response, requestId);
}
