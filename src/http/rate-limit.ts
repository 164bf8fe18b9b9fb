/**
 * The rate limits, and what a refusal says.
 *
 * Owns: the headers of a refusal (`Retry-After` of RFC 9110, `RateLimit` and
 * `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers). Invariant: every table is bounded (P21). Limits live in
 * this process only; the passphrase attempts of the core are durable and not touched by any setting here.
 *
 * Only a refusal carries the headers: building them costs more than counting does.
 */
import type { LimitName, LimitParty, LimitRule, RateLimitTable } from '../config/rate-limits.ts';
import { type ClientKey, Gcra, type MonotonicMs } from './gcra.ts';

export interface LimitRefusal {
  /** At least 1. */
  readonly retryAfterSeconds: number;
  readonly headers: Readonly<Record<string, string>>;
}

export interface RateLimiter {
  /** Counts one call; `null` when it is allowed, and nothing is counted when it is not. */
  take(name: LimitName, party: LimitParty, client: ClientKey): LimitRefusal | null;
  /** Gives one counted call back: what it was counted for did not happen. */
  refund(name: LimitName, party: LimitParty, client: ClientKey): void;
  /** Whether a call would be allowed, without counting it. */
  peek(name: LimitName, party: LimitParty, client: ClientKey): LimitRefusal | null;
}

export interface RateLimiterOptions {
  readonly table: RateLimitTable | 'off';
  readonly nowMs: MonotonicMs;
  /** Clients remembered for each rule (65,536): about 10 MB in all when every table is full. */
  readonly maxClients?: number;
}

const unlimited: RateLimiter = { take: () => null, refund: () => {}, peek: () => null };

export function createRateLimiter({ table, nowMs, maxClients = 65_536 }: RateLimiterOptions): RateLimiter {
  if (table === 'off') return unlimited;
  const build = (name: LimitName) => ({
    anonymous: new Gcra(table[name].anonymous, nowMs, maxClients),
    account: new Gcra(table[name].account, nowMs, maxClients),
  });
  const limits = Object.fromEntries(
    (Object.keys(table) as LimitName[]).map((name) => [name, build(name)]),
  ) as Record<LimitName, Record<LimitParty, Gcra>>;
  const verdict = (name: LimitName, party: LimitParty, waitMs: number) =>
    waitMs === 0 ? null : refusalOf(name, table[name][party], waitMs);
  return {
    take: (name, party, client) => verdict(name, party, limits[name][party].take(client)),
    refund: (name, party, client) => limits[name][party].refund(client),
    peek: (name, party, client) => verdict(name, party, limits[name][party].peek(client)),
  };
}

function refusalOf(name: LimitName, rule: LimitRule, waitMs: number): LimitRefusal {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  const headers = {
    'retry-after': String(retryAfterSeconds),
    ratelimit: `"${name}";r=0;t=${retryAfterSeconds}`,
    'ratelimit-policy': `"${name}";q=${rule.limit};w=${rule.windowSeconds}`,
  };
  return { retryAfterSeconds, headers };
}
