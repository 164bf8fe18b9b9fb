/**
 * Writes to passwords, and to the mailed tickets that set them, inside the writer's transaction.
 *
 * Owns: their statements. Their form is the safety argument: a ticket is used up by the one DELETE that finds it, so it
 * works once; a password is exchanged by an UPDATE that names the one it replaces.
 */
import type { Database } from 'bun:sqlite';
import type { Account, StoredPassword, TicketKind } from '../../domain/accounts.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import { type AccountRow, accountColumns, accountOf } from './account-rows.ts';
import type { Deciding } from './protocol.ts';
import { createAccountInsert } from './write-accounts.ts';

const upsertTicket = `
  INSERT INTO tickets (kind, username, ticket_hash, created_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)
  ON CONFLICT (kind, username) DO UPDATE
  SET ticket_hash = excluded.ticket_hash, created_at = excluded.created_at, expires_at = excluded.expires_at
  WHERE excluded.created_at - tickets.created_at >= ?6`;

const takeTicketSql = `
  DELETE FROM tickets WHERE ticket_hash = ?1 AND kind = ?2 AND expires_at > ?3 RETURNING username`;

const upsertPassword = `
  INSERT INTO passwords (account_id, salt, verifier, wrapped_data_key, set_at) VALUES (?1, ?2, ?3, ?4, ?5)
  ON CONFLICT (account_id) DO UPDATE
  SET salt = excluded.salt, verifier = excluded.verifier, wrapped_data_key = excluded.wrapped_data_key,
    set_at = excluded.set_at`;

const replacePassword = `
  UPDATE passwords SET salt = ?2, verifier = ?3, wrapped_data_key = ?4, set_at = ?5
  WHERE account_id = ?1 AND verifier = ?6`;

type PasswordWrites = Deciding<'addTicket' | 'redeemSignUp' | 'redeemReset' | 'changePassword'>;

const partsOf = ({ salt, verifier, wrappedDataKey, setAt }: StoredPassword) =>
  [salt, verifier, wrappedDataKey, setAt] as const;

export function createPasswordWrites(db: Database): PasswordWrites {
  const keepTicket = db.query(upsertTicket);
  const takeTicket = db.query<{ username: string }, [Uint8Array, TicketKind, UnixSeconds]>(takeTicketSql);
  const insertAccount = createAccountInsert(db);
  const account = db.query<AccountRow, [string]>(
    `SELECT ${accountColumns} FROM accounts a WHERE username = ?1`,
  );
  const setPassword = db.query(upsertPassword);
  const exchangePassword = db.query(replacePassword);
  const endSessions = db.query('DELETE FROM sessions WHERE account_id = ?1');
  const voidReset = db.query(
    `DELETE FROM tickets WHERE kind = 'reset' AND username = (SELECT username FROM accounts WHERE id = ?1)`,
  );
  const endOthers = db.query('DELETE FROM sessions WHERE account_id = ?1 AND session_id <> ?2');

  function reset(username: string, password: StoredPassword): Account | null {
    const row = account.get(username);
    if (row === null) return null;
    setPassword.run(row.id, ...partsOf(password));
    endSessions.run(row.id);
    return accountOf(row);
  }

  return {
    addTicket(_now, { kind, username, ticketHash, createdAt, expiresAt }, quietSeconds) {
      return keepTicket.run(kind, username, ticketHash, createdAt, expiresAt, quietSeconds).changes === 1;
    },
    redeemSignUp(now, ticketHash, { plan, createdAt }, password) {
      const ticket = takeTicket.get(ticketHash, 'sign_up', now);
      if (ticket === null) return 'gone';
      const inserted = insertAccount({ username: ticket.username, plan, createdAt });
      if (inserted === null) return 'exists';
      setPassword.run(inserted.id, ...partsOf(password));
      return inserted;
    },
    redeemReset(now, ticketHash, password) {
      const ticket = takeTicket.get(ticketHash, 'reset', now);
      return ticket === null ? null : reset(ticket.username, password);
    },
    changePassword(_now, id, from, to, keepSessionId) {
      if (exchangePassword.run(id, ...partsOf(to), from).changes !== 1) return false;
      endOthers.run(id, keepSessionId);
      voidReset.run(id);
      return true;
    },
  };
}
