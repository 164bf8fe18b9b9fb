/** Epoch keys: every node uses the first one stored, which is durable before any node seals with it. */

import { ServiceError } from '../../core/errors.ts';
import type { Epoch } from '../../core/ports/epochs.ts';
import type { EpochTable } from '../epochs.ts';
import type { Engine } from './engine.ts';
import { decision, statement } from './statement.ts';

const daySeconds = 86_400;

/** Always writes: a key that was only read could be lost in a failover. */
const holdEpoch = decision(`
  WITH destroyed AS (SELECT coalesce(max(epoch), -1) AS epoch FROM mayfly_store.epochs WHERE key IS NULL)
  INSERT INTO mayfly_store.epochs AS kept (epoch, key) SELECT greatest($3::integer, destroyed.epoch + 1), $4 FROM destroyed, clock
  ON CONFLICT (epoch) DO UPDATE SET key = kept.key
  RETURNING epoch, key`);

const readKey = statement('SELECT key FROM mayfly_store.epochs WHERE epoch = $1');

const destroyPast = decision(
  `SELECT mayfly_store.destroy_epochs((now / ${daySeconds})::integer) AS is_done FROM clock`,
);

export function createEpochTable(engine: Engine): EpochTable {
  return {
    async holdEpoch(epoch, freshKey) {
      const [row] = await engine.decide<{ epoch: number; key: Uint8Array | null }>(holdEpoch, [
        epoch,
        freshKey,
      ]);
      if (row?.key == null) throw new ServiceError('unavailable', 'The key of an epoch was not kept.');
      return row as Epoch;
    },
    async readEpochKey(epoch) {
      const [row] = await engine.read<{ key: Uint8Array | null }>(readKey, [epoch]);
      return row?.key ?? null;
    },
    async destroyPastEpochs() {
      const [row] = await engine.decide<{ is_done: boolean }>(destroyPast, []);
      return row?.is_done === true;
    },
  };
}
