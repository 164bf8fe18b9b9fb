/**
 * The API tokens that a person makes for an account.
 *
 * Owns: the rules for a new one. Invariant: it shares the session's data key, so it lists what the session lists (within
 * its scopes), and is shown once.
 */
import type { RandomBytes } from '../crypto/random.ts';
import type { NewTokenOutcome, SignedIn } from './account-outcomes.ts';
import type { TokenScope } from './accounts.ts';
import { isLiveToken, makeToken, scopesInOrder } from './api-tokens.ts';
import type { AccountStore } from './ports.ts';
import { Sensitive } from './sensitive.ts';
import type { UnixSeconds } from './time.ts';

export interface OwnTokenDeps {
  readonly store: Pick<AccountStore, 'addToken' | 'listTokens'> & { now(): UnixSeconds };
  readonly random: RandomBytes;
}

export interface OwnTokenInput {
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  readonly expiresAt: UnixSeconds | null;
}

const maxNameLength = 60;
/** A bound on storage, not on anybody's reach: two made at the same moment may pass it together. */
export const maxLiveTokens = 50;

export async function createOwnToken(
  { store, random }: OwnTokenDeps,
  { caller }: SignedIn,
  input: OwnTokenInput,
): Promise<NewTokenOutcome> {
  const name = parseName(input.name);
  if (name === null) return { outcome: 'invalid_name' };
  const scopes = scopesInOrder(input.scopes);
  if (scopes.length === 0) return { outcome: 'no_scope' };
  const createdAt = store.now();
  const tokens = await store.listTokens(caller.account.id);
  if (tokens.filter((token) => isLiveToken(token, createdAt)).length >= maxLiveTokens)
    return { outcome: 'too_many', max: maxLiveTokens };
  const { expiresAt } = input;
  const made = makeToken({ name, scopes, createdAt, expiresAt, dataKey: caller.dataKey.expose() }, random);
  const stored = await store.addToken(caller.account.id, made.stored);
  return { outcome: 'created', token: new Sensitive(made.token), stored };
}

/** Without the blanks around it; `null` when nothing remains, too much, or what could rewrite the line it is shown in. */
function parseName(text: string): string | null {
  const name = text.trim();
  const length = [...name].length;
  if (length < 1 || length > maxNameLength || !name.isWellFormed()) return null;
  return /[\p{Cc}\p{Zl}\p{Zp}]/u.test(name) ? null : name;
}
