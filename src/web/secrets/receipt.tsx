/**
 * The creator's pages: a secret's state, link, email, label and lifetime, and burning it. Only the owner can see an account's receipt; an
 * anonymous one belongs to the holder of its metadata key. A GET changes nothing, and shows the link only to the browser that just created
 * the secret. Typed text never appears in an address or a redirect.
 */
import type { Settings } from '../../config/read.ts';
import { planOf } from '../../core/account.ts';
import { ServiceError } from '../../core/errors.ts';
import type { Links } from '../../core/links.ts';
import type { ReceiptOutcome, ReceiptView } from '../../core/secrets/outcomes.ts';
import type { SecretService } from '../../core/secrets/service.ts';
import { Sensitive } from '../../core/sensitive.ts';
import { clientLeft, RequestProblem } from '../../http/problem.ts';
import { errorReply, problemTexts } from '../kit/error-page.tsx';
import { offeredLanguage } from '../kit/language.ts';
import {
  jsonReply,
  movedTo,
  type PageAction,
  type PageProblem,
  type PageReply,
  type PageRequest,
  type PageRoute,
  pageReply,
  seeOther,
} from '../kit/page.ts';
import type { RouteName } from '../kit/routes.ts';
import type { JustCreated } from './cookies.ts';
import { messageLanguageField } from './link-actions.tsx';
import { linkMessage, linkOf } from './receipt-life.ts';
import { offerLater } from './receipt-lifetime.tsx';
import { mailRefusal, readMail } from './receipt-mail.tsx';
import { BurnPage, ReceiptPage, type ReceiptProps } from './receipt-page.tsx';
import { askedIn, type LifetimeOffer, readLifetime } from './typed.ts';

export interface ReceiptDeps {
  readonly service: Pick<SecretService, 'findReceipt' | 'viewReceipt' | 'burn' | 'deliver' | 'change'>;
  readonly links: Links;
  readonly justCreated: JustCreated;
  readonly settings: Pick<Settings, 'plans'>;
}

const authority = 'creator';

/** Returns what a refused form showed, so that nothing typed is lost. */
type Keep = (
  request: PageRequest,
  message: string,
  receipt: ReceiptView,
) => Promise<Partial<Pick<ReceiptProps, 'mail' | 'memo' | 'lifetime'>>>;

export function createReceiptPages(deps: ReceiptDeps): PageRoute[] {
  const action = (handle: (request: PageRequest, deps: ReceiptDeps) => Promise<PageReply>): PageAction => ({
    limit: 'manage',
    handle: (request) => handle(request, deps),
  });
  const toReceipt: PageAction = {
    limit: 'none',
    handle: ({ frame, key }) => seeOther(frame.href('receipt', key)),
  };
  const form = (name: RouteName, handle: Parameters<typeof action>[0], keep: Keep): PageRoute => ({
    name,
    get: toReceipt,
    post: { ...action(handle), refuse: (request, problem) => refuse(request, deps, problem, keep) },
  });
  return [
    { name: 'receipt', get: action(showReceipt), post: action(showLink) },
    { name: 'burn', get: action(askToBurn), post: action(burn) },
    { name: 'receiptState', get: action(sendState) },
    { name: 'receiptMessage', get: action(sendMessage) },
    older('private', 'receipt'),
    older('privateBurn', 'burn'),
    { name: 'allowMore', get: toReceipt, post: action(allowMore) },
    form('sendAgain', sendMail, async ({ frame, form }, message) => ({
      mail: { typed: readMail(await form(), frame), refusal: { message, field: null, needsLogIn: false } },
    })),
    form('memo', setMemo, async (request, message) => ({
      memo: { typed: await memoIn(request), message },
    })),
    form('lifetime', setLifetime, async (request, message, receipt) => {
      const offer = offerFor(request, deps, receipt);
      if (offer === null) return {};
      const typed = readLifetime(await request.form(), offer);
      return { lifetime: { typed, message, isAboutAmount: false } };
    }),
  ];
}

function older(name: 'private' | 'privateBurn', now: RouteName): PageRoute {
  return { name, get: { limit: 'none', handle: ({ frame, key }) => movedTo(frame.href(now, key)) } };
}

function find({ key, caller }: PageRequest, { service }: ReceiptDeps): Promise<ReceiptOutcome> {
  return service.findReceipt({ metadataKey: key, authority }, caller);
}

async function onReceipt(
  request: PageRequest,
  deps: ReceiptDeps,
  reply: (receipt: ReceiptView) => PageReply,
): Promise<PageReply> {
  const found = await find(request, deps);
  return found.outcome === 'unknown' ? unknown(request) : reply(found.receipt);
}

function offerFor(
  { caller }: PageRequest,
  { settings }: ReceiptDeps,
  receipt: ReceiptView,
): LifetimeOffer | null {
  return offerLater(receipt, planOf(settings.plans, caller));
}

function receiptReply(
  status: number,
  request: PageRequest,
  deps: ReceiptDeps,
  shown: Pick<ReceiptProps, 'receipt'> & Partial<Omit<ReceiptProps, 'frame' | 'ownUrl' | 'offer'>>,
): PageReply {
  const { frame } = request;
  const ownUrl = deps.links.receiptUrl(shown.receipt.metadataKey);
  const offer = offerFor(request, deps, shown.receipt);
  const message = { locale: frame.messages.locale, isOpen: false };
  const none = { link: null, justCreated: false, mail: null, memo: null, lifetime: null };
  const props = { ...none, message, offer, ...shown };
  return pageReply(status, <ReceiptPage frame={frame} ownUrl={ownUrl} {...props} />);
}

/** Responds the same to an unknown key as to another account's (P16), so the advice to log in reveals nothing. */
function unknown(request: PageRequest): PageReply {
  return errorReply(request.frame, { problem: 'unknown_receipt' });
}

async function refuse(
  request: PageRequest,
  deps: ReceiptDeps,
  problem: PageProblem,
  keep: Keep,
): Promise<PageReply> {
  const { status, page, form } = problemTexts(problem, request.frame.messages);
  const message = problem.problem === 'stale_form' ? form : page;
  try {
    const found = await find(request, deps);
    if (found.outcome === 'unknown') return errorReply(request.frame, problem);
    const { receipt } = found;
    return receiptReply(status, request, deps, { receipt, ...(await keep(request, message, receipt)) });
  } catch (error) {
    if (error instanceof ServiceError) return errorReply(request.frame, problem);
    throw error;
  }
}

function showReceipt(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  return onReceipt(request, deps, (receipt) => {
    const justCreated = deps.justCreated.isIn(request.cookies);
    // A link that the server emails is not for this person to send.
    const link = justCreated && receipt.recipient === null ? linkOf(receipt, deps.links) : null;
    const reply = receiptReply(200, request, deps, { receipt, link, justCreated });
    if (!justCreated) return reply;
    const path = request.frame.href('receipt', receipt.metadataKey);
    return { ...reply, cookies: [deps.justCreated.clear(path)] };
  });
}

async function showLink(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const found = await deps.service.viewReceipt({ metadataKey: request.key, authority }, request.caller);
  if (found.outcome === 'unknown') return unknown(request);
  const { receipt } = found;
  // The server has only half of an end-to-end link, and that half opens nothing.
  const link = receipt.sealed ? null : linkOf(receipt, deps.links);
  const chosen = offeredLanguage(request.frame.settings, (await request.form()).text(messageLanguageField));
  const message = { locale: chosen ?? request.frame.messages.locale, isOpen: chosen !== null };
  return receiptReply(200, request, deps, { receipt, link, message });
}

/** Sends the message in the language `in` (the recipient's); the page keeps its own. */
async function sendMessage(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const found = await find(request, deps);
  if (found.outcome === 'unknown' || found.receipt.secretKey === null) return jsonReply(404, {});
  const { settings, messages } = request.frame;
  const locale = offeredLanguage(settings, request.query.get('in')) ?? messages.locale;
  return jsonReply(200, linkMessage(locale, found.receipt));
}

/** Sends the state without a cookie or a key, because the page polls it every few seconds. */
async function sendState(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const found = await find(request, deps);
  if (found.outcome === 'unknown') return jsonReply(404, { state: 'unknown' });
  const { state, delivery } = found.receipt;
  return jsonReply(200, {
    state,
    delivery: delivery === null ? null : { state: delivery.state, at: delivery.at },
  });
}

function askToBurn(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  return onReceipt(request, deps, ({ secretKey, metadataKey }) =>
    secretKey === null
      ? seeOther(request.frame.href('receipt', metadataKey))
      : pageReply(200, <BurnPage frame={request.frame} metadataKey={metadataKey} />),
  );
}

/** Redirects to the receipt, which shows the outcome: burned, or opened earlier. */
async function burn(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const { key, isAbandoned, caller } = request;
  const input = { metadataKey: key, authority, proof: null, isAbandoned } as const;
  const outcome = await deps.service.burn(input, caller);
  if (outcome.outcome === 'abandoned') throw new RequestProblem(clientLeft);
  if (outcome.outcome !== 'burned' && outcome.outcome !== 'already_gone') return unknown(request);
  return seeOther(request.frame.href('receipt', outcome.receipt.metadataKey));
}

async function sendMail(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const { key, frame, caller } = request;
  const typed = readMail(await request.form(), frame);
  const recipient = typed.recipient === '' ? null : new Sensitive(typed.recipient);
  const input = { metadataKey: key, authority, locale: typed.locale, recipient } as const;
  const outcome = await deps.service.deliver(input, caller);
  if (outcome.outcome === 'unknown') return unknown(request);
  if (outcome.outcome === 'queued') {
    return seeOther(`${frame.href('receipt', outcome.receipt.metadataKey)}#mail`);
  }
  return onReceipt(request, deps, (receipt) => {
    const { status, headers, ...refusal } = mailRefusal(frame, outcome, receipt, typed);
    return { ...receiptReply(status, request, deps, { receipt, mail: { typed, refusal } }), headers };
  });
}

async function memoIn(request: PageRequest): Promise<string> {
  return (await request.form()).text('memo');
}

async function setMemo(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const { key, frame, caller } = request;
  const typed = await memoIn(request);
  const input = { metadataKey: key, authority, memo: new Sensitive(typed), ttlSeconds: null } as const;
  const outcome = await deps.service.change(input, caller);
  if (outcome.outcome === 'unknown') return unknown(request);
  if (outcome.outcome === 'found') {
    return seeOther(`${frame.href('receipt', outcome.receipt.metadataKey)}#label`);
  }
  const message =
    outcome.outcome === 'memo_too_long'
      ? frame.say('memo.tooLong', { max: outcome.maxCharacters })
      : frame.say('share.illFormed');
  return onReceipt(request, deps, (receipt) =>
    receiptReply(422, request, deps, { receipt, memo: { typed, message } }),
  );
}

/** Redirects to the receipt, which shows the outcome: the lock removed, or the secret gone. */
async function allowMore(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const { key: metadataKey, caller } = request;
  const isCode = (await request.form()).text('by') === 'code';
  const more = { allowsMore: !isCode, allowsCodes: isCode };
  const input = { metadataKey, authority, memo: undefined, ttlSeconds: null, ...more } as const;
  const outcome = await deps.service.change(input, caller);
  if (outcome.outcome !== 'found' && outcome.outcome !== 'already_gone') return unknown(request);
  return seeOther(request.frame.href('receipt', outcome.receipt.metadataKey));
}

async function setLifetime(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const { key, frame, caller } = request;
  const found = await find(request, deps);
  if (found.outcome === 'unknown') return unknown(request);
  const { receipt } = found;
  // The receipt then shows the outcome: the new expiry, or that the secret is gone.
  const toExpiry = seeOther(`${frame.href('receipt', receipt.metadataKey)}#lifetime`);
  const offer = offerFor(request, deps, receipt);
  if (offer === null) return toExpiry;
  const asked = askedIn(await request.form(), offer, frame.messages);
  if ('wrong' in asked) {
    const lifetime = { typed: asked.typed, message: asked.wrong, isAboutAmount: true };
    return receiptReply(422, request, deps, { receipt, lifetime });
  }
  const input = { metadataKey: key, authority, memo: undefined, ttlSeconds: asked.seconds } as const;
  const outcome = await deps.service.change(input, caller);
  return outcome.outcome === 'unknown' ? unknown(request) : toExpiry;
}
