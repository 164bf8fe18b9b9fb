/**
 * This store as the source or target of a move. Triggers record the key of each row that changes, in the same
 * transaction. A trigger is created under a lock that waits for current writers, so every change is caught either
 * by a trigger or by the pages, which are read later. Closing puts up the fence (`fence.ts`).
 */

import type { BackupFacts } from '../../core/store-copies.ts';
import {
  type Changes,
  type MoveId,
  MoveProblem,
  type MoveRow,
  type MoveSource,
  type MoveTarget,
  type SourcePhase,
  type StoreFacts,
  type TargetState,
} from '../move/move.ts';
import { keyOf, type MovedTable, movedTables, tableNamed } from '../move/tables.ts';
import { fencedWords, StoreRefusal } from '../store.ts';
import { isFenced, nameIn, putUpFence, takeDownFence } from './fence.ts';
import { addRows, deleteRows, keyInTrigger, putRows, readPage, readRows } from './move-rows.ts';
import { type MoveSession, openMoveSession, type PostgresAddress } from './move-session.ts';
import { findPlace, keepPlace } from './restores.ts';

/** Locks the move's row, so that no two runs make changes at the same time. */
async function moveOf({ ask }: MoveSession): Promise<MoveRow | null> {
  const [row] = await ask<MoveRow>(
    'SELECT id, phase, run, next_table, next_after FROM mayfly_store.move FOR UPDATE',
  );
  return row ?? null;
}

/** One run of the command, which may make changes only until another run begins. */
function createRun(session: MoveSession) {
  let run = 0;
  return {
    async begin(): Promise<void> {
      const [row] = await session.ask<{ run: number }>(
        'UPDATE mayfly_store.move SET run = run + 1 RETURNING run',
      );
      run = row?.run ?? 0;
    },
    write: <Result>(work: () => Promise<Result>): Promise<Result> =>
      session.write(async () => {
        if ((await moveOf(session))?.run !== run)
          throw new MoveProblem('Another run of the command has begun.');
        return work();
      }),
  };
}

const noteFunction = (table: MovedTable): string => `
  CREATE OR REPLACE FUNCTION mayfly_store.note_moved_${table.name}() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, mayfly_store, pg_temp AS $$
  BEGIN
    IF TG_OP = 'DELETE' THEN
      INSERT INTO mayfly_store.move_changes (table_name, row_key) VALUES ('${table.name}', ${keyInTrigger(table, 'OLD')});
    ELSE
      INSERT INTO mayfly_store.move_changes (table_name, row_key) VALUES ('${table.name}', ${keyInTrigger(table, 'NEW')});
    END IF;
    RETURN NULL;
  END $$`;

/** Uses one transaction per table: locking several together could deadlock with a node's statement. */
async function recordChanges(session: MoveSession): Promise<void> {
  for (const table of movedTables)
    await session.write(async () => {
      await session.ask(noteFunction(table));
      await session.ask(`CREATE OR REPLACE TRIGGER note_moved AFTER INSERT OR UPDATE OR DELETE ON mayfly_store.${table.name}
        FOR EACH ROW EXECUTE FUNCTION mayfly_store.note_moved_${table.name}()`);
    });
}

/** Must run within a transaction. */
async function forgetTriggers({ ask }: MoveSession, isClosed: boolean): Promise<void> {
  for (const { name } of movedTables) {
    await ask(`DROP TRIGGER IF EXISTS note_moved ON ${nameIn(name, isClosed)}`);
    await ask(`DROP FUNCTION IF EXISTS mayfly_store.note_moved_${name}()`);
  }
}

export type PrepareStore = () => Promise<void>;

async function openPrepared(address: PostgresAddress, prepare: PrepareStore): Promise<MoveSession> {
  const session = await openMoveSession(address);
  try {
    if (!(await isFenced(session.ask))) await prepare();
    return session;
  } catch (error) {
    await session[Symbol.asyncDispose]();
    throw error;
  }
}

export async function openPostgresSource(
  address: PostgresAddress,
  prepare: PrepareStore,
): Promise<MoveSource> {
  const session = await openPrepared(address, prepare);
  const run = createRun(session);
  const { ask } = session;
  let isClosed = await isFenced(ask);
  const current = ({ name }: MovedTable) => nameIn(name, isClosed);
  return {
    async begin(fresh) {
      const state = await session.write(() => beginCopying(session, run, fresh));
      if (state.phase === 'copying') await recordChanges(session);
      return state;
    },
    countRows: () => countRows(session, current),
    readPage: (table, after, limit) => readPage(session, table, current(table), after, limit),
    readChanges: (limit) => session.read(() => readChanges(session, current, limit)),
    forget: (changeIds) =>
      run.write(
        async () =>
          void (await ask('DELETE FROM mayfly_store.move_changes WHERE note = ANY($1)', [changeIds])),
      ),
    async close() {
      if (isClosed) return;
      await run.write(async () => {
        await putUpFence(ask);
        await ask("UPDATE mayfly_store.move SET phase = 'closed'");
      });
      isClosed = true;
    },
    readFacts: () => readFacts(session),
    handOver: () =>
      run.write(async () => {
        const closed = await ask(
          "UPDATE mayfly_store.move SET phase = 'handed_over' WHERE phase = 'closed' RETURNING 1",
        );
        const left = await ask('SELECT 1 FROM mayfly_store.move_changes LIMIT 1');
        if (closed.length !== 1 || left.length > 0)
          throw new MoveProblem('The source is not closed and copied.');
        await forgetTriggers(session, true);
      }),
    erase: () => erase(session),
    cancel: () => session.write(() => cancel(session)),
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}

async function beginCopying(session: MoveSession, run: ReturnType<typeof createRun>, fresh: MoveId) {
  const { ask } = session;
  const known = await moveOf(session);
  if (known?.phase === 'filling')
    throw new StoreRefusal('not_a_store', fencedWords('in this database').filling);
  if (known === null || known.phase === 'open') {
    await ask('DELETE FROM mayfly_store.move');
    await ask('DELETE FROM mayfly_store.move_changes');
    await ask("INSERT INTO mayfly_store.move (only_row, id, phase, run) VALUES (1, $1, 'copying', 0)", [
      fresh,
    ]);
  }
  await run.begin();
  const begun = await moveOf(session);
  if (begun === null) throw new Error('the move was not recorded');
  return { id: begun.id, phase: begun.phase as SourcePhase };
}

async function countRows({ ask }: MoveSession, current: (table: MovedTable) => string): Promise<number> {
  const counts = movedTables.map((table) => `(SELECT count(*) FROM ${current(table)})`);
  const [row] = await ask<{ n: number }>(`SELECT ${counts.join(' + ')} AS n`);
  return row?.n ?? 0;
}

async function readChanges(
  session: MoveSession,
  current: (table: MovedTable) => string,
  limit: number,
): Promise<Changes> {
  const changed = await session.ask<{ note: number; table_name: string; row_key: string }>(
    'SELECT note, table_name, row_key FROM mayfly_store.move_changes ORDER BY note LIMIT $1',
    [limit],
  );
  const tables: Changes['tables'][number][] = [];
  for (const name of new Set(changed.map((each) => each.table_name))) {
    const table = tableNamed(name);
    const keys = [...new Set(changed.filter((each) => each.table_name === name).map((each) => each.row_key))];
    tables.push({ table, keys, rows: await readRows(session, table, current(table), keys) });
  }
  const order = (one: { table: MovedTable }) => movedTables.indexOf(one.table);
  return { changeIds: changed.map(({ note }) => note), tables: tables.sort((a, b) => order(a) - order(b)) };
}

const numbered = { accounts: 'id', tokens: 'token_id', sessions: 'session_id' } as const;

async function readFacts({ ask }: MoveSession): Promise<StoreFacts> {
  const [facts] = await ask<{ time: number; floor: number }>(
    `SELECT used_until AS time, (SELECT kid FROM mayfly_store.root_floor) AS floor FROM ${nameIn('store_time', true)}`,
  );
  const lastIds: Record<string, number> = {};
  for (const [table, column] of Object.entries(numbered)) {
    const [row] = await ask<{ last: number | null }>(
      `SELECT pg_sequence_last_value(pg_get_serial_sequence('mayfly_store.${table}', '${column}')::regclass) AS last`,
    );
    lastIds[table] = row?.last ?? 0;
  }
  return { time: facts?.time ?? 0, firstOpenRoot: facts?.floor ?? 0, lastIds };
}

const erasedAtOnce = 5_000;

async function erase(session: MoveSession): Promise<void> {
  await session.write(() => session.ask('TRUNCATE mayfly_store.epochs'));
  const records = nameIn('records', true);
  const [row] = await session.ask<{ last: number | null }>(`SELECT max(position) AS last FROM ${records}`);
  for (let from = 0; from <= (row?.last ?? 0); from += erasedAtOnce)
    await session.ask(
      `UPDATE ${records} SET sealed_secret = NULL, delivery_address_box = NULL, look_until = NULL, look_tag = NULL
       WHERE position >= $1 AND position < $2 AND sealed_secret IS NOT NULL`,
      [from, from + erasedAtOnce],
    );
}

async function cancel(session: MoveSession): Promise<boolean> {
  const phase = (await moveOf(session))?.phase;
  if (phase === 'handed_over')
    throw new MoveProblem('It was handed over: another store has taken its place.');
  if (phase !== 'copying' && phase !== 'closed') return false;
  if (phase === 'closed') await takeDownFence(session.ask);
  await forgetTriggers(session, false);
  await session.ask('DELETE FROM mayfly_store.move_changes');
  await session.ask('DELETE FROM mayfly_store.move');
  return true;
}

const taken = () =>
  new StoreRefusal('not_a_store', 'There is a store in that database: name another database or schema.');

/** @param prepare creates the tables in a database that has none */
export async function openPostgresTarget(
  address: PostgresAddress,
  prepare: PrepareStore,
): Promise<MoveTarget> {
  const session = await openPrepared(address, prepare);
  const run = createRun(session);
  const { ask } = session;
  const current = ({ name }: MovedTable) => nameIn(name, true);
  return {
    begin: (id) =>
      session.write(async () => {
        const known = await moveOf(session);
        if (known === null) await beginFilling(session, id);
        else if (Buffer.compare(known.id, id) !== 0) throw taken();
        await run.begin();
        return stateOf(await moveOf(session));
      }),
    addRows: (table, rows, next) =>
      run.write(async () => {
        await addRows(session, table, current(table), rows);
        await ask('UPDATE mayfly_store.move SET next_table = $1, next_after = $2', [
          next?.table ?? null,
          next?.after ?? null,
        ]);
      }),
    applyChanges: ({ tables }) =>
      run.write(async () => {
        for (const { table, keys, rows } of tables.toReversed())
          await deleteRows(session, table, current(table), goneAmong(table, keys, rows));
        for (const { table, rows } of tables) await putRows(session, table, current(table), rows);
      }),
    setFacts: (facts) => run.write(() => setFacts(session, facts)),
    open: () =>
      run.write(async () => {
        await recordRoots(session);
        await takeDownFence(ask);
        await ask("UPDATE mayfly_store.move SET phase = 'open'");
      }),
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}

function goneAmong(
  table: MovedTable,
  keys: readonly string[],
  rows: Changes['tables'][number]['rows'],
): string[] {
  const there = new Set(rows.map((row) => keyOf(table, row)));
  return keys.filter((key) => !there.has(key));
}

/** Checks that the store is empty, while holding the lock that a node would need to add anything. */
async function beginFilling({ ask }: MoveSession, id: MoveId): Promise<void> {
  await putUpFence(ask);
  const [row] = await ask<{ is_used: boolean }>(
    `SELECT EXISTS (SELECT FROM mayfly_store.root_checks) OR EXISTS (SELECT FROM mayfly_store.accounts)
       OR EXISTS (SELECT FROM ${nameIn('records', true)}) AS is_used`,
  );
  if (row?.is_used !== false) throw taken();
  const first = movedTables[0]?.name ?? null;
  await ask(
    "INSERT INTO mayfly_store.move (only_row, id, phase, run, next_table) VALUES (1, $1, 'filling', 0, $2)",
    [id, first],
  );
}

function stateOf(move: MoveRow | null): TargetState {
  if (move === null || move.phase !== 'filling') return { state: 'open' };
  const { next_table: table, next_after: after } = move;
  return { state: 'copying', next: table === null ? null : { table: tableNamed(table).name, after } };
}

async function setFacts({ ask }: MoveSession, { time, firstOpenRoot, lastIds }: StoreFacts): Promise<void> {
  await ask(
    `UPDATE ${nameIn('store_time', true)} SET seconds = greatest(seconds, $1::bigint), used_until = greatest(used_until, $1::bigint),
       server_clock = greatest(seconds, $1::bigint), boot_id = NULL`,
    [time],
  );
  await ask('UPDATE mayfly_store.root_floor SET kid = greatest(kid, $1::int)', [firstOpenRoot]);
  await ask(
    'INSERT INTO mayfly_store.first_node (only_row, asked_at) VALUES (1, $1) ON CONFLICT DO NOTHING',
    [time],
  );
  const counted = { ...numbered, records: 'position' };
  for (const [table, column] of Object.entries(counted)) {
    const name = nameIn(table, true);
    await ask(
      `SELECT setval(pg_get_serial_sequence('${name}', '${column}'),
         greatest($1::bigint, (SELECT coalesce(max(${column}), 0) FROM ${name}), 1))`,
      [lastIds[table] ?? 0],
    );
  }
}

/** Adds a day, which covers the rounding in `roots.ts`. */
async function recordRoots({ ask }: MoveSession): Promise<void> {
  await ask(
    `INSERT INTO mayfly_store.root_uses (kid, until)
     SELECT get_byte(sealed_secret, 1) * 256 + get_byte(sealed_secret, 2) AS kid, max(expires_at) + 86400
     FROM ${nameIn('records', true)} WHERE length(sealed_secret) > 2 GROUP BY 1
     ON CONFLICT (kid) DO UPDATE SET until = greatest(root_uses.until, excluded.until)`,
  );
}

/** Returns what a restored store contains; `null` if the store is not known to be restored. */
export async function previewRestored({ ask }: MoveSession): Promise<BackupFacts | null> {
  if (!(await isFenced(ask))) return null;
  const [facts] = await ask<BackupFacts>(`
    SELECT t.seconds AS "takenAt", (SELECT count(*) FROM mayfly_store.accounts) AS accounts,
      (SELECT count(*) FROM ${nameIn('records', true)} WHERE state = 'w' AND expires_at > t.seconds) AS waiting
    FROM ${nameIn('store_time', true)} t JOIN mayfly_store.move ON move.phase = 'restored'`);
  return facts ?? null;
}

/**
 * Burns every waiting secret, destroys the keys, and ends every look, request, log-in and emailed ticket, as these may have
 * ended since the backup (see restores.ts). As with a restored file (`sqlite/backup.ts`), this includes secrets
 * that have expired by the server's clock, which may be wrong.
 */
export async function acceptRestore(session: MoveSession): Promise<void> {
  const { ask } = session;
  const place = await findPlace(ask);
  const [records, time] = [nameIn('records', true), nameIn('store_time', true)];
  await session.write(async () => {
    await ask(`
      UPDATE ${records} SET state = 'b', ended_at = greatest(t.seconds, extract(epoch FROM clock_timestamp())::bigint)
      FROM ${time} t WHERE state = 'w' AND expires_at > t.seconds`);
    await ask(`
      UPDATE ${records} SET sealed_secret = NULL, look_until = NULL, look_tag = NULL, delivery_address_box = NULL,
        notice_due_at = NULL, sweep_at = receipt_expires_at`);
    await ask('TRUNCATE mayfly_store.epochs');
    // Makes nodes read their cached keys again.
    await ask(`UPDATE ${time} SET times_set = times_set + 1`);
    await ask('UPDATE mayfly_store.requests SET is_ended = 1');
    for (const table of ['attempts', 'sessions', 'tickets']) await ask(`DELETE FROM mayfly_store.${table}`);
    await forgetTriggers(session, true);
    await ask('DELETE FROM mayfly_store.move_changes');
    await ask('DELETE FROM mayfly_store.move');
    await ask(keepPlace(place));
    await takeDownFence(ask);
  });
}
