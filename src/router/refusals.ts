/**
 * The router's own answers under `/api`, in each version's words.
 *
 * Owns: those sentences. Invariant: none of them says that a secret is unknown, because the router cannot know that; one
 * that says nothing was done says so only where nothing was sent; none repeats anything of the request.
 */
import { declareLength, jsonResponse, newRequestId } from '../http/headers.ts';
import type { ApiVersion } from './destination.ts';

export interface Refusal {
  readonly status: number;
  /** v2's code, from the list of its document. */
  readonly code: 'malformed' | 'unavailable' | 'internal';
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

/** Somewhat longer than it takes to notice that a region is back. */
export const retryAfterSeconds = 5;

/** @param label of the region that keeps what was asked for */
export function regionLost(label: string): Refusal {
  const message = `The region ${label} is not available just now. Nothing was done there: try again`;
  return { status: 503, code: 'unavailable', message, retryAfterSeconds };
}

export const noRegion: Refusal = {
  status: 503,
  code: 'unavailable',
  message: 'No region is available just now. Nothing was done: try again',
  retryAfterSeconds,
};

/** It was sent, and no answer came. */
export function outcomeUnknown(label: string): Refusal {
  const message = `The region ${label} did not answer. The request may have been carried out or not: look before you send it again`;
  return { status: 503, code: 'unavailable', message, retryAfterSeconds };
}

export const circle: Refusal = {
  status: 508,
  code: 'internal',
  message: 'The router was led back to itself: its regions are set wrongly',
};

export function malformed(message: string): Refusal {
  return { status: 400, code: 'malformed', message };
}

export function refuseApi(version: ApiVersion, method: string, refusal: Refusal): Response {
  const { status, code, message, retryAfterSeconds: wait } = refusal;
  const requestId = newRequestId();
  const body =
    version === 'v1'
      ? { message }
      : { success: false, error: code, message, ...(code === 'internal' && { request_id: requestId }) };
  const text = JSON.stringify(body);
  const response = jsonResponse(status, text, requestId);
  if (wait !== undefined) response.headers.set('retry-after', String(wait));
  if (method === 'HEAD') declareLength(response, text);
  return response;
}
