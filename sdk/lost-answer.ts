import { lookAnswers } from '../src/protocol/limits.ts';
import { MayflyError } from './error.ts';
import { pause } from './limit.ts';

/** Returns whether the server may have sent an answer that was lost. A proxy that gives up also responds, but not as Mayfly does. */
export function isLost(error: unknown): error is MayflyError {
  if (!(error instanceof MayflyError)) return false;
  const { code, status } = error;
  const isForeign = code === 'unexpected_answer' && (status === null || status < 400 || status >= 500);
  return isForeign || code === 'unreachable' || code === 'internal';
}

/**
 * Repeats the request while its answer is lost. If the secret is then gone, rejects with the earlier error: the lost answer may have
 * contained the secret.
 * @param ask sends the same request each time, with the same look
 */
export async function askAgain<Answer>(ask: () => Promise<Answer>, signal?: AbortSignal): Promise<Answer> {
  let lost: MayflyError | null = null;
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (lost !== null && error instanceof MayflyError && error.code === 'unknown_secret') throw lost;
      if (tries === lookAnswers || !isLost(error) || signal?.aborted === true) throw error;
      lost = error;
      await pause(50 * 2 ** tries, signal);
    }
  }
}
