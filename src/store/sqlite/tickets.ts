/**
 * Tickets are found through the index on their hash, in one query whether or not they exist (P17), and only while they are live by store
 * time. The UPDATE that finds a live ticket also uses it up, so it works once. Tickets are counted and stored in one transaction, so two
 * concurrent ones cannot both take the last place within a limit.
 */
import type { Database } from 'bun:sqlite';
import type {
  Account,
  AccountLinkTicket,
  StoredPassword,
  StoredTicket,
  TicketKind,
  TokenFate,
} from '../../core/account.ts';
import type { TicketStore } from '../../core/ports/tickets.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { type AccountRow, accountColumns, accountOf, ticketColumns } from '../account-rows.ts';
import { countsUntil, mayKeepTicket } from '../store.ts';
import { createAccountInsert } from './accounts.ts';
import type { WritesOf } from './decisions.ts';
import { type Parts, type Read, readBy } from './parts.ts';
import { passwordParts, upsertPassword } from './passwords.ts';

const selectTicket = `
  SELECT ${ticketColumns} FROM tickets
  WHERE ticket_hash = ?1 AND kind = ?2 AND expires_at > ?3`;

const insertTicket = `
  INSERT INTO tickets (kind, username, ticket_hash, created_at, expires_at, counts_until)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6)`;

/** A used or voided ticket is expired for good; its row stays, because it counts against the next ticket. */
const takeTicketSql = `
  UPDATE tickets SET expires_at = 0 WHERE ticket_hash = ?1 AND kind = ?2 AND expires_at > ?3 RETURNING username`;

export function createTicketWrites(db: Database): WritesOf<TicketStore> {
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
  const endSessions = db.query('DELETE FROM sessions WHERE account_id = ?1');
  const revokeTokens = db.query('DELETE FROM tokens WHERE account_id = ?1');
  const unlockedName = db.query<{ username: string }, [number]>(
    'SELECT username FROM accounts WHERE id = ?1 AND locked_at IS NULL',
  );

  /** Uses up the ticket, which only one call can do, and returns its username. */
  function useTicket(kind: TicketKind, ticketHash: Uint8Array, now: UnixSeconds): string | null {
    const ticket = takeTicket.get(ticketHash, kind, now);
    if (ticket === null) return null;
    voidTickets.run(kind, ticket.username);
    return ticket.username;
  }

  /** Voids the username's other reset tickets. The new one counts against mailed ones until it expires. */
  function putLinkTicket(username: string, { ticketHash, createdAt, expiresAt }: AccountLinkTicket): void {
    voidTickets.run('reset', username);
    keepTicket.run('reset', username, ticketHash, createdAt, expiresAt, expiresAt);
  }

  function reset(username: string, password: StoredPassword, tokens: TokenFate): Account | null {
    const row = account.get(username);
    if (row === null || row.lockedAt !== null) return null;
    setPassword.run(row.id, ...passwordParts(password));
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
      if (found !== null) putLinkTicket(found.username, ticket);
      return found !== null;
    },
    inviteAccount(_now, newAccount, ticket) {
      const inserted = insertAccount(newAccount);
      if (inserted !== null) putLinkTicket(inserted.username, ticket);
      return inserted;
    },
    redeemSignUp(now, ticketHash, { plan, createdAt }, password) {
      const username = useTicket('sign_up', ticketHash, now);
      if (username === null) return 'gone';
      const inserted = insertAccount({ username, plan, createdAt });
      if (inserted === null) return 'exists';
      setPassword.run(inserted.id, ...passwordParts(password));
      return inserted;
    },
    redeemReset(now, ticketHash, password, tokens) {
      const username = useTicket('reset', ticketHash, now);
      return username === null ? null : reset(username, password, tokens);
    },
  };
}

export function ticketReads({ db, time, reader }: Parts): Read<TicketStore> {
  const ticket = db.query<StoredTicket, [Uint8Array, TicketKind, UnixSeconds]>(selectTicket);
  return readBy(reader, {
    findTicket: (kind: TicketKind, hash: Uint8Array) => ticket.get(hash, kind, time.now()),
  });
}
