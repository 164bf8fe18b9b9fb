/**
 * Passwords, and the mailed tickets that set them, in memory.
 *
 * Finding a ticket, using it up and its effect are one step, so a ticket works once and voids the others of its kind.
 * Setting a password with a ticket ends every session of the account.
 */
import type { AccountId, AccountLinkTicket, StoredTicket, TicketKind } from '../../../src/core/account.ts';
import type { PasswordStore } from '../../../src/core/ports/passwords.ts';
import type { TicketStore } from '../../../src/core/ports/tickets.ts';
import { countsUntil, mayKeepTicket } from '../../../src/store/store.ts';
import type { StoreTime } from '../../../src/store/store-time.ts';
import {
  type AccountTables,
  accountNamed,
  copyOfPassword,
  copyOfTicket,
  insertAccount,
  sameBytes,
} from './account-tables.ts';
import { endSessionsOf } from './sessions.ts';

type MemoryPasswords = TicketStore & PasswordStore;

const ticketsOf = ({ tickets }: AccountTables, kind: TicketKind, username: string) =>
  tickets.values().filter((each) => each.kind === kind && each.username === username);

/** They still count towards the limits, but none of them works any more. */
export function voidTickets(tables: AccountTables, kind: TicketKind, username: string): void {
  for (const each of [...ticketsOf(tables, kind, username)])
    tables.tickets.set(each.ticketHash.toHex(), { ...each, expiresAt: 0 });
}

export function createMemoryPasswords(tables: AccountTables, time: Pick<StoreTime, 'now'>): MemoryPasswords {
  const { passwords, tickets } = tables;

  function liveTicket(kind: TicketKind, ticketHash: Uint8Array): StoredTicket | null {
    const ticket = tickets.get(ticketHash.toHex());
    return ticket?.kind === kind && time.now() < ticket.expiresAt ? ticket : null;
  }

  /** Replaces all others; it counts against mailed ones until it expires. */
  function putLinkTicket(username: string, ticket: AccountLinkTicket): void {
    voidTickets(tables, 'reset', username);
    const stored = copyOfTicket({ ...ticket, kind: 'reset', username });
    tickets.set(ticket.ticketHash.toHex(), { ...stored, countsUntil: ticket.expiresAt });
  }

  function revokeTokensOf(id: AccountId): void {
    for (const { tokenId, accountId } of [...tables.tokens.values()])
      if (accountId === id) tables.tokens.delete(tokenId);
  }

  /** Uses up the ticket; only one call gets it. */
  function takeTicket(kind: TicketKind, ticketHash: Uint8Array): StoredTicket | null {
    const ticket = liveTicket(kind, ticketHash);
    if (ticket !== null) voidTickets(tables, kind, ticket.username);
    return ticket;
  }

  return {
    async addTicket(ticket, limits) {
      const earlier = [...ticketsOf(tables, ticket.kind, ticket.username)];
      if (!mayKeepTicket(ticket, earlier, limits, time.now())) return false;
      const counted = { ...copyOfTicket(ticket), countsUntil: countsUntil(ticket, limits) };
      tickets.set(ticket.ticketHash.toHex(), counted);
      return true;
    },
    async replaceResetTickets(id, ticket) {
      const account = tables.accounts.get(id);
      if (account === undefined || account.lockedAt !== null) return false;
      putLinkTicket(account.username, ticket);
      return true;
    },
    async inviteAccount(newAccount, ticket) {
      const account = insertAccount(tables, newAccount);
      if (account !== null) putLinkTicket(account.username, ticket);
      return account;
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
    async redeemReset(ticketHash, password, fate) {
      const ticket = takeTicket('reset', ticketHash);
      const account = ticket === null ? null : accountNamed(tables, ticket.username);
      if (account === null || account.lockedAt !== null) return null;
      passwords.set(account.id, copyOfPassword(password));
      endSessionsOf(tables, account.id);
      if (fate === 'revoke') revokeTokensOf(account.id);
      return account;
    },
    async findPassword(username) {
      const account = accountNamed(tables, username);
      const password = account === null ? undefined : passwords.get(account.id);
      if (account === null) return null;
      return { account, password: password === undefined ? null : copyOfPassword(password) };
    },
    async changePassword(id, from, to, keepSessionId, fate) {
      const current = passwords.get(id);
      if (current === undefined || !sameBytes(current.verifier, from)) return false;
      if (tables.accounts.get(id)?.lockedAt !== null) return false;
      passwords.set(id, copyOfPassword(to));
      endSessionsOf(tables, id, keepSessionId);
      if (fate === 'revoke') revokeTokensOf(id);
      const account = tables.accounts.get(id);
      if (account !== undefined) voidTickets(tables, 'reset', account.username);
      return true;
    },
  };
}
