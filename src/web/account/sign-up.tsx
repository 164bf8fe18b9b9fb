/**
 * Signing up: an address first, and a password behind the link that is mailed to it.
 *
 * Owns: both steps. Invariants: the first answers the same for every address (P17); opening the mailed link changes
 * nothing, so a scanner of mails uses nothing up (P4); where sign-up is closed nobody signs up by an older link either.
 */
import type { AccountService } from '../../core/accounts/service.ts';
import { Sensitive } from '../../core/sensitive.ts';
import type { Clock } from '../../core/time.ts';
import type { SessionCookie } from '../cookies.ts';
import { renderPage } from '../kit/layout.tsx';
import {
  type PageAction,
  type PageReply,
  type PageRequest,
  type PageRoute,
  pageReply,
  seeOther,
  takeLimit,
} from '../page.ts';
import { browserLabel } from './browser-label.ts';
import { type FormRefusal, refusalOfPassword, refusalOfSignIn, refuseField } from './form-refusal.ts';
import type { GuessLimiter } from './guesses.ts';
import {
  ChoosePasswordPage,
  SignUpClosedPage,
  SignUpExistsPage,
  SignUpGonePage,
  SignUpPage,
  SignUpSentPage,
} from './sign-in-new.tsx';

export interface SignUpDeps {
  readonly accounts: Pick<AccountService, 'requestSignUp' | 'checkSignUp' | 'signUp' | 'logOut'>;
  readonly limiter: GuessLimiter;
  readonly sessionCookie: SessionCookie;
  readonly clock: Clock;
  readonly signUpIsOpen: boolean;
}

export function createSignUpPages(deps: SignUpDeps): PageRoute[] {
  const whenOpen = (handle: PageAction['handle']): PageAction['handle'] =>
    deps.signUpIsOpen ? handle : showClosed;
  const form = deps.signUpIsOpen ? ({ isSignIn: true } as const) : {};
  return [
    {
      name: 'signUp',
      ...form,
      get: { limit: 'none', handle: whenOpen(showForm) },
      post: {
        limit: 'none',
        handle: whenOpen((request) => ask(request, deps)),
        refuse: async (request, problem) => redisplay(request, refusalOfSignIn(problem, request.frame.words)),
      },
    },
    {
      name: 'completeSignUp',
      ...form,
      get: { limit: 'manage', handle: whenOpen((request) => showChoice(request, deps, null)) },
      post: {
        limit: 'manage',
        handle: whenOpen((request) => complete(request, deps)),
        refuse: (request, problem) =>
          showChoice(request, deps, refusalOfSignIn(problem, request.frame.words)),
      },
    },
  ];
}

function showClosed({ frame }: PageRequest): PageReply {
  return pageReply(404, renderPage(<SignUpClosedPage frame={frame} />));
}

function showForm({ frame, query, signedIn }: PageRequest): PageReply {
  if (signedIn !== null) return seeOther(frame.href('account'));
  const isSent = query.get('done') === 'sent';
  const page = isSent ? (
    <SignUpSentPage frame={frame} />
  ) : (
    <SignUpPage frame={frame} email="" refusal={null} />
  );
  return pageReply(200, renderPage(page));
}

async function redisplay({ frame, form }: PageRequest, refusal: FormRefusal): Promise<PageReply> {
  const email = (await form()).text('email');
  return pageReply(refusal.status, renderPage(<SignUpPage frame={frame} email={email} refusal={refusal} />));
}

async function ask(request: PageRequest, { limiter, accounts }: SignUpDeps): Promise<PageReply> {
  const { frame, clientPrefix, signedIn } = request;
  if (signedIn !== null) return seeOther(frame.href('account'));
  const email = (await request.form()).text('email').trim();
  takeLimit(limiter, 'signUp', 'anonymous', clientPrefix);
  const asked = await accounts.requestSignUp({ email, locale: frame.words.locale });
  if (asked.outcome === 'invalid_email') {
    limiter.refund('signUp', 'anonymous', clientPrefix);
    return redisplay(request, refuseField('email', frame.words.say('signUp.emailWrong')));
  }
  return seeOther(`${frame.href('signUp')}?done=sent`);
}

async function showChoice(
  { frame, key }: PageRequest,
  { accounts }: SignUpDeps,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const found = await accounts.checkSignUp(key);
  if (found.outcome === 'gone') return pageReply(404, renderPage(<SignUpGonePage frame={frame} />));
  const page = <ChoosePasswordPage frame={frame} ticket={key} username={found.username} refusal={refusal} />;
  return pageReply(refusal?.status ?? 200, renderPage(page));
}

async function complete(request: PageRequest, deps: SignUpDeps): Promise<PageReply> {
  const { frame, key, userAgent, signedIn, clientPrefix } = request;
  const password = new Sensitive((await request.form()).text('password'));
  const label = browserLabel(userAgent);
  const made = await deps.accounts.signUp({ ticket: key, password, label, clientPrefix });
  switch (made.outcome) {
    case 'signed_up':
      // This browser was another account's until now.
      if (signedIn !== null) await deps.accounts.logOut(signedIn);
      return seeOther(`${frame.href('account')}?done=signed-up`, [
        deps.sessionCookie.set(made.session, deps.clock()),
      ]);
    case 'gone':
      return pageReply(404, renderPage(<SignUpGonePage frame={frame} />));
    case 'exists':
      return pageReply(409, renderPage(<SignUpExistsPage frame={frame} />));
    default:
      return showChoice(request, deps, refusalOfPassword(made, 'password', frame.words));
  }
}
