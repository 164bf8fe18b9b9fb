/**
 * Encoding of API v2: the account of the caller.
 *
 * Owns: the account's record with the limits of its plan. Invariant: what is not known of an account (when it logged in
 * last, how many secrets it made) has no field.
 */
import type { AccountCaller } from '../../core/accounts/accounts.ts';
import type { Plan } from '../../core/plans.ts';
import type { AuthcheckAnswer } from './responses.ts';

export function encodeAccount({ account }: AccountCaller, limits: Plan, locale: string): AuthcheckAnswer {
  const { username, plan, createdAt } = account;
  return {
    success: true,
    custid: username,
    record: {
      identifier: username,
      custid: username,
      email: username,
      role: 'customer',
      active: true,
      locale,
      created: createdAt,
      updated: createdAt,
      plan: { identifier: plan, planid: plan, options: planOptions(limits) },
    },
    details: { authenticated: true },
  };
}

/** Under the existing service's names; what it has besides (prices, a name, a dark mode) plans do not have here. */
function planOptions(plan: Plan): AuthcheckAnswer['record']['plan']['options'] {
  return {
    ttl: plan.ttlMaxSeconds,
    size: plan.maxValueBytes,
    api: true,
    email: true,
    custom_domains: plan.maxDomains > 0,
  };
}
