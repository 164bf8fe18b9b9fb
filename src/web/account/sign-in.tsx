/**
 * The ways into an account.
 *
 * Owns: logging in and out, beside signing up and a forgotten password. Invariants: a log-in that fails says one thing
 * for every cause (P17); each log-in has a new session, whatever cookie came with it; the password is repeated nowhere.
 */
import type { AccountService } from '../../core/accounts/service.ts';
import { Sensitive } from '../../core/sensitive.ts';
import type { Clock } from '../../core/time.ts';
import type { SessionCookie } from '../cookies.ts';
import { renderErrorPage } from '../kit/error-page.tsx';
import { renderPage } from '../kit/layout.tsx';
import {
  type PageProblem,
  type PageReply,
  type PageRequest,
  type PageRoute,
  pageReply,
  seeOther,
} from '../page.ts';
import { browserLabel } from './browser-label.ts';
import { createForgottenPages, type ForgottenDeps } from './forgotten.tsx';
import { type FormRefusal, refusalOfSignIn, refuseForm } from './form-refusal.ts';
import { countGuess, type GuessLimiter } from './guesses.ts';
import { LogInPage } from './sign-in-page.tsx';
import { createSignUpPages, type SignUpDeps } from './sign-up.tsx';

interface LogInDeps {
  readonly accounts: Pick<AccountService, 'logIn' | 'logOut'>;
  readonly limiter: GuessLimiter;
  readonly sessionCookie: SessionCookie;
  readonly clock: Clock;
}

export type SignInDeps = LogInDeps & SignUpDeps & ForgottenDeps;

export function createSignInPages(deps: SignInDeps): PageRoute[] {
  return [...createLogInPages(deps), ...createSignUpPages(deps), ...createForgottenPages(deps)];
}

function createLogInPages(deps: LogInDeps): PageRoute[] {
  return [
    {
      name: 'logIn',
      isSignIn: true,
      get: { limit: 'none', handle: showLogIn },
      post: {
        limit: 'none',
        handle: (request) => logIn(request, deps),
        refuse: async (request, problem) => redisplay(request, refusalOfSignIn(problem, request.frame.words)),
      },
    },
    {
      name: 'logOut',
      get: { limit: 'none', handle: ({ frame }) => seeOther(frame.href('home')) },
      post: {
        limit: 'none',
        handle: (request) => logOut(request, deps),
        refuse: async (request, problem) => refuseLogOut(request, problem, deps),
      },
    },
  ];
}

function showLogIn({ frame, query, signedIn }: PageRequest): PageReply {
  if (signedIn !== null) return seeOther(frame.href('account'));
  const isAfterLogOut = query.get('done') === 'logged-out';
  const page = <LogInPage frame={frame} email="" refusal={null} isAfterLogOut={isAfterLogOut} />;
  return pageReply(200, renderPage(page));
}

async function redisplay({ frame, form }: PageRequest, refusal: FormRefusal): Promise<PageReply> {
  const email = (await form()).text('email');
  const page = <LogInPage frame={frame} email={email} refusal={refusal} isAfterLogOut={false} />;
  return pageReply(refusal.status, renderPage(page));
}

async function logIn(request: PageRequest, deps: LogInDeps): Promise<PageReply> {
  const { frame, clientPrefix, userAgent, signedIn } = request;
  if (signedIn !== null) return seeOther(frame.href('account'));
  const form = await request.form();
  const email = form.text('email').trim();
  const password = new Sensitive(form.text('password'));
  const outcome = await countGuess(deps.limiter, {
    clientPrefix,
    username: email,
    compute: () => deps.accounts.logIn({ email, password, label: browserLabel(userAgent), clientPrefix }),
    isWrong: ({ outcome }) => outcome === 'refused',
  });
  if (outcome.outcome === 'refused') {
    return redisplay(request, refuseForm(frame.words.say('logIn.wrong'), 422));
  }
  return seeOther(frame.href('home'), [deps.sessionCookie.set(outcome.session, deps.clock())]);
}

async function logOut({ frame, signedIn }: PageRequest, deps: LogInDeps): Promise<PageReply> {
  if (signedIn !== null) await deps.accounts.logOut(signedIn);
  return seeOther(`${frame.href('logIn')}?done=logged-out`, [deps.sessionCookie.clear()]);
}

/** Whose session has ended is logged out already. */
function refuseLogOut({ frame, signedIn }: PageRequest, problem: PageProblem, deps: LogInDeps): PageReply {
  if (problem.problem === 'stale_form' && signedIn === null) {
    return seeOther(`${frame.href('logIn')}?done=logged-out`, [deps.sessionCookie.clear()]);
  }
  const { status, markup } = renderErrorPage(frame, problem);
  return pageReply(status, markup);
}
