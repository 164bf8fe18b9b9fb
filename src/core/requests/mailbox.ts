/** What the asker does with a request: read its answers, change it, discard an answer. */
import type { Caller } from '../account.ts';
import { secretIdOf, tagOf } from '../keys.ts';
import type { Core } from '../ports/core.ts';
import type { ChangeOutcome, RequestChange } from '../ports/requests.ts';
import type { TooManyPlaces } from './ask.ts';
import {
  type AnswerView,
  answersTo,
  askerOf,
  type FoundRequest,
  findForOwner,
  findRequest,
  type OwnerInput,
  openAnswer,
  type UnknownRequest,
  unknown,
} from './find.ts';

export interface Mailbox extends FoundRequest {
  readonly answers: readonly AnswerView[];
}

export async function answers(deps: Core, input: OwnerInput): Promise<Mailbox | UnknownRequest> {
  return mailboxOf(deps, await findForOwner(deps, input));
}

async function mailboxOf(deps: Core, found: FoundRequest | null): Promise<Mailbox | UnknownRequest> {
  return found === null ? unknown : { ...found, answers: await answersTo(deps, found) };
}

export interface ChangeInput {
  readonly requestKey: string;
  /** `null` for a close by the account that asked. */
  readonly ownerProof: Uint8Array | null;
  /** A lifetime counts from now. */
  readonly change: Exclude<RequestChange, { until: unknown }> | { readonly ttlSeconds: number };
}

export type ChangeRefusal =
  | UnknownRequest
  | TooManyPlaces
  | { readonly outcome: Extract<ChangeOutcome, 'ended' | 'places_taken'> };

/** Returns the request without its answers to the account that closed it. */
export async function change(
  deps: Core,
  { requestKey, ownerProof, change: asked }: ChangeInput,
  caller: Caller,
): Promise<Mailbox | FoundRequest | ChangeRefusal> {
  const found =
    ownerProof === null
      ? await findOwn(deps, requestKey, caller)
      : await findForOwner(deps, { requestKey, ownerProof });
  if (found === null) return unknown;
  const { id, owner, isEnded, createdAt } = found.request;
  const { plan } = await askerOf(deps, owner);
  const max = plan.maxPlaces;
  if (owner === null && 'places' in asked && asked.places > max) return { outcome: 'too_many_answers', max };
  const endOf = (ttlSeconds: number) =>
    Math.min(deps.store.now() + Math.max(ttlSeconds, plan.ttlMinSeconds), createdAt + plan.ttlMaxSeconds);
  const to = 'ttlSeconds' in asked ? { until: endOf(asked.ttlSeconds) } : asked;
  const outcome = await deps.store.changeRequest(id, to, owner === null ? null : max);
  if (outcome === 'too_many_places') return { outcome, max };
  if (outcome !== 'changed') return { outcome };
  if ('close' in asked && !isEnded) deps.events({ event: 'request_ended', tag: tagOf(id) });
  const after = await findRequest(deps, requestKey);
  return ownerProof === null ? (after ?? unknown) : mailboxOf(deps, after);
}

/** Returns the caller's own request. */
async function findOwn(deps: Core, requestKey: string, caller: Caller): Promise<FoundRequest | null> {
  const found = await findRequest(deps, requestKey);
  return caller.kind === 'account' && found?.request.owner === caller.account.id ? found : null;
}

/** Burns the answer if it waits. Repeated, it frees no second place. @param secretKey the answer's, as received */
export async function discard(
  deps: Core,
  input: OwnerInput,
  secretKey: string,
): Promise<Mailbox | UnknownRequest | { readonly outcome: 'unknown_answer' }> {
  const { store, events } = deps;
  const found = await findForOwner(deps, input);
  if (found === null) return unknown;
  for (const answer of await store.listAnswers(found.request.id)) {
    const facts = openAnswer(deps, found, answer);
    if (facts?.secretKey !== secretKey) continue;
    await store.discardAnswer(found.request.id, answer.id);
    const secretId = secretIdOf(facts.secretKey);
    const secret = await store.findSecret(secretId);
    // The discard is stored, so it no longer matters whether the client has left.
    const burnedAt = secret && (await store.burnFound(secret, () => false));
    if (burnedAt !== null) events({ event: 'burned', tag: tagOf(secretId), by: 'recipient' });
    return mailboxOf(deps, await findRequest(deps, input.requestKey));
  }
  return { outcome: 'unknown_answer' };
}
