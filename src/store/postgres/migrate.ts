/**
 * Runs each migration once, even if several nodes start together. They exclude each other by a row that the transaction
 * locks, because a session lock means nothing through a pooler.
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
import epochs from './migrations/007-epochs.sql' with { type: 'text' };
import senderName from './migrations/008-sender-name.sql' with { type: 'text' };
import requests from './migrations/009-requests.sql' with { type: 'text' };
import codes from './migrations/010-codes.sql' with { type: 'text' };
import ownSchema from './migrations/own-schema.sql' with { type: 'text' };

export const migrations: readonly string[] = [
  records,
  accounts,
  domains,
  sharedWork,
  timeAndLimits,
  moving,
  epochs,
  senderName,
  requests,
  codes,
];

const migrationMs = 60_000;

const missingTable = '42P01';
/** Raised by own-schema.sql. */
const movedAway = 'MF001';

const lostSchema =
  'The tables of this database are in the schema mayfly_store, and that is not there: restore it with its schema. To begin with an empty ' +
  'store instead, drop the table “migrations” in the first schema of the user’s search_path, usually public.';

/**
 * The server warns about other roles' objects, whose rights it cannot revoke; such a notice would make the commit count
 * as unconfirmed.
 */
const closeToPublic = `
  SET LOCAL client_min_messages TO error;
  REVOKE ALL ON SCHEMA mayfly_store FROM PUBLIC;
  REVOKE ALL ON ALL FUNCTIONS IN SCHEMA mayfly_store FROM PUBLIC;
  SET LOCAL client_min_messages TO DEFAULT`;

const tablesOfOneRow = migrations.flatMap((text) =>
  [...text.matchAll(/^CREATE TABLE (\S+) \(\s*only_row /gm)].map(([, name = '']) => name),
);

const isOneOf = (error: unknown, codes: readonly string[]) =>
  error instanceof pg.DatabaseError && codes.includes(error.code ?? '');

/**
 * @param connection must be idle; must not be used after a rejection
 * @returns whether there was anything to do
 */
export async function migrate(connection: Connection, limitMs = migrationMs): Promise<boolean> {
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

  /** Retries only until the deadline: nothing is sent after it. */
  async function findCount(isMade: boolean): Promise<{ done: number; isMade: boolean }> {
    const done = await countDone(false).catch((error) => {
      if (isOneOf(error, [missingTable])) return null;
      throw error;
    });
    if (done !== null) return { done, isMade };
    await run(ownSchema).catch((error) => {
      throw isOneOf(error, [movedAway]) ? new StoreRefusal('not_a_store', lostSchema) : error;
    });
    return findCount(true);
  }

  const { done, isMade } = await findCount(false);
  if (done > 0) await assertNotFenced(run);
  if (done === migrations.length && !isMade) return false;
  await run('BEGIN');
  for (const text of migrations.slice(await countDone(true))) await run(text);
  await run(`UPDATE mayfly_store.migrations SET done = ${migrations.length}`);
  await run(closeToPublic);
  // The server assumes that a table never analyzed has thousands of rows, and spends a second compiling each statement
  // that joins it.
  await run(`ANALYZE ${tablesOfOneRow.join(', ')}`);
  await run('COMMIT');
  return true;
}
