/**
 * API tokens: how one is drawn, kept and opened.
 *
 * Owns: the token's text, and what is stored of it: a hash, and the account's data key wrapped under it. Invariant: the
 * token itself exists only in the answer that shows it.
 */
import { hashToken } from '../../crypto/derive.ts';
import type { RandomBytes } from '../../crypto/random.ts';
import type { AccountStore, NewToken } from '../ports.ts';
import type { UnixSeconds } from '../time.ts';
import { type ApiToken, type StoredToken, type TokenScope, tokenScopes } from './accounts.ts';
import { drawBearer, isBearer } from './bearer.ts';
import { openDataKey, wrapDataKey } from './data-key.ts';

/** The token, or `null` when the text is not one in its only spelling. */
export function parseApiToken(text: string): ApiToken | null {
  return isBearer(text) ? (text as ApiToken) : null;
}

function bytesOf(token: ApiToken): Uint8Array {
  return Buffer.from(token, 'hex');
}

export function tokenHashOf(token: ApiToken): Uint8Array {
  return hashToken(bytesOf(token));
}

/** The account's data key, 32 bytes; `null` when the stored token is not this one or is damaged. */
export function dataKeyOf(token: ApiToken, stored: Pick<StoredToken, 'wrappedDataKey'>): Uint8Array | null {
  return openDataKey(stored.wrappedDataKey, bytesOf(token));
}

export function isLiveToken({ expiresAt }: Pick<StoredToken, 'expiresAt'>, now: UnixSeconds): boolean {
  return expiresAt === null || now < expiresAt;
}

/** The data key behind a live token of this account; `null` when the text is none. */
export async function dataKeyBehind(
  store: Pick<AccountStore, 'findToken'> & { now(): UnixSeconds },
  username: string,
  text: string,
): Promise<Uint8Array | null> {
  const token = parseApiToken(text);
  const found = token === null ? null : await store.findToken(tokenHashOf(token));
  if (token === null || found === null || found.account.username !== username) return null;
  return isLiveToken(found.token, store.now()) ? dataKeyOf(token, found.token) : null;
}

/** As the store keeps scopes: in their order, none twice. */
export function scopesInOrder(scopes: readonly TokenScope[]): readonly TokenScope[] {
  return tokenScopes.filter((scope) => scopes.includes(scope));
}

export interface TokenInput {
  readonly name: string;
  /** In the order of `tokenScopes`, none twice. */
  readonly scopes: readonly TokenScope[];
  readonly createdAt: UnixSeconds;
  readonly expiresAt: UnixSeconds | null;
  readonly dataKey: Uint8Array;
}

export function makeToken(
  { dataKey, ...rest }: TokenInput,
  random: RandomBytes,
): { readonly token: ApiToken; readonly stored: NewToken } {
  const { bytes, text } = drawBearer(random);
  const wrappedDataKey = wrapDataKey(dataKey, bytes, random);
  return { token: text as ApiToken, stored: { ...rest, tokenHash: hashToken(bytes), wrappedDataKey } };
}
