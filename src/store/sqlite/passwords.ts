/** Passwords. The UPDATE that changes a password names the one it replaces. */
import type { Database } from 'bun:sqlite';
import type { StoredPassword } from '../../core/account.ts';
import type { PasswordStore } from '../../core/ports/passwords.ts';
import { accountColumns, accountOf, type PasswordRow, passwordColumns, passwordOf } from '../account-rows.ts';
import type { WritesOf } from './decisions.ts';
import { type Parts, type Read, readBy } from './parts.ts';

const selectPassword = `
  SELECT ${accountColumns}, ${passwordColumns('p', 'set_at')}
  FROM accounts a LEFT JOIN passwords p ON p.account_id = a.id
  WHERE a.username = ?1`;

export function passwordReads({ db, reader }: Parts): Read<PasswordStore> {
  const select = db.query<PasswordRow, [string]>(selectPassword);
  return readBy(reader, {
    findPassword(username: string) {
      const row = select.get(username);
      return row && { account: accountOf(row), password: passwordOf(row) };
    },
  });
}

export const upsertPassword = `
  INSERT INTO passwords (account_id, salt, verifier, wrapped_data_key, set_at) VALUES (?1, ?2, ?3, ?4, ?5)
  ON CONFLICT (account_id) DO UPDATE
  SET salt = excluded.salt, verifier = excluded.verifier, wrapped_data_key = excluded.wrapped_data_key,
    set_at = excluded.set_at`;

const replacePassword = `
  UPDATE passwords SET salt = ?2, verifier = ?3, wrapped_data_key = ?4, set_at = ?5
  WHERE account_id = ?1 AND verifier = ?6 AND account_id IN (SELECT id FROM accounts WHERE locked_at IS NULL)`;

export const passwordParts = ({ salt, verifier, wrappedDataKey, setAt }: StoredPassword) =>
  [salt, verifier, wrappedDataKey, setAt] as const;

export function createPasswordWrites(db: Database): WritesOf<PasswordStore> {
  const exchange = db.query(replacePassword);
  const endOthers = db.query('DELETE FROM sessions WHERE account_id = ?1 AND session_id <> ?2');
  const revokeTokens = db.query('DELETE FROM tokens WHERE account_id = ?1');
  const voidTickets = db.query('UPDATE tickets SET expires_at = 0 WHERE kind = ?1 AND username = ?2');
  const usernameOf = db.query<{ username: string }, [number]>('SELECT username FROM accounts WHERE id = ?1');
  return {
    changePassword(_now, id, from, to, keepSessionId, tokens) {
      if (exchange.run(id, ...passwordParts(to), from).changes !== 1) return false;
      endOthers.run(id, keepSessionId);
      if (tokens === 'revoke') revokeTokens.run(id);
      voidTickets.run('reset', usernameOf.get(id)?.username ?? '');
      return true;
    },
  };
}
