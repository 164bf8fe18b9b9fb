/**
 * Passwords, and the mailed tickets that set them, in memory.
 *
 * Owns: the use of a ticket. Invariant: looking, using up and its effect are one step, so a ticket works once; whoever
 * sets a password by a ticket leaves no session of the account behind.
 */
import type { StoredTicket, TicketKind } from '../../domain/accounts.ts';
import type { AccountStore } from '../../domain/ports.ts';
import type { StoreTime } from '../store-time.ts';
import {
  type AccountTables,
  accountNamed,
  copyOfPassword,
  copyOfTicket,
  insertAccount,
  sameBytes,
  ticketPlace,
} from './account-tables.ts';
import { endSessionsOf } from './sessions.ts';

export type MemoryPasswords = Pick<
  AccountStore,
  'addTicket' | 'findTicket' | 'redeemSignUp' | 'redeemReset' | 'findPassword' | 'changePassword'
>;

export function createMemoryPasswords(tables: AccountTables, time: Pick<StoreTime, 'now'>): MemoryPasswords {
  const { passwords, tickets } = tables;

  function liveTicket(kind: TicketKind, ticketHash: Uint8Array): StoredTicket | null {
    const isIt = (each: StoredTicket) => each.kind === kind && sameBytes(each.ticketHash, ticketHash);
    return tickets.values().find((each) => isIt(each) && time.now() < each.expiresAt) ?? null;
  }

  /** The ticket that this call, and no other, uses up. */
  function takeTicket(kind: TicketKind, ticketHash: Uint8Array): StoredTicket | null {
    const ticket = liveTicket(kind, ticketHash);
    if (ticket !== null) tickets.delete(ticketPlace(kind, ticket.username));
    return ticket;
  }

  return {
    async addTicket(ticket, quietSeconds) {
      const place = ticketPlace(ticket.kind, ticket.username);
      const earlier = tickets.get(place);
      if (earlier !== undefined && ticket.createdAt - earlier.createdAt < quietSeconds) return false;
      tickets.set(place, copyOfTicket(ticket));
      return true;
    },
    async findTicket(kind, ticketHash) {
      const ticket = liveTicket(kind, ticketHash);
      return ticket === null ? null : copyOfTicket(ticket);
    },
    async redeemSignUp(ticketHash, account, password) {
      const ticket = takeTicket('sign_up', ticketHash);
      if (ticket === null) return 'gone';
      const inserted = insertAccount(tables, { ...account, username: ticket.username });
      if (inserted === null) return 'exists';
      passwords.set(inserted.id, copyOfPassword(password));
      return inserted;
    },
    async redeemReset(ticketHash, password) {
      const ticket = takeTicket('reset', ticketHash);
      const account = ticket === null ? null : accountNamed(tables, ticket.username);
      if (account === null) return null;
      passwords.set(account.id, copyOfPassword(password));
      endSessionsOf(tables, account.id);
      return account;
    },
    async findPassword(username) {
      const account = accountNamed(tables, username);
      const password = account === null ? undefined : passwords.get(account.id);
      if (account === null) return null;
      return { account, password: password === undefined ? null : copyOfPassword(password) };
    },
    async changePassword(id, from, to, keepSessionId) {
      const current = passwords.get(id);
      if (current === undefined || !sameBytes(current.verifier, from)) return false;
      passwords.set(id, copyOfPassword(to));
      endSessionsOf(tables, id, keepSessionId);
      const account = tables.accounts.get(id);
      if (account !== undefined) tickets.delete(ticketPlace('reset', account.username));
      return true;
    },
  };
}
