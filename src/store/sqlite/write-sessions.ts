/**
 * Writes to sessions, inside the writer's transaction.
 *
 * Owns: their statements. Their form is the safety argument: a session is begun by an INSERT that finds the password it
 * was opened with, so a log-in that began before a change of password does not outlive it; one that has expired is
 * neither moved on nor ended.
 */
import type { Database } from 'bun:sqlite';
import type { Deciding } from './protocol.ts';

const insertSession = `
  INSERT INTO sessions (account_id, session_hash, wrapped_data_key, label, created_at, last_used_at, expires_at)
  SELECT account_id, ?3, ?4, ?5, ?6, ?6, ?7 FROM passwords WHERE account_id = ?1 AND verifier = ?2`;

const noteUseSql = `
  UPDATE sessions SET last_used_at = max(last_used_at, ?2), expires_at = max(expires_at, ?3)
  WHERE session_id = ?1 AND expires_at > ?4`;

type SessionWrites = Deciding<'addSession' | 'noteSessionUse' | 'endSession'>;

export function createSessionWrites(db: Database): SessionWrites {
  const insert = db.query(insertSession);
  const noteUse = db.query(noteUseSql);
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
      return { ...session, sessionId: Number(lastInsertRowid), accountId: id, lastUsedAt: createdAt };
    },
    noteSessionUse(now, sessionId, at, expiresAt) {
      noteUse.run(sessionId, at, expiresAt, now);
    },
    endSession: (now, id, sessionId) => end.run(id, sessionId, now).changes === 1,
  };
}
