/**
 * Account passwords: which ones are accepted (NIST SP 800-63B-3 §5.1.1.2, ASVS 5.0 V6.2: a length and a list of common ones, no composition
 * rules), how one opens the data key, and the changes that require one in addition to a session: setting a new password and deleting the
 * account.
 *
 * A password is compared as received, every byte (P15). The store contains a value derived from the stretched password, and the data key
 * wrapped under it, so each guess costs an argon2id computation (P9). Every refusal stretches one password and compares one value in
 * constant time (P17).
 *
 * The data key survives a password change, because the current password opens it. A change ends every other session. If another change or a
 * reset came in between, the given password counts as wrong.
 */

import { equalInConstantTime, utf8 } from '../../crypto/bytes.ts';
import { derivePasswordVerifier } from '../../crypto/derive.ts';
import {
  type AccountCaller,
  clientOf,
  type SignedIn,
  type StoredPassword,
  type TokenFate,
} from '../account.ts';
import { ServiceError } from '../errors.ts';
import type { AccountCore } from '../ports/core.ts';
import type { IsCommonPassword, PassphraseHasher } from '../ports/passphrases.ts';
import { Sensitive } from '../sensitive.ts';
import type { UnixSeconds } from '../time.ts';
import { sendAfter } from './account-mail.ts';
import { openDataKey, wrapDataKey } from './data-key.ts';
import { finishDeletion } from './deletion.ts';

export const passwordLength = { min: 10, max: 256 } as const;
const saltBytes = 16;

/** Used if no password is stored: comparing with it takes the same work, and no password matches it. */
const dummyPassword = { salt: new Uint8Array(saltBytes), verifier: new Uint8Array(32) };

/** Lengths are in characters (code points). */
export type PasswordRefusal =
  | { readonly outcome: 'password_too_short'; readonly minLength: number }
  | { readonly outcome: 'password_too_long'; readonly maxLength: number }
  /** Common, or derived from the address. */
  | { readonly outcome: 'password_common' }
  | { readonly outcome: 'password_ill_formed' };

export async function refusalOf(
  password: string,
  username: string,
  isCommonPassword: IsCommonPassword,
): Promise<PasswordRefusal | null> {
  if (!password.isWellFormed()) return { outcome: 'password_ill_formed' };
  const { min, max } = passwordLength;
  // Counting code units first is cheap and avoids splitting megabytes into characters.
  const length = password.length > 2 * max ? password.length : [...password].length;
  if (length < min) return { outcome: 'password_too_short', minLength: min };
  if (length > max) return { outcome: 'password_too_long', maxLength: max };
  if (isMadeOf(password, username) || (await isCommonPassword(password)))
    return { outcome: 'password_common' };
  return null;
}

/** Checks whether only digits and symbols remain once the address, or its local part, is removed. */
function isMadeOf(password: string, username: string): boolean {
  const lower = password.toLowerCase();
  const local = username.slice(0, username.lastIndexOf('@'));
  const rest = lower.replaceAll(username, '').replaceAll(local, '');
  return rest !== lower && !/\p{L}/u.test(rest);
}

export async function makePassword(
  deps: Pick<AccountCore, 'hasher' | 'random'>,
  input: {
    readonly password: Sensitive<string>;
    readonly dataKey: Uint8Array;
    readonly setAt: UnixSeconds;
    readonly client: string;
  },
): Promise<StoredPassword> {
  const salt = deps.random(saltBytes);
  const stretched = await stretch(deps.hasher, input.password, salt, input.client);
  const verifier = derivePasswordVerifier(stretched, salt);
  const wrappedDataKey = wrapDataKey(input.dataKey, stretched, deps.random);
  stretched.fill(0);
  return { salt, verifier, wrappedDataKey, setAt: input.setAt };
}

/**
 * Returns the data key, or `null` if the password is wrong or missing.
 * @throws ServiceError `damaged` if the password is right but the data key does not open
 */
export async function openWithPassword(
  hasher: PassphraseHasher,
  stored: StoredPassword | null,
  password: Sensitive<string>,
  client: string,
): Promise<Uint8Array | null> {
  const { salt, verifier } = stored ?? dummyPassword;
  const stretched = await stretch(hasher, password, salt, client);
  const isEqual = equalInConstantTime(derivePasswordVerifier(stretched, salt), verifier);
  // A lone surrogate is stretched as U+FFFD, which another password may contain.
  const isRight = isEqual && password.expose().isWellFormed();
  const dataKey = isRight && stored !== null ? openDataKey(stored.wrappedDataKey, stretched) : null;
  stretched.fill(0);
  if (isRight && stored !== null && dataKey === null)
    throw new ServiceError('damaged', 'an account’s data key does not open with its password');
  return dataKey;
}

async function stretch(
  hasher: PassphraseHasher,
  password: Sensitive<string>,
  salt: Uint8Array,
  client: string,
): Promise<Uint8Array> {
  const bytes = utf8(password.expose());
  try {
    return await hasher.stretch(bytes, salt, { client, purpose: 'prove' });
  } finally {
    bytes.fill(0);
  }
}

export interface ChangePasswordInput {
  readonly current: Sensitive<string>;
  readonly next: Sensitive<string>;
  readonly tokens: TokenFate;
  readonly locale: string;
}

export interface DeleteAccountInput {
  readonly password: Sensitive<string>;
  readonly locale: string;
}

type ChangePasswordOutcome =
  | { readonly outcome: 'changed' }
  | { readonly outcome: 'wrong_password' }
  | PasswordRefusal;

type DeleteOutcome =
  | { readonly outcome: 'deleted'; readonly burned: number }
  | { readonly outcome: 'wrong_password' };

const wrongPassword = { outcome: 'wrong_password' } as const;

/** Ends every other session. */
export async function changePassword(
  deps: AccountCore,
  { caller, sessionId }: SignedIn,
  input: ChangePasswordInput,
): Promise<ChangePasswordOutcome> {
  const { id, username } = caller.account;
  const refusal = await refusalOf(input.next.expose(), username, deps.isCommonPassword);
  if (refusal !== null) return refusal;
  const proven = await provePassword(deps, caller, input.current);
  if (proven === null) return wrongPassword;
  const { dataKey, password } = proven;
  const next = await makePassword(deps, {
    password: input.next,
    dataKey,
    setAt: deps.store.now(),
    client: clientOf(caller, ''),
  });
  dataKey.fill(0);
  const { tokens, locale } = input;
  if (!(await deps.store.changePassword(id, password.verifier, next, sessionId, tokens)))
    return wrongPassword;
  deps.events({ event: 'password_changed', account: id, by: 'password' });
  const { forgottenUrl } = deps.links;
  const to = new Sensitive(username);
  sendAfter(deps, { to, locale, kind: 'password_changed', forgottenUrl, tokens });
  return { outcome: 'changed' };
}

export async function deleteAccount(
  deps: AccountCore,
  { caller }: SignedIn,
  input: DeleteAccountInput,
): Promise<DeleteOutcome> {
  const { id, username } = caller.account;
  const proven = await provePassword(deps, caller, input.password);
  if (proven === null) return wrongPassword;
  proven.dataKey.fill(0);
  // The account was deleted in between, so the password is no longer valid.
  if (!(await deps.store.deleteAccount(id))) return wrongPassword;
  sendAfter(deps, { to: new Sensitive(username), locale: input.locale, kind: 'account_deleted' });
  const burned = await finishDeletion(deps, id);
  return { outcome: 'deleted', burned };
}

/** The caller wipes the data key. */
interface ProvenPassword {
  readonly dataKey: Uint8Array;
  readonly password: StoredPassword;
}

/** Returns `null` unless the password belongs to this account: the address may now belong to a different account. */
export async function provePassword(
  { store, hasher }: Pick<AccountCore, 'store' | 'hasher'>,
  caller: AccountCaller,
  text: Sensitive<string>,
): Promise<ProvenPassword | null> {
  const { account } = caller;
  const found = await store.findPassword(account.username);
  const password = found?.account.id === account.id ? found.password : null;
  const dataKey = await openWithPassword(hasher, password, text, clientOf(caller, ''));
  return password === null || dataKey === null ? null : { dataKey, password };
}
