/**
 * What moves between stores, as tables and columns that both stores can produce. Rows move as stored: ciphertext,
 * ids and times. Each table comes after those that its rows refer to.
 */

export type Cell = number | string | Uint8Array | null;
export type MovedRow = readonly Cell[];

type CellType = 'int' | 'text' | 'bytes';

export interface MovedColumn {
  readonly name: string;
  readonly type: CellType;
}

export interface MovedTable {
  readonly name: TableName;
  readonly columns: readonly MovedColumn[];
  /** The leading columns, which identify a row. */
  readonly keys: readonly MovedColumn[];
  /** The table that its rows refer to, and the columns that match. */
  readonly parent: { readonly table: TableName; readonly columns: Readonly<Record<string, string>> } | null;
}

const ofAccount = { table: 'accounts', columns: { account_id: 'id' } } as const;

const columns = {
  root_checks: ['kid int', 'check_value bytes'],
  epochs: ['epoch int', 'key bytes'],
  accounts: [
    ...['id int', 'username text', 'plan text', 'locale text', 'notify int', 'created_at int'],
    ...['sender_name text', 'locked_at int', 'last_used_at int'],
    // The account's password, if it has one.
    ...['salt bytes', 'verifier bytes', 'wrapped_data_key bytes', 'password_set_at int'],
  ],
  tokens: [
    ...['token_id int', 'account_id int', 'token_hash bytes', 'name text', 'wrapped_data_key bytes'],
    ...['scopes int', 'created_at int', 'expires_at int', 'last_used_at int'],
  ],
  sessions: [
    ...['session_id int', 'account_id int', 'session_hash bytes', 'wrapped_data_key bytes', 'label text'],
    ...['created_at int', 'last_used_at int', 'expires_at int'],
  ],
  tickets: [
    ...['ticket_hash bytes', 'kind text', 'username text', 'created_at int', 'expires_at int'],
    'counts_until int',
  ],
  domains: [
    ...['account_id int', 'name text', 'state text', 'challenge text', 'created_at int', 'updated_at int'],
    ...['checked_at int', 'finding text', 'brand text', 'leased_until int'],
  ],
  domain_logos: ['account_id int', 'domain text', 'name text', 'type text', 'bytes bytes'],
  deletions: ['account_id int', 'burned int', 'finished_at int'],
  creations: [
    ...['creation_id bytes', 'token_id int', 'seed bytes', 'body_mac bytes', 'is_done int'],
    ...['mismatches int', 'reserved_at int', 'ends_at int'],
  ],
  requests: [
    ...['request_id bytes', 'owner int', 'owner_hash bytes', 'ask_hash bytes', 'terms bytes', 'places int'],
    ...['created_at int', 'until int', 'answer_ttl int', 'notify int', 'share_domain text', 'is_ended int'],
    ...['updated_at int', 'answers_until int', 'noticed_at int', 'reports int'],
  ],
  answers: ['answer_id bytes', 'request_id bytes', 'number int', 'is_discarded int', 'box bytes'],
  /**
   * One row per secret: the guesses in its life, when that life ends, when the last guess stops counting, and the
   * window's guesses in JSON, oldest first, each `[client in hex, at]`.
   */
  attempts: ['secret_id bytes', 'in_life int', 'ends_at int', 'stale_at int', 'window text'],
  records: [
    ...['position int', 'secret_id bytes', 'receipt_id bytes', 'state text', 'row_version int', 'owner int'],
    ...['created_at int', 'expires_at int', 'receipt_expires_at int', 'ended_at int', 'burned_by text'],
    ...['viewed_at int', 'marks int', 'share_domain text', 'details_box bytes', 'recent_box bytes'],
    ...['memo_box bytes', 'sealed_secret bytes', 'look_until int', 'delivery text', 'delivery_at int'],
    ...['delivery_stale_at int', 'delivery_note_box bytes', 'delivery_address_box bytes'],
    'notice_due_at int',
  ],
  codes: ['secret_id bytes', 'look_tag bytes', 'at int', 'code_tag bytes', 'state text'],
} as const satisfies Record<string, readonly `${string} ${CellType}`[]>;

export type TableName = keyof typeof columns;

const parents: Partial<Record<TableName, MovedTable['parent']>> = {
  tokens: ofAccount,
  sessions: ofAccount,
  domains: ofAccount,
  domain_logos: { table: 'domains', columns: { account_id: 'account_id', domain: 'name' } },
  creations: { table: 'tokens', columns: { token_id: 'token_id' } },
  answers: { table: 'requests', columns: { request_id: 'request_id' } },
};

const keyCounts: Partial<Record<TableName, number>> = { domains: 2, domain_logos: 2, codes: 3 };

function columnOf(text: string): MovedColumn {
  const [name = '', type] = text.split(' ');
  return { name, type: type as CellType };
}

function tableOf(name: TableName): MovedTable {
  const all = columns[name].map(columnOf);
  return { name, columns: all, keys: all.slice(0, keyCounts[name] ?? 1), parent: parents[name] ?? null };
}

export const movedTables: readonly MovedTable[] = (Object.keys(columns) as TableName[]).map(tableOf);

export function tableNamed(name: string): MovedTable {
  const table = movedTables.find((each) => each.name === name);
  if (table === undefined) throw new Error(`nothing is moved as ${name}`);
  return table;
}

/** Returns a row's key, which also marks where the next page begins. */
export function keyOf({ keys }: MovedTable, row: MovedRow): string {
  return keys.map((_, n) => textOf(row[n] ?? null)).join(':');
}

const textOf = (cell: Cell): string => (cell instanceof Uint8Array ? cell.toHex() : String(cell));

export function cellsOf({ keys }: MovedTable, key: string): Cell[] {
  const parts = key.split(':');
  // Only the last may contain a colon.
  const texts = [...parts.splice(0, keys.length - 1), parts.join(':')];
  return keys.map(({ type }, n) => cellFrom(type, texts[n] ?? ''));
}

function cellFrom(type: CellType, text: string): Cell {
  if (type === 'int') return Number(text);
  return type === 'bytes' ? Uint8Array.fromHex(text) : text;
}

/** Whether other tables' rows refer to this table's, and would be deleted with them. Rows of such a table are updated in place. */
export const isReferredTo = ({ name }: MovedTable): boolean =>
  movedTables.some(({ parent }) => parent?.table === name);
