/**
 * Accounts, their API tokens, and the callers a request can come from.
 *
 * Owns: the types, the username's form, and authentication. Invariant: the server keeps only a hash of a token (256
 * random bits, so a plain hash is allowed: ASVS 6.5.2); the account's data key is stored only wrapped under a token, so
 * that a database with every server key lists nobody's receipts (P9).
 */
import type { PlanName } from '../plans.ts';
import type { Sensitive } from '../sensitive.ts';
import type { UnixSeconds } from '../time.ts';

/** Which mails a creator can ask for about a secret. In the order in which they are shown. */
export const noticeKinds = ['read', 'burned', 'expiring'] as const;
export type NoticeKind = (typeof noticeKinds)[number];

declare const brand: unique symbol;

/** A positive integer below 2^53. What logs may name an account by. */
export type AccountId = number & { readonly [brand]: 'AccountId' };

/** An API token: 64 lower-case hex digits (32 random bytes). */
export type ApiToken = string & { readonly [brand]: 'ApiToken' };

/** What a browser that has logged in carries in its cookie: 64 lower-case hex digits (32 random bytes). */
export type SessionToken = string & { readonly [brand]: 'SessionToken' };

/** What stands in a mailed link to a sign-up or a reset: 64 lower-case hex digits (32 random bytes). */
export type Ticket = string & { readonly [brand]: 'Ticket' };

/** What a token may be used for; revealing needs none. In the order in which they are shown. */
export const tokenScopes = ['create', 'manage', 'read-recent'] as const;
export type TokenScope = (typeof tokenScopes)[number];

export interface Account {
  readonly id: AccountId;
  /** The e-mail address in lower case; on the wire `custid`. */
  readonly username: string;
  readonly plan: PlanName;
  /** The BCP 47 tag the account has chosen; `null` when it has chosen none. */
  readonly locale: string | null;
  /** Which mails it wants about its secrets unless a secret says otherwise; none by default. */
  readonly notify: readonly NoticeKind[];
  readonly createdAt: UnixSeconds;
}

/** A token as the store keeps it. */
export interface StoredToken {
  readonly tokenId: number;
  readonly accountId: AccountId;
  /** SHA-256("mayfly/1/token" ‖ token), 32 bytes. */
  readonly tokenHash: Uint8Array;
  readonly name: string;
  /** The account's data key sealed under the token. */
  readonly wrappedDataKey: Uint8Array;
  /** In the order of `tokenScopes`, none twice. */
  readonly scopes: readonly TokenScope[];
  readonly createdAt: UnixSeconds;
  readonly expiresAt: UnixSeconds | null;
  readonly lastUsedAt: UnixSeconds | null;
}

/** What a new password does to the account's API tokens. */
export type TokenFate = 'keep' | 'revoke';

/** A password as the store keeps it: nothing that shows it, and the data key that it opens. */
export interface StoredPassword {
  /** Of argon2id, 16 random bytes, new with every password. */
  readonly salt: Uint8Array;
  /** 32 bytes derived from the stretched password; names this password in conditional writes. */
  readonly verifier: Uint8Array;
  /** The account's data key sealed under the stretched password. */
  readonly wrappedDataKey: Uint8Array;
  readonly setAt: UnixSeconds;
}

/** A log-in of one browser as the store keeps it. */
export interface StoredSession {
  readonly sessionId: number;
  readonly accountId: AccountId;
  /** SHA-256("mayfly/1/session" ‖ session token), 32 bytes. */
  readonly sessionHash: Uint8Array;
  /** The account's data key sealed under the session token. */
  readonly wrappedDataKey: Uint8Array;
  /** Which browser it is, for the list of sessions: `Firefox on Linux`; at most 60 characters. */
  readonly label: string;
  readonly createdAt: UnixSeconds;
  readonly lastUsedAt: UnixSeconds;
  /** Moves on with use, up to a fixed end. */
  readonly expiresAt: UnixSeconds;
}

export type TicketKind = 'sign_up' | 'reset';

/** Bounds on the tickets that are kept, and so on the mails that hold them. */
export interface TicketLimits {
  /** Of one kind for one username at the same time. */
  readonly maxLive: number;
  /**
   * Least time between a ticket and the one before it of its kind and username, by how many of them were kept within the
   * window: after one, after two, …; the last stands for all further ones.
   */
  readonly quietSeconds: readonly number[];
  readonly windowSeconds: number;
}

/** A mailed link as the store keeps it. */
export interface StoredTicket {
  readonly kind: TicketKind;
  /** SHA-256("mayfly/1/ticket" ‖ ticket), 32 bytes. */
  readonly ticketHash: Uint8Array;
  /** Of the account that it makes or resets; in lower case. */
  readonly username: string;
  readonly createdAt: UnixSeconds;
  readonly expiresAt: UnixSeconds;
}

export interface AnonymousCaller {
  readonly kind: 'anonymous';
}

export interface AccountCaller {
  readonly kind: 'account';
  readonly account: Account;
  /** Opens the account's recent boxes. 32 bytes. */
  readonly dataKey: Sensitive<Uint8Array>;
  /** What the token it came with may do; all for a session. */
  readonly scopes: readonly TokenScope[];
}

export type Caller = AnonymousCaller | AccountCaller;

export const anonymous: AnonymousCaller = { kind: 'anonymous' };

/** Whose turn a slow hash takes: the queue's places are shared out by client and by purpose (P21). */
export interface HashPlace {
  /** A client's prefix, or an account; `''` outside a request. */
  readonly client: string;
  /** `create`: for a new secret. `prove`: to open, burn or log in, and for a new password, whose address is proven. */
  readonly purpose: 'create' | 'prove';
}

/** Who a caller counts as: an account alone, wherever it calls from; else the client's prefix. */
export function clientOf(caller: Caller, clientPrefix: string): string {
  return caller.kind === 'account' ? `account ${caller.account.id}` : clientPrefix;
}

/** A browser that is logged in. */
export interface SignedIn {
  readonly caller: AccountCaller;
  readonly sessionId: number;
  /** 32 hex digits that forms of this session carry (see `http/cross-site.ts` and `web/own-form.ts`). */
  readonly formToken: string;
}

/** What a log-in hands to the browser. */
export interface BegunSession {
  readonly token: Sensitive<SessionToken>;
  /** When it ends however much it is used; the server ends it earlier when it lies idle. */
  readonly expiresAt: UnixSeconds;
  readonly account: Account;
}
