/**
 * What happened, told to the log and to the counters.
 *
 * Owns: the fan-out. Invariant: telling never fails what it tells of.
 */
import type { AccountId } from '../core/accounts/accounts.ts';
import type { Events } from '../core/events.ts';
import type { RequestLine } from './log-lines.ts';
import type { Log } from './logger.ts';
import type { Metrics } from './metrics.ts';

/** For the core: each event becomes a line and a count. */
export function createEvents(log: Log, metrics: Metrics): Events {
  return (event) => {
    log(event);
    metrics.countEvent(event);
  };
}

/** An answered request, as the HTTP layer tells it. */
export type Answered = Omit<RequestLine, 'event' | 'account'> & { readonly accountId: AccountId | null };

/** For the HTTP layer: each answered request becomes a line and a count. */
export function createAnswerObserver(log: Log, metrics: Metrics): (answered: Answered) => void {
  return ({ accountId, ...answered }) => {
    log({ event: 'request', ...answered, account: accountId });
    metrics.countRequest(answered);
  };
}
