/**
 * Answering a request. An answer is an ordinary end-to-end secret of the account that asked, with a metadata key that nobody gets;
 * what leads to it is in the request's mailbox, sealed under the request key. Sent again, it is the same answer.
 */
import { sealBox } from '../../crypto/box.ts';
import { ServiceError } from '../errors.ts';
import { type SecretKey, tagOf } from '../keys.ts';
import { sendAnswerNotice } from '../mail/notices.ts';
import type { Core } from '../ports/core.ts';
import { answerContent, answerIdOf, requestStateOf, type StoredAnswer } from '../request.ts';
import { sealAnswer } from '../secrets/conceal.ts';
import { flawOf, maxCiphertextBytes } from '../secrets/end-to-end.ts';
import { answerBoxOf, askerOf, type FoundRequest, findForSender, openAnswer } from './find.ts';
import type { AnswerInput, AnswerOutcome } from './outcomes.ts';

export async function answer(deps: Core, input: AnswerInput): Promise<AnswerOutcome> {
  const { sealed, wrapped } = input;
  const flaw = flawOf(sealed);
  if (flaw !== null) return { outcome: 'sealed_wrongly', flaw };
  const found = await findForSender(deps, input);
  if (found.outcome !== 'found') return found;
  const { requestKey, request } = found;
  const { linkHash } = sealed;
  const id = answerIdOf(requestKey, linkHash);
  const earlier = await deps.store.findAnswer(request.id, id);
  if (earlier !== null) return { outcome: 'repeated', secretKey: keyOf(deps, found, earlier) };
  const { plan } = await askerOf(deps, request.owner);
  if (sealed.ciphertext.length > maxCiphertextBytes(plan))
    return { outcome: 'sealed_too_large', maxBytes: plan.maxSealedBytes };
  const state = requestStateOf(request);
  if (state !== 'open') return refused(deps, request, state);

  const sizeBytes = sealed.ciphertext.length;
  const { owner, answerTtlSeconds: ttlSeconds, shareDomain } = request;
  const { secretKey, record } = await sealAnswer(deps, sealed, { owner, plan, ttlSeconds, shareDomain });
  const { receiptId, createdAt } = record;
  const content = answerContent({ secretKey, receiptId, wrapped, linkHash, createdAt, sizeBytes });
  const box = sealBox({ ...answerBoxOf(requestKey, id), content, random: deps.random });
  const stored = await deps.store.putAnswer({ id, requestId: request.id, box, record });
  if (stored === 'unknown') return { outcome: 'unknown' };
  if (stored === 'full' || stored === 'ended') return refused(deps, request, stored);
  // An equal request was quicker.
  if (stored !== 'stored') return { outcome: 'repeated', secretKey: keyOf(deps, found, stored) };
  deps.events({ event: 'concealed', tag: tagOf(record.secretId), kind: 'answer', account: owner });
  deps.events({ event: 'request_answered', tag: tagOf(request.id) });
  sendAnswerNotice(deps, request, createdAt);
  return { outcome: 'answered', secretKey };
}

function refused({ events }: Core, { id }: FoundRequest['request'], why: 'full' | 'ended'): AnswerOutcome {
  events({ event: 'request_refused', tag: tagOf(id), why });
  return { outcome: why };
}

function keyOf(deps: Core, found: FoundRequest, answer: StoredAnswer): SecretKey {
  const facts = openAnswer(deps, found, answer);
  if (facts === null) throw new ServiceError('damaged', 'the box of an answer does not open');
  return facts.secretKey;
}
