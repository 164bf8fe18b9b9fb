/** The settings that are JSON files: plans and rate limits. */
import { z } from 'zod';
import { builtInPlans, type Plan, type PlanName, type Plans } from '../core/plans.ts';
import type { LimitRule } from '../core/ports/limits.ts';
import { fieldsOf, namesOf } from './json.ts';

function wholeNumber(least: number, most: number) {
  const error = `must be a whole number from ${least} to ${most}`;
  return z.int({ error }).min(least, { error }).max(most, { error }).exactOptional();
}

/** 100 years. */
const ageSeconds = 3_155_760_000;

/**
 * Above 64 MiB, 100 years and as many domains as one list can show, a number is a slip, and arithmetic on it would leave
 * the safe integers.
 */
const planFields = {
  maxValueBytes: wholeNumber(1, 67_108_864),
  maxSealedBytes: wholeNumber(1, 67_108_864),
  ttlMinSeconds: wholeNumber(1, ageSeconds),
  ttlDefaultSeconds: wholeNumber(1, ageSeconds),
  ttlMaxSeconds: wholeNumber(1, ageSeconds),
  maxDomains: wholeNumber(0, 10_000),
} satisfies Readonly<Record<keyof Plan, z.ZodType>>;

function planOver(builtIn: Plan) {
  return fieldsOf(planFields, {
    mustBe: 'must be an object',
    unknown: `{at} is not a field of a plan (${namesOf(planFields)})`,
  })
    .transform((given): Plan => ({ ...builtIn, ...given }))
    .check((context) => {
      const { ttlMinSeconds, ttlDefaultSeconds, ttlMaxSeconds } = context.value;
      if (ttlMinSeconds <= ttlDefaultSeconds && ttlDefaultSeconds <= ttlMaxSeconds) return;
      const message = `{at}: ttlMinSeconds (${ttlMinSeconds}) must not be above ttlDefaultSeconds (${ttlDefaultSeconds}), nor that above ttlMaxSeconds (${ttlMaxSeconds})`;
      context.issues.push({ code: 'custom', message, input: context.value });
    })
    .exactOptional();
}

/** A plan or a field that the file leaves out keeps its built-in value. */
export const plansFile: z.ZodType<Plans> = fieldsOf(
  {
    anonymous: planOver(builtInPlans.anonymous),
    basic: planOver(builtInPlans.basic),
    identity: planOver(builtInPlans.identity),
  } satisfies Readonly<Record<PlanName, z.ZodType>>,
  {
    mustBe: 'must hold a JSON object of plans',
    unknown: `there is no plan "{key}" (${namesOf(builtInPlans)})`,
  },
).transform((given) => ({ ...builtInPlans, ...given }));

/**
 * What is limited. `logIn` counts credentials that were wrong: a log-in with a password is counted before the password
 * is computed, and given back when it was right. `mail` counts the mails to recipients of one sender, `mailbox` those to
 * one address, from any sender.
 */
export type LimitName = LocalLimit | SharedLimit;
/** Counted in each process, in the same turn: what they bound is its own work. */
export type LocalLimit = 'create' | 'manage';
/** Counted by all nodes together. */
export type SharedLimit = 'logIn' | 'signUp' | 'mail' | 'mailbox';

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
/** Not even many accounts together can flood a mailbox. */
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

const rulesOver = (builtIn: RateLimitTable[LimitName]) => {
  const ruleOver = (rule: LimitRule) =>
    fieldsOf(ruleFields, {
      mustBe: 'must be an object with limit, windowSeconds or burst',
      unknown: `{at} is not a field of a limit (${namesOf(ruleFields)})`,
    })
      .transform((given): LimitRule => ({ ...rule, ...given }))
      .exactOptional();
  const parties = { anonymous: ruleOver(builtIn.anonymous), account: ruleOver(builtIn.account) };
  return fieldsOf(parties, {
    mustBe: 'must be an object with anonymous or account',
    unknown: `{at} is no kind of caller (${namesOf(parties)})`,
  })
    .transform((given) => ({ ...builtIn, ...given }))
    .exactOptional();
};

/** A rule or a number that the file leaves out keeps its built-in value. */
export const rateLimitsFile: z.ZodType<RateLimitTable> = fieldsOf(
  {
    create: rulesOver(builtInRateLimits.create),
    manage: rulesOver(builtInRateLimits.manage),
    logIn: rulesOver(builtInRateLimits.logIn),
    signUp: rulesOver(builtInRateLimits.signUp),
    mail: rulesOver(builtInRateLimits.mail),
    mailbox: rulesOver(builtInRateLimits.mailbox),
  } satisfies Readonly<Record<LimitName, z.ZodType>>,
  {
    mustBe: 'must hold a JSON object of limits',
    unknown: `there is no limit "{key}" (${namesOf(builtInRateLimits)})`,
  },
).transform((given) => ({ ...builtInRateLimits, ...given }));
