/**
 * The rate limits, and the headers of a refusal: `Retry-After` from RFC 9110, `RateLimit` and `RateLimit-Policy` from
 * draft-ietf-httpapi-ratelimit-headers. Only refusals carry them, because building them costs more than counting. Every table is bounded
 * (P21). No setting here affects the core's durable count of passphrase attempts.
 */

import { createHmac } from 'node:crypto';
import type { LimitName, LimitParty, LocalLimit, RateLimitTable, SharedLimit } from '../config/json-files.ts';
import type { AccountId } from '../core/account.ts';
import type { MailQuota } from '../core/mailer.ts';
import type { LimitCount, LimitRule, SharedLimits } from '../core/ports/limits.ts';
import type { Sensitive } from '../core/sensitive.ts';

export interface LimitRefusal {
  readonly retryAfterSeconds: number;
  readonly headers: Readonly<Record<string, string>>;
}

export interface LimitedCall {
  readonly name: SharedLimit;
  readonly party: LimitParty;
  readonly client: ClientKey;
}

export interface RateLimiter {
  /** Counts one call and returns `null` if it is allowed. */
  take(name: LocalLimit, party: LimitParty, client: ClientKey): LimitRefusal | null;
  /** Counts one call against each of these limits or, if any of them refuses, against none. Returns the first refusal. */
  takeShared(calls: readonly LimitedCall[]): Promise<LimitRefusal | null>;
  peekShared(calls: readonly LimitedCall[]): Promise<LimitRefusal | null>;
  /** Gives one call back to each limit if the counted action did not happen. */
  refundShared(calls: readonly LimitedCall[]): Promise<void>;
}

export interface RateLimiterOptions {
  readonly table: RateLimitTable | 'off';
  readonly nowMs: MonotonicMs;
  /** Clients remembered per rule. Default 65,536: about 10 MB in total when every table is full. */
  readonly maxClients?: number;
  /** Limits counted across all nodes. Default: this process only. */
  readonly shared?: SharedLimits;
}

const unlimited: RateLimiter = {
  take: () => null,
  takeShared: async () => null,
  peekShared: async () => null,
  refundShared: async () => {},
};
const usualMaxClients = 65_536;

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
      // Check and count in one synchronous step.
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

export type MonotonicMs = () => number;

export type ClientKey = string | number;

/** Entries checked per new client, so that the table can shrink twice as fast as it grows. */
const sweptPerInsert = 2;
/** Entries checked in a full table before one that still counts is evicted. */
const sweptWhenFull = 64;

/**
 * The generic cell rate algorithm (ITU-T I.371, annex A) for many clients, in memory. Within any span, a client passes at most `burst` +
 * span × rate times. This is exact: times are whole microseconds and the interval is rounded up, so no fractions accumulate. A client
 * whose allowance is full again is forgotten, which makes no difference to it.
 */
export class Gcra {
  readonly #intervalMicros: number;
  readonly #toleranceMicros: number;
  readonly #nowMs: MonotonicMs;
  readonly #maxClients: number;
  /** When each client's allowance is full again ("theoretical arrival time"), in microseconds. */
  readonly #wholeAt = new Map<ClientKey, number>();
  #sweep: Iterator<[ClientKey, number]> = this.#wholeAt.entries();

  constructor(rule: LimitRule, nowMs: MonotonicMs, maxClients: number) {
    this.#intervalMicros = Math.ceil((rule.windowSeconds * 1_000_000) / rule.limit);
    this.#toleranceMicros = this.#intervalMicros * rule.burst;
    this.#nowMs = nowMs;
    this.#maxClients = maxClients;
  }

  get size(): number {
    return this.#wholeAt.size;
  }

  /** Counts a call and returns 0 if it is allowed; otherwise returns the milliseconds to wait. */
  take(client: ClientKey): number {
    const nowMicros = this.#nowMicros();
    const known = this.#wholeAt.get(client);
    const next = (known === undefined || known < nowMicros ? nowMicros : known) + this.#intervalMicros;
    const excess = next - nowMicros - this.#toleranceMicros;
    if (excess > 0) return excess / 1000;
    if (known === undefined) this.#makeRoom(nowMicros);
    this.#wholeAt.set(client, next);
    return 0;
  }

  /**
   * Takes back one counted call soon after its `take`. Allowance that recovered in between may be granted twice, but never beyond a full
   * allowance.
   */
  refund(client: ClientKey): void {
    const known = this.#wholeAt.get(client);
    if (known === undefined) return;
    const earlier = known - this.#intervalMicros;
    if (earlier > this.#nowMicros()) this.#wholeAt.set(client, earlier);
    else this.#wholeAt.delete(client);
  }

  peek(client: ClientKey): number {
    const nowMicros = this.#nowMicros();
    const wholeAt = this.#wholeAt.get(client) ?? 0;
    return (
      Math.max(0, Math.max(wholeAt, nowMicros) + this.#intervalMicros - nowMicros - this.#toleranceMicros) /
      1000
    );
  }

  #nowMicros(): number {
    return Math.floor(this.#nowMs() * 1000);
  }

  #makeRoom(nowMicros: number): void {
    this.#forgetWhole(nowMicros, sweptPerInsert);
    if (this.#wholeAt.size < this.#maxClients) return;
    this.#forgetWhole(nowMicros, sweptWhenFull);
    if (this.#wholeAt.size < this.#maxClients) return;
    // Every entry still counts: evict the oldest. Refusing newcomers instead would let a flood lock others out.
    for (const oldest of this.#wholeAt.keys()) {
      this.#wholeAt.delete(oldest);
      return;
    }
  }

  #forgetWhole(nowMicros: number, count: number): void {
    for (let checked = 0; checked < count; checked++) {
      const entry = this.#sweep.next();
      if (entry.done) {
        this.#sweep = this.#wholeAt.entries();
        return;
      }
      if (entry.value[1] <= nowMicros) this.#wholeAt.delete(entry.value[0]);
    }
  }
}

/**
 * Counts an email against both the sender's account and the recipient's mailbox, or against neither. Mailboxes are counted by a hash under
 * a key derived from the root key: no address is kept, and all nodes count a mailbox alike (P18, P21).
 * @param key 32 bytes, the same on all nodes
 */
export function createMailQuota(
  limiter: Pick<RateLimiter, 'takeShared' | 'refundShared'>,
  key: Uint8Array,
): MailQuota {
  /** Most mail servers ignore case. */
  const mailboxOf = (address: Sensitive<string>) =>
    createHmac('sha256', key).update(address.expose().toLowerCase()).digest('base64');
  const callsOf = (account: AccountId, address: Sensitive<string>): LimitedCall[] => [
    { name: 'mail', party: 'account', client: account },
    { name: 'mailbox', party: 'account', client: mailboxOf(address) },
  ];
  return {
    async take(account, address) {
      const refusal = await limiter.takeShared(callsOf(account, address));
      if (refusal === null) return { outcome: 'allowed' };
      return { outcome: 'too_many', retryAfterSeconds: refusal.retryAfterSeconds };
    },
    refund: (account, address) => limiter.refundShared(callsOf(account, address)),
  };
}
