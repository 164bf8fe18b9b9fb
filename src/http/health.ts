/**
 * `/healthz`: the process lives; `/readyz`: it can serve. Exempt from limits, credentials and the log; they change nothing
 * and say no more than a word or two: not why, not which store.
 */
import type { ClockVerdict } from '../core/ports/clock.ts';
import { declareLength, jsonResponse, newRequestId } from './headers.ts';
import type { AnswerAlone } from './pipeline.ts';

/** `single`: it is on one database server without a standby. `unsafe`: that server's settings are not safe, which was allowed. */
export type StoreRisk = 'single' | 'unsafe';

export interface HealthDeps {
  /** Whether secrets can be read and burned now, and created where there is room. A rejection counts as no. */
  readonly isReady: () => boolean | Promise<boolean>;
  /** What the store makes of the wall clock; absent where there is none. In doubt the service still serves, so `/readyz` says so and answers 200. */
  readonly clockVerdict?: () => ClockVerdict;
  /** Whether new secrets are refused for want of room. Balancing away from it would take the reads along: 200, too. */
  readonly storageIsFull?: () => boolean;
  /** Whether it is not ready because another process holds the store. */
  readonly storeIsLocked?: () => boolean;
  /** Absent: none that has to be said. */
  readonly storeRisks?: readonly StoreRisk[];
}

const isAlive = () => true;
const ok = () => '{"status":"ok"}';
const allow = 'GET, HEAD, OPTIONS';

/** By path. @param base a path in front of both, `''` at the root. */
export function healthAnswers(deps: HealthDeps, base = ''): [path: string, answer: AnswerAlone][] {
  return [
    [`${base}/healthz`, (request) => answer(request, isAlive, ok)],
    [`${base}/readyz`, (request) => answer(request, deps.isReady, (isReady) => readyWords(deps, isReady))],
  ];
}

/** Answers while a start waits for the store: alive, not ready, and 503 with `Retry-After` for everything else. */
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
