/**
 * Sessions, passwords and the mailed tickets that set them, as rows: first the reads, then the writes, which
 * run inside a batch's transaction. A function of one never calls one of the other.
 *
 * Invariants: a session and a ticket are found through the index of their hash, in one query whether or not they exist
 * (P17), and only while they live at store time. The form of the writing statements is the safety argument: a session is
 * begun by an INSERT that finds the password it was opened with in an account that is not locked, so a log-in that began
 * before a change of password or a lock does not outlive it; one that has expired is neither moved on nor ended; a ticket is used up by the one UPDATE that finds it
 * alive, so it works once; a password is exchanged by an UPDATE that names the one it replaces. Tickets are counted and
 * kept in one transaction, so of two at once one is kept.
 */
import type { Database } from 'bun:sqlite';
import type {
  Account,
  AccountId,
  HandedTicket,
  StoredPassword,
  StoredSession,
  StoredTicket,
  TicketKind,
  TokenFate,
} from '../../core/account.ts';
import type { UnixSeconds } from '../../core/time.ts';
import {
  type AccountRow,
  accountColumns,
  accountOf,
  type PasswordRow,
  passwordOf,
  type SessionRow,
  sessionColumns,
  sessionOf,
  type TicketRow,
  ticketOf,
} from '../account-rows.ts';
import { countsUntil, mayKeepTicket } from '../store.ts';
import { createAccountInsert, noteAccountUse } from './accounts.ts';
import type { Deciding } from './decisions.ts';

const selectSession = `
  SELECT ${accountColumns}, ${sessionColumns} FROM sessions s JOIN accounts a ON a.id = s.account_id
  WHERE s.session_hash = ?1 AND s.expires_at > ?2`;

const selectSessions = `
  SELECT ${sessionColumns} FROM sessions s
  WHERE account_id = ?1 AND expires_at > ?2 ORDER BY last_used_at DESC, session_id DESC`;

const selectPassword = `
  SELECT ${accountColumns}, p.salt, p.verifier, p.wrapped_data_key, p.set_at AS password_set_at
  FROM accounts a LEFT JOIN passwords p ON p.account_id = a.id
  WHERE a.username = ?1`;

const selectTicket = `
  SELECT kind, ticket_hash, username, created_at, expires_at FROM tickets
  WHERE ticket_hash = ?1 AND kind = ?2 AND expires_at > ?3`;

export interface SessionReads {
  findSession(sessionHash: Uint8Array, now: UnixSeconds): { account: Account; session: StoredSession } | null;
  listSessions(id: AccountId, now: UnixSeconds): StoredSession[];
  findPassword(username: string): { account: Account; password: StoredPassword | null } | null;
  findTicket(kind: TicketKind, ticketHash: Uint8Array, now: UnixSeconds): StoredTicket | null;
}

export function createSessionReads(db: Database): SessionReads {
  const session = db.query<SessionRow & AccountRow, [Uint8Array, number]>(selectSession);
  const sessions = db.query<SessionRow, [number, number]>(selectSessions);
  const password = db.query<PasswordRow, [string]>(selectPassword);
  const ticket = db.query<TicketRow, [Uint8Array, string, number]>(selectTicket);
  return {
    findSession(sessionHash, now) {
      const row = session.get(sessionHash, now);
      return row === null ? null : { account: accountOf(row), session: sessionOf(row) };
    },
    listSessions: (id, now) => sessions.all(id, now).map(sessionOf),
    findPassword(username) {
      const row = password.get(username);
      return row === null ? null : { account: accountOf(row), password: passwordOf(row) };
    },
    findTicket(kind, ticketHash, now) {
      const row = ticket.get(ticketHash, kind, now);
      return row === null ? null : ticketOf(row);
    },
  };
}

const insertSession = `
  INSERT INTO sessions (account_id, session_hash, wrapped_data_key, label, created_at, last_used_at, expires_at)
  SELECT account_id, ?3, ?4, ?5, ?6, ?6, ?7 FROM passwords
  WHERE account_id = ?1 AND verifier = ?2 AND account_id IN (SELECT id FROM accounts WHERE locked_at IS NULL)`;

const noteUseSql = `
  UPDATE sessions SET last_used_at = max(last_used_at, ?2), expires_at = max(expires_at, ?3)
  WHERE session_id = ?1 AND expires_at > ?4`;

type SessionWrites = Deciding<'addSession' | 'noteSessionUse' | 'endSession'>;

export function createSessionWrites(db: Database): SessionWrites {
  const insert = db.query(insertSession);
  const noteUse = db.query(noteUseSql);
  const noteBegin = db.query(noteAccountUse('?1', '?2'));
  const noteOwnerUse = db.query(
    noteAccountUse('(SELECT account_id FROM sessions WHERE session_id = ?1)', '?2'),
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

const insertTicket = `
  INSERT INTO tickets (kind, username, ticket_hash, created_at, expires_at, counts_until)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6)`;

/** Used or voided is expired for good: the row stays, because it counts against the next ticket. */
const takeTicketSql = `
  UPDATE tickets SET expires_at = 0 WHERE ticket_hash = ?1 AND kind = ?2 AND expires_at > ?3 RETURNING username`;

const upsertPassword = `
  INSERT INTO passwords (account_id, salt, verifier, wrapped_data_key, set_at) VALUES (?1, ?2, ?3, ?4, ?5)
  ON CONFLICT (account_id) DO UPDATE
  SET salt = excluded.salt, verifier = excluded.verifier, wrapped_data_key = excluded.wrapped_data_key,
    set_at = excluded.set_at`;

const replacePassword = `
  UPDATE passwords SET salt = ?2, verifier = ?3, wrapped_data_key = ?4, set_at = ?5
  WHERE account_id = ?1 AND verifier = ?6 AND account_id IN (SELECT id FROM accounts WHERE locked_at IS NULL)`;

type PasswordWrites = Deciding<
  'addTicket' | 'replaceResetTickets' | 'inviteAccount' | 'redeemSignUp' | 'redeemReset' | 'changePassword'
>;

const partsOf = ({ salt, verifier, wrappedDataKey, setAt }: StoredPassword) =>
  [salt, verifier, wrappedDataKey, setAt] as const;

export function createPasswordWrites(db: Database): PasswordWrites {
  const keepTicket = db.query(insertTicket);
  const earlierTickets = db.query<Pick<StoredTicket, 'createdAt' | 'expiresAt'>, [TicketKind, string]>(
    'SELECT created_at AS createdAt, expires_at AS expiresAt FROM tickets WHERE kind = ?1 AND username = ?2',
  );
  const voidTickets = db.query<unknown, [TicketKind, string]>(
    'UPDATE tickets SET expires_at = 0 WHERE kind = ?1 AND username = ?2',
  );
  const takeTicket = db.query<{ username: string }, [Uint8Array, TicketKind, UnixSeconds]>(takeTicketSql);
  const insertAccount = createAccountInsert(db);
  const account = db.query<AccountRow, [string]>(
    `SELECT ${accountColumns} FROM accounts a WHERE username = ?1`,
  );
  const setPassword = db.query(upsertPassword);
  const exchangePassword = db.query(replacePassword);
  const endSessions = db.query('DELETE FROM sessions WHERE account_id = ?1');
  const revokeTokens = db.query('DELETE FROM tokens WHERE account_id = ?1');
  const usernameOf = db.query<{ username: string }, [number]>('SELECT username FROM accounts WHERE id = ?1');
  const unlockedName = db.query<{ username: string }, [number]>(
    'SELECT username FROM accounts WHERE id = ?1 AND locked_at IS NULL',
  );
  const endOthers = db.query('DELETE FROM sessions WHERE account_id = ?1 AND session_id <> ?2');

  /** The username of the ticket that this call, and no other, uses up. */
  function useTicket(kind: TicketKind, ticketHash: Uint8Array, now: UnixSeconds): string | null {
    const ticket = takeTicket.get(ticketHash, kind, now);
    if (ticket === null) return null;
    voidTickets.run(kind, ticket.username);
    return ticket.username;
  }

  /** Replaces all others; it counts against mailed ones until it expires. */
  function handTicket(username: string, { ticketHash, createdAt, expiresAt }: HandedTicket): void {
    voidTickets.run('reset', username);
    keepTicket.run('reset', username, ticketHash, createdAt, expiresAt, expiresAt);
  }

  function reset(username: string, password: StoredPassword, tokens: TokenFate): Account | null {
    const row = account.get(username);
    if (row === null || row.locked_at !== null) return null;
    setPassword.run(row.id, ...partsOf(password));
    endSessions.run(row.id);
    if (tokens === 'revoke') revokeTokens.run(row.id);
    return accountOf(row);
  }

  return {
    addTicket(now, ticket, limits) {
      const { kind, username, ticketHash, createdAt, expiresAt } = ticket;
      if (!mayKeepTicket(ticket, earlierTickets.all(kind, username), limits, now)) return false;
      keepTicket.run(kind, username, ticketHash, createdAt, expiresAt, countsUntil(ticket, limits));
      return true;
    },
    replaceResetTickets(_now, id, ticket) {
      const found = unlockedName.get(id);
      if (found !== null) handTicket(found.username, ticket);
      return found !== null;
    },
    inviteAccount(_now, newAccount, ticket) {
      const inserted = insertAccount(newAccount);
      if (inserted !== null) handTicket(inserted.username, ticket);
      return inserted;
    },
    redeemSignUp(now, ticketHash, { plan, createdAt }, password) {
      const username = useTicket('sign_up', ticketHash, now);
      if (username === null) return 'gone';
      const inserted = insertAccount({ username, plan, createdAt });
      if (inserted === null) return 'exists';
      setPassword.run(inserted.id, ...partsOf(password));
      return inserted;
    },
    redeemReset(now, ticketHash, password, tokens) {
      const username = useTicket('reset', ticketHash, now);
      return username === null ? null : reset(username, password, tokens);
    },
    changePassword(_now, id, from, to, keepSessionId, tokens) {
      if (exchangePassword.run(id, ...partsOf(to), from).changes !== 1) return false;
      endOthers.run(id, keepSessionId);
      if (tokens === 'revoke') revokeTokens.run(id);
      voidTickets.run('reset', usernameOf.get(id)?.username ?? '');
      return true;
    },
  };
}
