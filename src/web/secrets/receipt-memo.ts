/**
 * The creator's label, changed on the receipt.
 *
 * Owns: its POST and what is said of every outcome. Invariant: a refusal gives the form back with what was typed, and a
 * label stands in no address and no redirect.
 */
import type { MemoRefusal } from '../../core/secrets/outcomes.ts';
import { Sensitive } from '../../core/sensitive.ts';
import type { Words } from '../kit/words.ts';
import { type PageReply, type PageRequest, type PageRoute, seeOther } from '../page.ts';
import {
  authority,
  find,
  type ReceiptDeps,
  receiptReply,
  refuseOnReceipt,
  unknownReceipt,
} from './receipt-reply.tsx';

export function createReceiptMemoPages(deps: ReceiptDeps): PageRoute[] {
  return [
    {
      name: 'memo',
      get: { limit: 'none', handle: ({ frame, key }) => seeOther(frame.href('receipt', key)) },
      post: {
        limit: 'manage',
        handle: (request) => setMemo(request, deps),
        refuse: async (request, problem) => {
          const typed = await typedIn(request);
          return refuseOnReceipt(request, deps, problem, ({ receipt, status, message }) =>
            receiptReply(status, request, deps, { receipt, mail: null, memo: { typed, message } }),
          );
        },
      },
    },
  ];
}

async function typedIn(request: PageRequest): Promise<string> {
  return (await request.form()).text('memo');
}

async function setMemo(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const { key, frame, caller } = request;
  const typed = await typedIn(request);
  const input = { metadataKey: key, authority, memo: new Sensitive(typed) } as const;
  const outcome = await deps.service.setMemo(input, caller);
  if (outcome.outcome === 'unknown') return unknownReceipt(request);
  if (outcome.outcome === 'found') {
    return seeOther(`${frame.href('receipt', outcome.receipt.metadataKey)}#label`);
  }
  const found = await find(request, deps);
  if (found.outcome === 'unknown') return unknownReceipt(request);
  const { say } = frame.words;
  const message =
    outcome.outcome === 'memo_too_long' ? memoTooLongWords(outcome, say) : say('share.illFormed');
  const refused = { typed, message };
  return receiptReply(422, request, deps, { receipt: found.receipt, mail: null, memo: refused });
}

type TooLong = Extract<MemoRefusal, { outcome: 'memo_too_long' }>;

export function memoTooLongWords({ maxCharacters }: TooLong, say: Words['say']): string {
  return say('memo.tooLong', { max: maxCharacters });
}
