/**
 * A forgotten password: an address first, and the new password behind the link that is mailed to it.
 *
 * Owns: both steps. Invariants: the first answers the same for every address (P17); opening the mailed link changes
 * nothing (P4); a form that comes back still holds the API token, because without it the list of what was shared is lost, and
 * the choice about the tokens.
 */
import type { AccountService } from '../../core/accounts/service.ts';
import { Sensitive } from '../../core/sensitive.ts';
import type { Clock } from '../../core/time.ts';
import type { SessionCookie } from '../cookies.ts';
import { renderPage } from '../kit/layout.tsx';
import { type PageReply, type PageRequest, type PageRoute, pageReply, seeOther, takeLimit } from '../page.ts';
import { browserLabel } from './browser-label.ts';
import { type FormRefusal, refusalOfPassword, refusalOfSignIn, refuseField } from './form-refusal.ts';
import type { GuessLimiter } from './guesses.ts';
import { readTokenFate } from './revoke-tokens.tsx';
import { ForgottenPage, ForgottenSentPage, ResetGonePage, ResetPage } from './sign-in-reset.tsx';

export interface ForgottenDeps {
  readonly accounts: Pick<AccountService, 'requestReset' | 'checkReset' | 'resetPassword' | 'logOut'>;
  readonly limiter: GuessLimiter;
  readonly sessionCookie: SessionCookie;
  readonly clock: Clock;
}

export function createForgottenPages(deps: ForgottenDeps): PageRoute[] {
  return [
    {
      name: 'forgotten',
      isSignIn: true,
      get: { limit: 'none', handle: showForm },
      post: {
        limit: 'none',
        handle: (request) => ask(request, deps),
        refuse: async (request, problem) => redisplay(request, refusalOfSignIn(problem, request.frame.words)),
      },
    },
    {
      name: 'reset',
      isSignIn: true,
      get: { limit: 'manage', handle: (request) => showReset(request, deps, null) },
      post: {
        limit: 'manage',
        handle: (request) => reset(request, deps),
        refuse: (request, problem) => showReset(request, deps, refusalOfSignIn(problem, request.frame.words)),
      },
    },
  ];
}

function showForm({ frame, query }: PageRequest): PageReply {
  const isSent = query.get('done') === 'sent';
  const page = isSent ? (
    <ForgottenSentPage frame={frame} />
  ) : (
    <ForgottenPage frame={frame} email="" refusal={null} />
  );
  return pageReply(200, renderPage(page));
}

async function redisplay({ frame, form }: PageRequest, refusal: FormRefusal): Promise<PageReply> {
  const email = (await form()).text('email');
  const page = <ForgottenPage frame={frame} email={email} refusal={refusal} />;
  return pageReply(refusal.status, renderPage(page));
}

async function ask(request: PageRequest, { limiter, accounts }: ForgottenDeps): Promise<PageReply> {
  const { frame, clientPrefix } = request;
  const email = (await request.form()).text('email').trim();
  takeLimit(limiter, 'signUp', 'anonymous', clientPrefix);
  const asked = await accounts.requestReset({ email, locale: frame.words.locale });
  if (asked.outcome === 'invalid_email') {
    limiter.refund('signUp', 'anonymous', clientPrefix);
    return redisplay(request, refuseField('email', frame.words.say('signUp.emailWrong')));
  }
  return seeOther(`${frame.href('forgotten')}?done=sent`);
}

async function showReset(
  { frame, key, form }: PageRequest,
  { accounts }: ForgottenDeps,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const found = await accounts.checkReset(key);
  if (found.outcome === 'gone') return pageReply(404, renderPage(<ResetGonePage frame={frame} />));
  const typed = refusal === null ? null : await form();
  const token = typed?.text('token') ?? '';
  const tokens = typed === null ? 'keep' : readTokenFate(typed);
  const { username } = found;
  const page = <ResetPage {...{ frame, ticket: key, username, token, tokens, refusal }} />;
  return pageReply(refusal?.status ?? 200, renderPage(page));
}

async function reset(request: PageRequest, deps: ForgottenDeps): Promise<PageReply> {
  const { frame, key, userAgent, signedIn, clientPrefix } = request;
  const form = await request.form();
  const tokens = readTokenFate(form);
  const set = await deps.accounts.resetPassword({
    ticket: key,
    password: new Sensitive(form.text('password')),
    existingToken: new Sensitive(form.text('token').trim()),
    tokens,
    label: browserLabel(userAgent),
    locale: frame.words.locale,
    clientPrefix,
  });
  switch (set.outcome) {
    case 'reset': {
      if (signedIn !== null) await deps.accounts.logOut(signedIn);
      const list = set.keepsList ? 'reset-kept' : 'reset-lost';
      const done = tokens === 'revoke' ? (`${list}-tokens` as const) : list;
      const cookie = deps.sessionCookie.set(set.session, deps.clock());
      return seeOther(`${frame.href('account')}?done=${done}`, [cookie]);
    }
    case 'gone':
      return pageReply(404, renderPage(<ResetGonePage frame={frame} />));
    case 'invalid_token':
      return showReset(request, deps, refuseField('token', frame.words.say('reset.tokenWrong')));
    default:
      return showReset(request, deps, refusalOfPassword(set, 'password', frame.words));
  }
}
