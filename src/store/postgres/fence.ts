/**
 * A fenced store was closed by a move, is being filled by one, or was restored: two of its tables are renamed, so that
 * no node's statement finds them. Renaming takes a lock that waits for every statement in progress and keeps later ones
 * out. Once it commits, nothing is read or decided, even by a node that was already connected.
 */
import type { UnixSeconds } from '../../core/time.ts';
import { fencedWords, StoreRefusal } from '../store.ts';

export type AskFence = (sql: string) => Promise<readonly unknown[]>;

const fenced = ['store_time', 'records'] as const;
const behind = (table: string): string => `fenced_${table}`;
const named = (table: string): string => `mayfly_store.${table}`;

export const nameIn = (table: string, isFenced: boolean): string =>
  named(isFenced && fenced.some((each) => each === table) ? behind(table) : table);

/** Locks tables in the same order as decisions, so that neither deadlocks with the other. */
const lock = (isFenced: boolean): string =>
  `LOCK TABLE ${fenced.map((table) => nameIn(table, isFenced)).join(', ')} IN ACCESS EXCLUSIVE MODE`;

/** Must run within a transaction. */
export async function putUpFence(ask: AskFence): Promise<void> {
  await ask(lock(false));
  for (const table of fenced) await ask(`ALTER TABLE ${named(table)} RENAME TO ${behind(table)}`);
}

/** Must run within a transaction. */
export async function takeDownFence(ask: AskFence): Promise<void> {
  await ask(lock(true));
  for (const table of fenced) await ask(`ALTER TABLE ${named(behind(table))} RENAME TO ${table}`);
}

export async function isFenced(ask: AskFence): Promise<boolean> {
  const [row] = await ask(`SELECT to_regclass('${named(behind('records'))}') IS NOT NULL AS is_fenced`);
  return (row as { is_fenced: boolean }).is_fenced;
}

export const restoredRefusal = (keptAt: UnixSeconds): StoreRefusal =>
  new StoreRefusal(
    'restored',
    `This database was restored from a backup or copied: its latest state is of ${new Date(keptAt * 1000).toISOString()}. What ` +
      'waited then may have been opened since, so nothing is served from it. Run mayfly store accept-restore, which burns what waits.',
  );

/** Longer than a failover takes; a serving node saves the time every second. */
const failoverSeconds = 120;

/** Returns the saved time, and whether it is fresh by the server's clock. */
export async function readKeptTime(
  ask: AskFence,
  isBehind: boolean,
): Promise<{ keptAt: UnixSeconds; isFresh: boolean }> {
  const [row] = await ask(`SELECT seconds AS kept_at,
    extract(epoch FROM clock_timestamp())::bigint - server_clock < ${failoverSeconds} AS is_fresh
    FROM ${nameIn('store_time', isBehind)}`);
  const { kept_at: keptAt, is_fresh: isFresh } = row as { kept_at: UnixSeconds; is_fresh: boolean };
  return { keptAt, isFresh };
}

/** @throws StoreRefusal if no node may serve from the store */
export async function assertNotFenced(ask: AskFence): Promise<void> {
  if (!(await isFenced(ask))) return;
  const [row] = await ask('SELECT phase FROM mayfly_store.move');
  const phase = (row as { phase: string } | undefined)?.phase;
  if (phase === 'restored') throw restoredRefusal((await readKeptTime(ask, true)).keptAt);
  const { filling, closed } = fencedWords('in this database');
  throw new StoreRefusal('not_a_store', phase === 'filling' ? filling : closed);
}
