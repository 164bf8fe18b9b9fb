import { MayflyError } from './error.ts';

export interface CallOptions {
  /** Aborts the call, which then rejects with `aborted`. A reveal already sent may still consume the secret. */
  readonly signal?: AbortSignal;
  /** The time limit, including retries. Default: the client's. */
  readonly timeoutMs?: number;
}

export interface Limit {
  readonly signal: AbortSignal;
  leftMs(): number;
}

/** The longest delay that timers accept: 24 days. */
const maxTimerMs = 2 ** 31 - 1;

function errorFor(signal: AbortSignal | undefined): MayflyError {
  return signal?.aborted === true
    ? new MayflyError('aborted', 'The call was aborted.', { cause: signal.reason })
    : new MayflyError('timed_out', 'The server took too long to answer.');
}

export async function withinLimit<T>(
  timeoutMs: number,
  caller: AbortSignal | undefined,
  work: (limit: Limit) => Promise<T>,
): Promise<T> {
  if (caller?.aborted === true) throw errorFor(caller);
  // Node 20.0 to 20.2 have no AbortSignal.any.
  const controller = new AbortController();
  const { signal } = controller;
  const end = () => controller.abort();
  const limitMs = Math.min(timeoutMs, maxTimerMs);
  const endMs = performance.now() + limitMs;
  const timer = setTimeout(end, limitMs);
  caller?.addEventListener('abort', end, { once: true });
  try {
    return await work({ signal, leftMs: () => endMs - performance.now() });
  } catch (error) {
    // A refusal tells the caller more than a timeout does.
    const isRefusal = error instanceof MayflyError && error.status !== null;
    if (!signal.aborted || isRefusal) throw error;
    throw errorFor(caller);
  } finally {
    clearTimeout(timer);
    caller?.removeEventListener('abort', end);
  }
}

/** Runs several calls within one time limit: each gets the time that is left. */
export async function withinOneLimit<T>(
  timeoutMs: number,
  { timeoutMs: ownMs = timeoutMs, signal: caller }: CallOptions,
  work: (own: CallOptions) => Promise<T>,
): Promise<T> {
  return withinLimit(ownMs, caller, ({ signal, leftMs }) =>
    work({
      signal,
      get timeoutMs() {
        return leftMs();
      },
    }),
  );
}

/** Returns `null` if a retry would not help. */
function waitMsAfter(error: unknown, tries: number): number | null {
  if (!(error instanceof MayflyError)) return null;
  if (error.code === 'unreachable') return 100 * 2 ** tries;
  const isBusy = [409, 429, 503].includes(error.status ?? 0);
  return isBusy && error.retryAfterSeconds !== null ? error.retryAfterSeconds * 1000 : null;
}

/** Rejects if the signal is aborted. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Only for calls that change nothing or create only once. Never begins a wait that would exceed the limit. */
export async function repeat<T>(work: () => Promise<T>, retries: number, limit: Limit): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      const waitMs = waitMsAfter(error, tries);
      const isLast = tries === retries || limit.signal.aborted;
      if (isLast || waitMs === null || waitMs >= limit.leftMs()) throw error;
      await pause(waitMs, limit.signal);
    }
  }
}
