/**
 * What the answers about a receipt have in common.
 *
 * Owns: finding it and the reply that shows it. Invariant: whoever holds the metadata key in the address is the creator
 * here; a key that opens nothing is answered like every address that leads nowhere (P17).
 */
import { ServiceError } from '../../core/errors.ts';
import type { Links } from '../../core/links.ts';
import type { ReceiptOutcome, ReceiptView } from '../../core/secrets/outcomes.ts';
import type { SecretService } from '../../core/secrets/service.ts';
import { problemWords, renderErrorPage } from '../kit/error-page.tsx';
import { renderPage } from '../kit/layout.tsx';
import { type PageProblem, type PageReply, type PageRequest, pageReply } from '../page.ts';
import type { JustCreated } from './just-created.ts';
import { ReceiptPage, type ReceiptProps } from './receipt-page.tsx';

export interface ReceiptDeps {
  readonly service: Pick<SecretService, 'findReceipt' | 'viewReceipt' | 'burn' | 'deliver' | 'setMemo'>;
  readonly links: Links;
  readonly justCreated: JustCreated;
}

export const authority = 'holder';

export function find({ key, caller }: PageRequest, { service }: ReceiptDeps): Promise<ReceiptOutcome> {
  return service.findReceipt({ metadataKey: key, authority }, caller);
}

/** The page of a receipt; without the link unless it is given. */
export function receiptReply(
  status: number,
  { frame }: PageRequest,
  { links }: ReceiptDeps,
  shown: Pick<ReceiptProps, 'receipt' | 'mail'> &
    Partial<Pick<ReceiptProps, 'link' | 'justCreated' | 'memo'>>,
  headers: PageReply['headers'] = {},
): PageReply {
  const ownUrl = links.receiptUrl(shown.receipt.metadataKey);
  const props = { link: null, justCreated: false, memo: null, ...shown };
  return pageReply(status, renderPage(<ReceiptPage frame={frame} ownUrl={ownUrl} {...props} />), headers);
}

export function linkOf(receipt: ReceiptView, links: Links): string | null {
  return receipt.secretKey === null ? null : links.secretUrl(receipt.secretKey, receipt.shareDomain);
}

export function unknownReceipt({ frame }: PageRequest): PageReply {
  const { status, markup } = renderErrorPage(frame, { problem: 'not_found' });
  return pageReply(status, markup);
}

/** A problem in words, and the receipt that it is said on. */
interface ReceiptProblem {
  readonly receipt: ReceiptView;
  readonly status: number;
  readonly message: string;
}

/** What the transport or the store refuses; with the common small page where the receipt cannot be read. */
export async function refuseOnReceipt(
  request: PageRequest,
  deps: ReceiptDeps,
  problem: PageProblem,
  reply: (refused: ReceiptProblem) => PageReply,
): Promise<PageReply> {
  const { frame } = request;
  const found = await findIfPossible(request, deps);
  if (found === null) {
    const { status, markup } = renderErrorPage(frame, problem);
    return pageReply(status, markup);
  }
  if (found.outcome === 'unknown') return unknownReceipt(request);
  const { status, page, form } = problemWords(problem, frame.words);
  return reply({ receipt: found.receipt, status, message: problem.problem === 'stale_form' ? form : page });
}

async function findIfPossible(request: PageRequest, deps: ReceiptDeps): Promise<ReceiptOutcome | null> {
  try {
    return await find(request, deps);
  } catch (error) {
    if (error instanceof ServiceError) return null;
    throw error;
  }
}
