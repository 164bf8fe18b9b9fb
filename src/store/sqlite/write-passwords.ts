/**
 * Writes to passwords, and to the mailed tickets that set them, inside the writer's transaction.
 *
 * Owns: their statements. Their form is the safety argument: a ticket is used up by the one UPDATE that finds it alive, so
 * it works once; a password is exchanged by an UPDATE that names the one it replaces. Tickets are counted and kept in one
 * transaction that no other writer shares, so of two at once one is kept.
 */
import type { Database } from 'bun:sqlite';
import type {
  Account,
  StoredPassword,
  StoredTicket,
  TicketKind,
  TokenFate,
} from '../../core/accounts/accounts.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { countsUntil, mayKeepTicket } from '../ticket-limits.ts';
import { type AccountRow, accountColumns, accountOf } from './account-rows.ts';
import type { Deciding } from './protocol.ts';
import { createAccountInsert } from './write-accounts.ts';

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
  WHERE account_id = ?1 AND verifier = ?6`;

type PasswordWrites = Deciding<'addTicket' | 'redeemSignUp' | 'redeemReset' | 'changePassword'>;

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
  const endOthers = db.query('DELETE FROM sessions WHERE account_id = ?1 AND session_id <> ?2');

  /** The username of the ticket that this call, and no other, uses up. */
  function useTicket(kind: TicketKind, ticketHash: Uint8Array, now: UnixSeconds): string | null {
    const ticket = takeTicket.get(ticketHash, kind, now);
    if (ticket === null) return null;
    voidTickets.run(kind, ticket.username);
    return ticket.username;
  }

  function reset(username: string, password: StoredPassword, tokens: TokenFate): Account | null {
    const row = account.get(username);
    if (row === null) return null;
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
