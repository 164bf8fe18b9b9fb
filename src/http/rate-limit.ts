/**
 * The rate limits: which rule counts what, and what a refusal says.
 *
 * Owns: the built-in table, its JSON form, and the headers of a refusal (`Retry-After` of RFC 9110, `RateLimit` and
 * `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers). Invariant: every table is bounded (P21). Limits live in
 * this process only; the passphrase attempts of the core are durable and not touched by any setting here.
 *
 * Only a refusal carries the headers: building them costs more than counting does.
 */
import { type ClientKey, Gcra, type LimitRule, type MonotonicMs } from './gcra.ts';

/**
 * What is limited. `logIn` counts credentials that were wrong: a log-in with a password is counted before the password
 * is computed, and given back when it was right. `mail` counts the mails to recipients of one sender, `mailbox` those to
 * one address, whoever sends them.
 */
export type LimitName = 'create' | 'manage' | 'logIn' | 'signUp' | 'mail' | 'mailbox';

/**
 * `anonymous` counts by client prefix, `account` by account id; `logIn.account` by the address that is logged in to, in
 * lower case, whether it has an account or not. Only accounts mail recipients, so that nothing counts by the `anonymous`
 * rules of `mail` and `mailbox`; `mailbox.account` counts by a keyed hash of the address.
 */
export type LimitParty = 'anonymous' | 'account';

export type RateLimitTable = Readonly<Record<LimitName, Readonly<Record<LimitParty, LimitRule>>>>;

const hourSeconds = 3_600;
const daySeconds = 86_400;
const logIn: LimitRule = { limit: 10, windowSeconds: 600, burst: 10 };
/**
 * Guesses at one address, wherever they come from. Anybody can use these up for somebody else, so there are many more
 * than a person needs, and a new one every 36 seconds: the owner gets in between. 100 is the number of NIST
 * SP 800-63B-3 §5.2.2; counted by the hour here, because nobody should be locked out for good.
 */
const logInToAddress: LimitRule = { limit: 100, windowSeconds: hourSeconds, burst: 30 };
const signUp: LimitRule = { limit: 10, windowSeconds: hourSeconds, burst: 10 };
const mail: LimitRule = { limit: 50, windowSeconds: hourSeconds, burst: 50 };
/** Nobody's mailbox is flooded, also by many accounts together. */
const mailbox: LimitRule = { limit: 20, windowSeconds: daySeconds, burst: 20 };

export const builtInRateLimits: RateLimitTable = {
  create: {
    anonymous: { limit: 1_200, windowSeconds: hourSeconds, burst: 300 },
    account: { limit: 12_000, windowSeconds: hourSeconds, burst: 1_000 },
  },
  manage: {
    anonymous: { limit: 1_200, windowSeconds: hourSeconds, burst: 120 },
    account: { limit: 12_000, windowSeconds: hourSeconds, burst: 600 },
  },
  logIn: { anonymous: logIn, account: logInToAddress },
  signUp: { anonymous: signUp, account: signUp },
  mail: { anonymous: mail, account: mail },
  mailbox: { anonymous: mailbox, account: mailbox },
};

const limitNames = Object.keys(builtInRateLimits) as LimitName[];
const parties: readonly LimitParty[] = ['anonymous', 'account'];
const ruleFields = ['limit', 'windowSeconds', 'burst'] as const;
const maxRuleNumber = 1_000_000_000;

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
  const limits = Object.fromEntries(limitNames.map((name) => [name, build(name)])) as Record<
    LimitName,
    Record<LimitParty, Gcra>
  >;
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

/**
 * A table from its JSON form, merged over the built-in one: `{"create":{"anonymous":{"limit":300,"windowSeconds":3600,
 * "burst":60}}}`. Unknown names and numbers that are not whole and positive are refused, each with the end of a sentence.
 */
export function parseRateLimits(json: unknown): RateLimitTable | { readonly problems: readonly string[] } {
  if (!isRecord(json)) return { problems: ['it must hold a JSON object of limits'] };
  const table = structuredClone(builtInRateLimits) as Record<LimitName, Record<LimitParty, LimitRule>>;
  const problems: string[] = [];
  for (const [name, given] of Object.entries(json)) {
    if (isOneOf(limitNames, name)) mergeParties(table[name], given, name, problems);
    else problems.push(`there is no limit "${name}" (${limitNames.join(', ')})`);
  }
  return problems.length === 0 ? table : { problems };
}

function mergeParties(
  rules: Record<LimitParty, LimitRule>,
  given: unknown,
  name: LimitName,
  problems: string[],
): void {
  if (!isRecord(given)) {
    problems.push(`${name} must be an object with ${parties.join(' or ')}`);
    return;
  }
  for (const [party, rule] of Object.entries(given)) {
    const where = `${name}.${party}`;
    if (isOneOf(parties, party)) rules[party] = { ...rules[party], ...checkRule(rule, where, problems) };
    else problems.push(`${where} is no kind of caller (${parties.join(', ')})`);
  }
}

function checkRule(given: unknown, where: string, problems: string[]): Partial<LimitRule> {
  if (!isRecord(given)) {
    problems.push(`${where} must be an object with limit, windowSeconds or burst`);
    return {};
  }
  for (const [field, value] of Object.entries(given)) {
    if (!isOneOf(ruleFields, field))
      problems.push(`${where}.${field} is not a field of a limit (${ruleFields.join(', ')})`);
    else if (!Number.isInteger(value) || Number(value) < 1 || Number(value) > maxRuleNumber)
      problems.push(`${where}.${field} must be a whole number from 1 to ${maxRuleNumber}`);
  }
  return given;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isOneOf<T extends string>(known: readonly T[], text: string): text is T {
  return (known as readonly string[]).includes(text);
}
