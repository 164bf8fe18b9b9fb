/**
 * API tokens, and the form that they share with session tokens and tickets: 32 random bytes as 64 lower-case hex digits. That is the only
 * spelling; others are refused, never repaired. Each kind is hashed with its own label (`crypto/derive.ts`), so none works as another. Only
 * the response that creates a token shows it: the store gets its hash, and the account's data key wrapped under it.
 *
 * An unknown username and a wrong token take the same steps and one lookup by the token's hash, so they are indistinguishable (P17). Only
 * the log shows that a correct token was refused for a locked account.
 *
 * A token outlives the session that created it, so creating one requires the password, and the owner gets an email. It opens the account's
 * data key, so it lists what the session lists, within its scopes.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import { hex } from '../../crypto/bytes.ts';
import { hashToken } from '../../crypto/derive.ts';
import type { RandomBytes } from '../../crypto/random.ts';
import {
  type AccountCaller,
  type ApiToken,
  type SignedIn,
  type StoredToken,
  type TokenScope,
  tokenScopes,
} from '../account.ts';
import type { AccountStore } from '../ports/accounts.ts';
import type { AccountCore } from '../ports/core.ts';
import type { NewToken } from '../ports/tokens.ts';
import { Sensitive } from '../sensitive.ts';
import type { UnixSeconds } from '../time.ts';
import { sendAfter } from './account-mail.ts';
import { openDataKey, wrapDataKey } from './data-key.ts';
import { provePassword } from './passwords.ts';

const bearerBytes = 32;
const bearerForm = /^[0-9a-f]{64}$/;

interface DrawnBearer {
  readonly bytes: Uint8Array;
  readonly text: string;
}

export function drawBearer(random: RandomBytes): DrawnBearer {
  const bytes = random(bearerBytes);
  return { bytes, text: hex(bytes) };
}

function isBearer(text: string): boolean {
  return bearerForm.test(text);
}

export function parseBearer(text: string): Uint8Array | null {
  return isBearer(text) ? new Uint8Array(Buffer.from(text, 'hex')) : null;
}

export function parseApiToken(text: string): ApiToken | null {
  return isBearer(text) ? (text as ApiToken) : null;
}

function bytesOf(token: ApiToken): Uint8Array {
  return Buffer.from(token, 'hex');
}

function tokenHashOf(token: ApiToken): Uint8Array {
  return hashToken(bytesOf(token));
}

/** Returns the data key, or `null` if the stored token is a different one or is damaged. */
function dataKeyOf(token: ApiToken, stored: Pick<StoredToken, 'wrappedDataKey'>): Uint8Array | null {
  return openDataKey(stored.wrappedDataKey, bytesOf(token));
}

function isLiveToken({ expiresAt }: Pick<StoredToken, 'expiresAt'>, now: UnixSeconds): boolean {
  return expiresAt === null || now < expiresAt;
}

export async function dataKeyOfToken(
  store: Pick<AccountStore, 'findToken'> & { now(): UnixSeconds },
  username: string,
  text: string,
): Promise<Uint8Array | null> {
  const token = parseApiToken(text);
  const found = token === null ? null : await store.findToken(tokenHashOf(token));
  if (token === null || found === null || found.account.username !== username) return null;
  return isLiveToken(found.token, store.now()) ? dataKeyOf(token, found.token) : null;
}

/** Returns the scopes as stored: in the order of `tokenScopes`, without duplicates. */
export function scopesInOrder(scopes: readonly TokenScope[]): readonly TokenScope[] {
  return tokenScopes.filter((scope) => scopes.includes(scope));
}

interface TokenInput extends Omit<NewToken, 'tokenHash' | 'wrappedDataKey'> {
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

/** A minute is precise enough for people, and avoids a write on every call. */
const useGranularitySeconds = 60;
const impossibleToken = '0'.repeat(64) as ApiToken;

/** Returns the caller, or `null` for an unknown username or a wrong, expired or revoked token: indistinguishable (P17). */
export async function authenticate(
  deps: Pick<AccountCore, 'store' | 'events' | 'inBackground'>,
  username: string,
  text: string,
): Promise<AccountCaller | null> {
  const token = parseApiToken(text) ?? impossibleToken;
  const found = await deps.store.findToken(tokenHashOf(token));
  const expected = found?.account.username ?? '';
  if (!sameText(username.toLowerCase(), expected) || found === null) return null;
  const now = deps.store.now();
  if (!isLiveToken(found.token, now)) return null;
  const dataKey = dataKeyOf(token, found.token);
  if (dataKey === null) return null;
  if (found.account.lockedAt !== null) {
    deps.events({ event: 'locked_out', account: found.account.id, by: 'token' });
    return null;
  }
  if (now - (found.token.lastUsedAt ?? 0) >= useGranularitySeconds)
    deps.inBackground(() => deps.store.noteTokenUse(found.token.tokenId, now));
  const { account, token: stored } = found;
  return {
    kind: 'account',
    account,
    dataKey: new Sensitive(dataKey),
    scopes: stored.scopes,
    apiToken: { tokenId: stored.tokenId, bytes: new Sensitive(bytesOf(token)) },
  };
}

/** Compares digests, so the time reveals neither the length nor the position of a difference. */
function sameText(a: string, b: string): boolean {
  return timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());
}

export type NewTokenOutcome =
  | { readonly outcome: 'created'; readonly token: Sensitive<ApiToken>; readonly stored: StoredToken }
  /** A name has 1–60 characters and no control characters. */
  | { readonly outcome: 'invalid_name' }
  | { readonly outcome: 'no_scope' }
  | { readonly outcome: 'wrong_password' }
  | { readonly outcome: 'too_many'; readonly max: number };

interface OwnTokenInput extends Pick<NewToken, 'name' | 'scopes' | 'expiresAt'> {
  readonly password: Sensitive<string>;
  readonly locale: string;
}

const maxNameLength = 60;
/** Limits storage, not access: concurrent calls may exceed it together. */
const maxLiveTokens = 50;

/** Requires the password. Notifies the owner by email. */
export async function createOwnToken(
  deps: AccountCore,
  { caller }: SignedIn,
  input: OwnTokenInput,
): Promise<NewTokenOutcome> {
  const { store, random } = deps;
  const name = parseName(input.name);
  if (name === null) return { outcome: 'invalid_name' };
  const scopes = scopesInOrder(input.scopes);
  if (scopes.length === 0) return { outcome: 'no_scope' };
  const createdAt = store.now();
  const tokens = await store.listTokens(caller.account.id);
  if (tokens.filter((token) => isLiveToken(token, createdAt)).length >= maxLiveTokens)
    return { outcome: 'too_many', max: maxLiveTokens };
  const proven = await provePassword(deps, caller, input.password);
  if (proven === null) return { outcome: 'wrong_password' };
  const { dataKey, password } = proven;
  const made = makeToken({ name, scopes, createdAt, expiresAt: input.expiresAt, dataKey }, random);
  dataKey.fill(0);
  const stored = await store.addOwnToken(caller.account.id, password.verifier, made.stored);
  // The password was replaced in between.
  if (stored === null) return { outcome: 'wrong_password' };
  announce(deps, caller.account.username, stored, input.locale);
  return { outcome: 'created', token: new Sensitive(made.token), stored };
}

function announce(deps: AccountCore, username: string, { name }: StoredToken, locale: string): void {
  const { forgottenUrl } = deps.links;
  sendAfter(deps, { to: new Sensitive(username), locale, kind: 'token_created', name, forgottenUrl });
}

/** Trims a name. Returns `null` if it is empty, too long, or could alter the line it is shown in. */
function parseName(text: string): string | null {
  const name = text.trim();
  const length = [...name].length;
  if (length < 1 || length > maxNameLength || !name.isWellFormed()) return null;
  return /[\p{Cc}\p{Zl}\p{Zp}]/u.test(name) ? null : name;
}
