/**
 * Converts this store's rows to their moved form (`store/move/tables.ts`) and back. Most tables have the same columns;
 * this file describes where they differ. Rows travel to the server as one JSON text, with bytes in hex.
 */
import { lookRow } from '../../core/ports/looks.ts';
import {
  type Cell,
  cellsOf,
  isReferredTo,
  keyOf,
  type MovedRow,
  type MovedTable,
  type TableName,
} from '../move/tables.ts';
import type { MoveSession } from './move-session.ts';

const readings: Partial<Record<TableName, Readonly<Record<string, string>>>> = {
  creations: { is_done: '(t.done_at IS NOT NULL)::int' },
  attempts: {
    ends_at: 't.life_ends_at',
    window: `(SELECT '[' || coalesce(string_agg(
        format('["%s",%s]', encode(substr(t.clients, 16 * n - 15, 16), 'hex'), t.times[n]), ',' ORDER BY n), '') || ']'
      FROM generate_series(1, cardinality(t.times)) AS n)`,
  },
  records: { look_until: "CASE WHEN t.state = 'r' AND t.sealed_secret IS NOT NULL THEN t.look_until END" },
};

const wordOf = { int: 'bigint', text: 'text', bytes: 'text' } as const;

const writings: Partial<Record<TableName, Readonly<Record<string, string | null>>>> = {
  tickets: {
    place: `coalesce((SELECT max(place) FROM mayfly_store.tickets o WHERE o.kind = m.kind AND o.username = m.username), 0)
      + row_number() OVER (PARTITION BY m.kind, m.username ORDER BY m.created_at)`,
  },
  creations: { is_done: null, done_at: 'CASE WHEN m.is_done = 1 THEN m.reserved_at END' },
  attempts: {
    ...{ ends_at: null, life_ends_at: 'm.ends_at', window: null },
    ...{ last_number: 'json_array_length(m.window::json)' },
    numbers: 'ARRAY(SELECT n::bigint FROM generate_series(1, json_array_length(m.window::json)) AS n)',
    times: `ARRAY(SELECT (a ->> 1)::bigint FROM json_array_elements(m.window::json) WITH ORDINALITY AS w (a, n) ORDER BY n)`,
    clients: `decode(coalesce((SELECT string_agg(a ->> 0, '' ORDER BY n)
      FROM json_array_elements(m.window::json) WITH ORDINALITY AS w (a, n)), ''), 'hex')`,
  },
  records: {
    sweep_at: `CASE WHEN m.sealed_secret IS NULL THEN m.receipt_expires_at
      WHEN m.state = 'w' THEN m.expires_at ELSE m.look_until END`,
    look_tag: `CASE WHEN m.look_until IS NOT NULL
      THEN substr(decode(m.sealed_secret, 'hex'), ${lookRow.tagAt + 1}, ${lookRow.tagBytes}) END`,
  },
};

const jsonOf = (cell: Cell): number | string | null => (cell instanceof Uint8Array ? cell.toHex() : cell);

function jsonOfRows({ columns }: MovedTable, rows: readonly MovedRow[]): string {
  return JSON.stringify(
    rows.map((row) => Object.fromEntries(columns.map(({ name }, n) => [name, jsonOf(row[n] ?? null)]))),
  );
}

function jsonOfKeys(table: MovedTable, keys: readonly string[]): string {
  const cells = keys.map((key) => cellsOf(table, key));
  return jsonOfRows({ ...table, columns: table.keys }, cells);
}

/** The rows of `$1` as a table `m`, with bytes in hex. */
const given = (columns: MovedTable['columns']): string =>
  `json_to_recordset($1::json) AS m (${columns.map(({ name, type }) => `${quoted(name)} ${wordOf[type]}`).join(', ')})`;

/** Some column names are SQL keywords. */
const quoted = (name: string): string => `"${name}"`;

const sameKey = ({ keys }: MovedTable, one: string, other: string): string =>
  keys
    .map(({ name, type }) =>
      type === 'bytes'
        ? `${one}.${name} = decode(${other}.${name}, 'hex')`
        : `${one}.${name} = ${other}.${name}`,
    )
    .join(' AND ');

function selectOf({ name, columns }: MovedTable, from: string): string {
  const own = readings[name] ?? {};
  const list = columns.map(
    (column) => `${own[column.name] ?? `t.${quoted(column.name)}`} AS ${quoted(column.name)}`,
  );
  return `SELECT ${list.join(', ')} FROM ${from} t`;
}

const inOrder =
  ({ columns }: MovedTable) =>
  (row: Readonly<Record<string, Cell>>): MovedRow =>
    columns.map(({ name }) => row[name] ?? null);

type Asking = Pick<MoveSession, 'ask'>;

/** @param from the table's current name */
export async function readPage(
  { ask }: Asking,
  table: MovedTable,
  from: string,
  after: string | null,
  limit: number,
): Promise<readonly MovedRow[]> {
  const keys = table.keys.map(({ name }) => `t.${name}`).join(', ');
  const values = after === null ? [] : cellsOf(table, after);
  const where = after === null ? '' : `WHERE (${keys}) > (${values.map((_, n) => `$${n + 1}`).join(', ')})`;
  const sql = `${selectOf(table, from)} ${where} ORDER BY ${keys} LIMIT ${limit}`;
  return (await ask<Record<string, Cell>>(sql, values)).map(inOrder(table));
}

/** @param from the table's current name */
export async function readRows(
  { ask }: Asking,
  table: MovedTable,
  from: string,
  keys: readonly string[],
): Promise<readonly MovedRow[]> {
  const sql = `${selectOf(table, from)} JOIN ${given(table.keys)} ON ${sameKey(table, 't', 'm')}`;
  return (await ask<Record<string, Cell>>(sql, [jsonOfKeys(table, keys)])).map(inOrder(table));
}

/** @param into the table's current name */
export async function deleteRows(
  { ask }: Asking,
  table: MovedTable,
  into: string,
  keys: readonly string[],
): Promise<void> {
  if (keys.length === 0) return;
  await ask(`DELETE FROM ${into} t USING ${given(table.keys)} WHERE ${sameKey(table, 't', 'm')}`, [
    jsonOfKeys(table, keys),
  ]);
}

function columnsOf({ name, columns }: MovedTable): [column: string, value: string][] {
  const own = writings[name] ?? {};
  const moved = columns
    .filter((column) => own[column.name] !== null)
    .map((column): [string, string] => [
      column.name,
      column.type === 'bytes' ? `decode(m.${quoted(column.name)}, 'hex')` : `m.${quoted(column.name)}`,
    ]);
  const made = Object.entries(own).filter((entry): entry is [string, string] => entry[1] !== null);
  return [...moved, ...made];
}

function insertOf(table: MovedTable, into: string): string {
  const columns = columnsOf(table);
  const { parent } = table;
  const values = new Map(columns);
  const conditions = Object.entries(parent?.columns ?? {}).map(
    ([column, key]) => `p.${key} = ${values.get(column)}`,
  );
  const where =
    parent === null
      ? ''
      : `WHERE EXISTS (SELECT FROM mayfly_store.${parent.table} p WHERE ${conditions.join(' AND ')})`;
  return `INSERT INTO ${into} (${columns.map(([name]) => quoted(name)).join(', ')})
    SELECT ${columns.map(([, value]) => value).join(', ')} FROM ${given(table.columns)} ${where}`;
}

/** Skips rows that conflict. @param into the table's current name */
export async function addRows(
  { ask }: Asking,
  table: MovedTable,
  into: string,
  rows: readonly MovedRow[],
): Promise<void> {
  if (rows.length === 0) return;
  await ask(`${insertOf(table, into)} ON CONFLICT DO NOTHING`, [jsonOfRows(table, rows)]);
}

/** @param into the table's current name */
export async function putRows(
  session: Asking,
  table: MovedTable,
  into: string,
  rows: readonly MovedRow[],
): Promise<void> {
  if (rows.length === 0) return;
  if (table.name === 'domains') await giveWay(session, table, rows);
  const isKept = isReferredTo(table);
  if (!isKept)
    await deleteRows(
      session,
      table,
      into,
      rows.map((row) => keyOf(table, row)),
    );
  const keys = table.keys.map(({ name }) => name);
  const changes = columnsOf(table)
    .filter(([name]) => !keys.includes(name))
    .map(([name]) => `${quoted(name)} = excluded.${quoted(name)}`);
  const orChange = isKept ? ` ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${changes.join(', ')}` : '';
  await session.ask(insertOf(table, into) + orChange, [jsonOfRows(table, rows)]);
}

/** Rows arrive in their current state, so a domain that lost its name may arrive after the domain that took it. */
async function giveWay({ ask }: Asking, table: MovedTable, rows: readonly MovedRow[]): Promise<void> {
  await ask(
    `UPDATE mayfly_store.domains t SET state = 'lost' FROM ${given(table.columns)}
     WHERE t.state = 'verified' AND m.state = 'verified' AND t.name = m.name AND t.account_id <> m.account_id`,
    [jsonOfRows(table, rows)],
  );
}

/** Returns the SQL for the key of the row that a trigger fires for. */
export function keyInTrigger({ keys }: MovedTable, row: 'NEW' | 'OLD'): string {
  const texts = keys.map(({ name, type }) =>
    type === 'bytes' ? `encode(${row}.${name}, 'hex')` : `${row}.${name}::text`,
  );
  return texts.join(` || ':' || `);
}
