/**
 * The creator's pages: what became of a secret, its link again, and burning it.
 *
 * Owns: the receipt and its two POSTs. Invariant: a GET changes nothing and shows the link only to the browser that has
 * just made it; whoever holds the metadata key in the address is the creator here.
 */
import { anonymous } from '../domain/accounts.ts';
import type { Links } from '../domain/links.ts';
import type { ReceiptView, SecretService } from '../domain/outcomes.ts';
import type { JustCreated } from './just-created.ts';
import { renderPage } from './layout.tsx';
import {
  movedTo,
  type PageReply,
  type PageRequest,
  type PageRoute,
  pageReply,
  seeOther,
} from './page-route.ts';
import { renderNotice } from './pages/notice.tsx';
import { BurnPage, ReceiptPage } from './pages/receipt.tsx';

export interface ReceiptDeps {
  readonly service: Pick<SecretService, 'findReceipt' | 'viewReceipt' | 'burn'>;
  readonly links: Links;
  readonly justCreated: JustCreated;
}

export function createReceiptPages(deps: ReceiptDeps): PageRoute[] {
  return [
    {
      name: 'receipt',
      get: { limit: 'manage', handle: (request) => showReceipt(request, deps) },
      post: { limit: 'manage', handle: (request) => showLink(request, deps) },
    },
    {
      name: 'burn',
      get: { limit: 'manage', handle: (request) => askToBurn(request, deps) },
      post: { limit: 'manage', handle: (request) => burn(request, deps) },
    },
    {
      name: 'private',
      get: { limit: 'none', handle: ({ frame, key }) => movedTo(frame.href('receipt', key)) },
    },
  ];
}

const authority = 'holder';

async function showReceipt(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const found = await deps.service.findReceipt({ metadataKey: request.key, authority }, anonymous);
  if (found.outcome === 'unknown') return unknownReceipt(request);
  const { receipt } = found;
  const justCreated = deps.justCreated.isIn(request.cookies);
  const link = justCreated ? linkOf(receipt, deps.links) : null;
  const page = <ReceiptPage frame={request.frame} receipt={receipt} link={link} justCreated={justCreated} />;
  const path = request.frame.href('receipt', receipt.metadataKey);
  return pageReply(200, renderPage(page), justCreated ? { 'set-cookie': deps.justCreated.clear(path) } : {});
}

async function showLink(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const found = await deps.service.viewReceipt({ metadataKey: request.key, authority }, anonymous);
  if (found.outcome === 'unknown') return unknownReceipt(request);
  const { receipt } = found;
  const link = linkOf(receipt, deps.links);
  return pageReply(
    200,
    renderPage(<ReceiptPage frame={request.frame} receipt={receipt} link={link} justCreated={false} />),
  );
}

async function askToBurn(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const found = await deps.service.findReceipt({ metadataKey: request.key, authority }, anonymous);
  if (found.outcome === 'unknown') return unknownReceipt(request);
  const { secretKey, metadataKey } = found.receipt;
  if (secretKey === null) return seeOther(request.frame.href('receipt', metadataKey));
  return pageReply(200, renderPage(<BurnPage frame={request.frame} metadataKey={metadataKey} />));
}

/** The receipt then says what is true: burned, or opened before that. */
async function burn(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const outcome = await deps.service.burn({ metadataKey: request.key, authority }, anonymous);
  if (outcome.outcome !== 'burned' && outcome.outcome !== 'already_gone') return unknownReceipt(request);
  return seeOther(request.frame.href('receipt', outcome.receipt.metadataKey));
}

function linkOf(receipt: ReceiptView, links: Links): string | null {
  return receipt.secretKey === null ? null : links.secretUrl(receipt.secretKey, receipt.shareDomain);
}

function unknownReceipt({ frame }: PageRequest): PageReply {
  const { status, markup } = renderNotice(frame, { problem: 'not_found' });
  return pageReply(status, markup);
}
