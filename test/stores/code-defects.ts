/** Stores with one seeded defect each in the codes that they keep, and in how wrong ones are counted (see `defects.ts`). */
import { type CountedId, secretIn } from '../../src/core/ports/attempts.ts';
import { codeSeconds, type NewCode } from '../../src/core/ports/codes.ts';
import type { Store } from '../../src/store/store.ts';
import { attemptsThatCheckThenRecord } from './attempt-defects.ts';
import { newSecretId } from './conformance/check.ts';
import type { SeededDefect } from './defects.ts';

const ofItsOpener = 'a code is found for its opener and its secret alone';
const lastOnly = 'a further code of one opener takes the place of the one before, and of nobody else’s';
const listed = 'every code is listed with what became of its mail, oldest first';
const marked = 'a secret that needs a code says so for life, whatever else it is';
const apart = 'wrong codes, mails and passphrases are counted apart, and allowed apart';

/** Remembers every code with its secret, the last at the end. */
function remembering(store: Store) {
  const codes: (NewCode & { readonly of: string; readonly at: number })[] = [];
  const putCode: Store['putCode'] = async (id, code) => {
    const at = await store.putCode(id, code);
    if (at !== null) codes.push({ of: id.toHex(), at, ...code });
    return at;
  };
  return { codes, putCode };
}

type Kept = ReturnType<typeof remembering>['codes'][number];

/** @param isIt whether a code counts, of all that were ever stored */
const finding = (store: Store, isIt: (code: Kept, id: string, lookTag: string) => boolean): Store => {
  const { codes, putCode } = remembering(store);
  return {
    ...store,
    putCode,
    findCode: async (id, lookTag) =>
      codes.findLast((each) => isIt(each, id.toHex(), lookTag.toHex()))?.codeTag ?? null,
  };
};

/** Counts what is counted with one more byte under another id. */
const countingCodes = (store: Store, idOf: (id: CountedId) => CountedId): Store => ({
  ...store,
  reserve: (id, ...rest) => store.reserve(id.length === 16 ? id : idOf(id), ...rest),
  allowMore: (id) => store.allowMore(id.length === 16 ? id : idOf(id)),
});

export const codeDefects: readonly SeededDefect[] = [
  {
    defect: 'a code is not bound to the nonce',
    caughtBy: ofItsOpener,
    seed: (store) => finding(store, ({ of }, id) => of === id),
  },
  {
    defect: 'a code is not bound to its secret',
    caughtBy: ofItsOpener,
    seed: (store) => finding(store, ({ lookTag }, _id, tag) => lookTag.toHex() === tag),
  },
  {
    defect: 'a code is good after its ten minutes',
    caughtBy: 'a code is good for ten minutes, and not a second longer',
    seed: (store) => finding(store, ({ of, lookTag }, id, tag) => of === id && lookTag.toHex() === tag),
  },
  {
    defect: 'a further code leaves the one before in its place',
    caughtBy: lastOnly,
    seed(store) {
      const { codes, putCode } = remembering(store);
      const findCode: Store['findCode'] = async (_id, tag) =>
        codes.find(({ lookTag }) => lookTag.toHex() === tag.toHex())?.codeTag ?? null;
      return { ...store, putCode, findCode };
    },
  },
  {
    defect: 'a code is dated before the last one, where the time was set back',
    caughtBy: 'a further code counts, also after the time was set back',
    seed(store) {
      const codes: (NewCode & { readonly at: number })[] = [];
      return {
        ...store,
        async putCode(_id, code) {
          codes.push({ ...code, at: store.now() });
          return store.now();
        },
        findCode: async () => codes.toSorted((a, b) => b.at - a.at)[0]?.codeTag ?? null,
      };
    },
  },
  {
    defect: 'codes keep their times when the time is set back',
    caughtBy: 'a time that is set back lengthens no code and brings none back',
    seed: (store) =>
      finding(
        store,
        ({ of, at, lookTag }, id, tag) =>
          of === id && lookTag.toHex() === tag && store.now() < at + codeSeconds,
      ),
  },
  {
    defect: 'another opener’s code ends mine',
    caughtBy: lastOnly,
    seed(store) {
      const { codes, putCode } = remembering(store);
      const findCode: Store['findCode'] = async (id, tag) =>
        codes.at(-1)?.lookTag.toHex() === tag.toHex() ? store.findCode(id, tag) : null;
      return { ...store, putCode, findCode };
    },
  },
  {
    defect: 'a code is stored though its secret is gone',
    caughtBy: 'a code is stored only while its secret waits',
    seed: (store) => ({
      ...store,
      putCode: async (id, code) => (await store.putCode(id, code)) ?? store.now(),
    }),
  },
  {
    defect: 'only an opener’s last code is listed',
    caughtBy: listed,
    seed: (store) => ({ ...store, listCodes: async (id) => (await store.listCodes(id)).slice(-1) }),
  },
  {
    defect: 'what became of one mail is said of every secret’s',
    caughtBy: listed,
    seed(store) {
      const { codes, putCode } = remembering(store);
      const setCodeState: Store['setCodeState'] = async (_id, codeTag, state) => {
        for (const { of } of codes) await store.setCodeState(Uint8Array.fromHex(of) as never, codeTag, state);
      };
      return { ...store, putCode, setCodeState };
    },
  },
  {
    defect: 'a mail that outlived its code looks as if it were under way',
    caughtBy: 'a mail that outlives its code was not sent',
    seed: (store) => ({
      ...store,
      listCodes: async (id) =>
        (await store.listCodes(id)).map((each) =>
          each.state === 'not_sent' ? { ...each, state: 'queued' } : each,
        ),
    }),
  },
  {
    defect: 'codes are left after their record is deleted',
    caughtBy: 'a receipt keeps its codes to its end, and no longer',
    seed(store) {
      const seen = new Map<string, Awaited<ReturnType<Store['listCodes']>>>();
      const listCodes: Store['listCodes'] = async (id) => {
        const codes = await store.listCodes(id);
        if (codes.length > 0) seen.set(id.toHex(), codes);
        return seen.get(id.toHex()) ?? [];
      };
      return { ...store, listCodes };
    },
  },
  {
    defect: 'the mark of a secret that needs a code is lost',
    caughtBy: marked,
    seed: (store) => ({ ...store, put: (record) => store.put({ ...record, verify: false }) }),
  },
  {
    defect: 'the mark of a secret that needs a code is that of an end-to-end secret',
    caughtBy: marked,
    seed: (store) => ({ ...store, put: (record) => store.put({ ...record, verify: record.sealed }) }),
  },
  {
    defect: 'wrong codes are counted with wrong passphrases',
    caughtBy: apart,
    seed: (store) => countingCodes(store, secretIn),
  },
  {
    defect: 'wrong codes are counted by all secrets together',
    caughtBy:
      'its creator allows more: as many guesses as for a new secret, now and in its life, and of no other, of codes',
    seed(store) {
      const one = newSecretId();
      return countingCodes(store, () => one);
    },
  },
  {
    defect: 'wrong codes are forgotten after a window',
    caughtBy: 'over its life a secret is guessed at no more often than the limit of a life, of codes',
    seed: (store) => countingCodes(store, (id) => id.toReversed() as CountedId),
  },
  {
    defect: 'wrong codes are forgotten at the old expiry',
    caughtBy: 'guesses stay counted until the new expiry, of codes',
    seed: (store) => countingCodes(store, (id) => id.toReversed() as CountedId),
  },
  {
    defect: 'wrong codes are counted after they are compared',
    caughtBy: 'of 200 guesses at once from one client no more are allowed than its limit, of codes',
    seed: (store) => ({ ...store, ...attemptsThatCheckThenRecord() }),
  },
];
