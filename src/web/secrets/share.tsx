/**
 * Sharing, from the form to the receipt.
 *
 * Owns: the start page and its two POSTs: one creates, one puts a drawn value into the form. Invariant: a refusal of
 * any kind gives the form back with everything that was typed and stores nothing; a value never stands in an address, a
 * cookie or a redirect.
 */
import type { AccountService } from '../../core/accounts/service.ts';
import { ServiceError } from '../../core/errors.ts';
import type { Plan, Plans } from '../../core/plans.ts';
import type { ConcealInput } from '../../core/secrets/outcomes.ts';
import type { SecretService } from '../../core/secrets/service.ts';
import { Sensitive } from '../../core/sensitive.ts';
import { renderPage } from '../kit/layout.tsx';
import {
  createdAt,
  type PageProblem,
  type PageReply,
  type PageRequest,
  type PageRoute,
  pageReply,
  seeOther,
} from '../page.ts';
import type { JustCreated } from './receipt.tsx';
import { drawOver, takeBack, takeBackField } from './share-aside.ts';
import { emptyShare, lifetimeSeconds, readShare, type TypedShare, toSuggestInput } from './share-form.ts';
import { SharePage, type ShareProps, SharingClosedPage } from './share-page.tsx';
import {
  noNumber,
  outsidePlan,
  problemOfShare,
  problemOfSuggestion,
  type Refusal,
  refusalOf,
  wrongSuggestion,
} from './share-refusal.ts';
import { strengthBits } from './strength.ts';

/** Set by the script, which sends the form itself and goes to the receipt on its own. */
const byScriptField = 'by-script';

/**
 * A body of this form may be far larger than any secret: what is refused as too long has to come back to whoever
 * typed it. 1 MiB holds 100,000 letters of Japanese, each of which a form sends as nine bytes.
 */
const formCapBytes = 1_048_576;

export interface ShareDeps {
  /** Of other requests. */
  readonly bodyCapBytes: number;
  readonly service: Pick<SecretService, 'conceal' | 'suggest'>;
  readonly accounts: Pick<AccountService, 'listShareDomains'>;
  readonly plans: Plans;
  readonly anonymousMayCreate: boolean;
  readonly justCreated: JustCreated;
}

export function createSharePages(deps: ShareDeps): PageRoute[] {
  const bodyCapBytes = Math.max(formCapBytes, deps.bodyCapBytes);
  const toForm = { limit: 'none', handle: ({ frame }: PageRequest) => seeOther(frame.href('home')) } as const;
  const refuseShare = async (request: PageRequest, problem: PageProblem) =>
    refuse(request, deps, await typedIn(request, deps), problemOfShare(problem, request.frame.words));
  const refuseSuggestion = async (request: PageRequest, problem: PageProblem) =>
    refuse(request, deps, await typedIn(request, deps), problemOfSuggestion(problem, request.frame.words));
  return [
    { name: 'home', get: { limit: 'none', isStatic: true, handle: (request) => showForm(request, deps) } },
    {
      name: 'share',
      get: toForm,
      post: { limit: 'create', bodyCapBytes, handle: (request) => share(request, deps), refuse: refuseShare },
    },
    {
      name: 'suggest',
      get: toForm,
      post: {
        limit: 'manage',
        bodyCapBytes,
        handle: (request) => suggest(request, deps),
        refuse: refuseSuggestion,
      },
    },
  ];
}

function planFor({ caller }: PageRequest, { plans }: ShareDeps): Plan {
  return caller.kind === 'anonymous' ? plans.anonymous : plans[caller.account.plan];
}

function mayCreate({ caller }: PageRequest, { anonymousMayCreate }: ShareDeps): boolean {
  return anonymousMayCreate || caller.kind === 'account';
}

/** As it is shown first: with the account's own choice of mails. */
function untouched(request: PageRequest, deps: ShareDeps): TypedShare {
  const notify = request.signedIn?.caller.account.notify ?? [];
  return emptyShare(planFor(request, deps), request.frame.words.locale, notify);
}

async function typedIn(request: PageRequest, deps: ShareDeps): Promise<TypedShare> {
  const { locales } = request.frame;
  return readShare(await request.form(), untouched(request, deps), planFor(request, deps), locales);
}

async function showForm(request: PageRequest, deps: ShareDeps): Promise<PageReply> {
  if (!mayCreate(request, deps))
    return pageReply(200, renderPage(<SharingClosedPage frame={request.frame} />));
  const typed = untouched(request, deps);
  return formReply(200, request, deps, { typed, refusal: null, drawnBits: null });
}

async function share(request: PageRequest, deps: ShareDeps): Promise<PageReply> {
  const { frame, caller } = request;
  const typed = await typedIn(request, deps);
  const seconds = lifetimeSeconds(typed.lifetime);
  if (seconds === null) return refuse(request, deps, typed, noNumber(frame.words));
  const plan = planFor(request, deps);
  if (seconds < plan.ttlMinSeconds || seconds > plan.ttlMaxSeconds)
    return refuse(request, deps, typed, outsidePlan(plan, frame.words));
  const outcome = await deps.service.conceal(toConcealInput(request, typed, seconds), caller);
  if (outcome.outcome !== 'created') {
    return refuse(request, deps, typed, refusalOf(outcome, frame.words));
  }
  const receipt = frame.href('receipt', outcome.receipt.metadataKey);
  const cookies = [deps.justCreated.set(receipt)];
  const isByScript = (await request.form()).text(byScriptField) !== '';
  return isByScript ? createdAt(receipt, cookies) : seeOther(receipt, cookies);
}

function toConcealInput(
  { host, signedIn, clientPrefix }: PageRequest,
  typed: TypedShare,
  seconds: number,
): ConcealInput {
  const { passphrase, memo, recipient, shareDomain, locale, notify } = typed;
  return {
    value: new Sensitive(typed.secret),
    passphrase: new Sensitive(passphrase),
    clientPrefix,
    memo: new Sensitive(memo),
    recipient: recipient === '' ? null : new Sensitive(recipient),
    shareDomain,
    arrivedOn: host === '' ? null : host,
    // An empty list too, so that unticking every box counts.
    notify: signedIn === null && notify.length === 0 ? null : notify,
    ttlSeconds: seconds,
    locale,
  };
}

/**
 * Draws a value, or takes back what it was drawn over. Answers with the form itself: a redirect would have to keep the
 * value somewhere in between.
 */
async function suggest(request: PageRequest, deps: ShareDeps): Promise<PageReply> {
  const typed = await typedIn(request, deps);
  const { words } = request.frame;
  if ((await request.form()).text(takeBackField) !== '') {
    const back = { typed: takeBack(typed), refusal: null, drawnBits: null, isTakenBack: true } as const;
    return formReply(200, request, deps, back);
  }
  if (!mayCreate(request, deps)) {
    return refuse(request, deps, typed, refusalOf({ outcome: 'account_required' }, words));
  }
  const input = toSuggestInput(typed.suggestion);
  if ('wrong' in input) return refuse(request, deps, typed, wrongSuggestion(input.wrong, words));
  const drawn = drawOver(typed, (await deps.service.suggest(input)).expose());
  return formReply(200, request, deps, { typed: drawn, refusal: null, drawnBits: strengthBits(input) });
}

function refuse(
  request: PageRequest,
  deps: ShareDeps,
  typed: TypedShare,
  { status, headers, ...refusal }: Refusal,
): Promise<PageReply> {
  return formReply(status, request, deps, { typed, refusal, drawnBits: null }, headers);
}

async function formReply(
  status: number,
  request: PageRequest,
  deps: ShareDeps,
  props: Pick<ShareProps, 'typed' | 'refusal' | 'drawnBits' | 'isTakenBack'>,
  headers: PageReply['headers'] = {},
): Promise<PageReply> {
  const { frame } = request;
  const domains = await domainsFor(request, deps);
  const page = <SharePage frame={frame} plan={planFor(request, deps)} domains={domains} {...props} />;
  return pageReply(status, renderPage(page), headers);
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
