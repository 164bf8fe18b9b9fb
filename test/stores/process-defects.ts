/** Stores that work in one process and fail in two, because each handle has its own guard (see `defects.ts`). */
import { clientStays } from './conformance/check.ts';
import type { SeededDefect } from './defects.ts';

/** Lets everything else that is ready run first. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

export const processDefects: readonly SeededDefect[] = [
  {
    defect: 'a claim is kept from others by its own process alone',
    caughtBy: 'of fifty claims at once exactly one wins, through two handles',
    seed(store) {
      const claimed = new Set<string>();
      return {
        ...store,
        async claim(secret) {
          const id = secret.secretId.toHex();
          if (claimed.has(id)) return 'gone';
          claimed.add(id);
          if ((await store.findSecret(secret.secretId)) === null) return 'gone';
          await turn();
          await store.claim(secret, clientStays);
          return 'won';
        },
      };
    },
  },
  {
    defect: 'a burn by the link is kept from others by its own process alone',
    caughtBy: 'of fifty burns by the link at once exactly one wins, through two handles',
    seed(store) {
      const burned = new Set<string>();
      return {
        ...store,
        async burnFound(target) {
          const id = target.secretId.toHex();
          if (burned.has(id)) return null;
          burned.add(id);
          await turn();
          await store.burnFound(target, clientStays);
          return store.now();
        },
      };
    },
  },
  {
    defect: 'a look’s answers are counted by their own process alone',
    caughtBy:
      'two further answers are given and not a third, also to many who ask at once, through two handles',
    seed(store) {
      const counts = new Map<string, number>();
      return {
        ...store,
        async takeAnswer(id, tag) {
          if ((await store.findLook(id, tag)) === null) return 'gone';
          const count = 1 + (counts.get(id.toHex()) ?? 0);
          counts.set(id.toHex(), count);
          if (count > 2) return 'gone';
          if (count === 2) await store.endLook(id, tag);
          return 'answered';
        },
      };
    },
  },
  {
    defect: 'a mail is kept from being sent twice by its own process alone',
    caughtBy: 'of many that queue a mail of one secret at once one may hand it over, through two handles',
    seed(store) {
      const queued = new Set<string>();
      return {
        ...store,
        async queueDelivery(id, delivery) {
          const isQueued = queued.has(id.toHex());
          queued.add(id.toHex());
          if (isQueued) return 'in_flight';
          await store.setDelivery(id, { state: 'queued', ...delivery });
          return 'queued';
        },
        async setDelivery(id, delivery) {
          queued.delete(id.toHex());
          await store.setDelivery(id, delivery);
        },
      };
    },
  },
  {
    defect: 'a reservation is kept from others by its own process alone',
    caughtBy:
      'of fifty that reserve a creation at once one is told so, and the others get its row, through two handles',
    seed(store) {
      const reserved = new Map<string, ReturnType<typeof store.reserveCreation>>();
      return {
        ...store,
        async reserveCreation(creation) {
          const id = creation.id.toHex();
          const known = reserved.get(id);
          if (known !== undefined) {
            await known;
            return (await store.findCreation(creation.id)) ?? 'reserved';
          }
          const given = structuredClone(creation);
          const reserving = turn().then(() => store.reserveCreation(given));
          reserved.set(id, reserving);
          await reserving;
          return 'reserved';
        },
      };
    },
  },
  {
    defect: 'a request’s last place is kept from others by its own process alone',
    caughtBy: 'of a hundred answers at once a request takes as many as were wanted, through two handles',
    seed(store) {
      const left = new Map<string, number>();
      return {
        ...store,
        async putAnswer(answer) {
          const id = answer.requestId.toHex();
          const places = left.get(id) ?? (await store.findRequest(answer.requestId))?.places ?? 0;
          left.set(id, (left.get(id) ?? places) - 1);
          if ((left.get(id) ?? 0) < 0) return 'full';
          const outcome = await store.putAnswer(answer);
          if (outcome === 'full') await store.put(answer.record);
          return outcome === 'full' ? 'stored' : outcome;
        },
      };
    },
  },
];
