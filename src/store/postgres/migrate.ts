/**
 * Brings the tables up to date: each migration once, also when several nodes start at the same time. They exclude each other by a
 * row that the transaction locks, because a lock of a session means nothing through a pooler.
 */
import pg from 'pg';
import { StoreRefusal } from '../store.ts';
import type { Connection } from './connection.ts';
import { assertNotFenced } from './fence.ts';
import records from './migrations/001-records.sql' with { type: 'text' };
import accounts from './migrations/002-accounts.sql' with { type: 'text' };
import domains from './migrations/003-domains.sql' with { type: 'text' };
import sharedWork from './migrations/004-shared-work.sql' with { type: 'text' };
import timeAndLimits from './migrations/005-time-and-limits.sql' with { type: 'text' };
import moving from './migrations/006-moving.sql' with { type: 'text' };

export const migrations: readonly string[] = [records, accounts, domains, sharedWork, timeAndLimits, moving];

const limitMs = 60_000;

const missingTable = '42P01';
/** Two that make the same table at once: the first makes it. */
const madeMeanwhile = ['23505', '42P07', '42P06'];

/** Without IF NOT EXISTS, which remarks on a table that exists: a remark means that a decision is not confirmed. */
const countRow = `
  DO $$ BEGIN
    IF to_regnamespace('mayfly_store') IS NULL THEN CREATE SCHEMA mayfly_store; END IF;
  END $$;
  CREATE TABLE mayfly_store.migrations (only_row int PRIMARY KEY CHECK (only_row = 1), done int NOT NULL);
  INSERT INTO mayfly_store.migrations VALUES (1, 0)`;

const tablesOfOneRow = migrations.flatMap((text) =>
  [...text.matchAll(/^CREATE TABLE (\S+) \(\s*only_row /gm)].map(([, name = '']) => name),
);

const isOneOf = (error: unknown, codes: readonly string[]) =>
  error instanceof pg.DatabaseError && codes.includes(error.code ?? '');

/**
 * @param connection with nothing else under way; not to be used after a rejection
 * @returns whether there was anything to do
 */
export async function migrate(connection: Connection): Promise<boolean> {
  const deadlineMs = performance.now() + limitMs;
  const run = (text: string) => connection.run(text, deadlineMs);

  async function countDone(isLocking: boolean): Promise<number> {
    const [row] = await run(`SELECT done FROM mayfly_store.migrations${isLocking ? ' FOR UPDATE' : ''}`);
    const { done } = row as { done: number };
    if (done <= migrations.length) return done;
    throw new StoreRefusal(
      'newer_schema',
      'A later version of Mayfly has written this database: run that version, or a later one.',
    );
  }

  async function addCount(): Promise<number> {
    try {
      await run(countRow);
    } catch (error) {
      if (!isOneOf(error, madeMeanwhile)) throw error;
    }
    return 0;
  }

  const done = await countDone(false).catch((error) => {
    if (isOneOf(error, [missingTable])) return addCount();
    throw error;
  });
  if (done > 0) await assertNotFenced(run);
  if (done === migrations.length) return false;
  await run('BEGIN');
  for (const text of migrations.slice(await countDone(true))) await run(text);
  await run(`UPDATE mayfly_store.migrations SET done = ${migrations.length}`);
  // What was never counted is taken for thousands of rows, and each statement that joins it is compiled for a second.
  await run(`ANALYZE ${tablesOfOneRow.join(', ')}`);
  await run('COMMIT');
  return true;
}
