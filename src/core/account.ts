/**
 * Accounts and callers. The server keeps only a hash of each token, session token and ticket. Each has 256 random bits, so
 * a plain hash will do (ASVS 6.5.2). An account's data key is stored only in wrapped form, so the database and all server
 * keys together reveal no account's list of receipts (P9).
 */
import type { NoticeKind } from '../protocol/vocabulary.ts';
import type { Plan, PlanName, Plans } from './plans.ts';
import type { Sensitive } from './sensitive.ts';
import type { UnixSeconds } from './time.ts';

declare const brand: unique symbol;

/** A positive integer below 2^53; identifies the account in logs. */
export type AccountId = number & { readonly [brand]: 'AccountId' };

/** An id that no account has. */
export const noAccountId = 0 as AccountId;

/** 64 lower-case hex digits (32 random bytes). */
export type ApiToken = string & { readonly [brand]: 'ApiToken' };

/** The token in a logged-in browser's cookie: 64 lower-case hex digits (32 random bytes). */
export type SessionToken = string & { readonly [brand]: 'SessionToken' };

/** The token in a sign-up or reset link: 64 lower-case hex digits (32 random bytes). */
export type Ticket = string & { readonly [brand]: 'Ticket' };

/** Everything that a token may do, in display order; revealing needs no scope. */
export const tokenScopes = ['create', 'manage', 'read-recent'] as const;
export type TokenScope = (typeof tokenScopes)[number];

export interface Account {
  readonly id: AccountId;
  /** The e-mail address in lower case; on the wire `custid`. */
  readonly username: string;
  readonly plan: PlanName;
  /** The BCP 47 tag that the account chose. */
  readonly locale: string | null;
  /** The notices that the account gets unless a secret sets others; none by default. */
  readonly notify: readonly NoticeKind[];
  /** Shown to recipients before the address: a name that `parseSenderName` accepts, or `null`. */
  readonly senderName: string | null;
  readonly createdAt: UnixSeconds;
  /** When the operator locked the account, so that its password and tokens are refused; `null` if it is not locked. */
  readonly lockedAt: UnixSeconds | null;
}

export type NewAccount = Pick<Account, 'username' | 'plan' | 'createdAt'>;

/** An account as the operator sees it. */
export interface ListedAccount extends Account {
  readonly hasPassword: boolean;
  /** Number of live API tokens. */
  readonly tokens: number;
  /** Last use of any token or session, to the minute; kept after the token or session is gone. `null` if never used. */
  readonly lastUsedAt: UnixSeconds | null;
}

export interface StoredToken {
  readonly tokenId: number;
  readonly accountId: AccountId;
  /** SHA-256("mayfly/1/token" ‖ token), 32 bytes. */
  readonly tokenHash: Uint8Array;
  readonly name: string;
  /** The account's data key sealed under the token. */
  readonly wrappedDataKey: Uint8Array;
  /** In the order of `tokenScopes`, without duplicates. */
  readonly scopes: readonly TokenScope[];
  readonly createdAt: UnixSeconds;
  readonly expiresAt: UnixSeconds | null;
  readonly lastUsedAt: UnixSeconds | null;
}

/** What happens to the account's API tokens when the password changes. */
export type TokenFate = 'keep' | 'revoke';

/** The stored form of a password; reveals neither the password nor the data key. */
export interface StoredPassword {
  /** The argon2id salt: 16 random bytes, new for every password. */
  readonly salt: Uint8Array;
  /** 32 bytes derived from the stretched password; identifies this password in conditional writes. */
  readonly verifier: Uint8Array;
  /** The account's data key sealed under the stretched password. */
  readonly wrappedDataKey: Uint8Array;
  readonly setAt: UnixSeconds;
}

export interface StoredSession {
  readonly sessionId: number;
  readonly accountId: AccountId;
  /** SHA-256("mayfly/1/session" ‖ session token), 32 bytes. */
  readonly sessionHash: Uint8Array;
  /** The account's data key sealed under the session token. */
  readonly wrappedDataKey: Uint8Array;
  /** The browser, such as `Firefox on Linux`; at most 60 characters. */
  readonly label: string;
  readonly createdAt: UnixSeconds;
  readonly lastUsedAt: UnixSeconds;
  /** Extended with each use, but never past a fixed end. */
  readonly expiresAt: UnixSeconds;
}

export type TicketKind = 'sign_up' | 'reset';

/** Limits how many tickets are stored, and therefore how many emails carry one. */
export interface TicketLimits {
  /** Live tickets of one kind for one username. */
  readonly maxLive: number;
  /**
   * Minimum time since the previous ticket of the same kind for the same username. The first value applies if the window
   * already contains one ticket, the second if two, …; the last applies to all higher counts.
   */
  readonly quietSeconds: readonly number[];
  readonly windowSeconds: number;
}

/** The ticket in a link that an operator passes on. */
export type AccountLinkTicket = Pick<StoredTicket, 'ticketHash' | 'createdAt' | 'expiresAt'>;

export interface StoredTicket {
  readonly kind: TicketKind;
  /** SHA-256("mayfly/1/ticket" ‖ ticket), 32 bytes. */
  readonly ticketHash: Uint8Array;
  /** Username of the account to create or reset, in lower case. */
  readonly username: string;
  readonly createdAt: UnixSeconds;
  readonly expiresAt: UnixSeconds;
}

interface AnonymousCaller {
  readonly kind: 'anonymous';
}

export interface AccountCaller {
  readonly kind: 'account';
  readonly account: Account;
  /** Opens the account's recent boxes. 32 bytes. */
  readonly dataKey: Sensitive<Uint8Array>;
  /** The token's scopes; every scope for a session. */
  readonly scopes: readonly TokenScope[];
  /** `null` for a session. */
  readonly apiToken: CallerToken | null;
}

export interface CallerToken {
  readonly tokenId: number;
  /** 32 bytes. */
  readonly bytes: Sensitive<Uint8Array>;
}

export type Caller = AnonymousCaller | AccountCaller;

export const anonymous: AnonymousCaller = { kind: 'anonymous' };

/** Identifies who is waiting for a slow hash: the queue divides its places by client and purpose (P21). */
export interface HashPlace {
  /** A client's prefix or an account; `''` outside a request. */
  readonly client: string;
  /** `create` for a new secret; `prove` to open or burn one, to log in, or to set a password for an address already proven. */
  readonly purpose: 'create' | 'prove';
}

/** Identifies a caller: an account by its id, from any network address; anyone else by the client's prefix. */
export function clientOf(caller: Caller, clientPrefix: string): string {
  return caller.kind === 'account' ? `account ${caller.account.id}` : clientPrefix;
}

export function planOf(plans: Plans, caller: Caller): Plan {
  return caller.kind === 'anonymous' ? plans.anonymous : plans[caller.account.plan];
}

/** A logged-in browser. */
export interface SignedIn {
  readonly caller: AccountCaller;
  readonly sessionId: number;
  /** 32 hex digits that this session's forms carry (see `http/cross-site.ts` and `web/kit/form-token.ts`). */
  readonly formToken: string;
}

export interface BegunSession {
  readonly token: Sensitive<SessionToken>;
  /** The session's fixed end; an idle session ends earlier. */
  readonly expiresAt: UnixSeconds;
  readonly account: Account;
}
