/**
 * The ports: what the domain asks of the world, every promise in words.
 *
 * Owns: the interfaces that `store/`, `mail/` and `ops/` implement. Invariant: a method is one atomic decision (claim,
 * reserve, burn), never a get that a set must follow, so a race cannot be written. `store/conformance.ts` states each
 * promise below as a named check that runs against every store.
 *
 * Every method of a store may reject with `ServiceError('unavailable')`. A rejected write is of unknown outcome unless
 * its comment says otherwise.
 */
import type { Account, AccountId, StoredToken } from './accounts.ts';
import type { ReceiptId, SecretId } from './keys.ts';
import type { PlanName } from './plans.ts';
import type { DeliveryState, NewRecord, StoredReceipt, StoredSecret } from './secret.ts';
import type { Sensitive } from './sensitive.ts';
import type { UnixSeconds } from './time.ts';

/**
 * - `won`: this call, and no other ever, took the secret; the decision is durable.
 * - `gone`: another call took it, it was burned, it expired, or it never existed. Nothing changed.
 */
export type ClaimOutcome = 'won' | 'gone';

export interface SecretStore {
  /**
   * Store time: never steps back, also across restarts and when the wall clock does (P8). Expiry is judged by it alone.
   */
  now(): UnixSeconds;

  /**
   * Stores a record. Resolves only when it is durable at the store's class (fsync done). Rejects with `storage_full`
   * when there is no room, `unavailable` otherwise; after a rejection the secret either was not stored or will expire
   * without ever having been announced (P5).
   */
  put(record: NewRecord): Promise<void>;

  /** The live secret, or `null` when it is unknown, read, burned or expired. Changes nothing. */
  findSecret(id: SecretId): Promise<StoredSecret | null>;

  /**
   * Takes the secret that `findSecret` returned: in one atomic step the sealed secret and the creator's box are erased
   * and the state becomes `received` at store time, if and only if it is still waiting, unexpired at store time and at
   * the same row version. Resolves only when that is durable. After a rejection nothing may be released (P2).
   */
  claim(secret: StoredSecret): Promise<ClaimOutcome>;

  /** The receipt, or `null` when it is unknown or its own lifetime has passed. Changes nothing. */
  findReceipt(id: ReceiptId): Promise<StoredReceipt | null>;

  /**
   * Destroys a waiting secret: one atomic step as in `claim`, with the state `burned`. Exactly one of a burn and a
   * claim wins (P7). Resolves to the time of burning, or `null` when there was nothing waiting.
   */
  burn(id: ReceiptId): Promise<UnixSeconds | null>;

  /** Notes that the creator has looked at a waiting receipt; the first time counts. Returns that first time, or `null`. */
  markViewed(id: ReceiptId): Promise<UnixSeconds | null>;

  /** Notes what became of the mail. Unknown receipts are ignored. */
  setDelivery(id: ReceiptId, state: DeliveryState): Promise<void>;

  /**
   * An account's live receipts, newest created first, those before `beforePosition` if given; at most `limit`.
   * Stable under inserts: a later page never repeats or skips what existed at the first page.
   */
  listReceipts(owner: AccountId, page: { limit: number; beforePosition?: number }): Promise<StoredReceipt[]>;

  /**
   * Erases what has expired: sealed secrets at their expiry, whole records at their receipt's, and stale attempts.
   * At most `limit` records a call; returns how many it touched (so fewer than `limit` means: done for now).
   */
  sweep(limit: number): Promise<number>;

  /**
   * Leaves no copy of erased bytes in the store's own files (P10: within 60 s of the erasure). Returns whether it is
   * done; `false` means a reader was in the way: try again soon.
   */
  scrub(): Promise<boolean>;
}

/** Whether one more guess at a passphrase may be computed. */
export type Reservation =
  | { readonly outcome: 'reserved'; readonly attempt: number }
  | { readonly outcome: 'exhausted'; readonly retryAfterSeconds: number };

/** Bounds on guesses, per secret (P14). */
export interface AttemptLimits {
  readonly windowSeconds: number;
  readonly perClient: number;
  readonly perSecret: number;
  readonly perLife: number;
}

export interface AttemptStore {
  /**
   * Counts one attempt before anything is hashed, if every limit allows it; atomic and durable, also across restarts
   * and processes. `client` is an opaque token for the client's prefix (16 bytes, no address). `retryAfterSeconds` is
   * when the oldest counted attempt leaves the window (at least 1), or the rest of the secret's life for `perLife`.
   */
  reserve(id: SecretId, client: Uint8Array, limits: AttemptLimits): Promise<Reservation>;
  /** Gives one reservation back after a right passphrase. Others' attempts stay counted. */
  refund(id: SecretId, attempt: number): Promise<void>;
}

export interface NewAccount {
  readonly username: string;
  readonly plan: PlanName;
  readonly createdAt: UnixSeconds;
}

export type NewToken = Omit<StoredToken, 'tokenId' | 'accountId' | 'lastUsedAt'>;

export interface AccountStore {
  /** Creates the account with its first token, both or neither. `null` when the username is taken. */
  createAccount(account: NewAccount, token: NewToken): Promise<Account | null>;
  findAccount(username: string): Promise<Account | null>;
  findAccountById(id: AccountId): Promise<Account | null>;
  listAccounts(): Promise<Account[]>;
  setPlan(id: AccountId, plan: PlanName): Promise<void>;
  /** The token with this hash and its account: one look-up, the same work whether or not it exists (P17). */
  findToken(tokenHash: Uint8Array): Promise<{ account: Account; token: StoredToken } | null>;
  addToken(id: AccountId, token: NewToken): Promise<StoredToken>;
  listTokens(id: AccountId): Promise<StoredToken[]>;
  /** Whether there was such a token of this account. */
  revokeToken(id: AccountId, tokenId: number): Promise<boolean>;
  noteTokenUse(tokenId: number, at: UnixSeconds): Promise<void>;

  /** Registers a share domain (lower case, ASCII form) for an account; `false` when another account has it. */
  addShareDomain(id: AccountId, domain: string): Promise<boolean>;
  findShareDomainOwner(domain: string): Promise<AccountId | null>;
  listShareDomains(id: AccountId): Promise<string[]>;
  removeShareDomain(id: AccountId, domain: string): Promise<boolean>;

  /** The check value kept for a wrapping root, 32 bytes, by key id (P12); `null` when none is kept yet. */
  findRootCheck(kid: number): Promise<Uint8Array | null>;
  addRootCheck(kid: number, check: Uint8Array): Promise<void>;
  /** Distinct key ids of the roots that live records are wrapped under. */
  rootKidsInUse(): Promise<number[]>;
}

/** The mail that tells a recipient about a secret: the link, never the value, the passphrase or the metadata key. */
export interface SecretLinkMail {
  readonly to: Sensitive<string>;
  /** The sender's username. */
  readonly from: Sensitive<string>;
  readonly link: Sensitive<string>;
  readonly hasPassphrase: boolean;
  readonly expiresAt: UnixSeconds;
  /** A BCP 47 tag that `locale/` knows. */
  readonly locale: string;
}

export interface Mailer {
  /** Hands the mail over, with bounded retries. Never rejects; the result is what the receipt will say. */
  sendSecretLink(mail: SecretLinkMail): Promise<Exclude<DeliveryState, 'queued'>>;
}

/** Bounded, off-thread slow hashing (P24). Rejects with `ServiceError('busy')` when the queue is full. */
export interface PassphraseHasher {
  /** argon2id, 19 MiB, t = 2, p = 1: 32 bytes. */
  stretch(passphrase: Uint8Array, salt: Uint8Array): Promise<Uint8Array>;
  /** bcrypt, cost 10, of at most 72 bytes of ASCII. */
  hashVerifier(input: string): Promise<string>;
  checkVerifier(input: string, hash: string): Promise<boolean>;
}

/** What happened, for logs and counters. Tags are 8 hex digits of a derived id, never a key. */
export type ServiceEvent =
  | {
      readonly event: 'concealed';
      readonly tag: string;
      readonly kind: 'conceal' | 'generate';
      readonly account: AccountId | null;
    }
  | { readonly event: 'revealed'; readonly tag: string }
  | { readonly event: 'reveal_forfeited'; readonly tag: string }
  | { readonly event: 'burned'; readonly tag: string }
  | { readonly event: 'passphrase_refused'; readonly tag: string }
  | { readonly event: 'attempts_exhausted'; readonly tag: string }
  | { readonly event: 'record_damaged'; readonly tag: string }
  | { readonly event: 'mail_ended'; readonly tag: string; readonly state: DeliveryState };

export type Events = (event: ServiceEvent) => void;
