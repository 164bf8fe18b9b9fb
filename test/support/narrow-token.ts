/** A token that may do less than its account, made as the operator's command does, from the account's first token. */

import type { TokenScope } from '../../src/core/account.ts';
import { createToken } from '../../src/core/accounts/admin.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { systemRandom } from '../../src/crypto/random.ts';
import type { TestAccount, TestApp } from './app.ts';

/** The same account with a new token that has only these scopes. */
export async function narrowed(
  { store }: Pick<TestApp, 'store'>,
  account: TestAccount,
  scopes: readonly TokenScope[],
): Promise<TestAccount> {
  const made = await createToken(
    { store, random: systemRandom },
    {
      expiresAt: null,
      email: account.username,
      name: 'narrow',
      scopes,
      existingToken: new Sensitive(account.token),
    },
  );
  if (made.outcome !== 'created') throw new Error(`the token was not made: ${made.outcome}`);
  const token = made.token.expose();
  return { ...account, token, authorization: `Basic ${btoa(`${account.username}:${token}`)}` };
}
