/**
 * The creator's pages: what became of a secret, its link again, its mail again, and burning it.
 *
 * Owns: the receipt, its three POSTs and the state that its script asks for. Invariant: a GET changes nothing and shows
 * the link only to the browser that has just made it; whoever holds the metadata key in the address is the creator here.
 */
import type { Links } from '../../domain/links.ts';
import type { ReceiptView, SecretService } from '../../domain/outcomes.ts';
import type { DeliveryState } from '../../domain/secret.ts';
import type { RateLimiter } from '../../http/rate-limit.ts';
import type { Locale } from '../../locale/catalogues.ts';
import { renderPage } from '../layout.tsx';
import { type PageProblem, takeLimit } from '../page-problem.ts';
import {
  movedTo,
  type PageReply,
  type PageRequest,
  type PageRoute,
  pageReply,
  seeOther,
} from '../page-route.ts';
import { renderNotice } from '../pages/notice.tsx';
import { BurnPage, ReceiptPage, type ReceiptProps } from '../pages/secrets/receipt.tsx';
import type { JustCreated } from './just-created.ts';

export interface ReceiptDeps {
  readonly service: Pick<SecretService, 'findReceipt' | 'viewReceipt' | 'burn' | 'resend'>;
  readonly links: Links;
  readonly justCreated: JustCreated;
  readonly limiter: Pick<RateLimiter, 'take'>;
}

export function createReceiptPages(deps: ReceiptDeps): PageRoute[] {
  const sendAgainAction = {
    limit: 'manage',
    handle: (request: PageRequest) => sendAgain(request, deps),
    refuse: (request: PageRequest, problem: PageProblem) => refuseMail(request, deps, problem),
  } as const;
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
      name: 'sendAgain',
      get: { limit: 'none', handle: ({ frame, key }) => seeOther(frame.href('receipt', key)) },
      post: sendAgainAction,
    },
    { name: 'receiptState', get: { limit: 'manage', handle: (request) => tellState(request, deps) } },
    {
      name: 'private',
      get: { limit: 'none', handle: ({ frame, key }) => movedTo(frame.href('receipt', key)) },
    },
  ];
}

const authority = 'holder';

/** In the address after a mail was queued again: the page then says what became of it, as far as that is true. */
const afterMail = { name: 'mail', value: 'again' } as const;

function find({ key, caller }: PageRequest, { service }: ReceiptDeps) {
  return service.findReceipt({ metadataKey: key, authority }, caller);
}

async function showReceipt(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const found = await find(request, deps);
  if (found.outcome === 'unknown') return unknownReceipt(request);
  const { receipt } = found;
  const justCreated = deps.justCreated.isIn(request.cookies);
  const link = justCreated ? linkOf(receipt, deps.links) : null;
  const reply = receiptReply(200, request, deps, {
    receipt,
    link,
    justCreated,
    mail: mailAsked(request, receipt),
  });
  if (!justCreated) return reply;
  const path = request.frame.href('receipt', receipt.metadataKey);
  return { ...reply, cookies: [deps.justCreated.clear(path)] };
}

async function showLink(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const input = { metadataKey: request.key, authority } as const;
  const found = await deps.service.viewReceipt(input, request.caller);
  if (found.outcome === 'unknown') return unknownReceipt(request);
  const { receipt } = found;
  const link = linkOf(receipt, deps.links);
  return receiptReply(200, request, deps, { receipt, link, justCreated: false, mail: null });
}

/** Without a cookie or a key in it: a page reads it every few seconds. */
async function tellState(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const found = await find(request, deps);
  if (found.outcome === 'unknown')
    return { status: 404, content: { kind: 'json', value: { state: 'unknown' } } };
  return { status: 200, content: { kind: 'json', value: { state: found.receipt.state } } };
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
  const outcome = await deps.service.burn({ metadataKey: request.key, authority }, request.caller);
  if (outcome.outcome !== 'burned' && outcome.outcome !== 'already_gone') return unknownReceipt(request);
  return seeOther(request.frame.href('receipt', outcome.receipt.metadataKey));
}

async function sendAgain(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const { key, frame, caller } = request;
  const locale = mailLocale((await request.form()).text('mail-language'), request);
  const found = await find(request, deps);
  if (found.outcome === 'unknown') return unknownReceipt(request);
  if (found.receipt.secretKey !== null) countMail(request, deps);
  const outcome = await deps.service.resend({ metadataKey: key, authority, locale }, caller);
  switch (outcome.outcome) {
    case 'unknown':
      return unknownReceipt(request);
    case 'queued': {
      const { name, value } = afterMail;
      return seeOther(`${frame.href('receipt', outcome.receipt.metadataKey)}?${name}=${value}`);
    }
    case 'in_flight':
    case 'nothing_to_send': {
      const say = outcome.outcome === 'in_flight' ? 'receipt.mailInFlight' : 'receipt.mailNothing';
      const mail = { text: frame.words.say(say), isRefusal: true };
      return receiptReply(409, request, deps, {
        receipt: outcome.receipt,
        link: null,
        justCreated: false,
        mail,
      });
    }
  }
}

function mailLocale(asked: string, { frame }: PageRequest): Locale {
  return frame.locales.find((tag) => tag === asked) ?? frame.words.locale;
}

function countMail({ signedIn, clientPrefix }: PageRequest, { limiter }: ReceiptDeps): void {
  if (signedIn === null) takeLimit(limiter, 'mail', 'anonymous', clientPrefix);
  else takeLimit(limiter, 'mail', 'account', signedIn.caller.account.id);
}

/** The receipt again, with what did not happen; anything but a limit gets the common small page. */
async function refuseMail(request: PageRequest, deps: ReceiptDeps, problem: PageProblem): Promise<PageReply> {
  if (problem.problem === 'rate_limited') {
    const found = await find(request, deps);
    if (found.outcome === 'unknown') return unknownReceipt(request);
    const { say, duration } = request.frame.words;
    const text = say('receipt.mailLater', { wait: duration(problem.retryAfterSeconds) });
    const { receipt } = found;
    const mail = { text, isRefusal: true };
    return receiptReply(429, request, deps, { receipt, link: null, justCreated: false, mail });
  }
  const { status, markup } = renderNotice(request.frame, problem);
  return pageReply(status, markup);
}

const mailEnds = {
  queued: 'receipt.mailAgainQueued',
  accepted: 'receipt.mailAgainAccepted',
  refused: 'receipt.mailAgainRefused',
  not_sent: 'receipt.mailAgainNotSent',
} as const satisfies Readonly<Record<DeliveryState, string>>;

/** Whatever the address claims, the words come from the record. */
function mailAsked({ query, frame }: PageRequest, { delivery }: ReceiptView): ReceiptProps['mail'] {
  if (delivery === null || query.get(afterMail.name) !== afterMail.value) return null;
  const isRefusal = delivery.state === 'refused' || delivery.state === 'not_sent';
  return { text: frame.words.say(mailEnds[delivery.state]), isRefusal };
}

function receiptReply(
  status: number,
  { frame }: PageRequest,
  { links }: ReceiptDeps,
  props: Pick<ReceiptProps, 'receipt' | 'link' | 'justCreated' | 'mail'>,
): PageReply {
  const ownUrl = links.receiptUrl(props.receipt.metadataKey);
  return pageReply(status, renderPage(<ReceiptPage frame={frame} ownUrl={ownUrl} {...props} />));
}

function linkOf(receipt: ReceiptView, links: Links): string | null {
  return receipt.secretKey === null ? null : links.secretUrl(receipt.secretKey, receipt.shareDomain);
}

function unknownReceipt({ frame }: PageRequest): PageReply {
  const { status, markup } = renderNotice(frame, { problem: 'not_found' });
  return pageReply(status, markup);
}
