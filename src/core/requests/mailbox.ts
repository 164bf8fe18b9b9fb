/** What the asker does with a request: read its answers, change it, discard an answer. */
import type { Caller } from '../account.ts';
import { type SecretKey, secretIdOf, tagOf } from '../keys.ts';
import type { Plan } from '../plans.ts';
import type { Core } from '../ports/core.ts';
import type { RequestChange } from '../ports/requests.ts';
import type { StoredAnswer } from '../request.ts';
import {
  answersTo,
  askerOf,
  type FoundRequest,
  findForOwner,
  findRequest,
  openAnswer,
  viewOf,
} from './find.ts';
import type {
  AnswersInput,
  AnswersOutcome,
  ChangeRequestInput,
  ChangeRequestOutcome,
  DiscardInput,
  DiscardOutcome,
} from './outcomes.ts';

export async function answers(deps: Core, { requestKey, ownerProof }: AnswersInput): Promise<AnswersOutcome> {
  return listed(deps, await findForOwner(deps, requestKey, ownerProof));
}

async function listed(deps: Core, found: FoundRequest | null): Promise<AnswersOutcome> {
  if (found === null) return { outcome: 'unknown' };
  return { outcome: 'found', request: viewOf(found), answers: await answersTo(deps, found) };
}

export async function change(
  deps: Core,
  input: ChangeRequestInput,
  caller: Caller,
): Promise<ChangeRequestOutcome> {
  const { requestKey, ownerProof } = input;
  const found =
    ownerProof === null
      ? await findForAccount(deps, requestKey, caller)
      : await findForOwner(deps, requestKey, ownerProof);
  if (found === null) return { outcome: 'unknown' };
  const { id, owner, isEnded } = found.request;
  const { plan } = await askerOf(deps, owner);
  const max = plan.maxPlaces;
  if (owner === null && input.change === 'places' && input.places > max)
    return { outcome: 'too_many_answers', max };
  const to = changeIn(deps, found, input, plan);
  const outcome = await deps.store.changeRequest(id, to, owner === null ? null : max);
  if (outcome === 'too_many_places') return { outcome, max };
  if (outcome !== 'changed') return { outcome };
  if (input.change === 'close' && !isEnded) deps.events({ event: 'request_ended', tag: tagOf(id) });
  const grantedTtlSeconds = 'until' in to ? to.until - deps.store.now() : null;
  const after = await findRequest(deps, requestKey);
  if (after === null) return { outcome: 'unknown' };
  const answers = ownerProof === null ? null : await answersTo(deps, after);
  return { outcome: 'found', request: viewOf(after), answers, grantedTtlSeconds };
}

/** Returns the caller's own request. */
async function findForAccount(deps: Core, keyAsGiven: string, caller: Caller): Promise<FoundRequest | null> {
  const found = await findRequest(deps, keyAsGiven);
  return caller.kind === 'account' && found?.request.owner === caller.account.id ? found : null;
}

/** A new lifetime counts from now, and ends at the latest when the plan's longest from the creation does. */
function changeIn(
  { store }: Core,
  { request }: FoundRequest,
  input: ChangeRequestInput,
  { ttlMinSeconds, ttlMaxSeconds }: Plan,
): RequestChange {
  if (input.change === 'close') return { close: true };
  if (input.change === 'places') return { places: input.places };
  const until = store.now() + Math.max(input.ttlSeconds, ttlMinSeconds);
  return { until: Math.min(until, request.createdAt + ttlMaxSeconds) };
}

/** Burns the answer if it waits. A repeated discard frees no second place. */
export async function discard(
  deps: Core,
  { requestKey, ownerProof, secretKey }: DiscardInput,
): Promise<DiscardOutcome> {
  const { store } = deps;
  const found = await findForOwner(deps, requestKey, ownerProof);
  if (found === null) return { outcome: 'unknown' };
  const stored = await store.listAnswers(found.request.id);
  const isIt = (each: StoredAnswer) => openAnswer(deps, found, each)?.secretKey === secretKey;
  const answer = stored.find(isIt);
  if (answer === undefined) return { outcome: 'unknown_answer' };
  await store.discardAnswer(found.request.id, answer.id);
  const secretId = secretIdOf(secretKey as SecretKey);
  const secret = await store.findSecret(secretId);
  // The decision to discard is stored, so it no longer matters whether the client has left.
  const burnedAt = secret === null ? null : await store.burnFound(secret, () => false);
  if (burnedAt !== null) deps.events({ event: 'burned', tag: tagOf(secretId), by: 'recipient' });
  return listed(deps, await findRequest(deps, requestKey));
}
