/**
 * Stores with one seeded defect each in the creators' memos (see `defects.ts`).
 */
import type { NewRecord, StoredReceipt } from '../../src/core/secret.ts';
import type { Store } from '../../src/store/store.ts';
import type { SeededDefect } from './defects.ts';

type ReceiptId = NewRecord['receiptId'];

/** A store that changes the memo in receipts. */
const tellingMemo = (store: Store, tell: (receipt: StoredReceipt) => Uint8Array | null): Store => ({
  ...store,
  async findReceipt(...args) {
    const receipt = await store.findReceipt(...args);
    return receipt === null ? null : { ...receipt, memoBox: tell(receipt) };
  },
});

/** A store that notes the receipt id of every new record. */
function notingIds(store: Store): { readonly noting: Store; readonly ids: ReceiptId[] } {
  const ids: ReceiptId[] = [];
  const put = async (record: NewRecord) => {
    await store.put(record);
    ids.push(record.receiptId);
  };
  return { noting: { ...store, put }, ids };
}

export const memoDefects: readonly SeededDefect[] = [
  {
    defect: 'a memo is set once',
    caughtBy: 'a memo is set, changed and removed, and the rest of its receipt stays',
    seed(store) {
      const set = new Set<string>();
      return {
        ...store,
        async setMemo(id, memoBox) {
          const isFirst = !set.has(id.toHex());
          set.add(id.toHex());
          return isFirst ? store.setMemo(id, memoBox) : (await store.findReceipt(id)) !== null;
        },
      };
    },
  },
  {
    defect: 'a memo is noted as the creator’s first look',
    caughtBy: 'a memo is set, changed and removed, and the rest of its receipt stays',
    seed: (store) => ({
      ...store,
      async setMemo(id, memoBox) {
        await store.markViewed(id);
        return store.setMemo(id, memoBox);
      },
    }),
  },
  {
    defect: 'a memo is set for every receipt',
    caughtBy: 'the memo of one receipt is no other’s',
    seed(store) {
      const { noting, ids } = notingIds(store);
      return {
        ...noting,
        async setMemo(id, memoBox) {
          for (const each of ids) await store.setMemo(each, memoBox);
          return store.setMemo(id, memoBox);
        },
      };
    },
  },
  {
    defect: 'a memo goes with its secret',
    caughtBy: 'a memo outlives the read, the burn and the expiry of its secret',
    seed: (store) =>
      tellingMemo(store, ({ sealedSecret, memoBox }) => (sealedSecret === null ? null : memoBox)),
  },
  {
    defect: 'a memo is set only while the secret waits',
    caughtBy: 'a memo can be set and removed when its secret is read, burned or expired, and revives nothing',
    seed: (store) => ({
      ...store,
      setMemo: async (id, memoBox) =>
        (await store.findReceipt(id))?.sealedSecret ? store.setMemo(id, memoBox) : false,
    }),
  },
  {
    defect: 'a memo is said to be set when there is no receipt',
    caughtBy: 'a memo is set until the instant at which its receipt ends',
    seed: (store) => ({
      ...store,
      async setMemo(id, memoBox) {
        await store.setMemo(id, memoBox);
        return true;
      },
    }),
  },
  {
    defect: 'a memo that comes with a read is lost',
    caughtBy: 'of a read and a memo at once both happen',
    seed(store) {
      let claims = 0;
      return {
        ...store,
        async claim(secret, isAbandoned) {
          claims += 1;
          return store.claim(secret, isAbandoned).finally(() => {
            claims -= 1;
          });
        },
        setMemo: async (id, memoBox) => (claims > 0 ? true : store.setMemo(id, memoBox)),
      };
    },
  },
  {
    defect: 'the recent list tells the memos of creation',
    caughtBy: 'the recent list tells memos as the receipts do',
    seed(store) {
      const made = new Map<string, Uint8Array | null>();
      return {
        ...store,
        async put(record) {
          await store.put(record);
          made.set(record.receiptId.toHex(), record.memoBox);
        },
        async listReceipts(owner, page) {
          const listed = await store.listReceipts(owner, page);
          return listed === null
            ? null
            : listed.map((each) => ({ ...each, memoBox: made.get(each.receiptId.toHex()) ?? null }));
        },
      };
    },
  },
  {
    defect: 'a sweep forgets the memos of every record',
    caughtBy: 'a sweep leaves the memos of what lives on',
    seed(store) {
      const { noting, ids } = notingIds(store);
      return {
        ...noting,
        async sweep(limit) {
          const touched = await store.sweep(limit);
          for (const id of ids) await store.setMemo(id, null);
          return touched;
        },
      };
    },
  },
  {
    defect: 'the memos of an account outlive it',
    caughtBy: 'the memos of an account end with it, and no other’s do',
    seed(store) {
      const made = new Map<string, Uint8Array | null>();
      const telling = tellingMemo(
        store,
        ({ receiptId, memoBox }) => memoBox ?? made.get(receiptId.toHex()) ?? null,
      );
      return {
        ...telling,
        async put(record) {
          await store.put(record);
          made.set(record.receiptId.toHex(), record.memoBox);
        },
      };
    },
  },
  {
    defect: 'every memo ends with any account',
    caughtBy: 'the memos of an account end with it, and no other’s do',
    seed(store) {
      const { noting, ids } = notingIds(store);
      return {
        ...noting,
        async deleteAccount(id) {
          const burned = await store.deleteAccount(id);
          for (const each of ids) await store.setMemo(each, null);
          return burned;
        },
      };
    },
  },
  {
    defect: 'a memo is kept by reference',
    caughtBy: 'a store keeps its own copy of a memo',
    seed(store) {
      const held = new Map<string, Uint8Array | null>();
      const telling = tellingMemo(store, ({ receiptId, memoBox }) => held.get(receiptId.toHex()) ?? memoBox);
      return {
        ...telling,
        async setMemo(id, memoBox) {
          held.set(id.toHex(), memoBox);
          return store.setMemo(id, memoBox);
        },
      };
    },
  },
];
