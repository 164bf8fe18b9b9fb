/** Epoch keys: every process on the folder uses the first key stored for an epoch. Deleted keys are overwritten (P10). */
import type { Database } from 'bun:sqlite';
import { type Epoch, epochOf } from '../../core/ports/epochs.ts';
import type { EpochTable } from '../epochs.ts';
import type { Deciding } from './decisions.ts';
import type { Parts } from './parts.ts';

const insert = `
  INSERT INTO epochs (epoch, key) SELECT max(?1, ifnull(max(epoch) + 1, 0)), ?2 FROM epochs WHERE key IS NULL
  ON CONFLICT (epoch) DO UPDATE SET key = key RETURNING epoch, key`;

const destroy = 'DELETE FROM epochs WHERE epoch < ?1 AND key IS NOT NULL';
const noteDestroyed = 'INSERT INTO epochs (epoch, key) VALUES (?1 - 1, NULL)';
const forgetEarlier = 'DELETE FROM epochs WHERE epoch < ?1 - 1';

export const readEpochKey = (db: Database, epoch: number): Uint8Array | null =>
  db.query<{ key: Uint8Array | null }, [number]>('SELECT key FROM epochs WHERE epoch = ?1').get(epoch)?.key ??
  null;

export function createEpochWrites(db: Database): Deciding<'holdEpoch' | 'destroyPastEpochs'> {
  const hold = db.query<Epoch, [number, Uint8Array]>(insert);
  return {
    holdEpoch: (_now, epoch, freshKey) => hold.get(epoch, freshKey) as Epoch,
    destroyPastEpochs(now) {
      const today = epochOf(now);
      if (db.query<unknown, [number]>(destroy).run(today).changes === 0) return true;
      for (const sql of [noteDestroyed, forgetEarlier]) db.query<unknown, [number]>(sql).run(today);
      return true;
    },
  };
}

export function epochTable({ db, queue, reader }: Parts): EpochTable {
  return {
    holdEpoch: (epoch, freshKey) => queue.decide('holdEpoch', epoch, freshKey),
    readEpochKey: (epoch) => reader.read(() => readEpochKey(db, epoch)),
    destroyPastEpochs: () => queue.decide('destroyPastEpochs'),
  };
}
