/**
 * The rule that decides whether one more ticket is kept, and so whether a mail follows it.
 *
 * Invariant: shared by the stores that count in their own process or transaction; what has been kept is never replaced.
 */
import type { StoredTicket, TicketLimits } from '../core/accounts/accounts.ts';
import type { UnixSeconds } from '../core/time.ts';

type Times = Pick<StoredTicket, 'createdAt' | 'expiresAt'>;

/** @param earlier all that are known of its kind and username; those that were used or voided have expired */
export function mayKeepTicket(
  { createdAt }: Times,
  earlier: readonly Times[],
  limits: TicketLimits,
  now: UnixSeconds,
): boolean {
  if (earlier.filter(({ expiresAt }) => now < expiresAt).length >= limits.maxLive) return false;
  const lately = earlier.map((each) => each.createdAt).filter((at) => createdAt - at < limits.windowSeconds);
  const quietSeconds = limits.quietSeconds[lately.length - 1] ?? limits.quietSeconds.at(-1) ?? 0;
  return lately.every((at) => createdAt - at >= quietSeconds);
}

/** Until when a ticket counts, used or not. */
export function countsUntil({ createdAt, expiresAt }: Times, { windowSeconds }: TicketLimits): UnixSeconds {
  return Math.max(expiresAt, createdAt + windowSeconds);
}
