/** Receipt queries for tests of the core, and a store that changes receipts. */

import type { StoredReceipt } from '../../src/core/secret.ts';
import type { ReceiptOutcome, ReceiptView } from '../../src/core/secrets/outcomes.ts';
import type { ServiceParts } from '../../src/core/secrets/service.ts';

export const asOwner = (metadataKey: string) => ({ metadataKey, authority: 'owner' }) as const;
export const asHolder = (metadataKey: string) => ({ metadataKey, authority: 'holder' }) as const;

export function found(outcome: ReceiptOutcome): ReceiptView {
  if (outcome.outcome !== 'found') throw new Error(outcome.outcome);
  return outcome.receipt;
}

/** A store whose receipts are changed on the way out. */
export const changing =
  (change: (receipt: StoredReceipt) => StoredReceipt) => (store: ServiceParts['store']) => ({
    ...store,
    async findReceipt(...args: Parameters<typeof store.findReceipt>) {
      const receipt = await store.findReceipt(...args);
      return receipt === null ? null : change(receipt);
    },
    async listReceipts(...args: Parameters<typeof store.listReceipts>) {
      const listed = await store.listReceipts(...args);
      const unsealed = { sealedSecret: null, creatorBox: null };
      return listed === null
        ? null
        : listed.map((each) => ({ ...change({ ...each, ...unsealed }), cursor: each.cursor }));
    },
  });
