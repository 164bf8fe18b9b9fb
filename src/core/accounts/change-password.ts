/**
 * Changing a password, and deleting the account: what a session alone may not do.
 *
 * Owns: the two use cases that ask for the password again, and how it is proven wherever else that is asked. Invariants: the data key survives a change, because the
 * present password opens it; a change ends every other session; what came in between (another change, a reset) makes the
 * password that was given a wrong one.
 */

import type { RandomBytes } from '../../crypto/random.ts';
import { clientOf } from '../hash-place.ts';
import type { Links } from '../links.ts';
import type { AccountStore, IsCommonPassword, PassphraseHasher } from '../ports.ts';
import { Sensitive } from '../sensitive.ts';
import type { UnixSeconds } from '../time.ts';
import { type AccountMailDeps, sendBehind } from './account-mail.ts';
import type { AccountCaller, StoredPassword, TokenFate } from './accounts.ts';
import type { ChangePasswordOutcome, DeleteOutcome, SignedIn } from './outcomes.ts';
import { makePassword, openWithPassword, refusalOf } from './passwords.ts';

export interface OwnPasswordDeps extends AccountMailDeps {
  readonly store: Pick<AccountStore, 'findPassword' | 'changePassword' | 'deleteAccount'> & {
    now(): UnixSeconds;
  };
  readonly random: RandomBytes;
  readonly hasher: PassphraseHasher;
  readonly links: Links;
  readonly isCommonPassword: IsCommonPassword;
}

const wrongPassword = { outcome: 'wrong_password' } as const;

export async function changePassword(
  deps: OwnPasswordDeps,
  { caller, sessionId }: SignedIn,
  input: {
    readonly current: Sensitive<string>;
    readonly next: Sensitive<string>;
    readonly tokens: TokenFate;
    readonly locale: string;
  },
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
  sendBehind(deps, { to, locale, kind: 'password_changed', forgottenUrl, tokens });
  return { outcome: 'changed' };
}

export async function deleteAccount(
  deps: OwnPasswordDeps,
  { caller }: SignedIn,
  input: { readonly password: Sensitive<string>; readonly locale: string },
): Promise<DeleteOutcome> {
  const { id, username } = caller.account;
  const proven = await provePassword(deps, caller, input.password);
  if (proven === null) return wrongPassword;
  proven.dataKey.fill(0);
  const burned = await deps.store.deleteAccount(id);
  // Deleted in between: there is no account any more that this password belongs to.
  if (burned === null) return wrongPassword;
  deps.events({ event: 'account_deleted', account: id, burned });
  sendBehind(deps, { to: new Sensitive(username), locale: input.locale, kind: 'account_deleted' });
  return { outcome: 'deleted', burned };
}

/** The data key is the caller's to wipe. */
interface ProvenPassword {
  readonly dataKey: Uint8Array;
  readonly password: StoredPassword;
}

/** `null` when the password is not this account's: the address may have another account by now. */
export async function provePassword(
  {
    store,
    hasher,
  }: { readonly store: Pick<AccountStore, 'findPassword'>; readonly hasher: PassphraseHasher },
  caller: AccountCaller,
  text: Sensitive<string>,
): Promise<ProvenPassword | null> {
  const { account } = caller;
  const found = await store.findPassword(account.username);
  const password = found?.account.id === account.id ? found.password : null;
  const dataKey = await openWithPassword(hasher, password, text, clientOf(caller, ''));
  return password === null || dataKey === null ? null : { dataKey, password };
}
