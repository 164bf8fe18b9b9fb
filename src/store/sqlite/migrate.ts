/**
 * Brings a database to this version's schema.
 *
 * Owns: the order of the migrations. Invariant: each is applied once, whole, in a transaction of its own; a database of
 * another program or of a later version is refused untouched (P25).
 */
import type { Database } from 'bun:sqlite';
import { StoreRefusal } from '../store.ts';
import records from './migrations/001-records.sql' with { type: 'text' };
import attempts from './migrations/002-attempts.sql' with { type: 'text' };
import accounts from './migrations/003-accounts.sql' with { type: 'text' };
import people from './migrations/004-people.sql' with { type: 'text' };
import mailAndDomains from './migrations/005-mail-and-domains.sql' with { type: 'text' };
import storeTime from './migrations/006-store-time.sql' with { type: 'text' };
import tickets from './migrations/007-tickets.sql' with { type: 'text' };
import memos from './migrations/008-memos.sql' with { type: 'text' };
import sharedWork from './migrations/009-shared-work.sql' with { type: 'text' };

const migrations: readonly string[] = [
  records,
  attempts,
  accounts,
  people,
  mailAndDomains,
  storeTime,
  tickets,
  memos,
  sharedWork,
];

/** "mayf" in ASCII, the mark of our files (SQLite's `application_id`). */
const applicationId = 0x6d617966;

function numberOf(db: Database, pragma: 'user_version' | 'application_id'): number {
  return Number(Object.values(db.query<object, []>(`PRAGMA ${pragma}`).get() ?? {})[0] ?? 0);
}

export function migrate(db: Database): void {
  const version = numberOf(db, 'user_version');
  assertOurs(db, version);
  for (let next = version; next < migrations.length; next += 1) apply(db, next);
}

function assertOurs(db: Database, version: number): void {
  const tables = db.query<{ n: number }, []>('SELECT count(*) AS n FROM sqlite_schema').get()?.n ?? 0;
  if (numberOf(db, 'application_id') !== applicationId && (version !== 0 || tables !== 0)) {
    throw new StoreRefusal(
      'foreign_database',
      'mayfly.db in the data folder is a database of another program. Choose another MAYFLY_DATA_DIR.',
    );
  }
  if (version > migrations.length) {
    throw new StoreRefusal(
      'newer_schema',
      `The data was written by a later version of Mayfly (schema ${version}, this one knows ${migrations.length}). ` +
        'Run that version or a later one, or restore a copy from before the upgrade.',
    );
  }
}

/** Two processes may start at once: whoever gets the lock second finds the work done. */
function apply(db: Database, index: number): void {
  db.run('BEGIN IMMEDIATE');
  try {
    if (numberOf(db, 'user_version') === index) {
      db.run(migrations[index] ?? '');
      db.run(`PRAGMA application_id = ${applicationId}`);
      db.run(`PRAGMA user_version = ${index + 1}`);
    }
    db.run('COMMIT');
  } catch (error) {
    if (db.inTransaction) db.run('ROLLBACK');
    throw error;
  }
}
