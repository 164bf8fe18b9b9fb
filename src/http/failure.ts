/**
 * What a failure is called: to the client as a problem, in the log as a method.
 *
 * Owns: the one way from anything thrown to a problem, for API and pages alike. Invariant: only what nobody could
 * foresee, and a record that an operator has to look at, become `internal`.
 */
import { ServiceError } from '../core/errors.ts';
import { type Problem, RequestProblem } from './problem.ts';

export function problemOf(error: unknown, requestId: string): Problem {
  if (error instanceof RequestProblem) return error.problem;
  if (!(error instanceof ServiceError)) return { problem: 'internal', requestId };
  const { code, retryAfterSeconds } = error;
  switch (code) {
    case 'unavailable':
    case 'busy':
      return { problem: 'unavailable', retryAfterSeconds };
    case 'storage_full':
      return { problem: 'storage_full', retryAfterSeconds };
    case 'damaged':
      // Trying again does not help; nothing was consumed (P3), and an operator has to look.
      return { problem: 'internal', requestId };
  }
}

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'PATCH', 'DELETE']);

/** The method, or `other` for a word of the client's own. */
export function methodForLog(method: string): string {
  return knownMethods.has(method) ? method : 'other';
}
