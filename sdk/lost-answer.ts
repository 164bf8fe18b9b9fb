/** An answer that did not arrive, though the server may have given it. */
import { MayflyError } from './error.ts';
import { pause } from './limit.ts';

/** Without an answer, after a fault of the server, or when a proxy that gave up answered in its place, which is not as Mayfly does. */
export function isLost(error: unknown): error is MayflyError {
  if (!(error instanceof MayflyError)) return false;
  const { code, status } = error;
  const isForeign = code === 'unexpected_answer' && (status === null || status < 400 || status >= 500);
  return isForeign || code === 'unreachable' || code === 'internal';
}

/** As often as a server gives the same answer to the same look. */
const maxTries = 3;

/**
 * Asks again while the answer is lost. If the secret is then gone, rejects with the loss: the lost answer may have had it.
 * @param ask the same request each time, with the same look
 */
export async function askAgain<Answer>(ask: () => Promise<Answer>, signal?: AbortSignal): Promise<Answer> {
  let lost: MayflyError | null = null;
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (lost !== null && error instanceof MayflyError && error.code === 'unknown_secret') throw lost;
      if (tries === maxTries || !isLost(error) || signal?.aborted === true) throw error;
      lost = error;
      await pause(50 * 2 ** tries, signal);
    }
  }
}
