/**
 * Sharing, from the form to the receipt.
 *
 * Owns: the start page and its POST. Invariant: a refusal of any kind gives the form back with everything that was typed
 * and stores nothing; a value never stands in an address, a cookie or a redirect.
 */
import { anonymous } from '../domain/accounts.ts';
import type { CreationOutcome, SecretService } from '../domain/outcomes.ts';
import type { Plan } from '../domain/plans.ts';
import { Sensitive } from '../domain/sensitive.ts';
import type { Problem } from '../http/problem.ts';
import type { Form } from './form.ts';
import type { JustCreated } from './just-created.ts';
import { renderPage } from './layout.tsx';
import { type PageReply, type PageRequest, type PageRoute, pageReply, seeOther } from './page-route.ts';
import { noticeFor } from './pages/notice.tsx';
import { type ShareField, SharePage, type ShareProps, SharingClosedPage } from './pages/share.tsx';
import type { Words } from './words.ts';

export interface ShareDeps {
  readonly service: Pick<SecretService, 'conceal'>;
  /** The plan of callers without an account: these pages know no other. */
  readonly plan: Plan;
  readonly anonymousMayCreate: boolean;
  readonly justCreated: JustCreated;
}

interface FormRefusal {
  readonly status: number;
  readonly field: ShareField | null;
  readonly message: string;
}

type Refused = Exclude<CreationOutcome, { outcome: 'created' }>;

export function createSharePages(deps: ShareDeps): PageRoute[] {
  const refuse = async (request: PageRequest, problem: Problem) => {
    const typed = typedIn(await request.form(), deps.plan);
    return refuseForm(request, deps.plan, typed, problemOfForm(problem, request.frame.words));
  };
  return [
    { name: 'home', get: { limit: 'none', handle: (request) => showForm(request, deps) } },
    {
      name: 'share',
      get: { limit: 'none', handle: ({ frame }) => seeOther(frame.href('home')) },
      post: { limit: 'create', handle: (request) => share(request, deps), refuse },
    },
  ];
}

function showForm(request: PageRequest, { plan, anonymousMayCreate }: ShareDeps): PageReply {
  if (!anonymousMayCreate) return pageReply(200, renderPage(<SharingClosedPage frame={request.frame} />));
  const typed = { secret: '', passphrase: '', ttlSeconds: plan.ttlDefaultSeconds };
  return pageReply(
    200,
    renderPage(<SharePage frame={request.frame} plan={plan} typed={typed} refusal={null} />),
  );
}

async function share(request: PageRequest, deps: ShareDeps): Promise<PageReply> {
  const { frame } = request;
  const form = await request.form();
  const typed = typedIn(form, deps.plan);
  const outcome = await deps.service.conceal(
    {
      value: new Sensitive(typed.secret),
      ...(typed.passphrase === '' ? {} : { passphrase: new Sensitive(typed.passphrase) }),
      ttl: { seconds: typed.ttlSeconds, outOfRange: 'refuse' },
      locale: frame.words.locale,
    },
    anonymous,
  );
  if (outcome.outcome === 'account_required') {
    return pageReply(403, renderPage(<SharingClosedPage frame={frame} />));
  }
  if (outcome.outcome !== 'created')
    return refuseForm(request, deps.plan, typed, refusalOf(outcome, frame.words));
  const receipt = frame.href('receipt', outcome.receipt.metadataKey);
  return seeOther(receipt, { 'set-cookie': deps.justCreated.set(receipt) });
}

function typedIn(form: Form, plan: Plan): ShareProps['typed'] {
  const ttl = form.text('ttl');
  const ttlSeconds = ttl === '' ? plan.ttlDefaultSeconds : /^[0-9]{1,10}$/.test(ttl) ? Number(ttl) : 0;
  return { secret: form.text('secret'), passphrase: form.text('passphrase'), ttlSeconds };
}

function refuseForm(
  { frame }: PageRequest,
  plan: Plan,
  typed: ShareProps['typed'],
  { status, field, message }: FormRefusal,
): PageReply {
  return pageReply(
    status,
    renderPage(<SharePage frame={frame} plan={plan} typed={typed} refusal={{ field, message }} />),
  );
}

function refusalOf(refused: Refused, { say, duration }: Words): FormRefusal {
  switch (refused.outcome) {
    case 'nothing_to_share':
      return { status: 400, field: 'secret', message: say('share.nothing') };
    case 'ill_formed':
      return { status: 400, field: refused.field, message: say('share.illFormed') };
    case 'value_too_large':
      return { status: 413, field: 'secret', message: say('share.tooLarge', { count: refused.maxBytes }) };
    case 'passphrase_too_long':
      return {
        status: 422,
        field: 'passphrase',
        message: say('share.passphraseTooLong', { count: refused.maxBytes }),
      };
    case 'ttl_out_of_range': {
      const bounds = { min: duration(refused.minSeconds), max: duration(refused.maxSeconds) };
      return { status: 422, field: 'ttl', message: say('share.ttlOutOfRange', bounds) };
    }
    // The form names no recipient and no domain, and an account is asked for before the form is shown.
    case 'account_required':
    case 'recipient_needs_account':
    case 'undeliverable_recipient':
    case 'unknown_share_domain':
      return { status: 403, field: null, message: say('share.closed') };
  }
}

/** What the transport or the store refuses, in the words of this form. */
function problemOfForm(problem: Problem, words: Words): FormRefusal {
  const { status, text, params } = noticeFor(problem, words);
  const wait = 'retryAfterSeconds' in problem ? { wait: words.duration(problem.retryAfterSeconds) } : {};
  switch (problem.problem) {
    case 'rate_limited':
      return { status, field: null, message: words.say('share.later', wait) };
    case 'unavailable':
      return { status, field: null, message: words.say('share.unavailable', wait) };
    case 'storage_full':
      return { status, field: null, message: words.say('share.full') };
    default:
      return { status, field: null, message: words.say(text, params) };
  }
}
