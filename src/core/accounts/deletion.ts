/**
 * The second step of an account's deletion, in batches small enough for other requests to run in between. After a crash or an outage the
 * sweeper finishes it: each waiting secret gets burned, unless it was claimed first (P7, P10).
 */

import type { AccountId } from '../account.ts';
import type { AccountStore } from '../ports/accounts.ts';
import type { AccountCore } from '../ports/core.ts';
import type { SecretStore } from '../ports/secrets.ts';

const batchRecords = 500;
const deletionsPerRun = 100;

interface DeletionCore<Method extends keyof AccountStore> extends Pick<AccountCore, 'events'> {
  readonly store: Pick<AccountStore, Method>;
}

/** Returns how many secrets the deletion has burned, in all processes. Only the process that finishes it reports the event. */
export async function finishDeletion(
  { store, events }: DeletionCore<'continueDeletion'>,
  id: AccountId,
  mayGoOn: () => boolean = () => true,
): Promise<number> {
  for (;;) {
    const step = await store.continueDeletion(id, batchRecords);
    if (step?.outcome === 'finished') events({ event: 'account_deleted', account: id, burned: step.burned });
    if (step === null || step.outcome !== 'more' || !mayGoOn()) return step?.burned ?? 0;
  }
}

/** Deletes an account for the operator, without password or email. Returns how many secrets were burned; `null` if it is unknown. */
export async function deleteWithSecrets(
  store: Pick<AccountStore, 'deleteAccount' | 'continueDeletion'> & Pick<SecretStore, 'scrub'>,
  id: AccountId,
): Promise<number | null> {
  if (!(await store.deleteAccount(id))) return null;
  const burned = await finishDeletion({ store, events: () => {} }, id);
  // If a reader blocks this scrub, the server repeats it later.
  await store.scrub();
  return burned;
}

/** Burns secrets left by deletions that a crash or an outage interrupted. */
export async function finishDeletions(
  core: DeletionCore<'continueDeletion' | 'listDeletions'>,
  mayGoOn: () => boolean,
): Promise<void> {
  for (const id of await core.store.listDeletions(deletionsPerRun)) {
    if (!mayGoOn()) return;
    await finishDeletion(core, id, mayGoOn);
  }
}
