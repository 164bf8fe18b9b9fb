/**
 * A store restored from a backup is in an older state: secrets opened since would open again (P1). It is recognised
 * whenever a connection is opened, and by each decision and read of records (`server-watch.ts`). It serves nothing
 * until every secret that waited in it is burned. The signs:
 *
 * - The system, database or table is not the recorded one, which a backup keeps: a restored dump, or a copy.
 * - The saved time is earlier than one that this node knows was saved.
 * - The timeline has changed, and a starting node knows no saved time. Either a standby was promoted, which loses
 *   nothing if commits are synchronous, or a backup was rolled forward. After a failover the saved time is recent.
 */
import { ServiceError } from '../../core/errors.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { type AskFence, putUpFence, readKeptTime, restoredRefusal } from './fence.ts';

interface Place {
  readonly system_id: string | null;
  readonly database_id: number;
  readonly table_id: number;
  readonly timeline: string | null;
}

const ids = `
  (SELECT oid::bigint FROM pg_database WHERE datname = current_database()) AS database_id,
  'mayfly_store.store_place'::regclass::oid::bigint AS table_id`;

const fullPlace = `SELECT ${ids}, system_identifier::text AS system_id,
  substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS timeline FROM pg_control_system()`;
const placeAlone = `SELECT ${ids}, NULL::text AS system_id, NULL::text AS timeline`;

/** Some engines lack the functions in `fullPlace` or let no user call them. */
export async function findPlace(ask: AskFence): Promise<Place> {
  const [place] = await ask(fullPlace).catch(() => ask(placeAlone));
  return place as Place;
}

const isKnownToDiffer = <T>(one: T | null, other: T | null): boolean =>
  one !== null && other !== null && one !== other;

function literal(text: string | null): string {
  return text === null ? 'NULL' : `'${text.replace(/[^0-9A-Za-z]/g, '')}'`;
}

export const keepPlace = ({ system_id, database_id, table_id, timeline }: Place): string => `
  INSERT INTO mayfly_store.store_place (only_row, system_id, database_id, table_id, timeline)
  VALUES (1, ${literal(system_id)}, ${Number(database_id)}, ${Number(table_id)}, ${literal(timeline)})
  ON CONFLICT (only_row) DO UPDATE SET system_id = excluded.system_id, database_id = excluded.database_id,
    table_id = excluded.table_id, timeline = excluded.timeline`;

export interface KnownTime {
  readonly seconds: UnixSeconds;
  readonly times_set: number;
}

/** A time heard from the server may be this far ahead of the durable one. */
export const heardEarlySeconds = 5;

export function hasGoneBack(kept: KnownTime, known: KnownTime): boolean {
  if (kept.times_set !== known.times_set) return kept.times_set < known.times_set;
  return kept.seconds < known.seconds - heardEarlySeconds;
}

async function findKept(ask: AskFence): Promise<KnownTime> {
  const [row] = await ask('SELECT seconds, times_set FROM mayfly_store.store_time');
  if (row === undefined) throw halfRestored();
  return row as KnownTime;
}

const halfRestored = () =>
  new ServiceError('unavailable', 'A table of the store is empty: a dump is being loaded over it.');

/**
 * @param known `null` for a starting node
 * @returns whether anything was written
 * @throws StoreRefusal if the store was restored; from then on no node opens it, and calls on an open store reject
 */
export async function assertNotRestored(ask: AskFence, known: KnownTime | null): Promise<boolean> {
  const place = await findPlace(ask);
  const [kept] = (await ask('SELECT * FROM mayfly_store.store_place')) as Place[];
  if (kept === undefined) {
    if (known !== null) throw halfRestored();
    await ask(keepPlace(place));
    return true;
  }
  const isElsewhere =
    isKnownToDiffer(place.system_id, kept.system_id) ||
    place.database_id !== kept.database_id ||
    place.table_id !== kept.table_id;
  const isPromoted = isKnownToDiffer(place.timeline, kept.timeline);
  const { keptAt, isFresh } = await readKeptTime(ask, false);
  const isOlder =
    (known !== null && hasGoneBack(await findKept(ask), known)) || (isPromoted && known === null && !isFresh);
  if (isElsewhere || isOlder) {
    if (!isElsewhere || (await isWhole(ask))) await closeRestored(ask);
    throw restoredRefusal(keptAt);
  }
  if (isPromoted) await ask(keepPlace(place));
  return isPromoted;
}

/**
 * Returns whether a dump has been loaded completely: foreign keys are loaded last. Until then the dump finds its
 * tables by name, so none is renamed, and each node refuses to use them by itself.
 */
async function isWhole(ask: AskFence): Promise<boolean> {
  const rows = await ask(`SELECT FROM pg_catalog.pg_constraint
    WHERE contype = 'f' AND conrelid = pg_catalog.to_regclass('mayfly_store.tokens')`);
  return rows.length > 0;
}

async function closeRestored(ask: AskFence): Promise<void> {
  await ask('BEGIN');
  await putUpFence(ask);
  await ask(`INSERT INTO mayfly_store.move (only_row, id, phase, run) VALUES (1, '', 'restored', 0)
    ON CONFLICT (only_row) DO UPDATE SET phase = 'restored', run = move.run + 1`);
  await ask('COMMIT');
}
