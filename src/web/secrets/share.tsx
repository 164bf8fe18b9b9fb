/**
 * Sharing, from the form to the receipt.
 *
 * Owns: the start page and its two POSTs: one creates, one puts a drawn value into the form. Invariant: a refusal of any
 * kind gives the form back with everything that was typed and stores nothing; a value never stands in an address, a
 * cookie or a redirect.
 */
import type { AccountService } from '../../domain/account-outcomes.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { CreationOutcome, SecretService } from '../../domain/outcomes.ts';
import type { Plan, Plans } from '../../domain/plans.ts';
import { Sensitive } from '../../domain/sensitive.ts';
import { renderPage } from '../layout.tsx';
import type { PageProblem } from '../page-problem.ts';
import { type PageReply, type PageRequest, type PageRoute, pageReply, seeOther } from '../page-route.ts';
import { noticeFor } from '../pages/notice.tsx';
import { SharePage, type ShareProps, type ShareRefusal, SharingClosedPage } from '../pages/secrets/share.tsx';
import type { Words } from '../words.ts';
import type { JustCreated } from './just-created.ts';
import {
  emptyShare,
  lifetimeSeconds,
  readShare,
  type ShareField,
  suggestionBounds,
  type TypedShare,
  toSuggestInput,
} from './share-form.ts';
import { strengthBits } from './strength.ts';

export interface ShareDeps {
  readonly service: Pick<SecretService, 'conceal' | 'suggest'>;
  readonly accounts: Pick<AccountService, 'listShareDomains'>;
  readonly plans: Plans;
  readonly anonymousMayCreate: boolean;
  readonly justCreated: JustCreated;
}

type Refusal = ShareRefusal & { readonly status: number };
type Refused = Exclude<CreationOutcome, { outcome: 'created' }>;

export function createSharePages(deps: ShareDeps): PageRoute[] {
  const toForm = { limit: 'none', handle: ({ frame }: PageRequest) => seeOther(frame.href('home')) } as const;
  const refuseShare = async (request: PageRequest, problem: PageProblem) =>
    refuse(request, deps, await typedIn(request, deps), problemOfShare(problem, request.frame.words));
  const refuseSuggestion = async (request: PageRequest, problem: PageProblem) =>
    refuse(request, deps, await typedIn(request, deps), problemOfSuggestion(problem, request.frame.words));
  return [
    { name: 'home', get: { limit: 'none', isStill: true, handle: (request) => showForm(request, deps) } },
    {
      name: 'share',
      get: toForm,
      post: { limit: 'create', handle: (request) => share(request, deps), refuse: refuseShare },
    },
    {
      name: 'suggest',
      get: toForm,
      post: { limit: 'manage', handle: (request) => suggest(request, deps), refuse: refuseSuggestion },
    },
  ];
}

function planFor({ caller }: PageRequest, { plans }: ShareDeps): Plan {
  return caller.kind === 'anonymous' ? plans.anonymous : plans[caller.account.plan];
}

function mayCreate({ caller }: PageRequest, { anonymousMayCreate }: ShareDeps): boolean {
  return anonymousMayCreate || caller.kind === 'account';
}

async function typedIn(request: PageRequest, deps: ShareDeps): Promise<TypedShare> {
  const { locales, words } = request.frame;
  const plan = planFor(request, deps);
  return readShare(await request.form(), emptyShare(plan, words.locale), plan, locales);
}

async function showForm(request: PageRequest, deps: ShareDeps): Promise<PageReply> {
  if (!mayCreate(request, deps))
    return pageReply(200, renderPage(<SharingClosedPage frame={request.frame} />));
  const typed = emptyShare(planFor(request, deps), request.frame.words.locale);
  return formReply(200, request, deps, { typed, refusal: null, drawnBits: null });
}

async function share(request: PageRequest, deps: ShareDeps): Promise<PageReply> {
  const { frame, caller } = request;
  const typed = await typedIn(request, deps);
  const seconds = lifetimeSeconds(typed.lifetime);
  if (seconds === null) return refuse(request, deps, typed, noNumber(frame.words));
  const outcome = await deps.service.conceal(
    {
      value: new Sensitive(typed.secret),
      ...(typed.passphrase === '' ? {} : { passphrase: new Sensitive(typed.passphrase) }),
      ...(typed.recipient === '' ? {} : { recipient: new Sensitive(typed.recipient) }),
      ...(typed.shareDomain === '' ? {} : { shareDomain: typed.shareDomain }),
      ttl: { seconds, outOfRange: 'refuse' },
      locale: typed.locale,
    },
    caller,
  );
  if (outcome.outcome !== 'created') {
    return refuse(request, deps, typed, refusalOf(outcome, frame.words));
  }
  const receipt = frame.href('receipt', outcome.receipt.metadataKey);
  return seeOther(receipt, [deps.justCreated.set(receipt)]);
}

/** Answers with the form itself: a redirect would have to keep the value somewhere in between. */
async function suggest(request: PageRequest, deps: ShareDeps): Promise<PageReply> {
  const typed = await typedIn(request, deps);
  const { words } = request.frame;
  if (!mayCreate(request, deps)) {
    return refuse(request, deps, typed, refusalOf({ outcome: 'account_required' }, words));
  }
  const input = toSuggestInput(typed.suggestion);
  if ('wrong' in input) return refuse(request, deps, typed, wrongSuggestion(input.wrong, words));
  const drawn = { ...typed, secret: (await deps.service.suggest(input)).expose() };
  return formReply(200, request, deps, { typed: drawn, refusal: null, drawnBits: strengthBits(input) });
}

function refuse(
  request: PageRequest,
  deps: ShareDeps,
  typed: TypedShare,
  { status, ...refusal }: Refusal,
): Promise<PageReply> {
  return formReply(status, request, deps, { typed, refusal, drawnBits: null });
}

async function formReply(
  status: number,
  request: PageRequest,
  deps: ShareDeps,
  props: Pick<ShareProps, 'typed' | 'refusal' | 'drawnBits'>,
): Promise<PageReply> {
  const { frame } = request;
  const domains = await domainsFor(request, deps);
  const page = <SharePage frame={frame} plan={planFor(request, deps)} domains={domains} {...props} />;
  return pageReply(status, renderPage(page));
}

/** The caller's share domains. Without the store the form does without them rather than being lost. */
async function domainsFor({ signedIn }: PageRequest, { accounts }: ShareDeps): Promise<readonly string[]> {
  if (signedIn === null) return [];
  try {
    return await accounts.listShareDomains(signedIn);
  } catch (error) {
    if (error instanceof ServiceError) return [];
    throw error;
  }
}

function noNumber({ say }: Words): Refusal {
  return stored(422, 'ttl-amount', say('share.ttlNumber'), say);
}

function stored(status: number, field: ShareField | null, message: string, say: Words['say']): Refusal {
  return { status, field, message, consolation: say('share.refused'), needsLogIn: false };
}

function refusalOf(refused: Refused, { say, duration }: Words): Refusal {
  const at = (status: number, field: ShareField | null, message: string) =>
    stored(status, field, message, say);
  switch (refused.outcome) {
    case 'nothing_to_share':
      return at(400, 'secret', say('share.nothing'));
    case 'ill_formed':
      return at(400, refused.field, say('share.illFormed'));
    case 'value_too_large':
      return at(413, 'secret', say('share.tooLarge', { count: refused.maxBytes }));
    case 'passphrase_too_long':
      return at(422, 'passphrase', say('share.passphraseTooLong', { count: refused.maxBytes }));
    case 'ttl_out_of_range': {
      const bounds = { min: duration(refused.minSeconds), max: duration(refused.maxSeconds) };
      return at(422, 'ttl-amount', say('share.ttlOutOfRange', bounds));
    }
    case 'recipient_needs_account':
      return { ...at(403, 'recipient', say('share.recipientNeedsAccount')), needsLogIn: true };
    case 'undeliverable_recipient':
      return at(422, 'recipient', say('share.recipientWrong'));
    case 'unknown_share_domain':
      return at(422, 'share-domain', say('share.domainWrong'));
    case 'account_required':
      return { ...at(403, null, say('share.closedKept')), needsLogIn: true };
  }
}

function wrongSuggestion(field: ShareField, { say }: Words): Refusal {
  const { length, words } = suggestionBounds;
  const { min, max } = field === 'suggest-words' ? words : length;
  const message = field === 'suggest-sets' ? say('suggest.noSet') : say('suggest.wrongLength', { min, max });
  return { status: 422, field, message, consolation: say('suggest.nothingDrawn'), needsLogIn: false };
}

/** What the transport or the store refuses, in the words of this form. */
function problemOfShare(problem: PageProblem, words: Words): Refusal {
  const { status, text, params } = noticeFor(problem, words);
  const { say } = words;
  switch (problem.problem) {
    case 'rate_limited':
      return stored(status, null, say('share.later', params), say);
    case 'unavailable':
      return stored(status, null, say('share.unavailable', params), say);
    case 'storage_full':
      return stored(status, null, say('share.full'), say);
    case 'stale_form':
      return stored(status, null, say('share.stale'), say);
    default:
      return stored(status, null, say(text, params), say);
  }
}

function problemOfSuggestion(problem: PageProblem, words: Words): Refusal {
  const { say } = words;
  const refusal = { ...problemOfShare(problem, words), consolation: say('suggest.nothingDrawn') };
  const { params } = noticeFor(problem, words);
  if (problem.problem === 'rate_limited') return { ...refusal, message: say('suggest.later', params) };
  if (problem.problem === 'unavailable') return { ...refusal, message: say('suggest.unavailable', params) };
  return refusal;
}
