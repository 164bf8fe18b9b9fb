/**
 * `/healthz` says that the process is alive, `/readyz` that it can serve. Both work without limits, credentials or logs. A failure
 * reveals neither its reason nor the store.
 */
import type { ClockVerdict } from '../core/ports/clock.ts';
import { declareLength, jsonResponse, newRequestId } from './headers.ts';
import type { AnswerAlone } from './pipeline.ts';

/** `single`: one database server without a standby. `unsafe`: a database with unsafe settings that the operator allowed. */
export type StoreRisk = 'single' | 'unsafe';

export interface HealthDeps {
  /** Whether secrets can be read and burned now, and created if there is room. A rejected promise counts as no. */
  readonly isReady: () => boolean | Promise<boolean>;
  /** The store's verdict on the wall clock. The service keeps serving when in doubt, so `/readyz` mentions the doubt but returns 200. */
  readonly clockVerdict?: () => ClockVerdict;
  /** Whether new secrets are refused for lack of space. `/readyz` still returns 200, or a load balancer would stop reads too. */
  readonly storageIsFull?: () => boolean;
  readonly storeIsLocked?: () => boolean;
  readonly storeRisks?: readonly StoreRisk[];
}

const isAlive = () => true;
const ok = () => '{"status":"ok"}';
const allow = 'GET, HEAD, OPTIONS';

export function healthAnswers(deps: HealthDeps, base = ''): [path: string, answer: AnswerAlone][] {
  return [
    [`${base}/healthz`, (request) => answer(request, isAlive, ok)],
    [`${base}/readyz`, (request) => answer(request, deps.isReady, (isReady) => readyWords(deps, isReady))],
  ];
}

/** Serves requests while startup waits for the store: alive, not ready, and 503 with `Retry-After` for everything else. */
export function answerEarly(base: string): (request: Request) => Response | Promise<Response> {
  const deps: HealthDeps = { isReady: () => false };
  const health = new Map([...healthAnswers(deps), ...healthAnswers(deps, base)]);
  return (request) => health.get(new URL(request.url).pathname)?.(request) ?? comeAgain();
}

function comeAgain(): Response {
  const message = 'The service is starting; please try again';
  const body = JSON.stringify({ success: false, error: 'unavailable', message });
  const response = jsonResponse(503, body, newRequestId());
  response.headers.set('retry-after', '5');
  return response;
}

function readyWords(deps: HealthDeps, isReady: boolean): string {
  const { clockVerdict, storageIsFull, storeIsLocked, storeRisks = [] } = deps;
  if (!isReady)
    return JSON.stringify({ status: 'unavailable', ...(storeIsLocked?.() && { store: 'locked' }) });
  const clock = clockVerdict?.() ?? 'agreed';
  return JSON.stringify({
    status: 'ok',
    ...(clock === 'agreed' ? {} : { clock }),
    ...(storageIsFull?.() ? { storage: 'full' } : {}),
    ...(storeRisks.includes('unsafe') ? { store: 'unsafe' } : {}),
  });
}

async function answer(
  { method }: Request,
  isHealthy: HealthDeps['isReady'],
  words: (isHealthy: boolean) => string,
): Promise<Response> {
  if (method !== 'GET' && method !== 'HEAD') return refuseMethod(method);
  const { isOk, text } = await settle(isHealthy, words);
  const response = jsonResponse(isOk ? 200 : 503, text, newRequestId());
  if (method === 'GET') return response;
  declareLength(response, text);
  return new Response(null, response);
}

async function settle(isHealthy: HealthDeps['isReady'], words: (isHealthy: boolean) => string) {
  try {
    const isOk = await isHealthy();
    return { isOk, text: words(isOk) };
  } catch {
    return { isOk: false, text: words(false) };
  }
}

function refuseMethod(method: string): Response {
  const isQuestion = method === 'OPTIONS';
  const text = isQuestion ? null : '{"message":"Method Not Allowed"}';
  const response = jsonResponse(isQuestion ? 204 : 405, text, newRequestId());
  response.headers.set('allow', allow);
  return response;
}
