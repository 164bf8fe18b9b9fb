/**
 * Accounts, their API tokens, and the callers a request can come from.
 *
 * Owns: the types, the username's form, and authentication. Invariant: the server keeps only a hash of a token (256
 * random bits, so a plain hash is allowed: ASVS 6.5.2); the account's data key is stored only wrapped under a token, so
 * that a database with every server key lists nobody's receipts (P9).
 */
import type { PlanName } from './plans.ts';
import type { Sensitive } from './sensitive.ts';
import type { UnixSeconds } from './time.ts';

declare const brand: unique symbol;

/** A positive integer below 2^53. What logs may name an account by. */
export type AccountId = number & { readonly [brand]: 'AccountId' };

/** An API token: 64 lower-case hex digits (32 random bytes). */
export type ApiToken = string & { readonly [brand]: 'ApiToken' };

export interface Account {
  readonly id: AccountId;
  /** The e-mail address in lower case; on the wire `custid`. */
  readonly username: string;
  readonly plan: PlanName;
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
  readonly createdAt: UnixSeconds;
  readonly expiresAt: UnixSeconds | null;
  readonly lastUsedAt: UnixSeconds | null;
}

export interface AnonymousCaller {
  readonly kind: 'anonymous';
}

export interface AccountCaller {
  readonly kind: 'account';
  readonly account: Account;
  /** Opens the account's recent boxes. 32 bytes. */
  readonly dataKey: Sensitive<Uint8Array>;
}

export type Caller = AnonymousCaller | AccountCaller;

export const anonymous: AnonymousCaller = { kind: 'anonymous' };
