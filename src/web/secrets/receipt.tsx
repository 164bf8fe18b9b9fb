/**
 * The creator's pages: what became of a secret, its link again, and burning it.
 *
 * Owns: the receipt, two of its POSTs and the state that its script asks for. Invariant: a GET changes nothing and shows
 * the link only to the browser that has just made it; whoever holds the metadata key in the address is the creator here.
 */
import type { ReceiptView } from '../../core/secrets/outcomes.ts';
import { clientLeft, RequestProblem } from '../../http/problem.ts';
import { renderPage } from '../kit/layout.tsx';
import { movedTo, type PageReply, type PageRequest, type PageRoute, pageReply, seeOther } from '../page.ts';
import type { RouteName } from '../routes.ts';
import { createReceiptMailPages, mailTaken } from './receipt-mail.ts';
import { createReceiptMemoPages } from './receipt-memo.ts';
import { BurnPage } from './receipt-page.tsx';
import { authority, find, linkOf, type ReceiptDeps, receiptReply, unknownReceipt } from './receipt-reply.tsx';

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
    { name: 'receiptState', get: { limit: 'manage', handle: (request) => tellState(request, deps) } },
    older('private', 'receipt'),
    older('privateBurn', 'burn'),
    ...createReceiptMailPages(deps),
    ...createReceiptMemoPages(deps),
  ];
}

/** An address that older links and clients lead to. */
function older(name: 'private' | 'privateBurn', now: RouteName): PageRoute {
  return { name, get: { limit: 'none', handle: ({ frame, key }) => movedTo(frame.href(now, key)) } };
}

async function showReceipt(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const found = await find(request, deps);
  if (found.outcome === 'unknown') return unknownReceipt(request);
  const { receipt } = found;
  const justCreated = deps.justCreated.isIn(request.cookies);
  const link = justCreated ? linkOf(receipt, deps.links) : null;
  const mail = mailTaken(request, receipt);
  const reply = receiptReply(200, request, deps, { receipt, link, justCreated, mail });
  if (!justCreated) return reply;
  const path = request.frame.href('receipt', receipt.metadataKey);
  return { ...reply, cookies: [deps.justCreated.clear(path)] };
}

async function showLink(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const input = { metadataKey: request.key, authority } as const;
  const found = await deps.service.viewReceipt(input, request.caller);
  if (found.outcome === 'unknown') return unknownReceipt(request);
  const { receipt } = found;
  return receiptReply(200, request, deps, { receipt, link: linkOf(receipt, deps.links), mail: null });
}

/** Without a cookie or a key in it: a page reads it every few seconds. */
async function tellState(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const found = await find(request, deps);
  if (found.outcome === 'unknown')
    return { status: 404, content: { kind: 'json', value: { state: 'unknown' } } };
  return { status: 200, content: { kind: 'json', value: stateOf(found.receipt) } };
}

function stateOf({ state, delivery }: ReceiptView): object {
  return { state, delivery: delivery === null ? null : { state: delivery.state, at: delivery.at } };
}

async function askToBurn(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const found = await find(request, deps);
  if (found.outcome === 'unknown') return unknownReceipt(request);
  const { secretKey, metadataKey } = found.receipt;
  if (secretKey === null) return seeOther(request.frame.href('receipt', metadataKey));
  return pageReply(200, renderPage(<BurnPage frame={request.frame} metadataKey={metadataKey} />));
}

/** The receipt then says what is true: burned, or opened before that. */
async function burn(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const { key, isAbandoned, caller } = request;
  const outcome = await deps.service.burn({ metadataKey: key, authority, isAbandoned, proof: null }, caller);
  if (outcome.outcome === 'abandoned') throw new RequestProblem(clientLeft);
  if (outcome.outcome !== 'burned' && outcome.outcome !== 'already_gone') return unknownReceipt(request);
  return seeOther(request.frame.href('receipt', outcome.receipt.metadataKey));
}
