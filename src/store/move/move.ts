/**
 * Moves a store into another while the first one serves (docs/decisions/048-moving-between-stores.md).
 *
 * 1. The source notes from now on the key of every row that changes, in the transaction that changes it.
 * 2. All rows are copied, a page at a time; then what changed meanwhile, until little is left.
 * 3. The source closes: in one step no process on it reads or decides anything any more. What is left is copied.
 * 4. The source notes that it was handed over, which it does only once it is closed and nothing is left. Then the target opens.
 *
 * So at most one of the two releases a value at any moment, and the note of step 4 is the moment at which the other takes its place. Every
 * step may be repeated, and is: a move that ended anywhere goes on where it was. Each store counts the runs of the command, and takes
 * nothing from an earlier run than its latest.
 */
import type { UnixSeconds } from '../../core/time.ts';
import { keyOf, type MovedRow, type MovedTable, movedTables, type TableName, tableNamed } from './tables.ts';

/** The same in both stores. */
export type MoveId = Uint8Array;

/** - `copying`: it serves. - `closed`: it serves no more. - `handed_over`: so for good. */
export type SourcePhase = 'copying' | 'closed' | 'handed_over';

/** The one row of the table `move`, which both stores keep alike. */
export interface MoveRow {
  readonly id: Uint8Array;
  readonly phase: SourcePhase | 'filling' | 'open';
  readonly run: number;
  readonly next_table: string | null;
  readonly next_after: string | null;
}

export interface SourceMark {
  readonly id: MoveId;
  readonly phase: SourcePhase;
}

/** How far the pages have come: the table of the next one, and the key after which it begins. */
export interface NextPage {
  readonly table: TableName;
  readonly after: string | null;
}

export type TargetState =
  /** `null`: all pages are copied. */
  | { readonly state: 'copying'; readonly next: NextPage | null }
  /** It was opened for this move. */
  | { readonly state: 'open' };

/** Rows that were noted as changed, as they are now, all of one moment. */
export interface Changes {
  /** By which `forget` knows them. */
  readonly notes: readonly number[];
  readonly tables: readonly ChangedRows[];
}

export interface ChangedRows {
  readonly table: MovedTable;
  /** Of all that may have changed; what has no row any more is gone. */
  readonly keys: readonly string[];
  readonly rows: readonly MovedRow[];
}

/** What a store knows as a whole. */
export interface StoreFacts {
  /** No decision of the source was made later. */
  readonly time: UnixSeconds;
  readonly firstOpenRoot: number;
  /** The highest number that each of these tables ever gave, by its name. */
  readonly lastIds: Readonly<Record<string, number>>;
}

/** Each method is durable when it resolves. Those that write reject once another run has begun. */
export interface MoveSource extends AsyncDisposable {
  /** Begins the move, or a further run of it. @param fresh the id of a move that begins */
  begin(fresh: MoveId): Promise<SourceMark>;
  countRows(): Promise<number>;
  readPage(table: MovedTable, after: string | null, limit: number): Promise<readonly MovedRow[]>;
  /** The changes noted first. */
  readChanges(limit: number): Promise<Changes>;
  forget(notes: readonly number[]): Promise<void>;
  close(): Promise<void>;
  /** Only of a closed source. */
  readFacts(): Promise<StoreFacts>;
  /** Rejects unless it is closed, and no changes are left. */
  handOver(): Promise<void>;
  /** Overwrites what is sealed in a store that was handed over (P10). */
  erase(): Promise<void>;
  /** Ends a move that was not handed over: the store serves again. Whether there was one. */
  cancel(): Promise<boolean>;
}

export interface MoveTarget extends AsyncDisposable {
  /**
   * Makes the store for this move, or finds it; nothing serves from it. Rejects with `StoreRefusal` when anything else is
   * there.
   */
  begin(id: MoveId): Promise<TargetState>;
  /**
   * Adds those that are not there yet, and notes the next page, in one step. A row that another stands in the way of is left out: the
   * source has noted it as changed.
   */
  addRows(table: MovedTable, rows: readonly MovedRow[], next: NextPage | null): Promise<void>;
  /** In one step. */
  applyChanges(changes: Changes): Promise<void>;
  setFacts(facts: StoreFacts): Promise<void>;
  /** From now on it serves. */
  open(): Promise<void>;
}

export interface MoveOptions {
  readonly source: MoveSource;
  readonly target: MoveTarget;
  readonly freshId: MoveId;
  /** Whether to close the source and open the target; else only to copy. */
  readonly isFinishing: boolean;
  readonly onProgress: (copiedRows: number, allRows: number) => void;
  /** Rows to a page; 1,000 if absent. */
  readonly pageRows?: number;
}

/** How many rows were copied. `copied`: the source serves on. */
export interface MoveOutcome {
  readonly outcome: 'copied' | 'moved';
  readonly rows: number;
}

/** The two stores are not of one move. */
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

/** The last step, of a source that was handed over. */
async function takeOver({ source, target }: MoveOptions, found: TargetState): Promise<MoveOutcome> {
  if (found.state === 'copying' && found.next !== null)
    throw new MoveProblem('The source was moved to another store, which has taken its place.');
  if (found.state === 'copying') await target.open();
  await source.erase();
  return { outcome: 'moved', rows: 0 };
}

/** How many rows were copied. */
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

/** Copies what has changed, until less than a page of it was left. */
async function follow({ source, target, pageRows }: MoveOptions): Promise<number> {
  const limit = pageRows ?? usualPageRows;
  let followed = 0;
  for (;;) {
    const changes = await source.readChanges(limit);
    if (changes.notes.length === 0) return followed;
    await target.applyChanges(changes);
    await source.forget(changes.notes);
    followed += changes.tables.reduce((sum, { rows }) => sum + rows.length, 0);
    if (changes.notes.length < limit) return followed;
  }
}
