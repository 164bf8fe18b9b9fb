/**
 * The steps from a request's key to a proven holder of one of its links. A key that is unknown and a wrong proof of the asker's
 * get the same answer after the same work (P17); proofs are compared in constant time.
 */
import { openBox } from '../../crypto/box.ts';
import { utf8 } from '../../crypto/bytes.ts';
import { type AccountId, noAccountId } from '../account.ts';
import { parseRequestKey, type RequestKey, requestIdOf, tagOf } from '../keys.ts';
import type { Plan } from '../plans.ts';
import type { Core } from '../ports/core.ts';
import {
  type AnswerFacts,
  freePlaces,
  parseAnswerContent,
  requestStateOf,
  type StoredAnswer,
  type StoredRequest,
} from '../request.ts';
import { receiptStateAt } from '../secret.ts';
import { isProofOf, proofBytes } from '../secrets/end-to-end.ts';
import type { AnswerState, AnswerView, RequestView, SenderInput, SenderRefusal } from './outcomes.ts';

export interface FoundRequest {
  readonly requestKey: RequestKey;
  readonly request: StoredRequest;
}

export async function findRequest({ store }: Core, keyAsGiven: string): Promise<FoundRequest | null> {
  const requestKey = parseRequestKey(keyAsGiven);
  const request = requestKey === null ? null : await store.findRequest(requestIdOf(requestKey));
  return requestKey === null || request === null ? null : { requestKey, request };
}

/** Compared with where there is no request. */
const noHash = new Uint8Array(proofBytes);

/** Returns the request if `proof` is its asker's. */
export async function findForOwner(
  deps: Core,
  keyAsGiven: string,
  proof: Uint8Array,
): Promise<FoundRequest | null> {
  const found = await findRequest(deps, keyAsGiven);
  return isProofOf(proof, found?.request.ownerHash ?? noHash) ? found : null;
}

export async function findForSender(
  deps: Core,
  { requestKey, askProof }: SenderInput,
): Promise<({ readonly outcome: 'found' } & FoundRequest) | SenderRefusal> {
  const found = await findRequest(deps, requestKey);
  const isProven = isProofOf(askProof, found?.request.askHash ?? noHash);
  if (found === null) return { outcome: 'unknown' };
  return isProven ? { outcome: 'found', ...found } : { outcome: 'incomplete_link' };
}

/** Returns the plan by which answers are taken, and the account that asked; the anonymous plan and `null` without one. */
export async function askerOf({ store, plans }: Core, owner: AccountId | null) {
  const account = await store.findAccountById(owner ?? noAccountId);
  return { account, plan: account === null ? plans.anonymous : plans[account.plan] };
}

/** Returns the plan that limits an answer's size. Asks the store the same for every key. */
export async function planFor(deps: Core, keyAsGiven: string): Promise<Plan> {
  const found = await findRequest(deps, keyAsGiven);
  return (await askerOf(deps, found?.request.owner ?? null)).plan;
}

export function viewOf({ requestKey, request }: FoundRequest): RequestView {
  const { terms, places, createdAt, updatedAt, until, answerTtlSeconds, notify, shareDomain } = request;
  const state = requestStateOf(request);
  const facts = { terms, places, createdAt, updatedAt, until, answerTtlSeconds, notify, shareDomain };
  return { requestKey, state, left: freePlaces(request), ...facts };
}

export const answerBoxOf = (requestKey: RequestKey, id: StoredAnswer['id']) =>
  ({ label: 'answer', keyMaterial: utf8(requestKey), binding: id }) as const;

/** Returns `null` for a damaged row, which must not hide the other answers. */
export function openAnswer(
  { events }: Pick<Core, 'events'>,
  { requestKey, request }: FoundRequest,
  { id, box }: StoredAnswer,
): AnswerFacts | null {
  const content = openBox(box, answerBoxOf(requestKey, id));
  const facts = content === null ? null : parseAnswerContent(content);
  if (facts === null) events({ event: 'record_damaged', tag: tagOf(request.id) });
  return facts;
}

/** An answer's state is that of its secret's receipt, which nobody else can find (P6). */
async function stateOf({ store }: Core, { receiptId }: AnswerFacts): Promise<AnswerState> {
  const receipt = await store.findReceipt(receiptId);
  if (receipt === null) return 'unknown';
  const state = receiptStateAt(receipt, store.now());
  return state === 'viewed' ? 'new' : state;
}

export async function answersTo(deps: Core, found: FoundRequest): Promise<readonly AnswerView[]> {
  const stored = await deps.store.listAnswers(found.request.id);
  const answers = stored.map(async (answer): Promise<AnswerView[]> => {
    const facts = openAnswer(deps, found, answer);
    if (facts === null) return [];
    return [{ ...facts, state: await stateOf(deps, facts), isDiscarded: answer.isDiscarded }];
  });
  return (await Promise.all(answers)).flat();
}
