/** Brings the tables up to date: each migration once, whoever starts at the same time. */
import type pg from 'pg';
import records from './migrations/001-records.sql' with { type: 'text' };
import accounts from './migrations/002-accounts.sql' with { type: 'text' };
import domains from './migrations/003-domains.sql' with { type: 'text' };
import sharedWork from './migrations/004-shared-work.sql' with { type: 'text' };
import timeAndLimits from './migrations/005-time-and-limits.sql' with { type: 'text' };

export const migrations: readonly string[] = [records, accounts, domains, sharedWork, timeAndLimits];

export async function migrate(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query(
      'CREATE TABLE IF NOT EXISTS migrations (only_row int PRIMARY KEY CHECK (only_row = 1), done int NOT NULL)',
    );
    await client.query('INSERT INTO migrations VALUES (1, 0) ON CONFLICT DO NOTHING');
    await client.query('BEGIN');
    const { rows } = await client.query<{ done: number }>('SELECT done FROM migrations FOR UPDATE');
    const done = rows[0]?.done ?? 0;
    for (const text of migrations.slice(done)) await client.query(text);
    await client.query('UPDATE migrations SET done = $1', [Math.max(done, migrations.length)]);
    await client.query('COMMIT');
  } finally {
    client.release();
  }
}
