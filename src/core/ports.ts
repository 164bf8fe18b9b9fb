/**
 * The ports: what the core asks of the world.
 *
 * A method is one atomic decision (claim, reserve, burn), never a get that a set must follow, so a race cannot be written.
 * `test/stores/conformance.ts` states each promise below as a named check that runs against every store.
 *
 * Every method of a store may reject with `ServiceError('unavailable')`. A rejected write is of unknown outcome unless
 * its comment says otherwise.
 */
import type {
  Account,
  AccountId,
  HandedTicket,
  HashPlace,
  ListedAccount,
  NoticeKind,
  StoredPassword,
  StoredSession,
  StoredTicket,
  StoredToken,
  TicketKind,
  TicketLimits,
  TokenFate,
} from './account.ts';
import type { ReceiptId, SecretId } from './keys.ts';
import type { LookStore, NewLook } from './look-store.ts';
import type { PlanName } from './plans.ts';
import type { ListedReceipt, NewRecord, StoredDelivery, StoredReceipt, StoredSecret } from './secret.ts';
import type { DomainBrand, DomainCheck, DomainLogo, NewDomain, StoredDomain } from './share-domain.ts';
import type { UnixSeconds } from './time.ts';

/** Whether the client that a call is made for has left: asked again wherever time has passed, so it must be cheap. */
export type IsAbandoned = () => boolean;

/**
 * - `won`: this call, and no other ever, took the secret; the decision is durable.
 * - `gone`: another call took it, it was burned, it expired, or it never existed. Nothing changed.
 * - `abandoned`: its client has left. Nothing changed.
 */
export type ClaimOutcome = 'won' | 'gone' | 'abandoned';

/** When it was burned; `null` when nothing was waiting. */
export type BurnDecision = UnixSeconds | null | 'abandoned';

/** What a claim is decided by, as `findSecret` gave it. */
export type ClaimTarget = Pick<StoredSecret, 'secretId' | 'rowVersion' | 'createdAt' | 'expiresAt'>;

/** What changes with a record's expiry. */
export type NewExpiry = Pick<NewRecord, 'expiresAt' | 'receiptExpiresAt' | 'noticeDueAt' | 'sealedSecret'>;

export interface RoomStore {
  /** Stores nothing. Rejects with `storage_full` while `SecretStore.put` would. */
  assertRoom(): Promise<void>;
}

export interface SecretStore extends LookStore {
  /**
   * Store time (P8): never steps back, also across restarts, and follows the time that passes rather than a wall clock
   * that jumps. Where it can only be estimated, it is never ahead of the time by which the store decides. Expiry is judged
   * by it; while the wall clock is in doubt (`ClockVerdict`), a secret that has expired by one of the two only rejects as
   * `unavailable`.
   */
  now(): UnixSeconds;

  /**
   * Stores a record. Resolves only when it is durable at the store's class (fsync done). Rejects with `storage_full`
   * when there is no room, `unavailable` otherwise, also for an owner that is not there and for a closed root (`RootStore`);
   * after a rejection the secret either was not stored or will expire without ever having been announced (P5).
   * The reservation that it is stored for is done in the same atomic step. `unavailable`, and nothing is stored, when that is done
   * already, was taken over, or is not there any more.
   */
  put(record: NewRecord): Promise<void>;

  /** The live secret, or `null` when it is unknown, read, burned or expired. Changes nothing. */
  findSecret(id: SecretId): Promise<StoredSecret | null>;

  /**
   * Takes the secret with this id: in one atomic step the sealed secret is erased and the state becomes `received` at store time, if
   * and only if it is still waiting, unexpired at store time and at this row version. Resolves only when that is durable. After a
   * rejection nothing may be released (P2).
   * In a store where a claim may be undone until it is confirmed, whatever meets one that is not is rejected as
   * `unavailable`, never answered with `gone`: this, `burn`, `burnFound`, `findSecret` and `findReceipt`.
   * `isAbandoned` is asked after the claim has waited for earlier writes: a client that left meanwhile takes nothing (P3).
   * @param look takes the place of what is erased, for the opener's second look. Rejects as `unavailable`, and takes nothing, when
   *   the secret's expiry or root has changed so that the look does not fit it any more.
   */
  claim(target: ClaimTarget, isAbandoned: IsAbandoned, look?: NewLook | null): Promise<ClaimOutcome>;

  /**
   * The receipt, or `null` when it is unknown or its own lifetime has passed. Changes nothing.
   * @param manager an account, which finds its own receipts and those of anonymous records, or `noAccountId`, which finds only the
   *   latter: another account's receipt is not read at all, so it takes as long as an unknown one (P16, P17). Absent: every receipt.
   */
  findReceipt(id: ReceiptId, manager?: AccountId): Promise<StoredReceipt | null>;

  /**
   * Destroys a waiting secret for its creator: one atomic step as in `claim`, with the state `burned` and who burned it. Exactly one
   * of a burn and a claim wins (P7). `isAbandoned` as in `claim`. A look at what was read ends too.
   */
  burn(id: ReceiptId, isAbandoned: IsAbandoned): Promise<BurnDecision>;

  /** As `burn`, for the holder of the link and decided by what was found, as a claim is. A look at what was read does not end. */
  burnFound(target: ClaimTarget, isAbandoned: IsAbandoned): Promise<BurnDecision>;

  /**
   * Destroys what waits by any clock, of every creator, and ends every look, in the order in which it was stored; each as in `burn`,
   * by nobody whom a receipt names. Looks at `limit` records at most, those after `after`: `next` of the call before, or `null`.
   */
  burnAll(after: string | null, limit: number): Promise<BurnedBatch>;

  /** Notes that the creator has looked at a waiting receipt; the first time counts. Returns that first time, or `null`. */
  markViewed(id: ReceiptId): Promise<UnixSeconds | null>;

  /**
   * Gives a waiting secret another expiry, if its expiry is still `from`: in one atomic step with the receipt's own expiry, the
   * sealed secret wrapped for it (as long as before), its notice, and how long its guesses are counted; not if it was
   * re-wrapped for another root meanwhile. A claim that was decided by what was found before still takes it: what a claim
   * proves has not changed. Whether it was changed.
   */
  setExpiry(id: ReceiptId, from: UnixSeconds, to: NewExpiry): Promise<boolean>;

  /**
   * Keeps the sealed memo in place of the one before; `null` removes it. Goes with the receipt, and with its account.
   * Whether there was a live receipt, whatever became of its secret; otherwise nothing changed. Rejects with `storage_full`
   * when there is no room for a box; there is always for `null`.
   */
  setMemo(id: ReceiptId, memoBox: Uint8Array | null): Promise<boolean>;

  /**
   * Notes that a mail of a waiting secret is about to be handed over, unless one is queued and still believed: of many at
   * once, one is told `queued`. `gone`: no secret waits there. Nothing changed in those cases.
   */
  queueDelivery(
    id: ReceiptId,
    queued: Omit<StoredDelivery, 'state' | 'at'> & { readonly staleAt: UnixSeconds },
  ): Promise<'queued' | 'in_flight' | 'gone'>;

  /** Notes what became of the mail, at store time, in place of what was noted before. Unknown receipts are ignored. */
  setDelivery(id: ReceiptId, delivery: Omit<StoredDelivery, 'at'>): Promise<void>;

  /**
   * Takes the notices that are due at store time, roughly the longest due first, at most `limit`: each is given out once,
   * ever, and only while its secret waits and its account is there; the others are forgotten.
   */
  takeDueNotices(limit: number): Promise<DueNotice[]>;

  /**
   * An account's live receipts, newest created first, those that follow the one with the cursor `after`; at most `limit`.
   * Stable under inserts: a later page never repeats or skips what existed at the first page. `null` when `after` is not
   * a cursor of this store.
   */
  listReceipts(
    owner: AccountId,
    page: { readonly limit: number; readonly after: string | null },
  ): Promise<ListedReceipt[] | null>;

  /**
   * Erases what has expired: sealed secrets at their expiry, looks at their end, whole records at their receipt's, and stale attempts.
   * At most `limit` records a call; returns how many it touched (so fewer than `limit` means: done for now). Erases
   * nothing while the wall clock is in doubt.
   */
  sweep(limit: number): Promise<number>;

  /**
   * Leaves no copy of erased bytes in the store's own files (P10: within 60 s of the erasure). Returns whether it is
   * done; `false` means a reader was in the way: try again soon. A store whose files are an engine's own answers `true`:
   * what that engine keeps of erased bytes, and for how long, is its operator's to bound.
   */
  scrub(): Promise<boolean>;
}

export interface BurnedBatch {
  readonly burned: number;
  /** `null`: there were no more records. */
  readonly next: string | null;
}

/** A secret that is about to expire unread, and whose account wanted to know. */
export interface DueNotice extends Pick<NewRecord, 'createdAt' | 'expiresAt' | 'shareDomain'> {
  readonly owner: AccountId;
}

/**
 * - `more`: call again.
 * - `finished`: by this call, and no other is told so.
 * - `was_finished`: by an earlier call.
 */
export interface DeletionStep {
  readonly outcome: 'more' | 'finished' | 'was_finished';
  /** Secrets that all calls so far have burned. */
  readonly burned: number;
}

export type NewAccount = Pick<Account, 'username' | 'plan' | 'createdAt'>;
export type NewToken = Omit<StoredToken, 'tokenId' | 'accountId' | 'lastUsedAt'>;
export type NewSession = Omit<StoredSession, 'sessionId' | 'accountId' | 'lastUsedAt'>;

/** What an account has created and is still stored. */
export interface OwnedCounts {
  readonly waiting: number;
  /** Of secrets in any state. */
  readonly receipts: number;
}

export interface AccountStore {
  /** Creates the account, without a chosen language, with its first token, both or neither. `null` when the username is taken. */
  createAccount(account: NewAccount, token: NewToken): Promise<Account | null>;
  /** As `createAccount`, without a token but with a reset ticket, by which its first password is set. */
  inviteAccount(account: NewAccount, ticket: HandedTicket): Promise<Account | null>;
  findAccount(username: string): Promise<Account | null>;
  findAccountById(id: AccountId): Promise<Account | null>;
  listAccounts(): Promise<ListedAccount[]>;
  hasAccounts(): Promise<boolean>;
  countOwned(id: AccountId): Promise<OwnedCounts>;
  /**
   * Locks the account: ends its sessions and voids its reset tickets, in one step. Until it is unlocked no session begins and
   * no password is reset; its tokens stay, and the core refuses them. `false`: there is none, or it is locked already.
   */
  lockAccount(id: AccountId): Promise<boolean>;
  /** Whether it was locked. */
  unlockAccount(id: AccountId): Promise<boolean>;
  setPlan(id: AccountId, plan: PlanName): Promise<void>;
  /** The token with this hash and its account: one look-up, the same work whether or not it exists (P17). */
  findToken(tokenHash: Uint8Array): Promise<{ account: Account; token: StoredToken } | null>;
  addToken(id: AccountId, token: NewToken): Promise<StoredToken>;
  /** As `addToken`, if the account's password is still the one that `verifier` is of; `null` when it is not, or the account is locked. */
  addOwnToken(id: AccountId, verifier: Uint8Array, token: NewToken): Promise<StoredToken | null>;
  listTokens(id: AccountId): Promise<StoredToken[]>;
  /** Whether there was such a token of this account. */
  revokeToken(id: AccountId, tokenId: number): Promise<boolean>;
  noteTokenUse(tokenId: number, at: UnixSeconds): Promise<void>;

  /** Keeps the account's language; `null` for none. */
  setLocale(id: AccountId, locale: string | null): Promise<void>;
  /** Keeps which mails the account wants about its secrets, in the order of `noticeKinds`. */
  setNotify(id: AccountId, kinds: readonly NoticeKind[]): Promise<void>;
  /** Keeps the name that recipients read; `null` for none. */
  setSenderName(id: AccountId, name: string | null): Promise<void>;
  /**
   * Keeps a ticket beside the others of its kind for this username. `false`, and nothing changed, when a limit is
   * reached. Every ticket counts until the window has passed, also one that was used or has expired.
   */
  addTicket(ticket: StoredTicket, limits: TicketLimits): Promise<boolean>;
  /** Keeps a reset ticket in place of all others of the account, whatever the limits. `false`: there is none, or it is locked. */
  replaceResetTickets(id: AccountId, ticket: HandedTicket): Promise<boolean>;
  /** The ticket, or `null` when it is unknown, used, voided or expired at store time. Changes nothing. */
  findTicket(kind: TicketKind, ticketHash: Uint8Array): Promise<StoredTicket | null>;
  /**
   * Uses a live sign-up ticket up, voids the others for its username and creates the account with this password, in one
   * step. `gone`: there is no such ticket (any more); `exists`: the username was taken meanwhile.
   */
  redeemSignUp(
    ticketHash: Uint8Array,
    account: Omit<NewAccount, 'username'>,
    password: StoredPassword,
  ): Promise<Account | 'gone' | 'exists'>;
  /**
   * Uses a live reset ticket up, voids the others for its username, sets the password, ends every session of the account
   * and revokes its tokens if asked, in one step. `null`: there is no such ticket (any more), no account of that name, or it
   * is locked.
   */
  redeemReset(ticketHash: Uint8Array, password: StoredPassword, tokens: TokenFate): Promise<Account | null>;
  /** The account of this name with its password, which is `null` when it has none; `null` when there is no account. */
  findPassword(
    username: string,
  ): Promise<{ readonly account: Account; readonly password: StoredPassword | null } | null>;
  /**
   * Sets the password, ends every other session, voids every reset ticket that is under way and revokes the tokens if
   * asked, in one step, if the password is still the one that `from` is the verifier of and the account is not locked. Whether it was.
   */
  changePassword(
    id: AccountId,
    from: Uint8Array,
    to: StoredPassword,
    keepSessionId: number,
    tokens: TokenFate,
  ): Promise<boolean>;
  /**
   * Begins a session, if the account's password is still the one that `verifier` is of: a log-in that began before a
   * change of password does not outlive it. `null` when it is not, or the account is locked.
   */
  addSession(id: AccountId, verifier: Uint8Array, session: NewSession): Promise<StoredSession | null>;
  /** The session with this hash and its account; `null` when it is unknown, ended or expired at store time. One look-up. */
  findSession(sessionHash: Uint8Array): Promise<{ account: Account; session: StoredSession } | null>;
  /** Notes a use and moves the expiry; neither ever moves back. Unknown sessions are ignored. */
  noteSessionUse(sessionId: number, at: UnixSeconds, expiresAt: UnixSeconds): Promise<void>;
  /** Live ones, the last used first. */
  listSessions(id: AccountId): Promise<StoredSession[]>;
  /** Whether there was such a session of this account. */
  endSession(id: AccountId, sessionId: number): Promise<boolean>;
  /**
   * Deletes the account with its password, tokens, sessions, tickets and share domains, in one step: from then on nothing
   * is added to it, and no record is stored for it. Its secrets wait until `continueDeletion` has burned them; its receipts
   * stay, by their metadata keys, until they expire. The id is never given again. Whether there was such an account.
   */
  deleteAccount(id: AccountId): Promise<boolean>;
  /**
   * Burns the deleted account's waiting secrets, ends looks at the others and erases the recent boxes and the memos of its receipts, at most `limit`
   * records a call. May be called again after any fault, and by several at once: each secret is burned once or was claimed.
   * `null` when no such account was deleted, or its deletion was finished more than an hour ago.
   */
  continueDeletion(id: AccountId, limit: number): Promise<DeletionStep | null>;
  /** At most `limit` deleted accounts whose deletion is not finished, whoever began it. */
  listDeletions(limit: number): Promise<AccountId[]>;
}

/**
 * Share domains. A name may be registered by several accounts, because a registration proves nothing; it is verified for
 * at most one of them at a time, whoever writes how many at once.
 */
export interface DomainStore {
  /**
   * Registers a domain for an account. `exists`: the account has it already. `taken`: it is verified for another account.
   * `too_many`: the account has `max` already. `gone`: there is no such account. Nothing changed in those cases.
   */
  addDomain(domain: NewDomain, max: number): Promise<'added' | 'exists' | 'taken' | 'too_many' | 'gone'>;
  findDomain(id: AccountId, name: string): Promise<StoredDomain | null>;
  /** By name. */
  listDomains(id: AccountId): Promise<StoredDomain[]>;
  /** Whoever has this name verified; `null` when nobody has. One look-up. */
  findVerifiedDomain(name: string): Promise<StoredDomain | null>;
  /**
   * Notes what a check found, at store time. `taken`, and nothing changed, when it would become verified while it is for
   * another account. `null`: there is no such domain (any more).
   */
  noteDomainCheck(id: AccountId, name: string, check: DomainCheck): Promise<StoredDomain | 'taken' | null>;
  /** Whether there was such a domain. */
  setDomainBrand(id: AccountId, name: string, brand: DomainBrand): Promise<boolean>;
  /** `null` takes the logo away. Whether there was such a domain. */
  setDomainLogo(id: AccountId, name: string, logo: DomainLogo | null): Promise<boolean>;
  /** The logo of this file name, of a domain in any state. */
  findDomainLogo(logoName: string): Promise<DomainLogo | null>;
  /** Whether there was such a domain of this account. */
  removeDomain(id: AccountId, name: string): Promise<boolean>;
  /**
   * Hands out verified and lost domains that have a challenge and were last checked before `before`, the longest unchecked
   * first. Each goes to one caller, and to no other for `leaseSeconds`.
   */
  takeDomainsToCheck(before: UnixSeconds, limit: number, leaseSeconds: number): Promise<StoredDomain[]>;
}

/** How often something may be done: `limit` times in a window in the long run, and `burst` of them at once. */
export interface LimitRule {
  readonly limit: number;
  readonly windowSeconds: number;
  readonly burst: number;
}

/** One call to be counted against a client, by a rule that `name` tells from all others. */
export interface LimitCount {
  readonly name: string;
  readonly rule: LimitRule;
  readonly client: string | number;
}

/**
 * Limits that guard somebody (log-ins, sign-ups, mails), so that all nodes have to count together. They may be forgotten
 * when the process or the engine restarts. All that is asked for at once takes one round trip.
 */
export interface SharedLimits {
  /**
   * Counts a call against each, if every rule allows it, else against none, in one step. For each the milliseconds until its
   * rule allows it, 0 for now.
   */
  take(counts: readonly LimitCount[]): Promise<readonly number[]>;
  /** As `take`, and counts nothing. */
  peek(counts: readonly LimitCount[]): Promise<readonly number[]>;
  /** Gives one counted call of each back: what it was counted for did not happen. */
  refund(counts: readonly LimitCount[]): Promise<void>;
}

/** Bounded, off-thread slow hashing (P24). */
export interface PassphraseHasher {
  /** argon2id, 19 MiB, t = 2, p = 1: 32 bytes. Rejects with `ServiceError('busy')` when there is no place for it. */
  stretch(passphrase: Uint8Array, salt: Uint8Array, place: HashPlace): Promise<Uint8Array>;
  /** bcrypt of 1 to 72 bytes of visible ASCII, at its least cost: it hashes what was stretched, and decides nothing. */
  hashVerifier(input: string): Promise<string>;
}

/** Whether a password is among those that everybody tries first; also when it only hides in digits and signs around it. */
export type IsCommonPassword = (password: string) => Promise<boolean>;

/** Words to draw passphrases from: lower-case ASCII, none twice, 7,776 of them. */
export type WordList = () => Promise<readonly string[]>;

/** What a backup of a store holds. */
export interface BackupFacts {
  /** Store time at which it was taken. */
  readonly takenAt: UnixSeconds;
  /** Secrets that waited then. */
  readonly waiting: number;
  readonly accounts: number;
}

export type BackupOutcome =
  | { readonly outcome: 'done'; readonly facts: BackupFacts }
  /** A sentence for the operator; nothing was written. */
  | { readonly outcome: 'refused'; readonly problem: string };

/** Called now and then with how much of the file is written, and how much the source takes. */
export type OnProgress = (writtenBytes: number, sourceBytes: number) => void;
