/**
 * Logging in and out, and the browsers that are logged in.
 *
 * A failed log-in gets the same response for every cause (P17). Each log-in starts a new session, regardless of any cookie sent. A refused
 * form keeps the address, never the password. An account can end only its own sessions; ending this browser's also clears its cookie.
 */
import type { FC } from 'hono/jsx';
import type { StoredSession } from '../../core/account.ts';
import { Sensitive } from '../../core/sensitive.ts';
import { errorReply } from '../kit/error-page.tsx';
import {
  type AccountRequest,
  type DoneTexts,
  doneIn,
  FormPage,
  type FormRefusal,
  forAccount,
  formReply,
  refuseForm,
} from '../kit/form-page.tsx';
import { Item, Items } from '../kit/items.tsx';
import { type Messages, wrongAddress } from '../kit/language.ts';
import { pathWithin } from '../kit/language-page.tsx';
import { type Frame, PostForm } from '../kit/layout.tsx';
import { type PageReply, type PageRequest, type PageRoute, pageReply, seeOther } from '../kit/page.ts';
import { Ago, Badge, Dated, Icon, In } from '../kit/parts.tsx';
import { browserLabel, parseBrowserLabel } from './browser-label.ts';
import {
  type AccountPageDeps,
  CurrentPassword,
  countGuess,
  EmailField,
  type EmailFormProps,
  signInPost,
} from './form.tsx';
import { type AccountHead, AccountPage, headFor } from './sections.tsx';

export function createLogInPages(deps: AccountPageDeps): PageRoute[] {
  return [
    {
      name: 'logIn',
      isSignIn: true,
      get: { limit: 'none', handle: (request) => showLogIn(request, deps) },
      post: signInPost(deps, 'none', logIn, showLogIn),
    },
    {
      name: 'logOut',
      get: { limit: 'none', handle: ({ frame }) => seeOther(frame.href('home')) },
      post: {
        limit: 'none',
        handle: (request) => logOut(request, deps),
        refuse: async (request, problem) =>
          problem.problem === 'stale_form' && request.signedIn === null
            ? loggedOut(request, deps)
            : errorReply(request.frame, problem),
      },
    },
  ];
}

const loggedOutTexts: DoneTexts = { 'logged-out': ['logIn.loggedOut'] };

interface LogInProps extends EmailFormProps {
  readonly done: readonly string[];
  /** The page to return to; `''` for none. */
  readonly back: string;
}

const LogInPage: FC<LogInProps> = ({ frame, email, refusal, done, back }) => (
  <FormPage
    {...{ frame, refusal, done }}
    title={frame.say('logIn.title')}
    isQuestion
    action={frame.href('logIn')}
    isSignIn
    submit={frame.say('logIn.submit')}
    after={<OtherWays frame={frame} />}
  >
    {back === '' ? null : <input type="hidden" name="back" value={back} />}
    <EmailField {...{ email, refusal }} label={frame.say('logIn.email')} />
    <CurrentPassword {...{ frame, refusal }} name="password" label={frame.say('logIn.password')} />
  </FormPage>
);

const OtherWays: FC<{ frame: Frame }> = ({ frame: { say, href, settings } }) => (
  <>
    <p>
      <a href={href('forgotten')}>{say('logIn.forgotten')}</a>
    </p>
    {settings.signUpIsOpen ? (
      <p>
        {say('logIn.signUpHint')} <a href={href('signUp')}>{say('logIn.signUp')}</a>
      </p>
    ) : null}
  </>
);

async function showLogIn(
  request: PageRequest,
  deps: AccountPageDeps,
  refusal: FormRefusal | null = null,
): Promise<PageReply> {
  const { frame, signedIn, query } = request;
  const typed = refusal && (await request.form());
  const back = typed?.text('back') ?? query.get('back') ?? '';
  if (typed === null && signedIn !== null) return seeOther(pathWithin(back, deps) ?? frame.href('account'));
  const done = typed === null ? doneIn(request, loggedOutTexts) : [];
  const page = <LogInPage {...{ frame, refusal, done, back }} email={typed?.text('email') ?? ''} />;
  return formReply(page, refusal);
}

async function logIn(request: PageRequest, deps: AccountPageDeps): Promise<PageReply> {
  const { frame, clientPrefix, userAgent, signedIn } = request;
  if (signedIn !== null) return seeOther(frame.href('account'));
  const form = await request.form();
  const email = form.text('email');
  const password = new Sensitive(form.text('password'));
  const outcome = await countGuess(deps.limiter, {
    clientPrefix,
    username: email,
    compute: () => deps.accounts.logIn({ email, password, label: browserLabel(userAgent), clientPrefix }),
    isWrong: ({ outcome }) => outcome === 'refused',
  });
  if (outcome.outcome === 'refused')
    return showLogIn(request, deps, refuseForm(wrongAddress(frame.messages, 'logIn.wrong', email), 422));
  const to = pathWithin(form.text('back'), deps) ?? frame.href('home');
  return seeOther(to, [deps.sessionCookie.set(outcome.session, deps.clock())]);
}

function loggedOut({ frame }: PageRequest, { sessionCookie }: AccountPageDeps): PageReply {
  return seeOther(`${frame.href('logIn')}?done=logged-out`, [sessionCookie.clear()]);
}

async function logOut(request: PageRequest, deps: AccountPageDeps): Promise<PageReply> {
  if (request.signedIn !== null) await deps.accounts.logOut(request.signedIn);
  return loggedOut(request, deps);
}

export function createSessionPages(deps: AccountPageDeps): PageRoute[] {
  return [
    { name: 'sessions', get: forAccount(deps, showSessions) },
    {
      name: 'endSession',
      get: forAccount(deps, ({ frame }) => seeOther(frame.href('sessions'))),
      post: forAccount(deps, endSession),
    },
  ];
}

const endedTexts: DoneTexts = { ended: ['sessions.ended'], gone: ['sessions.gone'] };

interface SessionsProps extends AccountHead {
  readonly sessions: readonly StoredSession[];
  readonly thisSessionId: number;
}

const SessionsPage: FC<SessionsProps> = ({ sessions, thisSessionId, ...head }) => {
  const { frame } = head;
  const { say } = frame;
  return (
    <AccountPage
      {...head}
      section="sessions"
      title={say('sessions.title')}
      lead={say('sessions.lead')}
      scripts={['time']}
    >
      <Items label={say('sessions.title')}>
        {sessions.map((session) => (
          <Row frame={frame} session={session} isThis={session.sessionId === thisSessionId} />
        ))}
      </Items>
      <p class="hint">{say(sessions.length === 1 ? 'sessions.onlyThis' : 'sessions.endsHint')}</p>
    </AccountPage>
  );
};

const Row: FC<{ frame: Frame; session: StoredSession; isThis: boolean }> = ({ frame, session, isThis }) => {
  const { messages, href } = frame;
  const { sessionId, createdAt, lastUsedAt, expiresAt } = session;
  return (
    <Item
      picture={<Icon name="globe" />}
      name={
        <>
          <bdi id={`browser-${sessionId}`}>{browserIn(session.label, messages)}</bdi>
          {isThis ? <Badge kind="good">{messages.say('sessions.this')}</Badge> : null}
        </>
      }
      notes={[
        [<Dated messages={messages} say="sessions.usedAt" at={lastUsedAt} as={Ago} />],
        [
          <Dated messages={messages} say="sessions.beganAt" at={createdAt} as={Ago} />,
          <Dated messages={messages} say="sessions.endsAt" at={expiresAt} as={In} />,
        ],
      ]}
      actions={
        isThis ? null : (
          <PostForm frame={frame} action={href('endSession', String(sessionId))}>
            <button
              class="quiet small"
              type="submit"
              id={`end-${sessionId}`}
              aria-labelledby={`end-${sessionId} browser-${sessionId}`}
            >
              {messages.say('sessions.end')}
            </button>
          </PostForm>
        )
      }
    />
  );
};

function browserIn(label: string, { say }: Messages): string {
  const { browser, system } = parseBrowserLabel(label);
  if (system === '') return browser === '' ? say('sessions.someBrowser') : browser;
  return browser === ''
    ? say('sessions.someBrowserOn', { system })
    : say('sessions.browserOn', { browser, system });
}

async function showSessions(request: AccountRequest, deps: AccountPageDeps): Promise<PageReply> {
  const { sessionId: thisSessionId } = request.signedIn;
  const all = await deps.accounts.listSessions(request.signedIn);
  const isThis = ({ sessionId }: StoredSession) => sessionId === thisSessionId;
  const sessions = [...all.filter(isThis), ...all.filter((session) => !isThis(session))];
  const head = await headFor(request, deps, null, endedTexts);
  return pageReply(200, <SessionsPage {...{ ...head, sessions, thisSessionId }} />);
}

async function endSession(request: AccountRequest, deps: AccountPageDeps): Promise<PageReply> {
  const { frame, key, signedIn } = request;
  if (key === String(signedIn.sessionId)) return logOut(request, deps);
  const isDone = /^[1-9][0-9]{0,14}$/.test(key) && (await deps.accounts.endSession(signedIn, Number(key)));
  return seeOther(`${frame.href('sessions')}?done=${isDone ? 'ended' : 'gone'}`);
}
