/**
 * The API tokens that a person makes for an account.
 *
 * Owns: the rules for a new one. Invariants: it outlives the session, so a session alone does not make one: it takes the
 * password, and the owner is told by mail; it opens the account's data key, so it lists what the session lists (within its
 * scopes), and is shown once.
 */

import type { RandomBytes } from '../../crypto/random.ts';
import type { Links } from '../links.ts';
import type { AccountStore, PassphraseHasher } from '../ports.ts';
import { Sensitive } from '../sensitive.ts';
import type { UnixSeconds } from '../time.ts';
import { type AccountMailDeps, sendBehind } from './account-mail.ts';
import type { StoredToken, TokenScope } from './accounts.ts';
import { isLiveToken, makeToken, scopesInOrder } from './api-tokens.ts';
import type { NewTokenOutcome, SignedIn } from './outcomes.ts';
import { provePassword } from './passwords.ts';

export interface OwnTokenDeps extends AccountMailDeps {
  readonly store: Pick<AccountStore, 'addOwnToken' | 'findPassword' | 'listTokens'> & { now(): UnixSeconds };
  readonly random: RandomBytes;
  readonly hasher: PassphraseHasher;
  readonly links: Links;
}

export interface OwnTokenInput {
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  readonly expiresAt: UnixSeconds | null;
  readonly password: Sensitive<string>;
  /** Of the mail. */
  readonly locale: string;
}

const maxNameLength = 60;
/** A bound on storage, not on anybody's reach: two made at the same moment may pass it together. */
export const maxLiveTokens = 50;

export async function createOwnToken(
  deps: OwnTokenDeps,
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
  // The password was replaced in between, and what came before it no longer counts.
  if (stored === null) return { outcome: 'wrong_password' };
  announce(deps, caller.account.username, stored, input.locale);
  return { outcome: 'created', token: new Sensitive(made.token), stored };
}

function announce(deps: OwnTokenDeps, username: string, { name }: StoredToken, locale: string): void {
  const { forgottenUrl } = deps.links;
  sendBehind(deps, { to: new Sensitive(username), locale, kind: 'token_created', name, forgottenUrl });
}

/** Without the blanks around it; `null` when nothing remains, too much, or what could rewrite the line it is shown in. */
function parseName(text: string): string | null {
  const name = text.trim();
  const length = [...name].length;
  if (length < 1 || length > maxNameLength || !name.isWellFormed()) return null;
  return /[\p{Cc}\p{Zl}\p{Zp}]/u.test(name) ? null : name;
}
