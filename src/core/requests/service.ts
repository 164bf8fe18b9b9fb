/** Requests for secrets, for API and pages: asking for one, and what the holder of its link may see. Notices never make a call fail. */
import { type Account, type Caller, planOf } from '../account.ts';
import { bindUseCases } from '../background.ts';
import { generateRequestKey, requestIdOf, tagOf } from '../keys.ts';
import { grantTtl } from '../plans.ts';
import type { RequestCore } from '../ports/core.ts';
import type { NewRequest } from '../request.ts';
import { chooseShareDomain, type DomainChoice, type DomainWish } from '../share-domains/choose.ts';
import {
  answer,
  answers,
  askerOf,
  change,
  discard,
  type FoundRequest,
  findForSender,
  planFor,
  type SenderInput,
  type SenderRefusal,
  type TooManyPlaces,
} from './mailbox.ts';

export type RequestService = ReturnType<typeof createRequestService>;

/** Methods reject only with `ServiceError`. */
export const createRequestService = (parts: Omit<RequestCore, 'inBackground'>) =>
  bindUseCases(parts, { ask, look, report, planFor, answer, answers, change, discard });

/** Ranges and lengths are the caller's to check. */
export interface AskInput
  extends DomainWish,
    Pick<NewRequest, 'terms' | 'ownerHash' | 'askHash' | 'places' | 'notify'> {
  /** `null` requests the plan's default. */
  readonly ttlSeconds: number | null;
  readonly answerTtlSeconds: number | null;
}

export type AskRefusal =
  | { readonly outcome: 'requests_disabled' | 'account_required' | 'notify_needs_account' }
  | TooManyPlaces
  | { readonly outcome: 'rate_limited'; readonly retryAfterSeconds: number }
  | Exclude<DomainChoice, { outcome: 'chosen' }>;

const daySeconds = 86_400;
/** Limits phishing from new accounts. */
const newAccounts = { seconds: 7 * daySeconds, rule: { limit: 5, windowSeconds: daySeconds, burst: 5 } };
const oneReport = { limit: 1, windowSeconds: daySeconds, burst: 1 };

async function ask(deps: RequestCore, input: AskInput, caller: Caller): Promise<FoundRequest | AskRefusal> {
  const plan = planOf(deps.plans, caller);
  const refusal = checkMayAsk(deps, input, caller);
  if (refusal !== null) return refusal;
  const choice = await chooseShareDomain(deps, input, caller);
  if (choice.outcome !== 'chosen') return choice;
  const retryAfterSeconds = await waitOf(deps, caller);
  if (retryAfterSeconds > 0) return { outcome: 'rate_limited', retryAfterSeconds };
  const requestKey = generateRequestKey(deps.random, deps.region);
  const createdAt = deps.store.now();
  const { terms, ownerHash, askHash, places, notify } = input;
  const request: NewRequest = {
    ...{ id: requestIdOf(requestKey), terms, ownerHash, askHash, places, notify, createdAt },
    owner: caller.kind === 'account' ? caller.account.id : null,
    until: createdAt + grantTtl(plan, input.ttlSeconds),
    answerTtlSeconds: grantTtl(plan, input.answerTtlSeconds),
    shareDomain: choice.shareDomain,
  };
  const { id, owner } = request;
  const max = plan.maxPlaces;
  const outcome = await deps.store.putRequest(request, owner === null ? null : max);
  if (outcome === 'too_many_places') return { outcome, max };
  deps.events({ event: 'request_created', tag: tagOf(id), account: owner });
  const fresh = { isEnded: false, taken: 0, answered: 0, updatedAt: createdAt, reports: 0 };
  return { outcome: 'found', requestKey, request: { ...request, ...fresh } };
}

function checkMayAsk({ mayAsk, plans }: RequestCore, input: AskInput, caller: Caller): AskRefusal | null {
  if (mayAsk === 'off') return { outcome: 'requests_disabled' };
  if (caller.kind === 'account') return null;
  if (mayAsk === 'accounts') return { outcome: 'account_required' };
  if (input.notify) return { outcome: 'notify_needs_account' };
  const { maxPlaces: max } = plans.anonymous;
  return input.places > max ? { outcome: 'too_many_answers', max } : null;
}

/** Counts a new account's request. Returns the seconds to wait, or 0. */
async function waitOf({ strangersSignUp, limits, store }: RequestCore, caller: Caller): Promise<number> {
  if (caller.kind === 'anonymous' || !strangersSignUp) return 0;
  const { id, createdAt } = caller.account;
  if (store.now() >= createdAt + newAccounts.seconds) return 0;
  const [waitMs = 0] = await limits.take([{ name: 'newcomer', rule: newAccounts.rule, client: id }]);
  return Math.ceil(waitMs / 1_000);
}

export interface Look extends FoundRequest {
  /** `null` if it was made without an account. */
  readonly askedBy: Account | null;
  /** @see Plan.maxSealedBytes */
  readonly maxSealedBytes: number;
}

/** Changes nothing. */
async function look(deps: RequestCore, input: SenderInput): Promise<Look | SenderRefusal> {
  const found = await findForSender(deps, input);
  if (found.outcome !== 'found') return found;
  const { account, plan } = await askerOf(deps, found.request.owner);
  return { ...found, askedBy: account, maxSealedBytes: plan.maxSealedBytes };
}

/** Counts a report once a day for a network, without saying so. @param clientPrefix as in `InspectInput` */
async function report(
  deps: RequestCore,
  input: SenderInput,
  clientPrefix: string,
): Promise<FoundRequest | SenderRefusal> {
  const found = await findForSender(deps, input);
  if (found.outcome !== 'found') return found;
  const { id } = found.request;
  const client = `${id.toHex()} ${clientPrefix}`;
  const [waitMs] = await deps.limits.take([{ name: 'report', rule: oneReport, client }]);
  if (waitMs !== 0) return found;
  await deps.store.reportRequest(id);
  deps.events({ event: 'request_reported', tag: tagOf(id) });
  return found;
}
