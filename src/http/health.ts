/**
 * Whether the process lives, and whether it can serve.
 *
 * Owns: `/healthz` and `/readyz`. Invariant: both are exempt from limits and credentials, change nothing, and say no
 * more than a word or two: not why, not which store.
 */
import type { Context, Hono } from 'hono';
import type { ClockVerdict } from '../core/time.ts';
import { declareLength, jsonResponse, newRequestId } from './headers.ts';

export interface HealthDeps {
  /** Whether a secret could be created and read now. A rejection counts as no. */
  readonly isReady: () => boolean | Promise<boolean>;
  /** What the store makes of the wall clock; absent where there is none. In doubt the service still serves, so `/readyz` says so and answers 200. */
  readonly clockVerdict?: () => ClockVerdict;
}

const ok = '{"status":"ok"}';
const unavailable = '{"status":"unavailable"}';
const allow = 'GET, HEAD, OPTIONS';

/** @param base a path in front of both, `''` at the root. */
export function mountHealth(app: Hono, deps: HealthDeps, base = ''): void {
  app.all(`${base}/healthz`, (context) =>
    answer(
      context,
      () => true,
      () => ok,
    ),
  );
  app.all(`${base}/readyz`, (context) =>
    answer(context, deps.isReady, () => readyWords(deps.clockVerdict?.() ?? 'agreed')),
  );
}

function readyWords(clock: ClockVerdict): string {
  return clock === 'agreed' ? ok : JSON.stringify({ status: 'ok', clock });
}

async function answer(
  context: Context,
  isWell: HealthDeps['isReady'],
  wellWords: () => string,
): Promise<Response> {
  const { method } = context.req.raw;
  if (method !== 'GET' && method !== 'HEAD') return refuseMethod(method);
  const isOk = await settle(isWell);
  const text = isOk ? wellWords() : unavailable;
  const response = jsonResponse(isOk ? 200 : 503, text, newRequestId());
  if (method === 'HEAD') declareLength(response, text);
  return response;
}

async function settle(isWell: HealthDeps['isReady']): Promise<boolean> {
  try {
    return await isWell();
  } catch {
    return false;
  }
}

function refuseMethod(method: string): Response {
  const isQuestion = method === 'OPTIONS';
  const text = isQuestion ? null : '{"message":"Method Not Allowed"}';
  const response = jsonResponse(isQuestion ? 204 : 405, text, newRequestId());
  response.headers.set('allow', allow);
  return response;
}
