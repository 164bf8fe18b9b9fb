import type { NoticeKind } from '../../protocol/vocabulary.ts';
import type { Account, AccountId, ListedAccount, NewAccount } from '../account.ts';
import type { PlanName } from '../plans.ts';
import type { DeletionStore } from './deletion.ts';
import type { PasswordStore } from './passwords.ts';
import type { SessionStore } from './sessions.ts';
import type { TicketStore } from './tickets.ts';
import type { NewToken, TokenStore } from './tokens.ts';

/** How many of the records that an account created are still stored. */
export interface OwnedCounts {
  readonly waiting: number;
  /** Receipts of secrets in any state. */
  readonly receipts: number;
}

/** The accounts themselves. */
export interface AccountRegister {
  /** Creates the account, with no language chosen, and its first token: both or neither. Returns `null` if the username is taken. */
  createAccount(account: NewAccount, token: NewToken): Promise<Account | null>;
  findAccount(username: string): Promise<Account | null>;
  findAccountById(id: AccountId): Promise<Account | null>;
  listAccounts(): Promise<ListedAccount[]>;
  hasAccounts(): Promise<boolean>;
  countOwned(id: AccountId): Promise<OwnedCounts>;
  /**
   * Locks the account, ends its sessions and voids its reset tickets, in one step. Until it is unlocked, no session begins,
   * no password is reset, and its requests are unknown; its tokens are kept, but the core refuses them. Returns `false` if
   * it does not exist or is already locked.
   */
  lockAccount(id: AccountId): Promise<boolean>;
  /** Returns whether the account was locked. */
  unlockAccount(id: AccountId): Promise<boolean>;
  setPlan(id: AccountId, plan: PlanName): Promise<void>;
  /** Sets the account's language; `null` for none. */
  setLocale(id: AccountId, locale: string | null): Promise<void>;
  /** Sets which notices the account gets about its secrets, in the order of `noticeKinds`. */
  setNotify(id: AccountId, kinds: readonly NoticeKind[]): Promise<void>;
  /** Sets the name that recipients see; `null` for none. */
  setSenderName(id: AccountId, name: string | null): Promise<void>;
}

export interface AccountStore
  extends AccountRegister,
    TokenStore,
    TicketStore,
    PasswordStore,
    SessionStore,
    DeletionStore {}
