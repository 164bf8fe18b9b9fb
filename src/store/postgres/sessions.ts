/**
 * Browser sessions.
 *
 * A session begins with an UPDATE of its account's row. It matches only an account that is not locked and still has the password that
 * opened the session. Either the UPDATE waits for a password change or account lock in progress, and then fails, or that change waits for
 * the UPDATE and ends the session (see 002-accounts.sql). An expired session is neither found, extended nor ended.
 */
import type { Account, StoredSession } from '../../core/account.ts';
import type { SessionStore } from '../../core/ports/sessions.ts';
import { type AccountRow, accountColumns, accountOf, sessionColumns, sessionOf } from '../account-rows.ts';
import { createLookUp, decided, isDone } from './batches.ts';
import type { Engine } from './engine.ts';
import { recordsColumn } from './server-watch.ts';
import { copyOf, decision, statement } from './statement.ts';

/** `sessionId` is `null` for an unknown session; an account is looked up all the same (P17). */
const selectSessions = statement(`
  SELECT asked.place, ${sessionColumns}, ${accountColumns}, ${recordsColumn}
  FROM unnest($1::bytea[]) WITH ORDINALITY AS asked (session_hash, place)
  LEFT JOIN mayfly_store.sessions s ON s.session_hash = asked.session_hash
  LEFT JOIN mayfly_store.accounts a ON a.id = coalesce(s.account_id, 0)`);

interface FoundRow extends AccountRow, Omit<StoredSession, 'sessionId'> {
  readonly place: number;
  readonly sessionId: number | null;
}

const selectOwned = statement(`
  SELECT ${sessionColumns} FROM mayfly_store.sessions s
  WHERE s.account_id = $1 AND s.expires_at > $2 ORDER BY s.last_used_at DESC, s.session_id DESC`);

const insertSession = decision(`
  WITH opened AS (
    UPDATE mayfly_store.accounts SET last_used_at = greatest($8::bigint, last_used_at)
    WHERE id = $3 AND verifier = $4 AND locked_at IS NULL RETURNING id)
  INSERT INTO mayfly_store.sessions (account_id, session_hash, wrapped_data_key, label, created_at, last_used_at, expires_at)
  SELECT id, $5, $6, $7, $8, $8, $9 FROM opened
  RETURNING session_id AS "sessionId"`);

/** Locks the account's row first, as all statements do. */
const noteUse = decision(`
  WITH used AS (
    UPDATE mayfly_store.accounts SET last_used_at = greatest($4::bigint, last_used_at)
    WHERE id = (SELECT account_id FROM mayfly_store.sessions WHERE session_id = $3 AND expires_at > (SELECT now FROM clock))
    RETURNING id)
  UPDATE mayfly_store.sessions
  SET last_used_at = greatest($4::bigint, sessions.last_used_at), expires_at = greatest($5::bigint, expires_at)
  FROM used WHERE session_id = $3 AND account_id = used.id AND expires_at > (SELECT now FROM clock)`);

const deleteSession = decision(`
  DELETE FROM mayfly_store.sessions
  WHERE account_id = $3 AND session_id = $4 AND expires_at > (SELECT now FROM clock) RETURNING session_id`);

export function createSessionStore(engine: Engine): SessionStore {
  const find = createLookUp<Uint8Array, FoundRow, { account: Account; session: StoredSession }>(
    engine,
    selectSessions,
    ({ sessionId, ...row }) =>
      sessionId === null ? null : { account: accountOf(row), session: sessionOf({ ...row, sessionId }) },
  );
  return {
    async addSession(id, verifier, session) {
      const { sessionHash, wrappedDataKey, label, createdAt, expiresAt } = session;
      const bytes = [copyOf(verifier), copyOf(sessionHash), copyOf(wrappedDataKey)];
      const values = [id, ...bytes, label, createdAt, expiresAt];
      const row = await decided<Pick<StoredSession, 'sessionId'>>(engine, insertSession, values);
      return row && { ...session, ...row, accountId: id, lastUsedAt: createdAt };
    },
    async findSession(sessionHash) {
      const found = await find(copyOf(sessionHash));
      return found !== null && engine.time.now() < found.session.expiresAt ? found : null;
    },
    async noteSessionUse(sessionId, at, expiresAt) {
      await engine.decide(noteUse, [sessionId, at, expiresAt]);
    },
    async listSessions(id) {
      return [...(await engine.read<StoredSession>(selectOwned, [id, engine.time.now()]))];
    },
    endSession: (id, sessionId) => isDone(engine, deleteSession, [id, sessionId]),
  };
}
