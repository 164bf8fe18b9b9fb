/**
 * Moves a store into another while the first still serves (docs/decisions/048-moving-between-stores.md).
 *
 * 1. The source records the key of every row that changes, in the same transaction.
 * 2. All rows are copied, a page at a time; then the changes, until few are left.
 * 3. The source closes: in one step every process using it stops reading and deciding. The rest is copied.
 * 4. The source records the handover, but only once it is closed and nothing is left. Then the target opens.
 *
 * So at most one of the two stores releases a value, and step 4 marks the moment when the target takes over. Every step
 * may be repeated, so an interrupted move continues. Each store refuses every run of the command but the latest.
 */
import type { UnixSeconds } from '../../core/time.ts';
import { keyOf, type MovedRow, type MovedTable, movedTables, type TableName, tableNamed } from './tables.ts';

export type MoveId = Uint8Array;

/**
 * - `copying`: the source still serves.
 * - `closed`: it has stopped serving.
 * - `handed_over`: it has stopped for good.
 */
export type SourcePhase = 'copying' | 'closed' | 'handed_over';

export interface MoveRow {
  readonly id: Uint8Array;
  readonly phase: SourcePhase | 'filling' | 'open';
  readonly run: number;
  readonly next_table: string | null;
  readonly next_after: string | null;
}

export interface SourceState {
  readonly id: MoveId;
  readonly phase: SourcePhase;
}

/** The table of the next page, and the key after which that page begins. */
export interface NextPage {
  readonly table: TableName;
  readonly after: string | null;
}

export type TargetState =
  | { readonly state: 'copying'; readonly next: NextPage | null }
  | { readonly state: 'open' };

/** Changed rows in their current state, all from one moment. */
export interface Changes {
  readonly changeIds: readonly number[];
  readonly tables: readonly ChangedRows[];
}

export interface ChangedRows {
  readonly table: MovedTable;
  /** Includes the keys of deleted rows. */
  readonly keys: readonly string[];
  readonly rows: readonly MovedRow[];
}

export interface StoreFacts {
  /** Later than any decision the source store has made. */
  readonly time: UnixSeconds;
  readonly firstOpenRoot: number;
  /** The highest id ever assigned in each table, by table name. */
  readonly lastIds: Readonly<Record<string, number>>;
}

/** Every call is durable once it resolves. Calls that write reject once another run has begun. */
export interface MoveSource extends AsyncDisposable {
  /** @param fresh the id to use for a new move */
  begin(fresh: MoveId): Promise<SourceState>;
  countRows(): Promise<number>;
  readPage(table: MovedTable, after: string | null, limit: number): Promise<readonly MovedRow[]>;
  readChanges(limit: number): Promise<Changes>;
  forget(changeIds: readonly number[]): Promise<void>;
  close(): Promise<void>;
  /** Only for a closed source. */
  readFacts(): Promise<StoreFacts>;
  /** Rejects unless the source is closed and no changes are left. */
  handOver(): Promise<void>;
  /** Only for a store that was handed over (P10). */
  erase(): Promise<void>;
  /** Lets the store serve again, unless it was handed over. Returns whether there was a move. */
  cancel(): Promise<boolean>;
}

export interface MoveTarget extends AsyncDisposable {
  /**
   * Creates or finds the store for this move; no server uses it yet. Rejects with `StoreRefusal` if the place holds
   * anything else.
   */
  begin(id: MoveId): Promise<TargetState>;
  /**
   * Adds missing rows and records the next page, in one step. Skips a conflicting row: the source has recorded it as
   * changed.
   */
  addRows(table: MovedTable, rows: readonly MovedRow[], next: NextPage | null): Promise<void>;
  /** Applies all changes in one step. */
  applyChanges(changes: Changes): Promise<void>;
  setFacts(facts: StoreFacts): Promise<void>;
  open(): Promise<void>;
}

export interface MoveOptions {
  readonly source: MoveSource;
  readonly target: MoveTarget;
  readonly freshId: MoveId;
  readonly isFinishing: boolean;
  readonly onProgress: (copiedRows: number, allRows: number) => void;
  /** 1,000 if absent. */
  readonly pageRows?: number;
}

/** `copied`: the source still serves. */
export interface MoveOutcome {
  readonly outcome: 'copied' | 'moved';
  readonly rows: number;
}

export class MoveProblem extends Error {
  override readonly name = 'MoveProblem';
}

const usualPageRows = 1_000;

export async function moveStore(options: MoveOptions): Promise<MoveOutcome> {
  const { source, target, isFinishing } = options;
  const { id, phase } = await source.begin(options.freshId);
  const found = await target.begin(id);
  if (phase === 'handed_over') return takeOver(options, found);
  if (found.state === 'open')
    throw new MoveProblem('The target serves, and the source was not handed over to it.');
  const copied = await copyPages(options, found.next);
  const followed = await follow(options);
  if (!isFinishing) return { outcome: 'copied', rows: copied + followed };
  await source.close();
  const left = await follow(options);
  await target.setFacts(await source.readFacts());
  await source.handOver();
  await takeOver(options, { state: 'copying', next: null });
  return { outcome: 'moved', rows: copied + followed + left };
}

async function takeOver({ source, target }: MoveOptions, found: TargetState): Promise<MoveOutcome> {
  if (found.state === 'copying' && found.next !== null)
    throw new MoveProblem('The source was moved to another store, which has taken its place.');
  if (found.state === 'copying') await target.open();
  await source.erase();
  return { outcome: 'moved', rows: 0 };
}

async function copyPages(options: MoveOptions, from: NextPage | null): Promise<number> {
  if (from === null) return 0;
  const all = await options.source.countRows();
  let copied = 0;
  for (let next: NextPage | null = from; next !== null; ) {
    const page: Page = await copyPage(options, next);
    copied += page.rows;
    options.onProgress(copied, all);
    next = page.next;
  }
  return copied;
}

interface Page {
  readonly rows: number;
  readonly next: NextPage | null;
}

async function copyPage({ source, target, pageRows }: MoveOptions, at: NextPage): Promise<Page> {
  const limit = pageRows ?? usualPageRows;
  const table = tableNamed(at.table);
  const rows = await source.readPage(table, at.after, limit);
  const last = rows.length < limit ? undefined : rows.at(-1);
  const next = last === undefined ? firstPageAfter(table) : { table: table.name, after: keyOf(table, last) };
  await target.addRows(table, rows, next);
  return { rows: rows.length, next };
}

function firstPageAfter(table: MovedTable): NextPage | null {
  const following = movedTables[movedTables.indexOf(table) + 1];
  return following === undefined ? null : { table: following.name, after: null };
}

async function follow({ source, target, pageRows }: MoveOptions): Promise<number> {
  const limit = pageRows ?? usualPageRows;
  let followed = 0;
  for (;;) {
    const changes = await source.readChanges(limit);
    if (changes.changeIds.length === 0) return followed;
    await target.applyChanges(changes);
    await source.forget(changes.changeIds);
    followed += changes.tables.reduce((sum, { rows }) => sum + rows.length, 0);
    if (changes.changeIds.length < limit) return followed;
  }
}
