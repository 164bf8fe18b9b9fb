/**
 * Logging in and out. A failed log-in gets the same answer for every cause (P17). Each log-in starts a new session,
 * whatever cookie came with it. A refused form keeps the address, never the password.
 */
import type { FC } from 'hono/jsx';
import { Sensitive } from '../../core/sensitive.ts';
import { renderErrorPage } from '../kit/error-page.tsx';
import {
  type DoneTexts,
  doneIn,
  FormPage,
  type FormRefusal,
  formReply,
  refuseForm,
  TextField,
} from '../kit/form-page.tsx';
import type { Frame } from '../kit/layout.tsx';
import {
  type PageProblem,
  type PageReply,
  type PageRequest,
  type PageRoute,
  pageReply,
  seeOther,
} from '../page.ts';
import { browserLabel } from './browser-label.ts';
import { type AccountPageDeps, countGuess, signInPost } from './form.tsx';

export function createLogInPages(deps: AccountPageDeps): PageRoute[] {
  return [
    {
      name: 'logIn',
      isSignIn: true,
      get: { limit: 'none', handle: showLogIn },
      post: signInPost('none', (request) => logIn(request, deps), redisplay),
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

const doneTexts: DoneTexts = { 'logged-out': ['logIn.loggedOut'] };

interface LogInProps {
  readonly frame: Frame;
  readonly email: string;
  readonly refusal: FormRefusal | null;
  readonly done: readonly string[];
}

const LogInPage: FC<LogInProps> = ({ frame, email, refusal, done }) => {
  const { words, href } = frame;
  const { say } = words;
  return (
    <FormPage
      {...{ frame, refusal, done }}
      title={say('logIn.title')}
      isQuestion
      action={href('logIn')}
      isSignIn
      submit={say('logIn.submit')}
      after={<OtherWays frame={frame} />}
    >
      <TextField
        name="email"
        label={say('logIn.email')}
        type="email"
        autocomplete="username"
        value={email}
        refusal={refusal}
      />
      <TextField
        name="password"
        label={say('logIn.password')}
        type="password"
        autocomplete="current-password"
        refusal={refusal}
      />
    </FormPage>
  );
};

const OtherWays: FC<{ frame: Frame }> = ({ frame: { words, href, settings } }) => (
  <>
    <p>
      {words.say('logIn.forgottenHint')} <a href={href('forgotten')}>{words.say('logIn.forgotten')}</a>
    </p>
    {settings.signUpIsOpen ? (
      <p>
        {words.say('logIn.signUpHint')} <a href={href('signUp')}>{words.say('logIn.signUp')}</a>
      </p>
    ) : null}
  </>
);

function showLogIn(request: PageRequest): PageReply {
  const { frame, signedIn } = request;
  if (signedIn !== null) return seeOther(frame.href('account'));
  const done = doneIn(request, doneTexts);
  return formReply(<LogInPage frame={frame} email="" refusal={null} done={done} />, null);
}

async function redisplay({ frame, form }: PageRequest, refusal: FormRefusal): Promise<PageReply> {
  const email = (await form()).text('email');
  return formReply(<LogInPage {...{ frame, email, refusal }} done={[]} />, refusal);
}

async function logIn(request: PageRequest, deps: AccountPageDeps): Promise<PageReply> {
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

async function logOut({ frame, signedIn }: PageRequest, deps: AccountPageDeps): Promise<PageReply> {
  if (signedIn !== null) await deps.accounts.logOut(signedIn);
  return seeOther(`${frame.href('logIn')}?done=logged-out`, [deps.sessionCookie.clear()]);
}

/** Without a session, the person is logged out already. */
function refuseLogOut(
  { frame, signedIn }: PageRequest,
  problem: PageProblem,
  deps: AccountPageDeps,
): PageReply {
  if (problem.problem === 'stale_form' && signedIn === null) {
    return seeOther(`${frame.href('logIn')}?done=logged-out`, [deps.sessionCookie.clear()]);
  }
  const { status, markup } = renderErrorPage(frame, problem);
  return pageReply(status, markup);
}
