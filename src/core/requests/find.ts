/**
 * The steps from a request's key to somebody who has proven one of its links. An unknown key and a wrong proof of the asker's get the same
 * answer after the same work (P17); proofs are compared in constant time.
 */
import { openBox } from '../../crypto/box.ts';
import { utf8 } from '../../crypto/bytes.ts';
import { type AccountId, noAccountId } from '../account.ts';
import { parseRequestKey, type RequestKey, requestIdOf, tagOf } from '../keys.ts';
import type { Plan } from '../plans.ts';
import type { Core } from '../ports/core.ts';
import { type AnswerFacts, parseAnswerContent, type StoredAnswer, type StoredRequest } from '../request.ts';
import { stateAt } from '../secret.ts';
import { isProofOf, proofBytes } from '../secrets/end-to-end.ts';

export interface FoundRequest {
  readonly outcome: 'found';
  readonly requestKey: RequestKey;
  readonly request: StoredRequest;
}

/** The key is unknown, or the caller is not the asker. */
export interface UnknownRequest {
  readonly outcome: 'unknown';
}

export const unknown: UnknownRequest = { outcome: 'unknown' };

/** From the holder of the ask link. */
export interface SenderInput {
  /** As received; anything that is not a key is treated as unknown. */
  readonly requestKey: string;
  /** Q. */
  readonly askProof: Uint8Array;
}

/** From the asker. */
export interface OwnerInput {
  /** As in `SenderInput`. */
  readonly requestKey: string;
  /** O. */
  readonly ownerProof: Uint8Array;
}

export async function findRequest({ store }: Core, key: string): Promise<FoundRequest | null> {
  const requestKey = parseRequestKey(key);
  const request = requestKey && (await store.findRequest(requestIdOf(requestKey)));
  return requestKey && request && { outcome: 'found', requestKey, request };
}

/** Takes the place of a hash if the request is unknown. */
const noHash = new Uint8Array(proofBytes);

export async function findForOwner(deps: Core, input: OwnerInput): Promise<FoundRequest | null> {
  const found = await findRequest(deps, input.requestKey);
  return isProofOf(input.ownerProof, found?.request.ownerHash ?? noHash) ? found : null;
}

export type SenderRefusal = UnknownRequest | { readonly outcome: 'incomplete_link' };

export async function findForSender(deps: Core, input: SenderInput): Promise<FoundRequest | SenderRefusal> {
  const found = await findRequest(deps, input.requestKey);
  const isProven = isProofOf(input.askProof, found?.request.askHash ?? noHash);
  if (found === null) return unknown;
  return isProven ? found : { outcome: 'incomplete_link' };
}

/** Returns the account that asked, or `null`, and the plan that limits answers. */
export async function askerOf({ store, plans }: Core, owner: AccountId | null) {
  const account = await store.findAccountById(owner ?? noAccountId);
  return { account, plan: plans[account?.plan ?? 'anonymous'] };
}

/** Returns the plan that limits an answer's size. Asks the store the same for every key. */
export async function planFor(deps: Core, key: string): Promise<Plan> {
  const found = await findRequest(deps, key);
  return (await askerOf(deps, found?.request.owner ?? null)).plan;
}

export const answerBoxOf = (requestKey: RequestKey, binding: StoredAnswer['id']) =>
  ({ label: 'answer', keyMaterial: utf8(requestKey), binding }) as const;

/** Returns `null` for a damaged row, which must not hide the other answers. */
export function openAnswer(
  { events }: Pick<Core, 'events'>,
  { requestKey, request }: FoundRequest,
  { id, box }: StoredAnswer,
): AnswerFacts | null {
  const content = openBox(box, answerBoxOf(requestKey, id));
  const facts = content && parseAnswerContent(content);
  if (facts === null) events({ event: 'record_damaged', tag: tagOf(request.id) });
  return facts;
}

export interface AnswerView extends AnswerFacts {
  /** Its secret's; `unknown` once the record of that has ended. */
  readonly state: ReturnType<typeof stateAt> | 'unknown';
  readonly isDiscarded: boolean;
}

/** Lists a request's answers, oldest first. */
export async function answersTo(deps: Core, found: FoundRequest): Promise<readonly AnswerView[]> {
  const { store } = deps;
  const answers = (await store.listAnswers(found.request.id)).flatMap((answer) => {
    const facts = openAnswer(deps, found, answer);
    return facts === null ? [] : [{ ...facts, isDiscarded: answer.isDiscarded }];
  });
  if (answers.length === 0) return [];
  const lives = await store.findLives(answers.map(({ receiptId }) => receiptId));
  return answers.map((answer, at) => {
    const life = lives[at] ?? null;
    return { ...answer, state: life === null ? 'unknown' : stateAt(life, store.now()) };
  });
}
