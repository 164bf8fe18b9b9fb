/**
 * The rate limits, and what a refusal says: `Retry-After` of RFC 9110, `RateLimit` and `RateLimit-Policy` of
 * draft-ietf-httpapi-ratelimit-headers. Every table is bounded (P21). The passphrase attempts of the core are durable and
 * not touched by any setting here.
 *
 * Only a refusal carries the headers: building them costs more than counting does.
 */
import type {
  LimitName,
  LimitParty,
  LocalLimit,
  RateLimitTable,
  SharedLimit,
} from '../config/rate-limits.ts';
import type { LimitCount, LimitRule, SharedLimits } from '../core/ports.ts';
import { type ClientKey, Gcra, type MonotonicMs } from './gcra.ts';

export interface LimitRefusal {
  /** At least 1. */
  readonly retryAfterSeconds: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Against whom a call counts. */
export interface LimitedCall {
  readonly name: SharedLimit;
  readonly party: LimitParty;
  readonly client: ClientKey;
}

export interface RateLimiter {
  /** Counts one call; `null` when it is allowed, and nothing is counted when it is not. */
  take(name: LocalLimit, party: LimitParty, client: ClientKey): LimitRefusal | null;
  /** Counts one call against all of these or, when one refuses it, against none; the first refusal. */
  takeShared(calls: readonly LimitedCall[]): Promise<LimitRefusal | null>;
  /** Whether `takeShared` would allow it, without counting it. */
  peekShared(calls: readonly LimitedCall[]): Promise<LimitRefusal | null>;
  /** Gives one counted call of each back: what it was counted for did not happen. */
  refundShared(calls: readonly LimitedCall[]): Promise<void>;
}

export interface RateLimiterOptions {
  readonly table: RateLimitTable | 'off';
  readonly nowMs: MonotonicMs;
  /** Clients remembered for each rule (65,536): about 10 MB in all when every table is full. */
  readonly maxClients?: number;
  /** What all nodes count together; in this process if absent. */
  readonly shared?: SharedLimits;
}

const unlimited: RateLimiter = {
  take: () => null,
  takeShared: async () => null,
  peekShared: async () => null,
  refundShared: async () => {},
};
const usualMaxClients = 65_536;

/** The shared limits of a store that has one process, or none to share with: counted in its memory. */
export function createOwnLimits(nowMs: MonotonicMs, maxClients = usualMaxClients): SharedLimits {
  const limits = new Map<string, Gcra>();
  const limitOf = ({ name, rule }: LimitCount): Gcra => {
    const known = limits.get(name) ?? new Gcra(rule, nowMs, maxClients);
    limits.set(name, known);
    return known;
  };
  const waitsOf = (counts: readonly LimitCount[]) => counts.map((count) => limitOf(count).peek(count.client));
  return {
    async take(counts) {
      const waits = waitsOf(counts);
      // Nothing comes in between: the look and the count are one synchronous step.
      if (waits.every((waitMs) => waitMs === 0))
        for (const count of counts) limitOf(count).take(count.client);
      return waits;
    },
    peek: async (counts) => waitsOf(counts),
    async refund(counts) {
      for (const count of counts) limitOf(count).refund(count.client);
    },
  };
}

export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const { table, nowMs, maxClients = usualMaxClients } = options;
  if (table === 'off') return unlimited;
  const { shared = createOwnLimits(nowMs, maxClients) } = options;
  const localOf = (name: LocalLimit) => ({
    anonymous: new Gcra(table[name].anonymous, nowMs, maxClients),
    account: new Gcra(table[name].account, nowMs, maxClients),
  });
  const local: Record<LocalLimit, Record<LimitParty, Gcra>> = {
    create: localOf('create'),
    manage: localOf('manage'),
  };
  const countOf = ({ name, party, client }: LimitedCall): LimitCount => ({
    name: `${name}.${party}`,
    rule: table[name][party],
    client,
  });
  const verdictOn = (calls: readonly LimitedCall[], waits: readonly number[]): LimitRefusal | null => {
    const refusing = calls.findIndex((_, n) => waits[n] !== 0);
    const call = calls[refusing];
    return call === undefined
      ? null
      : refusalOf(call.name, table[call.name][call.party], waits[refusing] ?? 0);
  };
  return {
    take(name, party, client) {
      const waitMs = local[name][party].take(client);
      return waitMs === 0 ? null : refusalOf(name, table[name][party], waitMs);
    },
    takeShared: async (calls) => verdictOn(calls, await shared.take(calls.map(countOf))),
    peekShared: async (calls) => verdictOn(calls, await shared.peek(calls.map(countOf))),
    refundShared: (calls) => shared.refund(calls.map(countOf)),
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
