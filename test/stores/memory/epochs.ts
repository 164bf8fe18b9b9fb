/** The keys of epochs in memory. */
import { epochOf } from '../../../src/core/ports/epochs.ts';
import type { EpochTable } from '../../../src/store/epochs.ts';
import type { StoreTime } from '../../../src/store/store-time.ts';

export function createMemoryEpochs(time: Pick<StoreTime, 'now'>): EpochTable {
  const keys = new Map<number, Uint8Array>();
  let destroyedBefore = 0;
  return {
    async holdEpoch(asked, freshKey) {
      const epoch = Math.max(asked, destroyedBefore);
      const key = keys.get(epoch) ?? freshKey;
      keys.set(epoch, key);
      return { epoch, key };
    },
    readEpochKey: async (epoch) => keys.get(epoch) ?? null,
    async destroyPastEpochs() {
      const today = epochOf(time.now());
      for (const epoch of keys.keys()) if (epoch < today) keys.delete(epoch);
      destroyedBefore = today;
      return true;
    },
  };
}
