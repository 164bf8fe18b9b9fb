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
  /** Creates an account with a reset ticket, which sets its first password, both or neither. `null`: the username is taken. */
  inviteAccount(account: NewAccount, ticket: AccountLinkTicket): Promise<Account | null>;
  /**
   * Adds a ticket to the others of its kind for this username. `false`, and nothing changed, when a limit is reached.
   * Every ticket counts until the window has passed, even a used or expired one.
   */
  addTicket(ticket: StoredTicket, limits: TicketLimits): Promise<boolean>;
  /** Replaces all reset tickets of the account with this one, whatever the limits. `false`: no such account, or it is locked. */
  replaceResetTickets(id: AccountId, ticket: AccountLinkTicket): Promise<boolean>;
  /** The ticket, or `null` when it is unknown, used, voided or expired at store time. Changes nothing. */
  findTicket(kind: TicketKind, ticketHash: Uint8Array): Promise<StoredTicket | null>;
  /**
   * Uses up a live sign-up ticket, voids the others for its username and creates the account with this password, in one
   * step. `gone`: there is no such ticket (any more); `exists`: the username is taken by now.
   */
  redeemSignUp(
    ticketHash: Uint8Array,
    account: Omit<NewAccount, 'username'>,
    password: StoredPassword,
  ): Promise<Account | 'gone' | 'exists'>;
  /**
   * Uses up a live reset ticket, voids the others for its username, sets the password, ends every session of the account
   * and, if asked, revokes its tokens, in one step. `null`: there is no such ticket (any more), no account of that name, or
   * it is locked.
   */
  redeemReset(ticketHash: Uint8Array, password: StoredPassword, tokens: TokenFate): Promise<Account | null>;
}
