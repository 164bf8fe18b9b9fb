/**
 * Reads of sessions, passwords and tickets, on the event loop's own connection.
 *
 * Owns: the look-ups. A session and a ticket are found through the index of their hash, in one query whether or not they
 * exist (P17), and only while they live at store time.
 */
import type { Database } from 'bun:sqlite';
import type {
  Account,
  AccountId,
  StoredPassword,
  StoredSession,
  StoredTicket,
  TicketKind,
} from '../../core/accounts/accounts.ts';
import type { UnixSeconds } from '../../core/time.ts';
import {
  type AccountRow,
  accountColumns,
  accountOf,
  type PasswordRow,
  passwordColumns,
  passwordOf,
  type SessionRow,
  sessionColumns,
  sessionOf,
} from './account-rows.ts';

interface TicketRow {
  kind: TicketKind;
  ticket_hash: Uint8Array;
  username: string;
  created_at: UnixSeconds;
  expires_at: UnixSeconds;
}

const selectSession = `
  SELECT ${accountColumns}, ${sessionColumns} FROM sessions s JOIN accounts a ON a.id = s.account_id
  WHERE s.session_hash = ?1 AND s.expires_at > ?2`;

const selectSessions = `
  SELECT ${sessionColumns} FROM sessions s
  WHERE account_id = ?1 AND expires_at > ?2 ORDER BY last_used_at DESC, session_id DESC`;

const selectPassword = `
  SELECT ${accountColumns}, ${passwordColumns} FROM accounts a LEFT JOIN passwords p ON p.account_id = a.id
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
  const password = db.query<PasswordRow & AccountRow, [string]>(selectPassword);
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

function ticketOf(row: TicketRow): StoredTicket {
  const { kind, ticket_hash: ticketHash, username, created_at: createdAt, expires_at: expiresAt } = row;
  return { kind, ticketHash, username, createdAt, expiresAt };
}
