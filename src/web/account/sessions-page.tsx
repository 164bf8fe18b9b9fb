/**
 * The sessions of an account.
 *
 * Owns: their list. Invariant: this browser's own is marked, first, and ended by logging out.
 */
import type { FC } from 'hono/jsx';
import type { StoredSession } from '../../core/accounts/accounts.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { type Frame, Page, PostForm } from '../kit/layout.tsx';
import { Badge, ShortTime, Table } from '../kit/parts.tsx';
import type { Words } from '../kit/words.ts';
import { BackToAccount, DoneNote } from './account-form.tsx';
import { parseBrowserLabel } from './browser-label.ts';

/** What the page may say has just happened, as its address names it. */
export const sessionsNews = ['ended', 'gone'] as const;

type SessionsNews = (typeof sessionsNews)[number];

const newsTexts: Readonly<Record<SessionsNews, MessageKey>> = {
  ended: 'sessions.ended',
  gone: 'sessions.gone',
};

export interface SessionsProps {
  readonly frame: Frame;
  /** This one first. */
  readonly sessions: readonly StoredSession[];
  readonly thisSessionId: number;
  readonly news: SessionsNews | null;
}

export const SessionsPage: FC<SessionsProps> = ({ frame, sessions, thisSessionId, news }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('sessions.title')} scripts={['time']}>
      <h1>{say('sessions.title')}</h1>
      <p class="lead">{say('sessions.lead')}</p>
      {news === null ? null : <DoneNote>{say(newsTexts[news])}</DoneNote>}
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
