/**
 * The mailbox of a request: who may reach it, how an answer gets into it, and what the asker does with its answers.
 *
 * An unknown key and a wrong proof of the asker's get the same answer after the same work (P17); proofs are compared in constant time.
 * An answer is an ordinary end-to-end secret of the account that asked, whose metadata key is dropped. The mailbox has what finds it,
 * sealed under the request key. The same bytes sent again are the same answer.
 */
import { openBox, sealBox } from '../../crypto/box.ts';
import { utf8 } from '../../crypto/bytes.ts';
import { type AccountId, type Caller, noAccountId } from '../account.ts';
import { ServiceError } from '../errors.ts';
import { parseRequestKey, type RequestKey, requestIdOf, type SecretKey, secretIdOf, tagOf } from '../keys.ts';
import { sendAnswerNotice } from '../mail/notices.ts';
import type { Plan } from '../plans.ts';
import type { Core } from '../ports/core.ts';
import type { ChangeOutcome, RequestChange } from '../ports/requests.ts';
import {
  type AnswerFacts,
  answerContent,
  answerIdOf,
  parseAnswerContent,
  requestStateOf,
  type StoredAnswer,
  type StoredRequest,
} from '../request.ts';
import { stateAt } from '../secret.ts';
import { sealAnswer } from '../secrets/conceal.ts';
import {
  flawOf,
  isProofOf,
  maxCiphertextBytes,
  proofBytes,
  type SealedInput,
} from '../secrets/end-to-end.ts';
import type { SealedRefusal } from '../secrets/outcomes.ts';

export interface FoundRequest {
  readonly outcome: 'found';
  readonly requestKey: RequestKey;
  readonly request: StoredRequest;
}

/** The key is unknown, or the caller is not the asker. */
interface UnknownRequest {
  readonly outcome: 'unknown';
}

const unknown: UnknownRequest = { outcome: 'unknown' };

/** From the holder of the ask link. */
export interface SenderInput {
  /** As received; anything that is not a key is treated as unknown. */
  readonly requestKey: string;
  /** Q. */
  readonly askProof: Uint8Array;
}

/** From the asker. */
interface OwnerInput {
  /** As in `SenderInput`. */
  readonly requestKey: string;
  /** O. */
  readonly ownerProof: Uint8Array;
}

async function findRequest({ store }: Core, key: string): Promise<FoundRequest | null> {
  const requestKey = parseRequestKey(key);
  const request = requestKey && (await store.findRequest(requestIdOf(requestKey)));
  return requestKey && request && { outcome: 'found', requestKey, request };
}

/** Takes the place of a hash if the request is unknown. */
const noHash = new Uint8Array(proofBytes);

async function findForOwner(deps: Core, input: OwnerInput): Promise<FoundRequest | null> {
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

const answerBoxOf = (requestKey: RequestKey, binding: StoredAnswer['id']) =>
  ({ label: 'answer', keyMaterial: utf8(requestKey), binding }) as const;

/** Returns `null` for a damaged row, which must not hide the other answers. */
function openAnswer(
  { events }: Core,
  { requestKey, request }: FoundRequest,
  { id, box }: StoredAnswer,
): AnswerFacts | null {
  const content = openBox(box, answerBoxOf(requestKey, id));
  const facts = content && parseAnswerContent(content);
  if (facts === null) events({ event: 'record_damaged', tag: tagOf(request.id) });
  return facts;
}

interface AnswerInput extends SenderInput {
  readonly sealed: SealedInput;
  /** W: the fragment of the answer's link, sealed for the asker. */
  readonly wrapped: Uint8Array;
}

type AnswerRefusal =
  | SenderRefusal
  | Extract<SealedRefusal, { outcome: 'sealed_wrongly' | 'sealed_too_large' }>
  | { readonly outcome: 'full' | 'ended' };

interface Answered {
  readonly outcome: 'answered';
  readonly secretKey: SecretKey;
  /** Whether it was stored before. */
  readonly isRepeated: boolean;
}

export async function answer(deps: Core, input: AnswerInput): Promise<Answered | AnswerRefusal> {
  const { sealed, wrapped } = input;
  const flaw = flawOf(sealed);
  if (flaw !== null) return { outcome: 'sealed_wrongly', flaw };
  const found = await findForSender(deps, input);
  if (found.outcome !== 'found') return found;
  const { requestKey, request } = found;
  const { owner, answerTtlSeconds: ttlSeconds, shareDomain } = request;
  const { ciphertext, linkHash } = sealed;
  const id = answerIdOf(requestKey, linkHash);
  const earlier = await deps.store.findAnswer(request.id, id);
  if (earlier !== null) return repeated(deps, found, earlier);
  const { plan } = await askerOf(deps, owner);
  const sizeBytes = ciphertext.length;
  if (sizeBytes > maxCiphertextBytes(plan))
    return { outcome: 'sealed_too_large', maxBytes: plan.maxSealedBytes };
  const state = requestStateOf(request);
  if (state !== 'open') return refused(deps, found, state);

  const { secretKey, record } = await sealAnswer(deps, sealed, { owner, plan, ttlSeconds, shareDomain });
  const { receiptId, createdAt } = record;
  const content = answerContent({ secretKey, receiptId, wrapped, linkHash, createdAt, sizeBytes });
  const box = sealBox({ ...answerBoxOf(requestKey, id), content, random: deps.random });
  const stored = await deps.store.putAnswer({ id, requestId: request.id, box, record });
  if (stored === 'unknown') return unknown;
  if (stored === 'full' || stored === 'ended') return refused(deps, found, stored);
  // An equal call was quicker.
  if (stored !== 'stored') return repeated(deps, found, stored);
  deps.events({ event: 'concealed', tag: tagOf(record.secretId), kind: 'answer', account: owner });
  deps.events({ event: 'request_answered', tag: tagOf(request.id) });
  sendAnswerNotice(deps, request, createdAt);
  return { outcome: 'answered', secretKey, isRepeated: false };
}

function refused({ events }: Core, { request }: FoundRequest, why: 'full' | 'ended'): AnswerRefusal {
  events({ event: 'request_refused', tag: tagOf(request.id), why });
  return { outcome: why };
}

function repeated(deps: Core, found: FoundRequest, stored: StoredAnswer): Answered {
  const facts = openAnswer(deps, found, stored);
  if (facts === null) throw new ServiceError('damaged', 'the box of an answer does not open');
  return { outcome: 'answered', secretKey: facts.secretKey, isRepeated: true };
}

export interface AnswerView extends AnswerFacts {
  /** Its secret's; `unknown` once the record of that has ended. */
  readonly state: ReturnType<typeof stateAt> | 'unknown';
  readonly isDiscarded: boolean;
}

export interface Mailbox extends FoundRequest {
  /** Oldest first. */
  readonly answers: readonly AnswerView[];
}

export async function answers(deps: Core, input: OwnerInput): Promise<Mailbox | UnknownRequest> {
  return mailboxOf(deps, await findForOwner(deps, input));
}

async function mailboxOf(deps: Core, found: FoundRequest | null): Promise<Mailbox | UnknownRequest> {
  if (found === null) return unknown;
  const { store } = deps;
  const opened = (await store.listAnswers(found.request.id)).flatMap((stored) => {
    const facts = openAnswer(deps, found, stored);
    return facts === null ? [] : [{ ...facts, isDiscarded: stored.isDiscarded }];
  });
  const lives = opened.length === 0 ? [] : await store.findLives(opened.map(({ receiptId }) => receiptId));
  const views = opened.map((facts, at) => {
    const life = lives[at] ?? null;
    return { ...facts, state: life === null ? ('unknown' as const) : stateAt(life, store.now()) };
  });
  return { ...found, answers: views };
}

export interface TooManyPlaces {
  /** `too_many_answers`: for a request without an account. */
  readonly outcome: 'too_many_places' | 'too_many_answers';
  readonly max: number;
}

interface ChangeInput {
  readonly requestKey: string;
  /** `null` for a close by the account that asked. */
  readonly ownerProof: Uint8Array | null;
  /** A lifetime counts from now. */
  readonly change: Exclude<RequestChange, { until: unknown }> | { readonly ttlSeconds: number };
}

type ChangeRefusal =
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

interface UnknownAnswer {
  readonly outcome: 'unknown_answer';
  /** As received. */
  readonly secretKey: string;
}

/** Burns the answer if it waits. Repeated, it frees no second place. @param secretKey the answer's, as received */
export async function discard(
  deps: Core,
  input: OwnerInput,
  secretKey: string,
): Promise<Mailbox | UnknownRequest | UnknownAnswer> {
  const { store, events } = deps;
  const found = await findForOwner(deps, input);
  if (found === null) return unknown;
  for (const stored of await store.listAnswers(found.request.id)) {
    const facts = openAnswer(deps, found, stored);
    if (facts?.secretKey !== secretKey) continue;
    await store.discardAnswer(found.request.id, stored.id);
    const secretId = secretIdOf(facts.secretKey);
    const secret = await store.findSecret(secretId);
    // The discard is stored, so it no longer matters whether the client has left.
    const burnedAt = secret && (await store.burnFound(secret, () => false));
    if (burnedAt !== null) events({ event: 'burned', tag: tagOf(secretId), by: 'recipient' });
    return mailboxOf(deps, await findRequest(deps, input.requestKey));
  }
  return { outcome: 'unknown_answer', secretKey };
}
