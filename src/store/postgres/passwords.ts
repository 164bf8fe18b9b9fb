/** Passwords. One function in 002-accounts.sql changes a password, which ends everything begun with the earlier one. */
import type { StoredPassword } from '../../core/account.ts';
import type { PasswordStore } from '../../core/ports/passwords.ts';
import { accountColumns, accountOf, type PasswordRow, passwordColumns, passwordOf } from '../account-rows.ts';
import { isDone } from './batches.ts';
import type { Engine, Values } from './engine.ts';
import { copyOf, decision, nameOf, statement } from './statement.ts';

const selectPassword = statement(`
  SELECT ${accountColumns}, ${passwordColumns('a', 'password_set_at')}
  FROM mayfly_store.accounts a WHERE a.username = $1`);

export const passwordValues = ({ salt, verifier, wrappedDataKey, setAt }: StoredPassword): Values => [
  copyOf(salt),
  copyOf(verifier),
  copyOf(wrappedDataKey),
  setAt,
];

const changePassword = decision(`
  SELECT mayfly_store.change_password(
    $3::bigint, $4::bytea, $5::bytea, $6::bytea, $7::bytea, $8::bigint, $9::bigint, $10::boolean) AS done`);

export function createPasswordStore(engine: Engine): PasswordStore {
  return {
    async findPassword(username) {
      const [row] = await engine.read<PasswordRow>(selectPassword, [nameOf(username)]);
      return row === undefined ? null : { account: accountOf(row), password: passwordOf(row) };
    },
    changePassword(id, from, to, keepSessionId, tokens) {
      const values = [id, copyOf(from), ...passwordValues(to), keepSessionId, tokens === 'revoke'];
      return isDone(engine, changePassword, values);
    },
  };
}
