/**
 * Accounts and tokens created by an operator's command, without a password. The data key is stored only in wrapped form (P9), so a token
 * created without an existing token gets a new data key. It can do everything, but lists only the secrets that it creates itself.
 */

import { type ApiToken, tokenScopes } from '../account.ts';
import { isDeliverable, usernameOf } from '../mail/recipients.ts';
import type { PlanName } from '../plans.ts';
import type { AccountStore } from '../ports/accounts.ts';
import type { AccountCore } from '../ports/core.ts';
import type { NewToken } from '../ports/tokens.ts';
import { Sensitive } from '../sensitive.ts';
import { drawDataKey } from './data-key.ts';
import { dataKeyOfToken, makeToken, scopesInOrder } from './tokens.ts';

export type AccountAdminCore = Pick<AccountCore, 'random'> & {
  readonly store: AccountStore & Pick<AccountCore['store'], 'now'>;
};

export const firstTokenName = 'first';

type CreateAccountOutcome =
  | { readonly outcome: 'created'; readonly username: string; readonly token: Sensitive<ApiToken> }
  | { readonly outcome: 'exists' }
  | { readonly outcome: 'invalid_email' };

export async function createAccount(
  { store, random }: AccountAdminCore,
  input: { readonly email: string; readonly plan: PlanName },
): Promise<CreateAccountOutcome> {
  const username = usernameOf(input.email);
  if (!isDeliverable(username)) return { outcome: 'invalid_email' };
  const createdAt = store.now();
  const dataKey = drawDataKey(random);
  const first = { name: firstTokenName, scopes: tokenScopes, createdAt, expiresAt: null, dataKey };
  const made = makeToken(first, random);
  const account = await store.createAccount({ username, plan: input.plan, createdAt }, made.stored);
  return account === null
    ? { outcome: 'exists' }
    : { outcome: 'created', username, token: new Sensitive(made.token) };
}

type CreateTokenOutcome =
  | {
      readonly outcome: 'created';
      readonly tokenId: number;
      readonly token: Sensitive<ApiToken>;
      readonly canListEarlier: boolean;
    }
  | { readonly outcome: 'no_account' }
  | { readonly outcome: 'invalid_token' };

interface CreateTokenInput extends Pick<NewToken, 'name' | 'scopes' | 'expiresAt'> {
  readonly email: string;
  /** A live token of the account; the new one shares its data key. */
  readonly existingToken: Sensitive<string> | null;
}

export async function createToken(
  { store, random }: AccountAdminCore,
  input: CreateTokenInput,
): Promise<CreateTokenOutcome> {
  const account = await store.findAccount(usernameOf(input.email));
  if (account === null) return { outcome: 'no_account' };
  const { name, scopes, expiresAt, existingToken } = input;
  const dataKey =
    existingToken === null
      ? drawDataKey(random)
      : await dataKeyOfToken(store, account.username, existingToken.expose());
  if (dataKey === null) return { outcome: 'invalid_token' };
  const made = makeToken(
    { name, scopes: scopesInOrder(scopes), createdAt: store.now(), expiresAt, dataKey },
    random,
  );
  const { tokenId } = await store.addToken(account.id, made.stored);
  const canListEarlier = existingToken !== null;
  return { outcome: 'created', tokenId, token: new Sensitive(made.token), canListEarlier };
}
