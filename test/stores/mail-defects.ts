/**
 * Stores with one seeded defect each in deliveries or notices (see `defects.ts`).
 */
import type { DueNotice } from '../../src/core/ports/mail.ts';
import type { NewRecord, StoredDelivery, StoredReceipt } from '../../src/core/secret.ts';
import type { Store } from '../../src/store/store.ts';
import type { SeededDefect } from './defects.ts';

/** Lets everything else that is ready run first. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A store that changes the delivery in receipts. */
const tellingDelivery = (
  store: Store,
  tell: (delivery: StoredDelivery, receipt: StoredReceipt) => StoredDelivery,
): Store => ({
  ...store,
  async findReceipt(...args) {
    const receipt = await store.findReceipt(...args);
    return receipt?.delivery ? { ...receipt, delivery: tell(receipt.delivery, receipt) } : receipt;
  },
});

const deliveryDefects: readonly SeededDefect[] = [
  {
    defect: 'a mail is looked for, then queued',
    caughtBy:
      'of many that queue a mail of one secret at once one may hand it over, until it is no longer believed',
    seed: (store) => ({
      ...store,
      async queueDelivery(id, queued) {
        const receipt = await store.findReceipt(id);
        if (receipt?.state !== 'waiting') return 'gone';
        if (receipt.delivery?.state === 'queued') return 'in_flight';
        await turn();
        await store.setDelivery(id, { state: 'queued', ...queued });
        return 'queued';
      },
    }),
  },
  {
    defect: 'a mail that was queued at creation is not in flight',
    caughtBy: 'the first mail of a new record is in flight from its creation on',
    seed(store) {
      const noted = new Set<string>();
      return {
        ...store,
        async queueDelivery(id, queued) {
          if (noted.has(id.toHex())) return store.queueDelivery(id, queued);
          noted.add(id.toHex());
          await store.setDelivery(id, { state: 'queued', ...queued });
          return 'queued';
        },
      };
    },
  },
  {
    defect: 'a mail is queued whatever became of its secret',
    caughtBy: 'no mail is queued for a secret that no longer waits',
    seed: (store) => ({
      ...store,
      async queueDelivery(id, queued) {
        const outcome = await store.queueDelivery(id, queued);
        if (outcome === 'gone') await store.setDelivery(id, { state: 'queued', ...queued });
        return outcome === 'gone' ? 'queued' : outcome;
      },
    }),
  },
  {
    defect: 'a queued mail is believed for ever',
    caughtBy:
      'a mail is queued until the instant at which it is no longer believed, and then told as not sent',
    seed: (store) =>
      tellingDelivery(store, (delivery) =>
        delivery.state === 'not_sent' && delivery.noteBox === null
          ? { ...delivery, state: 'queued' }
          : delivery,
      ),
  },
  {
    defect: 'a mail that is no longer believed is dated by its last try',
    caughtBy:
      'a mail is queued until the instant at which it is no longer believed, and then told as not sent',
    seed: (store) =>
      tellingDelivery(store, (delivery, { createdAt }) =>
        delivery.state === 'not_sent' && delivery.noteBox === null
          ? { ...delivery, at: createdAt }
          : delivery,
      ),
  },
  {
    defect: 'a further try is believed no longer than the first',
    caughtBy: 'each further try moves on until when a mail is believed, and what the server said stays',
    seed: (store) => ({
      ...store,
      setDelivery: (id, delivery) =>
        store.setDelivery(id, { ...delivery, staleAt: delivery.staleAt === null ? null : store.now() + 10 }),
    }),
  },
  {
    defect: 'what the server said goes when the mail is given up',
    caughtBy: 'each further try moves on until when a mail is believed, and what the server said stays',
    seed: (store) =>
      tellingDelivery(store, (delivery) =>
        delivery.state === 'not_sent' ? { ...delivery, noteBox: null } : delivery,
      ),
  },
  {
    defect: 'what the server said before stays beside what it says now',
    caughtBy: 'a receipt tells what became of the mail, and only the last of it',
    seed(store) {
      const said = new Map<string, Uint8Array>();
      return {
        ...store,
        async setDelivery(id, delivery) {
          const noteBox = delivery.noteBox ?? said.get(id.toHex()) ?? null;
          if (noteBox !== null) said.set(id.toHex(), noteBox);
          await store.setDelivery(id, { ...delivery, noteBox });
        },
      };
    },
  },
  {
    defect: 'the recipient’s address outlives the secret',
    caughtBy: 'the recipient’s address is told only while the secret waits',
    seed(store) {
      const addresses = new Map<string, Uint8Array | null>();
      const telling = tellingDelivery(store, (delivery, { receiptId }) => ({
        ...delivery,
        addressBox: addresses.get(receiptId.toHex()) ?? delivery.addressBox,
      }));
      return {
        ...telling,
        async setDelivery(id, delivery) {
          addresses.set(id.toHex(), delivery.addressBox);
          await store.setDelivery(id, delivery);
        },
      };
    },
  },
];

/** A store with its own notices: `choose` picks which of the due records are given out. */
function choosingNotices(
  store: Store,
  choose: (due: readonly NewRecord[], limit: number) => Promise<readonly NewRecord[]>,
): Store {
  const waiting = new Set<NewRecord>();
  const toNotice = ({ owner, createdAt, expiresAt, shareDomain }: NewRecord): DueNotice[] =>
    owner === null ? [] : [{ owner, createdAt, expiresAt, shareDomain }];
  const dueAtOf = (record: NewRecord): number => record.noticeDueAt ?? Number.POSITIVE_INFINITY;
  return {
    ...store,
    async put(record) {
      await store.put(record);
      waiting.add(record);
    },
    async takeDueNotices(limit) {
      const due = [...waiting].filter((record) => dueAtOf(record) <= store.now());
      const chosen = await choose(
        due.sort((a, b) => dueAtOf(a) - dueAtOf(b)),
        limit,
      );
      for (const record of chosen) waiting.delete(record);
      return chosen.flatMap(toNotice);
    },
  };
}

const noticeDefects: readonly SeededDefect[] = [
  {
    defect: 'notices are looked for, then taken',
    caughtBy: 'of many who take notices at once each notice is given to exactly one',
    seed: (store) =>
      choosingNotices(store, async (due, limit) => {
        await turn();
        return due.slice(0, limit);
      }),
  },
  {
    defect: 'a notice is given out for a secret that is gone',
    caughtBy: 'a notice is given out only while its secret waits',
    seed: (store) => choosingNotices(store, async (due, limit) => due.slice(0, limit)),
  },
  {
    defect: 'the notices that are due come in no order',
    caughtBy: 'the longest due notice comes first, and no more than were asked for',
    seed: (store) => choosingNotices(store, async (due, limit) => due.toReversed().slice(0, limit)),
  },
  {
    defect: 'a notice is given out again',
    caughtBy: 'a notice is given out from the instant at which it is due, once',
    seed(store) {
      const given: DueNotice[] = [];
      return {
        ...store,
        async takeDueNotices(limit) {
          given.push(...(await store.takeDueNotices(limit)));
          return given.slice(0, limit);
        },
      };
    },
  },
  {
    defect: 'a deleted account is still told of its secrets',
    caughtBy: 'the notices of an account end with it',
    seed: (store) => choosingNotices(store, async (due, limit) => due.slice(0, limit)),
  },
  {
    defect: 'a passphrase hides what its account wants to be told',
    caughtBy: 'a secret and its receipt tell what is to be noticed of it',
    seed: (store) => ({
      ...store,
      async findSecret(id) {
        const secret = await store.findSecret(id);
        return secret?.hasPassphrase ? { ...secret, notify: [] } : secret;
      },
    }),
  },
  {
    defect: 'what one account wants to be told holds for everybody',
    caughtBy: 'an account keeps which mails it wants, in their order, and none at first',
    seed: (store) => ({
      ...store,
      async setNotify(_id, kinds) {
        for (const { id } of await store.listAccounts()) await store.setNotify(id, kinds);
      },
    }),
  },
  {
    defect: 'the name of one account is the name of all',
    caughtBy: 'an account keeps the name that recipients read, in any script, and none at first',
    seed: (store) => ({
      ...store,
      async setSenderName(_id, name) {
        for (const { id } of await store.listAccounts()) await store.setSenderName(id, name);
      },
    }),
  },
];

export const mailDefects: readonly SeededDefect[] = [...deliveryDefects, ...noticeDefects];
