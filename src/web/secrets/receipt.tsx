/**
 * The creator's pages: a secret's state, link, mail, label and lifetime, and burning it. An account's record is
 * its owner's alone; of one made anonymously, the holder of the metadata key in the address is the creator. A
 * GET changes nothing and shows the link only to the browser that has just created it; what is typed never appears in
 * an address or a redirect.
 */
import type { Settings } from '../../config/read.ts';
import { planOf } from '../../core/account.ts';
import { ServiceError } from '../../core/errors.ts';
import type { Links } from '../../core/links.ts';
import type { ReceiptOutcome, ReceiptView } from '../../core/secrets/outcomes.ts';
import type { SecretService } from '../../core/secrets/service.ts';
import { Sensitive } from '../../core/sensitive.ts';
import { clientLeft, RequestProblem } from '../../http/problem.ts';
import { problemWords, renderErrorPage } from '../kit/error-page.tsx';
import { offeredLanguage } from '../kit/language.ts';
import { renderPage } from '../kit/layout.tsx';
import {
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
import { cookieIn } from '../kit/session.ts';
import { askedLifetime, type LifetimeOffer, readLifetime } from './fields.tsx';
import { messageLanguageField } from './link-actions.tsx';
import { linkMessage } from './receipt-life.ts';
import { offerLater } from './receipt-lifetime.tsx';
import { type MailRequest, mailRefusal, readMail } from './receipt-mail.tsx';
import { BurnPage, ReceiptPage, type ReceiptProps } from './receipt-page.tsx';

interface ReceiptDeps {
  readonly service: Pick<SecretService, 'findReceipt' | 'viewReceipt' | 'burn' | 'deliver' | 'change'>;
  readonly links: Links;
  readonly justCreated: JustCreated;
  readonly settings: Pick<Settings, 'plans'>;
}

/**
 * The cookie that lets the creator's browser show the link once, right after creation. It holds no key and no value,
 * belongs to the path of one receipt and is cleared when used.
 */
export interface JustCreated {
  /** For the answer to the creation. */
  set(receiptPath: string): string;
  /** For the page that has shown the link. */
  clear(receiptPath: string): string;
  isIn(cookies: string): boolean;
}

/** @param isSecure whether the site is served over https. */
export function createJustCreated(isSecure: boolean): JustCreated {
  const name = 'just-created';
  const lifetimeSeconds = 60;
  const rules = `HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  return {
    set: (path) => `${name}=1; Path=${path}; Max-Age=${lifetimeSeconds}; ${rules}`,
    clear: (path) => `${name}=; Path=${path}; Max-Age=0; ${rules}`,
    isIn: (cookies) => cookieIn(cookies, name) === '1',
  };
}

const authority = 'creator';

export function createReceiptPages(deps: ReceiptDeps): PageRoute[] {
  const action = (handle: (request: PageRequest, deps: ReceiptDeps) => Promise<PageReply>): PageAction => ({
    limit: 'manage',
    handle: (request) => handle(request, deps),
  });
  const toReceipt: PageAction = {
    limit: 'none',
    handle: ({ frame, key }) => seeOther(frame.href('receipt', key)),
  };
  return [
    { name: 'receipt', get: action(showReceipt), post: action(showLink) },
    { name: 'burn', get: action(askToBurn), post: action(burn) },
    { name: 'receiptState', get: action(sendState) },
    { name: 'receiptMessage', get: action(sendMessage) },
    older('private', 'receipt'),
    older('privateBurn', 'burn'),
    {
      name: 'sendAgain',
      get: toReceipt,
      post: {
        ...action(sendMail),
        refuse: async (request, problem) => {
          const typed = readMail(await request.form(), request.frame);
          return refuse(request, deps, problem, (message) => ({
            mail: { typed, refusal: { message, field: null, needsLogIn: false } },
          }));
        },
      },
    },
    {
      name: 'memo',
      get: toReceipt,
      post: {
        ...action(setMemo),
        refuse: async (request, problem) => {
          const typed = await memoIn(request);
          return refuse(request, deps, problem, (message) => ({ memo: { typed, message } }));
        },
      },
    },
    { name: 'allowMore', get: toReceipt, post: action(allowMore) },
    {
      name: 'lifetime',
      get: toReceipt,
      post: {
        ...action(setLifetime),
        refuse: async (request, problem) => {
          const form = await request.form();
          return refuse(request, deps, problem, (message, receipt) => {
            const offer = offerFor(request, deps, receipt);
            if (offer === null) return {};
            return { lifetime: { typed: readLifetime(form, offer), message, isAboutAmount: false } };
          });
        },
      },
    },
  ];
}

/** An address in older links and clients. */
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

/** Without the link unless it is given. */
function receiptReply(
  status: number,
  request: PageRequest,
  deps: ReceiptDeps,
  shown: Pick<ReceiptProps, 'receipt'> & Partial<Omit<ReceiptProps, 'frame' | 'ownUrl' | 'offer'>>,
): PageReply {
  const { frame } = request;
  const ownUrl = deps.links.receiptUrl(shown.receipt.metadataKey);
  const offer = offerFor(request, deps, shown.receipt);
  const message = { locale: frame.words.locale, isOpen: false };
  const none = { link: null, justCreated: false, mail: null, memo: null, lifetime: null };
  const props = { ...none, message, offer, ...shown };
  return pageReply(status, renderPage(<ReceiptPage frame={frame} ownUrl={ownUrl} {...props} />));
}

function linkOf(receipt: ReceiptView, links: Links): string | null {
  return receipt.secretKey === null ? null : links.secretUrl(receipt.secretKey, receipt.shareDomain);
}

/** Of an unknown key and of another account's alike (P16), so what it says of logging in reveals nothing. */
function unknown(request: PageRequest): PageReply {
  return errorReply(request, { problem: 'unknown_receipt' });
}

function errorReply({ frame }: PageRequest, problem: PageProblem): PageReply {
  const { status, markup } = renderErrorPage(frame, problem);
  return pageReply(status, markup);
}

/** Shows the problem on the receipt, or on the error page if the receipt cannot be read or the session has ended. */
async function refuse(
  request: PageRequest,
  deps: ReceiptDeps,
  problem: PageProblem,
  refused: (
    message: string,
    receipt: ReceiptView,
  ) => Partial<Pick<ReceiptProps, 'mail' | 'memo' | 'lifetime'>>,
): Promise<PageReply> {
  const { status, page, form } = problemWords(problem, request.frame.words);
  const message = problem.problem === 'stale_form' ? form : page;
  try {
    const found = await find(request, deps);
    if (found.outcome === 'unknown') return errorReply(request, problem);
    const { receipt } = found;
    return receiptReply(status, request, deps, { receipt, ...refused(message, receipt) });
  } catch (error) {
    if (error instanceof ServiceError) return errorReply(request, problem);
    throw error;
  }
}

function showReceipt(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  return onReceipt(request, deps, (receipt) => {
    const justCreated = deps.justCreated.isIn(request.cookies);
    const link = justCreated ? linkOf(receipt, deps.links) : null;
    const mail = queuedMail(request, receipt);
    const reply = receiptReply(200, request, deps, { receipt, link, justCreated, mail });
    if (!justCreated) return reply;
    const path = request.frame.href('receipt', receipt.metadataKey);
    return { ...reply, cookies: [deps.justCreated.clear(path)] };
  });
}

async function showLink(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const found = await deps.service.viewReceipt({ metadataKey: request.key, authority }, request.caller);
  if (found.outcome === 'unknown') return unknown(request);
  const { receipt } = found;
  // Of an end-to-end secret the server has half a link, which opens nothing.
  const link = receipt.sealed ? null : linkOf(receipt, deps.links);
  const chosen = offeredLanguage(request.frame.settings, (await request.form()).text(messageLanguageField));
  const message = { locale: chosen ?? request.frame.words.locale, isOpen: chosen !== null };
  return receiptReply(200, request, deps, { receipt, link, message });
}

/** Asked for by the page in the language `in`, which is the recipient's and leaves the reader's own as it is. */
async function sendMessage(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const found = await find(request, deps);
  if (found.outcome === 'unknown' || found.receipt.secretKey === null)
    return { status: 404, content: { kind: 'json', value: {} } };
  const { settings, words } = request.frame;
  const locale = offeredLanguage(settings, request.query.get('in')) ?? words.locale;
  return { status: 200, content: { kind: 'json', value: linkMessage(locale, found.receipt) } };
}

/** Polled by the page every few seconds, so it carries no cookie and no key. */
async function sendState(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const found = await find(request, deps);
  if (found.outcome === 'unknown')
    return { status: 404, content: { kind: 'json', value: { state: 'unknown' } } };
  const { state, delivery } = found.receipt;
  const value = { state, delivery: delivery === null ? null : { state: delivery.state, at: delivery.at } };
  return { status: 200, content: { kind: 'json', value } };
}

function askToBurn(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  return onReceipt(request, deps, ({ secretKey, metadataKey }) =>
    secretKey === null
      ? seeOther(request.frame.href('receipt', metadataKey))
      : pageReply(200, renderPage(<BurnPage frame={request.frame} metadataKey={metadataKey} />)),
  );
}

/** The receipt then says what is true: burned, or opened before that. */
async function burn(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const { key, isAbandoned, caller } = request;
  const input = { metadataKey: key, authority, proof: null, isAbandoned } as const;
  const outcome = await deps.service.burn(input, caller);
  if (outcome.outcome === 'abandoned') throw new RequestProblem(clientLeft);
  if (outcome.outcome !== 'burned' && outcome.outcome !== 'already_gone') return unknown(request);
  return seeOther(request.frame.href('receipt', outcome.receipt.metadataKey));
}

/** In the address after a mail was queued. */
const afterMail = { name: 'mail', value: 'sent' } as const;

/** Whatever the address claims, what is shown comes from the record. */
function queuedMail({ query, frame }: PageRequest, { delivery }: ReceiptView): MailRequest | null {
  if (delivery === null || query.get(afterMail.name) !== afterMail.value) return null;
  return { typed: { recipient: '', locale: frame.words.locale }, refusal: null };
}

async function sendMail(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const { key, frame, caller } = request;
  const typed = readMail(await request.form(), frame);
  const recipient = typed.recipient === '' ? null : new Sensitive(typed.recipient);
  const input = { metadataKey: key, authority, locale: typed.locale, recipient } as const;
  const outcome = await deps.service.deliver(input, caller);
  if (outcome.outcome === 'unknown') return unknown(request);
  if (outcome.outcome === 'queued') {
    const page = frame.href('receipt', outcome.receipt.metadataKey);
    return seeOther(`${page}?${afterMail.name}=${afterMail.value}#mail`);
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
  const { say } = frame.words;
  const message =
    outcome.outcome === 'memo_too_long'
      ? say('memo.tooLong', { max: outcome.maxCharacters })
      : say('share.illFormed');
  return onReceipt(request, deps, (receipt) =>
    receiptReply(422, request, deps, { receipt, memo: { typed, message } }),
  );
}

/** The receipt then shows the outcome: no lock, or a secret that is gone. */
async function allowMore(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const { key: metadataKey, caller } = request;
  const input = { metadataKey, authority, memo: undefined, ttlSeconds: null, allowsMore: true } as const;
  const outcome = await deps.service.change(input, caller);
  if (outcome.outcome !== 'found' && outcome.outcome !== 'already_gone') return unknown(request);
  return seeOther(request.frame.href('receipt', outcome.receipt.metadataKey));
}

async function setLifetime(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const { key, frame, caller } = request;
  const found = await find(request, deps);
  if (found.outcome === 'unknown') return unknown(request);
  const { receipt } = found;
  // Whatever comes of it, the receipt then says what is true: the new expiry, or that the secret is gone.
  const toExpiry = seeOther(`${frame.href('receipt', receipt.metadataKey)}#lifetime`);
  const offer = offerFor(request, deps, receipt);
  if (offer === null) return toExpiry;
  const typed = readLifetime(await request.form(), offer);
  const asked = askedLifetime(typed, offer, frame.words);
  if ('wrong' in asked) {
    const lifetime = { typed, message: asked.wrong, isAboutAmount: true };
    return receiptReply(422, request, deps, { receipt, lifetime });
  }
  const input = { metadataKey: key, authority, memo: undefined, ttlSeconds: asked.seconds } as const;
  const outcome = await deps.service.change(input, caller);
  return outcome.outcome === 'unknown' ? unknown(request) : toExpiry;
}
