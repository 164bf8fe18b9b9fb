/**
 * Converts this store's rows to the form that a move uses (`store/move/tables.ts`), and back. A record is assembled
 * from its own row and those in other tables, and times that have not come yet (see 001-records.sql) become `null`.
 * Guesses are grouped by secret.
 */
import type { Database } from 'bun:sqlite';
import { lookRow } from '../../core/ports/looks.ts';
import { rootKidOf } from '../../core/ports/roots.ts';
import {
  type Cell,
  cellsOf,
  isReferredTo,
  keyOf,
  type MovedRow,
  type MovedTable,
  type TableName,
  tableNamed,
} from '../move/tables.ts';
import { burnerOf } from './claims.ts';
import { hintOf } from './locator.ts';
import { hintIn, hintSpan, holdsLook } from './looks.ts';
import {
  type DeliveryColumns,
  deliveryColumns,
  deliveryOf,
  joinDeliveries,
  letterAtCreation,
  letters,
} from './mail.ts';
import { unlessErased } from './receipts.ts';

export type Values = Cell[];

type Named = Readonly<Record<string, Cell>>;

const namesOf = ({ columns }: MovedTable): string[] => columns.map(({ name }) => name);

const named = (table: MovedTable, row: MovedRow): Named =>
  Object.fromEntries(namesOf(table).map((name, n) => [name, row[n] ?? null]));

const inOrder = (table: MovedTable, row: Named): MovedRow => namesOf(table).map((name) => row[name] ?? null);

interface Reading {
  readonly select: string;
  readonly toRow: (row: never) => MovedRow;
}

interface RecordRow extends DeliveryColumns {
  state: string;
  expires_at: number;
  receipt_expires_at: number;
  position: number;
  owner: number | null;
  created_at: number;
  viewed_at: number;
  sweep_at: number;
  recent_box: Uint8Array | null;
  memo_box: Uint8Array | null;
  sealed_secret: Uint8Array;
  holds_look: number;
  [column: string]: Cell;
}

const selectRecords = `
  SELECT r.*, ${deliveryColumns}, n.due_at AS notice_due_at, m.memo_box,
    (SELECT ${holdsLook} FROM records WHERE position = r.position) AS holds_look
  FROM records r ${joinDeliveries} LEFT JOIN notices n ON n.position = r.position
  LEFT JOIN memos m ON m.position = r.position`;

/** Erased bytes are zeros in this store, and are not moved. */
function toMovedRecord(row: RecordRow): MovedRow {
  const { expires_at: expiresAt, receipt_expires_at: receiptExpiresAt } = row;
  const delivery = deliveryOf(row);
  const isLook = row.holds_look === 1;
  const isSealed = isLook || (row.state === 'w' && row.sweep_at < row.receipt_expires_at);
  return inOrder(tableNamed('records'), {
    ...row,
    ended_at: row.state === 'w' ? null : row.ended_at,
    burned_by: burnerOf(row.state, row.delivery_at, { expiresAt, receiptExpiresAt }),
    viewed_at: row.viewed_at < row.receipt_expires_at ? row.viewed_at : null,
    recent_box: unlessErased(row.recent_box),
    memo_box: unlessErased(row.memo_box),
    sealed_secret: isSealed ? row.sealed_secret : null,
    look_until: isLook ? row.sweep_at : null,
    delivery: delivery?.state ?? null,
    delivery_at: delivery?.at ?? null,
    delivery_stale_at: delivery?.staleAt ?? null,
    delivery_note_box: delivery?.noteBox ?? null,
    delivery_address_box: delivery?.addressBox ?? null,
  });
}

const selectAttempts = `
  SELECT l.secret_id, l.in_life, l.ends_at,
    max(l.ends_at, ifnull((SELECT max(stale_at) FROM attempts a WHERE a.secret_id = l.secret_id), 0)) AS stale_at,
    (SELECT json_group_array(json_array(lower(hex(client)), at) ORDER BY at, attempt)
     FROM attempts a WHERE a.secret_id = l.secret_id) AS window
  FROM attempt_lives l`;

const selectAccounts = `
  SELECT a.*, p.salt, p.verifier, p.wrapped_data_key, p.set_at AS password_set_at
  FROM accounts a LEFT JOIN passwords p ON p.account_id = a.id`;

const selects: Partial<Record<TableName, { readonly select: string; readonly alias: string }>> = {
  records: { select: selectRecords, alias: 'r.' },
  attempts: { select: selectAttempts, alias: 'l.' },
  accounts: { select: selectAccounts, alias: 'a.' },
};

function readingOf(table: MovedTable): Reading {
  const select = selects[table.name]?.select ?? `SELECT ${namesOf(table).join(', ')} FROM ${table.name}`;
  const toRow = (row: Named) => inOrder(table, row);
  return { select, toRow: table.name === 'records' ? toMovedRecord : toRow };
}

const keysIn = (table: MovedTable): string =>
  `(${table.keys.map(({ name }) => `${selects[table.name]?.alias ?? ''}${name}`).join(', ')})`;

const marksFor = (count: number): string => `(${Array(count).fill('?').join(', ')})`;

export function readPage(
  db: Database,
  table: MovedTable,
  after: string | null,
  limit: number,
): readonly MovedRow[] {
  const { select, toRow } = readingOf(table);
  const values: Values = after === null ? [] : cellsOf(table, after);
  const where = after === null ? '' : `WHERE ${keysIn(table)} > ${marksFor(values.length)}`;
  const order = keysIn(table).slice(1, -1);
  const rows = db.query<never, Values>(`${select} ${where} ORDER BY ${order} LIMIT ?`).all(...values, limit);
  return rows.map(toRow);
}

export function readRow(db: Database, table: MovedTable, key: string): MovedRow | null {
  const { select, toRow } = readingOf(table);
  const values = cellsOf(table, key);
  const sql = `${select} WHERE ${keysIn(table)} = ${marksFor(values.length)}`;
  const row = db.query<never, Values>(sql).get(...values);
  return row === null ? null : toRow(row);
}

interface KeptIn {
  readonly name: string;
  readonly keys: readonly string[];
}

const keptUnder = (key: string, ...names: readonly string[]): KeptIn[] =>
  names.map((name) => ({ name, keys: [key] }));

/** Returns the tables that store parts of a row, in deletion order. */
export function keptIn({ name, keys }: MovedTable): readonly KeptIn[] {
  if (name === 'records') return keptUnder('position', 'deliveries', 'notices', 'memos', 'records');
  if (name === 'attempts') return keptUnder('secret_id', 'attempts', 'attempt_lives');
  if (name === 'accounts') return [...keptUnder('account_id', 'passwords'), { name, keys: ['id'] }];
  return [{ name, keys: keys.map((key) => key.name) }];
}

export function deleteRow(db: Database, table: MovedTable, key: string): void {
  for (const { name, keys } of keptIn(table))
    db.query(`DELETE FROM ${name} WHERE ${keys.map((each) => `${each} = ?`).join(' AND ')}`).run(
      ...cellsOf(table, key),
    );
}

/** Returns `false` if the row's key or a unique value is taken, or its parent is missing. */
export function addRow(db: Database, table: MovedTable, row: MovedRow): boolean {
  if (table.name === 'records') return addRecord(db, named(table, row));
  if (table.name === 'attempts') return addAttempts(db, named(table, row));
  if (table.name === 'accounts') return addAccount(db, named(table, row));
  return insert(db, table.name, named(table, row), table);
}

/** Replaces the row that has the same key. */
export function putRow(db: Database, table: MovedTable, row: MovedRow): void {
  if (table.name === 'domains') giveWay(db, named(table, row));
  if (isReferredTo(table) && changeRow(db, table, named(table, row))) return;
  if (!isReferredTo(table)) deleteRow(db, table, keyOf(table, row));
  if (!addRow(db, table, row)) throw new Error(`a row of ${table.name} is not the only one of its kind`);
}

/** Rows arrive in their current state: a domain that lost its name to another account may come after that account's. */
function giveWay(db: Database, { name = null, account_id = null, state }: Named): void {
  if (state !== 'verified') return;
  const sql = "UPDATE domains SET state = 'lost' WHERE name = ?1 AND state = 'verified' AND account_id <> ?2";
  db.query<unknown, Values>(sql).run(name, account_id);
}

function changeRow(db: Database, table: MovedTable, row: Named): boolean {
  const keys = table.keys.map(({ name }) => name);
  const own = Object.keys(table.name === 'accounts' ? accountOnly(row) : row);
  const names = own.filter((name) => !keys.includes(name));
  const set = names.map((name) => `${name} = ?`).join(', ');
  const where = keys.map((name) => `${name} = ?`).join(' AND ');
  const values = [...names, ...keys].map((name) => row[name] ?? null);
  const sql = `UPDATE ${table.name} SET ${set} WHERE ${where}`;
  if (db.query<unknown, Values>(sql).run(...values).changes === 0) return false;
  if (table.name === 'accounts') putPassword(db, row);
  return true;
}

const passwordColumns = ['salt', 'verifier', 'wrapped_data_key', 'password_set_at'];

const accountOnly = (row: Named): Named =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !passwordColumns.includes(name)));

function putPassword(db: Database, row: Named): void {
  const { id: account_id = null, salt = null, verifier = null, wrapped_data_key = null } = row;
  db.query<unknown, Values>('DELETE FROM passwords WHERE account_id = ?1').run(account_id);
  const set_at = row.password_set_at ?? null;
  if (salt !== null) insert(db, 'passwords', { account_id, salt, verifier, wrapped_data_key, set_at });
}

function addAccount(db: Database, row: Named): boolean {
  if (!insert(db, 'accounts', accountOnly(row))) return false;
  putPassword(db, row);
  return true;
}

function insert(db: Database, into: string, row: Named, table: MovedTable | null = null): boolean {
  const names = Object.keys(row);
  const { parent } = table ?? {};
  const conditions = Object.entries(parent?.columns ?? {}).map(
    ([column, key]) => `p.${key} = ?${names.indexOf(column) + 1}`,
  );
  const where = parent
    ? `EXISTS (SELECT 1 FROM ${parent.table} p WHERE ${conditions.join(' AND ')})`
    : 'true';
  const values = names.map((_, n) => `?${n + 1}`).join(', ');
  const sql = `INSERT INTO ${into} (${names.join(', ')}) SELECT ${values} WHERE ${where} ON CONFLICT DO NOTHING`;
  return db.query<unknown, Values>(sql).run(...Object.values(row)).changes === 1;
}

const numberIn = (row: Named, name: string): number => Number(row[name]);
const bytesIn = (row: Named, name: string): Uint8Array | null => (row[name] as Uint8Array | null) ?? null;

/** Returns the columns that store a later time until their own has come, or another fact as a time (see claims.ts and looks.ts). */
function ownTimesOf(row: Named): Named {
  const [expiresAt, receiptExpiresAt] = [numberIn(row, 'expires_at'), numberIn(row, 'receipt_expires_at')];
  const sealed = bytesIn(row, 'sealed_secret');
  const { look_until: lookUntil = null, burned_by: burnedBy } = row;
  const isLook = sealed !== null && lookUntil !== null;
  const unseen = numberIn(row, 'created_at');
  const byBurner = { creator: expiresAt, recipient: receiptExpiresAt }[String(burnedBy)] ?? unseen;
  const until = Number(lookUntil);
  return {
    ended_at: row.ended_at ?? expiresAt,
    viewed_at: row.viewed_at ?? receiptExpiresAt,
    sweep_at: sealed === null ? receiptExpiresAt : isLook ? until : expiresAt,
    delivery_at: isLook ? until - (until % hintSpan) + hintIn(sealed, lookRow.tagAt) : byBurner,
  };
}

/** Columns that are stored in a different form or table. */
const changedColumns = [
  ...[
    'ended_at',
    'burned_by',
    'viewed_at',
    'memo_box',
    'sealed_secret',
    'look_until',
    'notice_due_at',
    'delivery',
  ],
  ...['delivery_at', 'delivery_stale_at', 'delivery_note_box', 'delivery_address_box'],
];
const copiedColumns = namesOf(tableNamed('records')).filter((name) => !changedColumns.includes(name));

function addRecord(db: Database, row: Named): boolean {
  const sealed = bytesIn(row, 'sealed_secret') ?? new Uint8Array(0);
  const { position = null, delivery = null } = row;
  const isAdded = insert(db, 'records', {
    ...Object.fromEntries(copiedColumns.map((name) => [name, row[name] ?? null])),
    ...ownTimesOf(row),
    delivery: letterAtCreation(delivery === null ? null : 0),
    root_kid: rootKidOf(sealed) ?? 0,
    secret_hint: hintOf(bytesIn(row, 'secret_id') ?? sealed),
    receipt_hint: hintOf(bytesIn(row, 'receipt_id') ?? sealed),
    creator_box: new Uint8Array(0),
    sealed_secret: sealed,
  });
  if (!isAdded) return false;
  if (delivery !== null)
    insert(db, 'deliveries', {
      position,
      state: letters[delivery as keyof typeof letters],
      at: row.delivery_at ?? null,
      stale_at: row.delivery_stale_at ?? null,
      note_box: row.delivery_note_box ?? null,
      address_box: row.delivery_address_box ?? null,
    });
  const [due_at = null, memo_box = null] = [row.notice_due_at, row.memo_box];
  if (due_at !== null) insert(db, 'notices', { position, due_at });
  if (memo_box !== null) insert(db, 'memos', { position, memo_box });
  return true;
}

function addAttempts(db: Database, row: Named): boolean {
  const { secret_id = null, in_life = null, ends_at = null, stale_at = null } = row;
  if (!insert(db, 'attempt_lives', { secret_id, in_life, ends_at })) return false;
  for (const [client, at] of JSON.parse(String(row.window)) as [string, number][])
    insert(db, 'attempts', { secret_id, client: Uint8Array.fromHex(client), at, stale_at });
  return true;
}

/** Returns SQL for the key of the row that a trigger fires for. */
export function keyInTrigger({ keys: typed }: MovedTable, { keys }: KeptIn, row: 'NEW' | 'OLD'): string {
  const texts = keys.map((name, n) =>
    typed[n]?.type === 'bytes' ? `lower(hex(${row}.${name}))` : `CAST(${row}.${name} AS TEXT)`,
  );
  return texts.join(` || ':' || `);
}
