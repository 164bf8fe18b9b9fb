/** Settings in JSON files: plans and rate limits. */
import { z } from 'zod';
import { builtInPlans, type Plan, type Plans } from '../core/plans.ts';
import type { LimitRule } from '../core/ports/limits.ts';
import { fieldsOf, namesOf } from './json.ts';

function wholeNumber(least: number, most: number) {
  const error = `must be a whole number from ${least} to ${most}`;
  return z.int({ error }).min(least, { error }).max(most, { error }).exactOptional();
}

/** 100 years. */
const ageSeconds = 3_155_760_000;

/** Anything above 64 MiB, 100 years or 10,000 domains is a typo, and arithmetic on it could exceed the safe integers. */
const planFields = {
  maxValueBytes: wholeNumber(1, 67_108_864),
  maxSealedBytes: wholeNumber(1, 67_108_864),
  ttlMinSeconds: wholeNumber(1, ageSeconds),
  ttlDefaultSeconds: wholeNumber(1, ageSeconds),
  ttlMaxSeconds: wholeNumber(1, ageSeconds),
  maxDomains: wholeNumber(0, 10_000),
  maxPlaces: wholeNumber(1, 10_000),
} satisfies Readonly<Record<keyof Plan, z.ZodType>>;

type Words = Parameters<typeof fieldsOf>[1];

/** Reads an object over a built-in one: anything that the file omits keeps its built-in value. */
function over<T extends object>(builtIn: T, fields: Readonly<Record<keyof T, z.ZodType>>, words: Words) {
  return fieldsOf(fields, words).transform((given): T => ({ ...builtIn, ...given }));
}

/** Reads each entry over the built-in one of its name. */
function eachOver<Name extends string, T>(
  builtIn: Readonly<Record<Name, T>>,
  entryOver: (entry: T) => z.ZodType<T>,
  words: Words,
): z.ZodType<Readonly<Record<Name, T>>> {
  const entries = Object.entries<T>(builtIn).map(([name, entry]) => [name, entryOver(entry).exactOptional()]);
  return over(builtIn, Object.fromEntries(entries), words);
}

const planOver = (builtIn: Plan): z.ZodType<Plan> =>
  over(builtIn, planFields, {
    mustBe: 'must be an object',
    unknown: `{at} is not a field of a plan (${namesOf(planFields)})`,
  }).check((context) => {
    const { ttlMinSeconds, ttlDefaultSeconds, ttlMaxSeconds } = context.value;
    if (ttlMinSeconds <= ttlDefaultSeconds && ttlDefaultSeconds <= ttlMaxSeconds) return;
    const message = `{at}: ttlMinSeconds (${ttlMinSeconds}) must not be above ttlDefaultSeconds (${ttlDefaultSeconds}), nor that above ttlMaxSeconds (${ttlMaxSeconds})`;
    context.issues.push({ code: 'custom', message, input: context.value });
  });

export const plansFile: z.ZodType<Plans> = eachOver(builtInPlans, planOver, {
  mustBe: 'must hold a JSON object of plans',
  unknown: `there is no plan "{key}" (${namesOf(builtInPlans)})`,
});

/**
 * `logIn` counts wrong credentials: each attempt is counted before its password is hashed, and refunded if right. `mail` counts the emails
 * from one sender to recipients; `mailbox`, those to one address from any sender.
 */
export type LimitName = LocalLimit | SharedLimit;
/** Counted per process, because they limit that process's own work. */
export type LocalLimit = 'create' | 'manage';
/** Counted across all nodes. */
export type SharedLimit = 'logIn' | 'signUp' | 'mail' | 'mailbox';

/**
 * `anonymous` counts by client prefix, `account` by account id. But `logIn.account` counts by address, whether or not it has an account,
 * and `mailbox.account` by a keyed hash of the address. Only accounts can email recipients, so the `anonymous` rules of `mail` and
 * `mailbox` are unused.
 */
export type LimitParty = 'anonymous' | 'account';

export type RateLimitTable = Readonly<Record<LimitName, Readonly<Record<LimitParty, LimitRule>>>>;

const hourSeconds = 3_600;
const daySeconds = 86_400;
const logIn: LimitRule = { limit: 10, windowSeconds: 600, burst: 10 };
/**
 * A limit on guesses at one address from any source. Attackers can exhaust it, so it exceeds what a person needs and lets the owner
 * try every 36 seconds. NIST SP 800-63B-3 §5.2.2 allows 100; here the limit is per hour, so that no account is locked out for good.
 */
const logInToAddress: LimitRule = { limit: 100, windowSeconds: hourSeconds, burst: 30 };
const signUp: LimitRule = { limit: 10, windowSeconds: hourSeconds, burst: 10 };
const mail: LimitRule = { limit: 50, windowSeconds: hourSeconds, burst: 50 };
/** Keeps many accounts from jointly flooding one mailbox. */
const mailbox: LimitRule = { limit: 20, windowSeconds: daySeconds, burst: 20 };

export const builtInRateLimits: RateLimitTable = {
  create: {
    anonymous: { limit: 1_200, windowSeconds: hourSeconds, burst: 300 },
    account: { limit: 12_000, windowSeconds: hourSeconds, burst: 1_000 },
  },
  manage: {
    anonymous: { limit: 3_000, windowSeconds: hourSeconds, burst: 300 },
    account: { limit: 12_000, windowSeconds: hourSeconds, burst: 1_000 },
  },
  logIn: { anonymous: logIn, account: logInToAddress },
  signUp: { anonymous: signUp, account: signUp },
  mail: { anonymous: mail, account: mail },
  mailbox: { anonymous: mailbox, account: mailbox },
};

const ruleFields = {
  limit: wholeNumber(1, 1_000_000_000),
  windowSeconds: wholeNumber(1, 1_000_000_000),
  burst: wholeNumber(1, 1_000_000_000),
} satisfies Readonly<Record<keyof LimitRule, z.ZodType>>;

const ruleOver = (builtIn: LimitRule): z.ZodType<LimitRule> =>
  over(builtIn, ruleFields, {
    mustBe: 'must be an object with limit, windowSeconds or burst',
    unknown: `{at} is not a field of a limit (${namesOf(ruleFields)})`,
  });

const rulesOver = (builtIn: RateLimitTable[LimitName]) =>
  eachOver(builtIn, ruleOver, {
    mustBe: 'must be an object with anonymous or account',
    unknown: `{at} is not a kind of caller (${namesOf(builtIn)})`,
  });

export const rateLimitsFile: z.ZodType<RateLimitTable> = eachOver(builtInRateLimits, rulesOver, {
  mustBe: 'must hold a JSON object of limits',
  unknown: `there is no limit "{key}" (${namesOf(builtInRateLimits)})`,
});
