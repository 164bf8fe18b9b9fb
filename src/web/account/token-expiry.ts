/**
 * How long a new API token works.
 *
 * Owns: the choices of the form and their reading. Invariant: a date that is given counts, and whatever is no choice and
 * no day to come is refused, so that no token works for longer than its maker meant.
 */
import { type TokenScope, tokenScopes } from '../../core/accounts/accounts.ts';
import type { UnixSeconds } from '../../core/time.ts';

/** The form of a new token, as typed. */
export interface TypedToken {
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  /** Days; `''` for ever. */
  readonly expiry: string;
  /** `2030-12-31`, or `''`. */
  readonly date: string;
}

/** In days; `''` in the form is for ever. */
export const tokenLifetimesDays = [30, 90, 365] as const;

const daySeconds = 86_400;

export const untouchedToken: TypedToken = { name: '', scopes: tokenScopes, expiry: '', date: '' };

export type TokenExpiry =
  | { readonly outcome: 'valid'; readonly expiresAt: UnixSeconds | null }
  | { readonly outcome: 'invalid_choice' }
  | { readonly outcome: 'invalid_date' };

export function parseTokenExpiry(
  { expiry, date }: Pick<TypedToken, 'expiry' | 'date'>,
  now: UnixSeconds,
): TokenExpiry {
  if (date.trim() !== '') return untilEndOf(date.trim(), now);
  if (expiry === '') return { outcome: 'valid', expiresAt: null };
  const days = tokenLifetimesDays.find((choice) => String(choice) === expiry);
  if (days === undefined) return { outcome: 'invalid_choice' };
  return { outcome: 'valid', expiresAt: now + days * daySeconds };
}

/** The first second after that day in UTC. */
function untilEndOf(date: string, now: UnixSeconds): TokenExpiry {
  const beginMs = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN;
  // A day that the month does not have is moved on to the next month by some engines.
  if (Number.isNaN(beginMs) || !new Date(beginMs).toISOString().startsWith(date)) {
    return { outcome: 'invalid_date' };
  }
  const expiresAt = beginMs / 1_000 + daySeconds;
  return expiresAt > now ? { outcome: 'valid', expiresAt } : { outcome: 'invalid_date' };
}
