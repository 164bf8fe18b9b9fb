/**
 * The second step of an account's deletion, in batches small enough that other requests get their turn in between. A crash
 * or an outage leaves it to the sweeper: each waiting secret is burned by it or was claimed by somebody (P7, P10).
 */
import type { AccountStore } from '../ports.ts';
import type { AccountId } from './accounts.ts';

const batchRecords = 500;
const deletionsPerRun = 100;

/** How many secrets the deletion has burned, by whichever process. */
export async function finishDeletion(
  store: Pick<AccountStore, 'continueDeletion'>,
  id: AccountId,
  mayGoOn: () => boolean = () => true,
): Promise<number> {
  for (;;) {
    const step = await store.continueDeletion(id, batchRecords);
    if (step === null || step.outcome !== 'more' || !mayGoOn()) return step?.burned ?? 0;
  }
}

export async function finishDeletions(
  store: Pick<AccountStore, 'continueDeletion' | 'listDeletions'>,
  mayGoOn: () => boolean,
): Promise<void> {
  for (const id of await store.listDeletions(deletionsPerRun)) {
    if (!mayGoOn()) return;
    await finishDeletion(store, id, mayGoOn);
  }
}
