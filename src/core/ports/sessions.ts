import type { Account, AccountId, StoredSession } from '../account.ts';
import type { UnixSeconds } from '../time.ts';

export type NewSession = Omit<StoredSession, 'sessionId' | 'accountId' | 'lastUsedAt'>;

export interface SessionStore {
  /**
   * Begins a session if `verifier` still belongs to the account's password, so that a log-in does not outlive a password
   * change that overtook it. Returns `null` if it does not, or if the account is locked.
   */
  addSession(id: AccountId, verifier: Uint8Array, session: NewSession): Promise<StoredSession | null>;
  /** Returns the session with this hash and its account; `null` if it is unknown, ended or expired at store time. One look-up. */
  findSession(sessionHash: Uint8Array): Promise<{ account: Account; session: StoredSession } | null>;
  /** Records a use and extends the expiry; neither time ever moves back. Ignores unknown sessions. */
  noteSessionUse(sessionId: number, at: UnixSeconds, expiresAt: UnixSeconds): Promise<void>;
  /** Lists live sessions, the most recently used first. */
  listSessions(id: AccountId): Promise<StoredSession[]>;
  /** Returns whether the account had such a session. */
  endSession(id: AccountId, sessionId: number): Promise<boolean>;
}
