/**
 * Answering a request. An answer is an ordinary end-to-end secret of the account that asked, whose metadata key is
 * dropped. The request's mailbox has what finds it, sealed under the request key. The same bytes sent again are the same answer.
 */
import { sealBox } from '../../crypto/box.ts';
import { ServiceError } from '../errors.ts';
import { type SecretKey, tagOf } from '../keys.ts';
import { sendAnswerNotice } from '../mail/notices.ts';
import type { Core } from '../ports/core.ts';
import { answerContent, answerIdOf, requestStateOf, type StoredAnswer } from '../request.ts';
import { sealAnswer } from '../secrets/conceal.ts';
import { flawOf, maxCiphertextBytes, type SealedInput } from '../secrets/end-to-end.ts';
import type { SealedRefusal } from '../secrets/outcomes.ts';
import {
  answerBoxOf,
  askerOf,
  type FoundRequest,
  findForSender,
  openAnswer,
  type SenderInput,
  type SenderRefusal,
  unknown,
} from './find.ts';

export interface AnswerInput extends SenderInput {
  readonly sealed: SealedInput;
  /** W: the fragment of the answer's link, sealed for the asker. */
  readonly wrapped: Uint8Array;
}

export type AnswerRefusal =
  | SenderRefusal
  | Extract<SealedRefusal, { outcome: 'sealed_wrongly' | 'sealed_too_large' }>
  | { readonly outcome: 'full' | 'ended' };

export interface Answered {
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

function repeated(deps: Core, found: FoundRequest, answer: StoredAnswer): Answered {
  const facts = openAnswer(deps, found, answer);
  if (facts === null) throw new ServiceError('damaged', 'the box of an answer does not open');
  return { outcome: 'answered', secretKey: facts.secretKey, isRepeated: true };
}
