/**
 * Whether the server that holds the store may be used (P25): a server that was changed, or another one at its address, is refused until
 * it is safe again. The log says it once at each turn, whatever is asked meanwhile.
 */
import type { Log } from './log.ts';

export interface ServerWatchDeps {
  /** As last found. */
  readonly isRefused: () => boolean;
  readonly log: Log;
  /** Runs a function once, after so many milliseconds; returns how to call it off. */
  readonly after: (milliseconds: number, run: () => void) => () => void;
}

export const serverPollMs = 1_000;

export function watchServer({ isRefused, log, after }: ServerWatchDeps): { stop(): void } {
  let wasRefused = false;

  function look(): void {
    const now = isRefused();
    if (now !== wasRefused) log({ event: now ? 'server_refused' : 'server_accepted' });
    wasRefused = now;
    callOff = after(serverPollMs, look);
  }

  let callOff = after(serverPollMs, look);
  return { stop: () => callOff() };
}
