/**
 * The end of an account, inside the writer's transaction.
 *
 * Owns: what goes with it, and what stays. Invariants: its waiting secrets end by the statement that burns one, so a
 * claim and the deletion exclude each other (P7); records are overwritten in place and keep their size (P10, see
 * 001-records.sql); all of it is one decision of one transaction.
 */
import type { Database } from 'bun:sqlite';
import { eraseMemosOfAccount } from './memo-rows.ts';
import type { Deciding } from './protocol.ts';
import { endRecord } from './write-records.ts';

const burnOwned = `${endRecord('b')} WHERE owner = ?2 AND state = 'w' AND expires_at > ?1`;

/** Expired and ended ones too: their receipts would list them as well. */
const eraseRecent = `
  UPDATE records SET recent_box = zeroblob(length(recent_box)) WHERE owner = ?1 AND recent_box IS NOT NULL`;

/** A domain's logo goes with its row. */
const ownTables = ['passwords', 'tokens', 'sessions', 'domains'] as const;

export function createAccountDeletion(db: Database): Deciding<'deleteAccount'> {
  const account = db.query<{ username: string }, [number]>('SELECT username FROM accounts WHERE id = ?1');
  const burn = db.query(burnOwned);
  const erase = [eraseRecent, eraseMemosOfAccount].map((statement) => db.query(statement));
  const removeOwn = ownTables.map((table) => db.query(`DELETE FROM ${table} WHERE account_id = ?1`));
  const removeTickets = db.query("DELETE FROM tickets WHERE kind IN ('sign_up', 'reset') AND username = ?1");
  const removeAccount = db.query('DELETE FROM accounts WHERE id = ?1');

  return {
    deleteAccount(now, id) {
      const found = account.get(id);
      if (found === null) return null;
      const burned = Number(burn.run(now, id).changes);
      for (const each of erase) each.run(id);
      for (const remove of removeOwn) remove.run(id);
      removeTickets.run(found.username);
      removeAccount.run(id);
      return burned;
    },
  };
}
