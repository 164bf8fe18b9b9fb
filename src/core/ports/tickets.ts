/** Tickets: the tokens in links that set a password. */
import type {
  Account,
  AccountId,
  AccountLinkTicket,
  NewAccount,
  StoredPassword,
  StoredTicket,
  TicketKind,
  TicketLimits,
  TokenFate,
} from '../account.ts';

export interface TicketStore {
  /** Creates an account and a reset ticket for its first password: both or neither. Returns `null` if the username is taken. */
  inviteAccount(account: NewAccount, ticket: AccountLinkTicket): Promise<Account | null>;
  /**
   * Adds a ticket to those of its kind for this username. Returns `false`, and changes nothing, if a limit is reached. Every
   * ticket counts until the window has passed, even a used or expired one.
   */
  addTicket(ticket: StoredTicket, limits: TicketLimits): Promise<boolean>;
  /** Replaces all of the account's reset tickets with this one, regardless of limits. Returns `false` if it does not exist or is locked. */
  replaceResetTickets(id: AccountId, ticket: AccountLinkTicket): Promise<boolean>;
  /** Returns the ticket, or `null` if it is unknown, used, voided or expired at store time. Changes nothing. */
  findTicket(kind: TicketKind, ticketHash: Uint8Array): Promise<StoredTicket | null>;
  /**
   * Uses up a live sign-up ticket, voids the others for its username and creates the account with this password, in one
   * step. `gone`: no such ticket is live; `exists`: the username is already taken.
   */
  redeemSignUp(
    ticketHash: Uint8Array,
    account: Omit<NewAccount, 'username'>,
    password: StoredPassword,
  ): Promise<Account | 'gone' | 'exists'>;
  /**
   * Uses up a live reset ticket, voids the others for its username, sets the password, ends every session of the account
   * and, if requested, revokes its tokens, in one step. Returns `null` if no such ticket is live, or if the account does not
   * exist or is locked.
   */
  redeemReset(ticketHash: Uint8Array, password: StoredPassword, tokens: TokenFate): Promise<Account | null>;
}
