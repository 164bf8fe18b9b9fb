/** Asking for a secret, and what the holder of an ask link may see of it. */
import { type Caller, planOf } from '../account.ts';
import { generateRequestKey, requestIdOf, tagOf } from '../keys.ts';
import { grantTtl } from '../plans.ts';
import type { RequestCore } from '../ports/core.ts';
import type { LimitCount } from '../ports/limits.ts';
import type { NewRequest } from '../request.ts';
import { requestStateOf } from '../request.ts';
import { chooseShareDomain } from '../share-domains/choose.ts';
import { askerOf, findForSender, viewOf } from './find.ts';
import type {
  AskInput,
  AskOutcome,
  LookOutcome,
  ReportInput,
  ReportOutcome,
  SenderInput,
} from './outcomes.ts';

const daySeconds = 86_400;
/** Limits the use of a new account for phishing where anybody may have one. */
const newAccounts = { seconds: 7 * daySeconds, rule: { limit: 5, windowSeconds: daySeconds, burst: 5 } };
const oneReport = { limit: 1, windowSeconds: daySeconds, burst: 1 };

export async function ask(deps: RequestCore, input: AskInput, caller: Caller): Promise<AskOutcome> {
  const refusal = checkMayAsk(deps, input, caller);
  if (refusal !== null) return refusal;
  const choice = await chooseShareDomain(deps, input, caller);
  if (choice.outcome !== 'chosen') return choice;
  const waitSeconds = await waitOf(deps, caller);
  if (waitSeconds > 0) return { outcome: 'rate_limited', retryAfterSeconds: waitSeconds };
  const plan = planOf(deps.plans, caller);
  const owner = caller.kind === 'account' ? caller.account.id : null;
  const requestKey = generateRequestKey(deps.random, deps.region);
  const createdAt = deps.store.now();
  const { terms, ownerHash, askHash, places, notify } = input;
  const request: NewRequest = {
    ...{ id: requestIdOf(requestKey), owner, terms, ownerHash, askHash, places, notify, createdAt },
    until: createdAt + grantTtl(plan, input.ttlSeconds),
    answerTtlSeconds: grantTtl(plan, input.answerTtlSeconds),
    shareDomain: choice.shareDomain,
  };
  const max = plan.maxPlaces;
  if ((await deps.store.putRequest(request, owner === null ? null : max)) === 'too_many_places')
    return { outcome: 'too_many_places', max };
  deps.events({ event: 'request_created', tag: tagOf(request.id), account: owner });
  const fresh = { isEnded: false, taken: 0, answered: 0, updatedAt: createdAt, reports: 0 };
  return { outcome: 'asked', request: viewOf({ requestKey, request: { ...request, ...fresh } }) };
}

function checkMayAsk(
  { mayAsk, plans }: RequestCore,
  { notify, places }: AskInput,
  caller: Caller,
): AskOutcome | null {
  if (mayAsk === 'off') return { outcome: 'requests_disabled' };
  if (caller.kind === 'account') return null;
  if (mayAsk === 'accounts') return { outcome: 'account_required' };
  if (notify) return { outcome: 'notify_needs_account' };
  const { maxPlaces: max } = plans.anonymous;
  return places > max ? { outcome: 'too_many_answers', max } : null;
}

/** Counts a new account's request. Returns the seconds to wait, or 0. */
async function waitOf({ strangersSignUp, limits, store }: RequestCore, caller: Caller): Promise<number> {
  if (caller.kind === 'anonymous' || !strangersSignUp) return 0;
  const { id, createdAt } = caller.account;
  if (store.now() >= createdAt + newAccounts.seconds) return 0;
  const [waitMs = 0] = await limits.take([{ name: 'newcomer', rule: newAccounts.rule, client: id }]);
  return Math.ceil(waitMs / 1_000);
}

/** Changes nothing. */
export async function look(deps: RequestCore, input: SenderInput): Promise<LookOutcome> {
  const found = await findForSender(deps, input);
  if (found.outcome !== 'found') return found;
  const { requestKey, request } = found;
  const { account, plan } = await askerOf(deps, request.owner);
  const { terms, until, shareDomain } = request;
  const facts = { requestKey, terms, until, shareDomain, state: requestStateOf(request) };
  const { maxSealedBytes } = plan;
  return { outcome: 'found', request: { ...facts, askedBy: account, maxSealedBytes } };
}

/** Counts a report, once a day for a network; says no more than that it was received. */
export async function report(deps: RequestCore, input: ReportInput): Promise<ReportOutcome> {
  const found = await findForSender(deps, input);
  if (found.outcome !== 'found') return found;
  const { id } = found.request;
  const client = `${id.toHex()} ${input.clientPrefix}`;
  const count: LimitCount = { name: 'report', rule: oneReport, client };
  const [waitMs = 0] = await deps.limits.take([count]);
  if (waitMs === 0) {
    await deps.store.reportRequest(id);
    deps.events({ event: 'request_reported', tag: tagOf(id) });
  }
  return { outcome: 'reported' };
}
