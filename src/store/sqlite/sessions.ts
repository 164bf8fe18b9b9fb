/**
 * Sessions are found through the index on their hash, in one query whether or not they exist (P17), and only while they are live by store
 * time. A session begins with an INSERT that requires the password it was opened with, in an account that is not locked, so it does not
 * outlive a password change or a lock that overtook the log-in. An expired session is neither extended nor ended.
 */
import type { Database } from 'bun:sqlite';
import type { AccountId, StoredSession } from '../../core/account.ts';
import type { SessionStore } from '../../core/ports/sessions.ts';
import { type AccountRow, accountColumns, accountOf, sessionColumns, sessionOf } from '../account-rows.ts';
import type { WritesOf } from './decisions.ts';
import { type Parts, type Read, readBy } from './parts.ts';

const selectSession = `
  SELECT ${accountColumns}, ${sessionColumns} FROM sessions s JOIN accounts a ON a.id = s.account_id
  WHERE s.session_hash = ?1 AND s.expires_at > ?2`;

const selectSessions = `
  SELECT ${sessionColumns} FROM sessions s
  WHERE account_id = ?1 AND expires_at > ?2 ORDER BY last_used_at DESC, session_id DESC`;

export function sessionReads({ db, time: { now }, reader }: Parts): Read<SessionStore> {
  const session = db.query<StoredSession & AccountRow, [Uint8Array, number]>(selectSession);
  const sessions = db.query<StoredSession, [number, number]>(selectSessions);
  return readBy(reader, {
    findSession(sessionHash: Uint8Array) {
      const row = session.get(sessionHash, now());
      return row === null ? null : { account: accountOf(row), session: sessionOf(row) };
    },
    listSessions: (id: AccountId) => sessions.all(id, now()),
  });
}

const insertSession = `
  INSERT INTO sessions (account_id, session_hash, wrapped_data_key, label, created_at, last_used_at, expires_at)
  SELECT account_id, ?3, ?4, ?5, ?6, ?6, ?7 FROM passwords
  WHERE account_id = ?1 AND verifier = ?2 AND account_id IN (SELECT id FROM accounts WHERE locked_at IS NULL)`;

const noteUseSql = `
  UPDATE sessions SET last_used_at = max(last_used_at, ?2), expires_at = max(expires_at, ?3)
  WHERE session_id = ?1 AND expires_at > ?4`;

export function createSessionWrites(db: Database): WritesOf<SessionStore> {
  const insert = db.query(insertSession);
  const noteUse = db.query(noteUseSql);
  const noteBegin = db.query(
    'UPDATE accounts SET last_used_at = max(?2, ifnull(last_used_at, 0)) WHERE id = ?1',
  );
  const noteOwnerUse = db.query(
    `UPDATE accounts SET last_used_at = max(?2, ifnull(last_used_at, 0))
     WHERE id = (SELECT account_id FROM sessions WHERE session_id = ?1)`,
  );
  const end = db.query('DELETE FROM sessions WHERE account_id = ?1 AND session_id = ?2 AND expires_at > ?3');

  return {
    addSession(_now, id, verifier, session) {
      const { sessionHash, wrappedDataKey, label, createdAt, expiresAt } = session;
      const { changes, lastInsertRowid } = insert.run(
        id,
        verifier,
        sessionHash,
        wrappedDataKey,
        label,
        createdAt,
        expiresAt,
      );
      if (changes === 0) return null;
      noteBegin.run(id, createdAt);
      return { ...session, sessionId: Number(lastInsertRowid), accountId: id, lastUsedAt: createdAt };
    },
    noteSessionUse(now, sessionId, at, expiresAt) {
      if (noteUse.run(sessionId, at, expiresAt, now).changes === 1) noteOwnerUse.run(sessionId, at);
    },
    endSession: (now, id, sessionId) => end.run(id, sessionId, now).changes === 1,
  };
}
