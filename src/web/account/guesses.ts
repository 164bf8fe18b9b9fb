/**
 * Passwords that are tried.
 *
 * Owns: how they are counted. Invariants: a guess is counted before it is computed, against the client and against the
 * address, known here or not (P14's way, P17); what was no wrong guess is given back, so nobody locks themselves out by
 * logging in. Addresses are counted by a hash, so that none is kept and a long one takes no room (P18, P21).
 */
import { createHash } from 'node:crypto';
import type { RateLimiter } from '../../http/rate-limit.ts';
import { takeLimit } from '../page.ts';

export type GuessLimiter = Pick<RateLimiter, 'take' | 'refund'>;

export interface Guess<T> {
  readonly clientPrefix: string;
  /** The address whose password is tried, as typed. */
  readonly username: string;
  readonly compute: () => Promise<T>;
  readonly isWrong: (outcome: T) => boolean;
}

/** @throws LimitReached before anything is computed. */
export async function countGuess<T>(
  limiter: GuessLimiter,
  { clientPrefix, username, compute, isWrong }: Guess<T>,
): Promise<T> {
  const address = createHash('sha256').update(username.trim().toLowerCase()).digest('base64url');
  const giveBackClient = () => limiter.refund('logIn', 'anonymous', clientPrefix);
  takeLimit(limiter, 'logIn', 'anonymous', clientPrefix);
  try {
    takeLimit(limiter, 'logIn', 'account', address);
  } catch (error) {
    giveBackClient();
    throw error;
  }
  const giveBack = () => {
    giveBackClient();
    limiter.refund('logIn', 'account', address);
  };
  try {
    const outcome = await compute();
    if (!isWrong(outcome)) giveBack();
    return outcome;
  } catch (error) {
    giveBack();
    throw error;
  }
}
