/**
 * The browsers that are logged in. Only its own account ends a session; ending this browser's session is logging out,
 * cookie included.
 */
import type { FC } from 'hono/jsx';
import type { SignedIn, StoredSession } from '../../core/accounts/accounts.ts';
import { BackToAccount, type DoneTexts, doneIn, forAccount, PageHead } from '../kit/form-page.tsx';
import { type Frame, Page, PostForm, renderPage } from '../kit/layout.tsx';
import { Badge, ShortTime, Table } from '../kit/parts.tsx';
import type { Words } from '../kit/words.ts';
import { type PageReply, type PageRequest, type PageRoute, pageReply, seeOther } from '../page.ts';
import { parseBrowserLabel } from './browser-label.ts';
import type { AccountPageDeps } from './form.tsx';

export function createSessionPages(deps: AccountPageDeps): PageRoute[] {
  return [
    { name: 'sessions', get: forAccount((request, signedIn) => showSessions(request, signedIn, deps)) },
    {
      name: 'endSession',
      get: forAccount(({ frame }) => seeOther(frame.href('sessions'))),
      post: forAccount((request, signedIn) => endSession(request, signedIn, deps)),
    },
  ];
}

const doneTexts: DoneTexts = { ended: ['sessions.ended'], gone: ['sessions.gone'] };

interface SessionsProps {
  readonly frame: Frame;
  /** This one first. */
  readonly sessions: readonly StoredSession[];
  readonly thisSessionId: number;
  readonly done: readonly string[];
}

const SessionsPage: FC<SessionsProps> = ({ frame, sessions, thisSessionId, done }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('sessions.title')} scripts={['time']}>
      <PageHead {...{ frame, done }} title={say('sessions.title')} lead={say('sessions.lead')} />
      <div class="wide">
        <Table
          caption={say('sessions.title')}
          captionIsHidden
          columns={[
            say('sessions.browser'),
            say('sessions.began'),
            say('sessions.used'),
            say('sessions.ends'),
            '',
          ]}
          rows={sessions.map((session) => rowOf(frame, session, session.sessionId === thisSessionId))}
        />
      </div>
      {sessions.length === 1 ? <p>{say('sessions.onlyThis')}</p> : null}
      <p class="hint">{say('sessions.endsHint')}</p>
      <BackToAccount frame={frame} />
    </Page>
  );
};

function rowOf(frame: Frame, session: StoredSession, isThis: boolean) {
  const { words, href } = frame;
  const { sessionId, createdAt, lastUsedAt, expiresAt } = session;
  return [
    <bdi id={`browser-${sessionId}`}>{browserIn(session.label, words)}</bdi>,
    <ShortTime words={words} at={createdAt} />,
    <ShortTime words={words} at={lastUsedAt} />,
    <ShortTime words={words} at={expiresAt} />,
    isThis ? (
      <Badge kind="good" icon="check">
        {words.say('sessions.this')}
      </Badge>
    ) : (
      <PostForm frame={frame} action={href('endSession', String(sessionId))}>
        <button
          class="quiet small"
          type="submit"
          id={`end-${sessionId}`}
          aria-labelledby={`end-${sessionId} browser-${sessionId}`}
        >
          {words.say('sessions.end')}
        </button>
      </PostForm>
    ),
  ];
}

function browserIn(label: string, { say }: Words): string {
  const { browser, system } = parseBrowserLabel(label);
  if (system === '') return browser === '' ? say('sessions.someBrowser') : browser;
  return browser === ''
    ? say('sessions.someBrowserOn', { system })
    : say('sessions.browserOn', { browser, system });
}

async function showSessions(
  request: PageRequest,
  signedIn: SignedIn,
  { accounts }: AccountPageDeps,
): Promise<PageReply> {
  const all = await accounts.listSessions(signedIn);
  const isThis = ({ sessionId }: { readonly sessionId: number }) => sessionId === signedIn.sessionId;
  const sessions = [...all.filter(isThis), ...all.filter((session) => !isThis(session))];
  const { frame } = request;
  const done = doneIn(request, doneTexts);
  const page = <SessionsPage {...{ frame, sessions, done }} thisSessionId={signedIn.sessionId} />;
  return pageReply(200, renderPage(page));
}

async function endSession(
  { frame, key }: PageRequest,
  signedIn: SignedIn,
  { accounts, sessionCookie }: AccountPageDeps,
): Promise<PageReply> {
  if (key === String(signedIn.sessionId)) {
    await accounts.logOut(signedIn);
    return seeOther(`${frame.href('logIn')}?done=logged-out`, [sessionCookie.clear()]);
  }
  const isDone = /^[1-9][0-9]{0,14}$/.test(key) && (await accounts.endSession(signedIn, Number(key)));
  return seeOther(`${frame.href('sessions')}?done=${isDone ? 'ended' : 'gone'}`);
}
