/**
 * A store that was restored from a backup presents an older state: what was opened since would wait again, and open a second time (P1).
 * It is recognised by where it is, which a backup holds as it was, and serves nothing until all that waited in it is burned.
 *
 * - Another system, database or table: a dump that was restored, or a copy.
 * - Another timeline alone: a standby was promoted, which loses nothing where commits are synchronous, or a backup was rolled forward to
 *   some moment. The time that is kept every second tells them apart: after a failover it is from just before.
 */
import { type AskFence, putUpFence, readKeptTime, restoredRefusal } from './fence.ts';

interface Place {
  readonly system_id: string | null;
  readonly database_id: number;
  readonly table_id: number;
  readonly timeline: string | null;
}

const ids = `
  (SELECT oid::bigint FROM pg_database WHERE datname = current_database()) AS database_id,
  'store_place'::regclass::oid::bigint AS table_id`;

const fullPlace = `SELECT ${ids}, system_identifier::text AS system_id,
  substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS timeline FROM pg_control_system()`;
const placeAlone = `SELECT ${ids}, NULL::text AS system_id, NULL::text AS timeline`;

/** Some engines have no such functions, or let no user ask. */
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
  INSERT INTO store_place (only_row, system_id, database_id, table_id, timeline)
  VALUES (1, ${literal(system_id)}, ${Number(database_id)}, ${Number(table_id)}, ${literal(timeline)})
  ON CONFLICT (only_row) DO UPDATE SET system_id = excluded.system_id, database_id = excluded.database_id,
    table_id = excluded.table_id, timeline = excluded.timeline`;

/**
 * Asked when a node opens the store, with its tables up to date.
 * @returns whether something was written
 * @throws StoreRefusal when the store was restored; from then on no node opens it, and one that has it open is answered nothing
 */
export async function assertNotRestored(ask: AskFence): Promise<boolean> {
  const place = await findPlace(ask);
  const [known] = (await ask('SELECT * FROM store_place')) as Place[];
  if (known === undefined) {
    await ask(keepPlace(place));
    return true;
  }
  const isElsewhere =
    isKnownToDiffer(place.system_id, known.system_id) ||
    place.database_id !== known.database_id ||
    place.table_id !== known.table_id;
  const isPromoted = isKnownToDiffer(place.timeline, known.timeline);
  if (!isElsewhere && !isPromoted) return false;
  const { keptAt, isFresh } = await readKeptTime(ask, false);
  if (!isElsewhere && isFresh) {
    await ask(keepPlace(place));
    return true;
  }
  await ask('BEGIN');
  await putUpFence(ask);
  await ask(`INSERT INTO move (only_row, id, phase, run) VALUES (1, '', 'restored', 0)
    ON CONFLICT (only_row) DO UPDATE SET phase = 'restored', run = move.run + 1`);
  await ask('COMMIT');
  throw restoredRefusal(keptAt);
}
