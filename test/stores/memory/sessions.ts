/**
 * Browser sessions in memory.
 *
 * A session begins only if the password it was opened with is still the account's. Expiry is judged by store time, and
 * an ended or expired session never comes back.
 */
import type { StoredSession } from '../../../src/core/account.ts';
import type { SessionStore } from '../../../src/core/ports/sessions.ts';
import type { StoreTime } from '../../../src/store/store-time.ts';
import { type AccountTables, copyOfSession, noteAccountUse, sameBytes } from './account-tables.ts';

export function createMemorySessions(tables: AccountTables, time: Pick<StoreTime, 'now'>): SessionStore {
  const { accounts, passwords, sessions } = tables;
  const isLive = (session: StoredSession): boolean => time.now() < session.expiresAt;

  return {
    async addSession(id, verifier, session) {
      const password = passwords.get(id);
      if (password === undefined || !sameBytes(password.verifier, verifier)) return null;
      if (accounts.get(id)?.lockedAt !== null) return null;
      const sessionId = tables.nextNumber('session');
      const stored = { ...session, sessionId, accountId: id, lastUsedAt: session.createdAt };
      sessions.set(sessionId, copyOfSession(stored));
      noteAccountUse(tables, id, session.createdAt);
      return copyOfSession(stored);
    },
    async findSession(sessionHash) {
      const session = sessions.values().find((each) => sameBytes(each.sessionHash, sessionHash));
      const account = session === undefined ? undefined : accounts.get(session.accountId);
      if (session === undefined || account === undefined || !isLive(session)) return null;
      return { account, session: copyOfSession(session) };
    },
    async noteSessionUse(sessionId, at, expiresAt) {
      const session = sessions.get(sessionId);
      if (session === undefined || !isLive(session)) return;
      sessions.set(sessionId, {
        ...session,
        lastUsedAt: Math.max(at, session.lastUsedAt),
        expiresAt: Math.max(expiresAt, session.expiresAt),
      });
      noteAccountUse(tables, session.accountId, at);
    },
    listSessions: async (id) =>
      [...sessions.values()]
        .filter((each) => each.accountId === id && isLive(each))
        .sort((a, b) => b.lastUsedAt - a.lastUsedAt || b.sessionId - a.sessionId)
        .map(copyOfSession),
    async endSession(id, sessionId) {
      const session = sessions.get(sessionId);
      return session?.accountId === id && isLive(session) && sessions.delete(sessionId);
    },
  };
}

/** Ends the account's sessions, except one if given. */
export function endSessionsOf(
  { sessions }: AccountTables,
  accountId: StoredSession['accountId'],
  keepSessionId?: number,
): void {
  for (const [sessionId, session] of sessions) {
    if (session.accountId === accountId && sessionId !== keepSessionId) sessions.delete(sessionId);
  }
}
