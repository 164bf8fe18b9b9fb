/**
 * The store in memory: a readable reference for what `core/ports/` promises, and the store of most tests.
 *
 * Every decision is one synchronous step, so nothing can come between a check and its write. Data lives as long as the
 * process.
 */
import type { MachineClock } from '../../src/core/time.ts';
import { withEpochs } from '../../src/store/epochs.ts';
import type { Store } from '../../src/store/store.ts';
import { createStoreTime, judgeByStoreTime } from '../../src/store/store-time.ts';
import { createAccountTables } from './memory/account-tables.ts';
import { createMemoryAccounts } from './memory/accounts.ts';
import { createMemoryAttempts } from './memory/attempts.ts';
import { createMemoryCodes } from './memory/codes.ts';
import { createMemoryCreations } from './memory/creations.ts';
import { createMemoryEpochs } from './memory/epochs.ts';
import { createMemoryRequests } from './memory/requests.ts';
import { createMemorySecrets } from './memory/secrets.ts';

export type MemoryStore = Store;

export interface MemoryStoreOptions {
  readonly clock: MachineClock;
  /** Acts as a store shared by several machines (`mayMakeRoots`). */
  readonly isShared?: boolean;
}

export function createMemoryStore({ clock, isShared = false }: MemoryStoreOptions): MemoryStore {
  const time = createStoreTime(clock, null);
  const tables = createAccountTables();
  const records = createMemorySecrets(time, (id) => tables.accounts.has(id));
  const attempts = createMemoryAttempts(time, records.lifeOf);
  const accounts = createMemoryAccounts(time, records, tables, isShared);
  const creations = createMemoryCreations(tables, time);
  const requests = createMemoryRequests(tables, time, records.store.put);
  const codes = createMemoryCodes(time.now, records.lifeOf);
  let timesSet = 0;
  const sweep = async (limit: number): Promise<number> => {
    let touched = await records.store.sweep(limit);
    codes.forgetDeleted();
    touched += attempts.forgetStale(limit - touched);
    touched += accounts.forgetStale(limit - touched);
    touched += requests.sweep(limit - touched);
    return touched + creations.forgetStale(limit - touched);
  };
  const epochs = withEpochs(
    createMemoryEpochs(time),
    {
      ...records.store,
      put: creations.holding(records.store.put),
      putAnswer: requests.store.putAnswer,
      sweep,
    },
    { ...time, timesSet: () => timesSet },
  );
  return {
    ...requests.store,
    ...epochs,
    ...judgeByStoreTime({ ...records.store, ...epochs }, time),
    ...attempts.store,
    ...codes.store,
    ...accounts.store,
    async deleteAccount(id) {
      requests.forgetOwner(id);
      return accounts.store.deleteAccount(id);
    },
    ...creations.store,
    rootKidsInUse: async () =>
      [...new Set([...records.rootKidsInUse(), ...creations.rootKids()])].sort((a, b) => a - b),
    usedBytes: async () => 0,
    assertRoom: async () => {},
    clock: time.report,
    countExpiringBy: async (at) => records.countExpiringBy(at),
    async setTime() {
      await sweep(Number.POSITIVE_INFINITY);
      records.endLooks();
      const [seconds, sinceBoot] = [clock.wall(), clock.sinceBoot()];
      codes.setBack(seconds);
      timesSet += 1;
      time.adopt({ seconds, sinceBoot, bootId: clock.bootId, dispute: null });
    },
  };
}
