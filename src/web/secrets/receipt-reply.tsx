/**
 * What the answers about a receipt have in common.
 *
 * Owns: finding it and the reply that shows it. Invariant: whoever holds the metadata key in the address is the creator
 * here; a key that opens nothing is answered like every address that leads nowhere (P17).
 */
import type { Links } from '../../domain/links.ts';
import type { ReceiptOutcome, ReceiptView, SecretService } from '../../domain/outcomes.ts';
import { renderPage } from '../layout.tsx';
import { type PageReply, type PageRequest, pageReply } from '../page-route.ts';
import { renderNotice } from '../pages/notice.tsx';
import { ReceiptPage, type ReceiptProps } from '../pages/secrets/receipt.tsx';
import type { JustCreated } from './just-created.ts';

export interface ReceiptDeps {
  readonly service: Pick<SecretService, 'findReceipt' | 'viewReceipt' | 'burn' | 'deliver'>;
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
  shown: Pick<ReceiptProps, 'receipt' | 'mail'> & Partial<Pick<ReceiptProps, 'link' | 'justCreated'>>,
  headers: PageReply['headers'] = {},
): PageReply {
  const ownUrl = links.receiptUrl(shown.receipt.metadataKey);
  const props = { link: null, justCreated: false, ...shown };
  return pageReply(status, renderPage(<ReceiptPage frame={frame} ownUrl={ownUrl} {...props} />), headers);
}

export function linkOf(receipt: ReceiptView, links: Links): string | null {
  return receipt.secretKey === null ? null : links.secretUrl(receipt.secretKey, receipt.shareDomain);
}

export function unknownReceipt({ frame }: PageRequest): PageReply {
  const { status, markup } = renderNotice(frame, { problem: 'not_found' });
  return pageReply(status, markup);
}
