/**
 * The second step of an account's deletion, in batches small enough that other requests get their turn in between. A crash
 * or an outage leaves it to the sweeper: each waiting secret is burned by it or was claimed by somebody (P7, P10).
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

/** How many secrets the deletion has burned, by whichever process. The one that finishes it says so, once for an account. */
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

/** For the operator, without a password or a mail. How many secrets were burned; `null` when there is no such account. */
export async function deleteWithSecrets(
  store: Pick<AccountStore, 'deleteAccount' | 'continueDeletion'> & Pick<SecretStore, 'scrub'>,
  id: AccountId,
): Promise<number | null> {
  if (!(await store.deleteAccount(id))) return null;
  const burned = await finishDeletion({ store, events: () => {} }, id);
  // Where a reader is in the way, the server's own scrub follows.
  await store.scrub();
  return burned;
}

export async function finishDeletions(
  core: DeletionCore<'continueDeletion' | 'listDeletions'>,
  mayGoOn: () => boolean,
): Promise<void> {
  for (const id of await core.store.listDeletions(deletionsPerRun)) {
    if (!mayGoOn()) return;
    await finishDeletion(core, id, mayGoOn);
  }
}
