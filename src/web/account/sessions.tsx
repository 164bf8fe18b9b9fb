/**
 * Sessions of an account: the browsers that are logged in.
 *
 * Owns: the list and the end of one. Invariant: a session is ended only by its own account; this browser's own end is a
 * log-out, cookie and all.
 */
import type { SignedIn } from '../../core/accounts/accounts.ts';
import type { AccountService } from '../../core/accounts/service.ts';
import type { SessionCookie } from '../cookies.ts';
import { renderPage } from '../kit/layout.tsx';
import { type PageReply, type PageRequest, type PageRoute, pageReply, seeOther } from '../page.ts';
import { forAccount } from './for-account.ts';
import { SessionsPage, sessionsNews } from './sessions-page.tsx';

export interface SessionDeps {
  readonly accounts: Pick<AccountService, 'listSessions' | 'endSession' | 'logOut'>;
  readonly sessionCookie: SessionCookie;
}

export function createSessionPages(deps: SessionDeps): PageRoute[] {
  return [
    { name: 'sessions', get: forAccount((request, signedIn) => showSessions(request, signedIn, deps)) },
    {
      name: 'endSession',
      get: forAccount(({ frame }) => seeOther(frame.href('sessions'))),
      post: forAccount((request, signedIn) => endSession(request, signedIn, deps)),
    },
  ];
}

async function showSessions(
  { frame, query }: PageRequest,
  signedIn: SignedIn,
  { accounts }: SessionDeps,
): Promise<PageReply> {
  const all = await accounts.listSessions(signedIn);
  const isThis = ({ sessionId }: { readonly sessionId: number }) => sessionId === signedIn.sessionId;
  const sessions = [...all.filter(isThis), ...all.filter((session) => !isThis(session))];
  const news = sessionsNews.find((each) => each === query.get('done')) ?? null;
  const page = (
    <SessionsPage frame={frame} sessions={sessions} thisSessionId={signedIn.sessionId} news={news} />
  );
  return pageReply(200, renderPage(page));
}

async function endSession(
  { frame, key }: PageRequest,
  signedIn: SignedIn,
  { accounts, sessionCookie }: SessionDeps,
): Promise<PageReply> {
  if (key === String(signedIn.sessionId)) {
    await accounts.logOut(signedIn);
    return seeOther(`${frame.href('logIn')}?done=logged-out`, [sessionCookie.clear()]);
  }
  const isDone = /^[1-9][0-9]{0,14}$/.test(key) && (await accounts.endSession(signedIn, Number(key)));
  return seeOther(`${frame.href('sessions')}?done=${isDone ? 'ended' : 'gone'}`);
}
