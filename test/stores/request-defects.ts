/** Stores with one seeded defect each in requests for a secret and their answers (see `defects.ts`). */
import { randomBytes } from 'node:crypto';
import { requestNoticeSeconds } from '../../src/core/ports/requests.ts';
import { type AnswerId, freePlaces, type NewAnswer, type StoredRequest } from '../../src/core/request.ts';
import type { Store } from '../../src/store/store.ts';
import type { SeededDefect } from './defects.ts';

/** Lets everything else that is ready run first. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

const asManyAsWanted = 'of a hundred answers at once a request takes as many as were wanted';
const storedOnce = 'an answer that is sent again is stored once, also many times at once';
const ofItsRequest = 'answers are listed oldest first, and belong to their request alone';
const lockedUnknown = 'the requests of a locked account are unknown until it is unlocked';
const keptAndErased =
  'a request is kept until its end and its answers’ have passed, and then erased with them';
const withinPlan = 'the open requests of an account have no more places than its plan allows';
const noticeAnHour = 'a notice of a request may be mailed once an hour, if one is wanted';
const canBeEnded = 'any request can be ended, and all of them, whoever owns them';
const takenAlong = 'a deleted account takes its requests along, and its answers are burned';

/** Stores the secret of an answer that the store does not take. */
const storingOn =
  (store: Store, outcome: string): Store['putAnswer'] =>
  async (answer) => {
    const answered = await store.putAnswer(answer);
    if (answered !== outcome) return answered;
    await store.put(answer.record);
    return 'stored';
  };

/** Remembers each request as it was last found. */
function remembering(store: Store) {
  const known = new Map<string, StoredRequest>();
  const findRequest: Store['findRequest'] = async (id) => {
    const request = await store.findRequest(id);
    if (request !== null) known.set(id.toHex(), request);
    return request;
  };
  const putRequest: Store['putRequest'] = async (request, maxPlaces) => {
    const outcome = await store.putRequest(request, maxPlaces);
    if (outcome === 'stored') await findRequest(request.id);
    return outcome;
  };
  return { known, findRequest, putRequest };
}

/** Finds what was found once, whatever became of it. */
function neverForgetting(store: Store): Store {
  const { known, ...remembered } = remembering(store);
  return {
    ...store,
    ...remembered,
    findRequest: async (id) => (await remembered.findRequest(id)) ?? known.get(id.toHex()) ?? null,
  };
}

const answerDefects: readonly SeededDefect[] = [
  {
    defect: 'places are looked at, then an answer is stored',
    caughtBy: asManyAsWanted,
    seed: (store) => ({
      ...store,
      async putAnswer(answer) {
        const request = await store.findRequest(answer.requestId);
        if (request === null || freePlaces(request) === 0) return store.putAnswer(answer);
        await turn();
        const outcome = await store.putAnswer(answer);
        if (outcome !== 'full') return outcome;
        await store.put(answer.record);
        return 'stored';
      },
    }),
  },
  {
    defect: 'a secret is stored before its answer is decided',
    caughtBy: asManyAsWanted,
    seed: (store) => ({
      ...store,
      async putAnswer(answer) {
        await store.put(answer.record);
        return store.putAnswer(answer);
      },
    }),
  },
  {
    defect: 'an answer is looked for, then stored',
    caughtBy: storedOnce,
    seed: (store) => ({
      ...store,
      async putAnswer(answer) {
        const known = await store.findAnswer(answer.requestId, answer.id);
        if (known !== null) return known;
        await turn();
        const outcome = await store.putAnswer(answer);
        if (typeof outcome === 'object') await store.put(answer.record);
        return typeof outcome === 'object' ? 'stored' : outcome;
      },
    }),
  },
  {
    defect: 'places come before the answer that is sent again',
    caughtBy: storedOnce,
    seed: (store) => ({
      ...store,
      async putAnswer(answer) {
        const request = await store.findRequest(answer.requestId);
        return request !== null && freePlaces(request) === 0 ? 'full' : store.putAnswer(answer);
      },
    }),
  },
  {
    defect: 'an answer that is sent again is stored anew once its secret is gone',
    caughtBy: 'an answer is known as long as its request: read, discarded, expired, after close and end',
    seed(store) {
      const secrets = new Map<string, NewAnswer['record']['secretId']>();
      return {
        ...store,
        async putAnswer(answer) {
          const secretId = secrets.get(answer.id.toHex());
          const isGone = secretId !== undefined && (await store.findSecret(secretId)) === null;
          const id = isGone ? (new Uint8Array(randomBytes(16)) as AnswerId) : answer.id;
          const outcome = await store.putAnswer({ ...answer, id });
          if (outcome === 'stored') secrets.set(answer.id.toHex(), answer.record.secretId);
          return outcome;
        },
      };
    },
  },
  {
    defect: 'an answer is stored after the end',
    caughtBy: 'after a close no answer is stored, whatever is on its way',
    seed: (store) => ({ ...store, putAnswer: storingOn(store, 'ended') }),
  },
  {
    defect: 'a request has no end of answers',
    caughtBy: 'a request has a hundred answers in its life',
    seed: (store) => ({ ...store, putAnswer: storingOn(store, 'full') }),
  },
  {
    defect: 'a request ends by the wall clock',
    caughtBy: 'a request takes answers until its end, by store time',
    seed: (store, { wallClock }) => ({
      ...store,
      async putAnswer(answer) {
        const request = await store.findRequest(answer.requestId);
        return request !== null && wallClock.wall() >= request.until ? 'ended' : store.putAnswer(answer);
      },
    }),
  },
  {
    defect: 'an answer that is refused keeps its place',
    caughtBy: 'an answer that is refused takes no place and leaves nothing',
    seed: (store) => ({
      ...store,
      putAnswer: (answer) =>
        store.putAnswer(answer).catch(async (error: unknown) => {
          const sealedSecret = answer.record.sealedSecret.slice().fill(2, 2, 3);
          await store.putAnswer({ ...answer, record: { ...answer.record, sealedSecret } });
          throw error;
        }),
    }),
  },
  {
    defect: 'an answer gives its place back each time it is discarded',
    caughtBy: 'a discarded answer gives its place back, once',
    seed: (store) => ({
      ...store,
      discardAnswer: async (requestId, id) =>
        (await store.discardAnswer(requestId, id)) || (await store.findAnswer(requestId, id)) !== null,
    }),
  },
  {
    defect: 'a discarded answer keeps its place',
    caughtBy: 'a discarded answer gives its place back, once',
    seed: (store) => ({
      ...store,
      async putAnswer(answer) {
        const request = await store.findRequest(answer.requestId);
        const known = await store.findAnswer(answer.requestId, answer.id);
        const isFull = known === null && request !== null && request.answered >= request.places;
        return isFull ? 'full' : store.putAnswer(answer);
      },
    }),
  },
  {
    defect: 'answers are found whatever request they were sent to',
    caughtBy: ofItsRequest,
    seed(store) {
      const sent = new Map<string, NewAnswer['requestId']>();
      return {
        ...store,
        async putAnswer(answer) {
          const outcome = await store.putAnswer(answer);
          if (outcome === 'stored') sent.set(answer.id.toHex(), answer.requestId);
          return outcome;
        },
        findAnswer: (requestId, id) => store.findAnswer(sent.get(id.toHex()) ?? requestId, id),
      };
    },
  },
  {
    defect: 'the answers to all requests are listed together',
    caughtBy: ofItsRequest,
    seed(store) {
      const { known, ...remembered } = remembering(store);
      return {
        ...store,
        ...remembered,
        async listAnswers() {
          const lists = await Promise.all([...known.values()].map(({ id }) => store.listAnswers(id)));
          return lists.flat();
        },
      };
    },
  },
  {
    defect: 'answers are listed newest first',
    caughtBy: ofItsRequest,
    seed: (store) => ({
      ...store,
      listAnswers: async (id) => (await store.listAnswers(id)).toReversed(),
    }),
  },
  {
    defect: 'an answer’s secret is kept for lists',
    caughtBy: 'an answer is in no list of receipts',
    seed: (store) => ({
      ...store,
      putAnswer: (answer) =>
        store.putAnswer({ ...answer, record: { ...answer.record, recentBox: new Uint8Array(120) } }),
    }),
  },
];

const ownRequestDefects: readonly SeededDefect[] = [
  {
    defect: 'the places of an account are counted, then its request is stored',
    caughtBy: withinPlan,
    seed(store) {
      let places = 0;
      return {
        ...store,
        async putRequest(request, maxPlaces) {
          if (maxPlaces !== null && places + request.places > maxPlaces) return 'too_many_places';
          await turn();
          places += maxPlaces === null ? 0 : request.places;
          return store.putRequest(request, null);
        },
      };
    },
  },
  {
    defect: 'the places of an account are not counted when a request changes',
    caughtBy: withinPlan,
    seed: (store) => ({ ...store, changeRequest: (id, change) => store.changeRequest(id, change, null) }),
  },
  {
    defect: 'a request changes to fewer places than it has answers',
    caughtBy: 'a request changes as asked, and not below the answers that are there',
    seed: (store) => ({
      ...store,
      async changeRequest(...given) {
        const outcome = await store.changeRequest(...given);
        return outcome === 'places_taken' ? 'changed' : outcome;
      },
    }),
  },
  {
    defect: 'an end lasts as long as the time that brought it',
    caughtBy: 'an end is for ever, also when the time is set back',
    seed(store) {
      const closed = new Set<string>();
      return {
        ...store,
        async changeRequest(id, change, maxPlaces) {
          if ('close' in change) closed.add(id.toHex());
          return store.changeRequest(id, change, maxPlaces);
        },
        async findRequest(id) {
          const request = await store.findRequest(id);
          return request && { ...request, isEnded: closed.has(id.toHex()) || store.now() >= request.until };
        },
      };
    },
  },
  {
    defect: 'a request is stored for whatever account it names',
    caughtBy: 'no request is made for an account that is locked or gone',
    seed: (store) => ({
      ...store,
      putRequest: (...given) => store.putRequest(...given).catch(() => 'stored'),
    }),
  },
  {
    defect: 'a lock leaves the requests of its account where they are',
    caughtBy: lockedUnknown,
    seed: neverForgetting,
  },
  {
    defect: 'an unlocked account has lost its requests',
    caughtBy: lockedUnknown,
    seed(store) {
      let isLocked = false;
      return {
        ...store,
        async lockAccount(id) {
          isLocked = true;
          return store.lockAccount(id);
        },
        findRequest: async (id) => (isLocked ? null : store.findRequest(id)),
      };
    },
  },
  {
    defect: 'a deleted account leaves its requests open',
    caughtBy: takenAlong,
    seed: neverForgetting,
  },
  {
    defect: 'a deletion leaves the answers to its account’s requests waiting',
    caughtBy: takenAlong,
    seed: (store) => ({
      ...store,
      putAnswer: (answer) => store.putAnswer({ ...answer, record: { ...answer.record, owner: null } }),
    }),
  },
  {
    defect: 'a request is erased at its end, before its answers',
    caughtBy: keptAndErased,
    seed: (store) => ({
      ...store,
      async findRequest(id) {
        const request = await store.findRequest(id);
        return request !== null && store.now() >= request.until ? null : request;
      },
    }),
  },
  {
    defect: 'a request that is closed is erased at once',
    caughtBy: keptAndErased,
    seed: (store) => ({
      ...store,
      async findRequest(id) {
        const request = await store.findRequest(id);
        return request?.isEnded ? null : request;
      },
    }),
  },
  {
    defect: 'a request is kept for ever',
    caughtBy: keptAndErased,
    seed: neverForgetting,
  },
  {
    defect: 'it is looked at whether a notice is due, then noted',
    caughtBy: noticeAnHour,
    seed(store) {
      const noticed = new Map<string, number>();
      return {
        ...store,
        async takeRequestNotice(id) {
          const request = await store.findRequest(id);
          const at = noticed.get(id.toHex()) ?? 0;
          if (!request?.notify || store.now() < at + requestNoticeSeconds) return false;
          await turn();
          noticed.set(id.toHex(), store.now());
          return true;
        },
      };
    },
  },
  {
    defect: 'a notice is mailed whether or not one is wanted',
    caughtBy: noticeAnHour,
    seed: (store) => ({
      ...store,
      takeRequestNotice: async (id) =>
        (await store.takeRequestNotice(id)) || (await store.findRequest(id))?.notify === false,
    }),
  },
  {
    defect: 'requests are listed as they were made, not as they were reported',
    caughtBy: 'open requests are listed, the most reported first, page by page',
    seed: (store) => ({ ...store, reportRequest: async () => {} }),
  },
  {
    defect: 'the requests of a locked account are not ended',
    caughtBy: canBeEnded,
    seed: (store) => ({
      ...store,
      async endRequests(limit) {
        const open = await store.listRequests(limit, null);
        const found = await Promise.all(open.map(({ id }) => store.findRequest(id)));
        const ends = found.map((request) => request !== null && store.endRequest(request.id));
        return (await Promise.all(ends)).filter(Boolean).length;
      },
    }),
  },
  {
    defect: 'the end of all requests leaves them open',
    caughtBy: canBeEnded,
    seed: (store) => ({
      ...store,
      endRequests: async (limit) => (await store.listRequests(limit, null)).length,
    }),
  },
];

export const requestDefects: readonly SeededDefect[] = [...ownRequestDefects, ...answerDefects];
