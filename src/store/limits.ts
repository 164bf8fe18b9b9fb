/** The rules for one more passphrase guess (P14) and one more ticket, shared by stores that count in their own process or transaction. */
import type { StoredTicket, TicketLimits } from '../core/accounts/accounts.ts';
import type { AttemptLimits, Reservation } from '../core/ports.ts';
import type { UnixSeconds } from '../core/time.ts';

export interface CountedAttempts {
  /** Times of the attempts within the window, oldest first. */
  readonly ofSecret: readonly UnixSeconds[];
  /** The same, of one client only. */
  readonly ofClient: readonly UnixSeconds[];
  readonly inLife: number;
  readonly lifeEndsAt: UnixSeconds;
}

/** Why no further attempt is allowed, or `null` when one is. */
export function exhaustionOf(
  counted: CountedAttempts,
  limits: AttemptLimits,
  now: UnixSeconds,
): Extract<Reservation, { outcome: 'exhausted' }> | null {
  const waits = [
    waitFor(counted.ofClient, limits.perClient, limits.windowSeconds, now),
    waitFor(counted.ofSecret, limits.perSecret, limits.windowSeconds, now),
    counted.inLife >= limits.perLife ? counted.lifeEndsAt - now : null,
  ].filter((wait) => wait !== null);
  return waits.length === 0 ? null : { outcome: 'exhausted', retryAfterSeconds: Math.max(1, ...waits) };
}

/**
 * What is left to the client after one more attempt, made now, that `exhaustionOf` has allowed: the least that any limit
 * leaves, and when there is more. Where several limits leave the same, there is more when the last of them gives way.
 */
export function allowanceAfter(
  counted: CountedAttempts,
  limits: AttemptLimits,
  now: UnixSeconds,
): { readonly left: number; readonly moreAfterSeconds: number } {
  const windowOf = (times: readonly UnixSeconds[], limit: number) => ({
    left: limit - times.length - 1,
    moreAfterSeconds: (times[0] ?? now) + limits.windowSeconds - now,
  });
  const allowances = [
    windowOf(counted.ofClient, limits.perClient),
    windowOf(counted.ofSecret, limits.perSecret),
    { left: limits.perLife - counted.inLife - 1, moreAfterSeconds: counted.lifeEndsAt - now },
  ];
  const left = Math.min(...allowances.map((each) => each.left));
  const waits = allowances.filter((each) => each.left === left).map((each) => each.moreAfterSeconds);
  return { left: Math.max(0, left), moreAfterSeconds: Math.max(1, ...waits) };
}

/** Seconds until one of `times` has left the window and makes room below `limit`; `null` when there is room now. */
function waitFor(
  times: readonly UnixSeconds[],
  limit: number,
  windowSeconds: number,
  now: UnixSeconds,
): number | null {
  if (times.length < limit) return null;
  // With more than the limit counted (it was lowered meanwhile), the one that has to leave is not the oldest.
  const leaving = times[times.length - limit];
  return leaving === undefined ? windowSeconds : leaving + windowSeconds - now;
}

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
