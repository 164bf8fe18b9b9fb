/** Stores with one seeded defect each in the second look (see `defects.ts`). */
import type { SecretId } from '../../src/core/keys.ts';
import { lookRow, type StoredLook } from '../../src/core/ports/looks.ts';
import type { StoredSecret } from '../../src/core/secret.ts';
import type { Store } from '../../src/store/store.ts';
import { clientStays } from './conformance/check.ts';
import type { SeededDefect } from './defects.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const tagIn = ({ sealedSecret }: StoredLook): Uint8Array =>
  sealedSecret.slice(lookRow.tagAt, lookRow.tagAt + lookRow.tagBytes);

/** A store in which looks that a method ends are found and answered all the same. */
function forgetful(store: Store, methods: readonly (keyof Store)[]): Store {
  const looks = new Map<string, StoredLook>();
  const outlived = new Map<string, StoredLook>();
  const remembered = (id: SecretId, tag: Uint8Array): StoredLook | null => {
    const look = outlived.get(id.toHex());
    return look && Buffer.from(tagIn(look)).equals(tag) ? look : null;
  };
  const ending = (name: keyof Store) => [
    name,
    async (...given: never[]) => {
      for (const [id, look] of looks) outlived.set(id, look);
      return (store[name] as (...args: never[]) => unknown)(...given);
    },
  ];
  return {
    ...store,
    ...Object.fromEntries(methods.map(ending)),
    async claim(target, isAbandoned, look = null) {
      const outcome = await store.claim(target, isAbandoned, look);
      const kept = await store.findAnyLook(target.secretId);
      if (kept !== null) looks.set(target.secretId.toHex(), kept);
      return outcome;
    },
    findLook: async (id, tag) => (await store.findLook(id, tag)) ?? remembered(id, tag),
  };
}

/** Finds looks for a second too long. */
function lateByOne(store: Store): Store {
  const looks = new Map<string, StoredLook>();
  return {
    ...store,
    async claim(target, isAbandoned, look = null) {
      const outcome = await store.claim(target, isAbandoned, look);
      const kept = await store.findAnyLook(target.secretId);
      if (kept !== null) looks.set(target.secretId.toHex(), kept);
      return outcome;
    },
    async findLook(id, tag) {
      const late = looks.get(id.toHex());
      return (await store.findLook(id, tag)) ?? (late && store.now() <= late.until ? late : null);
    },
  };
}

/** Ends of a look that are no ends of it, and the check of each. */
const outliving: readonly (readonly [string, keyof Store, string])[] = [
  ['done', 'endLook', 'done ends a look at once, and no other'],
  ['a burn', 'burn', 'a burn after a read ends the look, and is told that there is nothing to burn'],
  ['the burning of everything', 'burnAll', 'burning all ends every look, and counts what waited'],
  [
    'its account',
    'continueDeletion',
    'the deletion of an account ends the looks at its secrets, and no other',
  ],
  ['the sweep', 'sweep', 'a sweep erases looks that have ended, and none that lives'],
  ['a time that is set back', 'setTime', 'a time that is set back ends every look'],
  [
    'its last answer',
    'takeAnswer',
    'two further answers are given and not a third, also to many who ask at once',
  ],
];

const outlivingDefects: readonly SeededDefect[] = outliving.map(([what, method, caughtBy]) => ({
  defect: `a look outlives ${what}`,
  caughtBy,
  seed: (store) => forgetful(store, [method]),
}));

const openerDefects: readonly SeededDefect[] = [
  {
    defect: 'another nonce finds the look',
    caughtBy: 'another nonce finds no look, gets no answer and ends nothing',
    seed: (store) => ({ ...store, findLook: (id) => store.findAnyLook(id) }),
  },
  {
    defect: 'another nonce is answered',
    caughtBy: 'another nonce finds no look, gets no answer and ends nothing',
    seed: (store) => ({
      ...store,
      async takeAnswer(id, tag, isAbandoned) {
        const look = await store.findAnyLook(id);
        return store.takeAnswer(id, look === null ? tag : tagIn(look), isAbandoned);
      },
    }),
  },
  {
    defect: 'another nonce ends the look',
    caughtBy: 'another nonce finds no look, gets no answer and ends nothing',
    seed: (store) => ({
      ...store,
      async endLook(id, tag) {
        const look = await store.findAnyLook(id);
        await store.endLook(id, look === null ? tag : tagIn(look));
      },
    }),
  },
  {
    defect: 'there is a fourth answer',
    caughtBy: 'two further answers are given and not a third, also to many who ask at once',
    seed(store) {
      const isGiven = new Map<string, boolean>();
      return {
        ...store,
        async takeAnswer(id, tag, isAbandoned) {
          const outcome = await store.takeAnswer(id, tag, isAbandoned);
          const hadOne = isGiven.get(id.toHex());
          isGiven.set(id.toHex(), outcome === 'answered');
          return outcome === 'gone' && hadOne === true ? 'answered' : outcome;
        },
      };
    },
  },
  {
    defect: 'answers are looked at, then counted',
    caughtBy: 'two further answers are given and not a third, also to many who ask at once',
    seed: (store) => ({
      ...store,
      async takeAnswer(id, tag, isAbandoned) {
        if ((await store.findLook(id, tag)) === null) return 'gone';
        await turn();
        await store.takeAnswer(id, tag, isAbandoned);
        return 'answered';
      },
    }),
  },
  {
    defect: 'a look is found in its 61st second',
    caughtBy: 'a look ends a minute after its claim and not a second later',
    seed: lateByOne,
  },
  {
    defect: 'a look is answered in its 61st second',
    caughtBy: 'a look ends a minute after its claim and not a second later',
    seed(store) {
      const found = new Set<string>();
      return {
        ...store,
        async findLook(id, tag) {
          const look = await store.findLook(id, tag);
          if (look !== null) found.add(id.toHex());
          return look;
        },
        async takeAnswer(id, tag, isAbandoned) {
          const outcome = await store.takeAnswer(id, tag, isAbandoned);
          return outcome === 'gone' && found.has(id.toHex()) ? 'answered' : outcome;
        },
      };
    },
  },
  {
    defect: 'a look outlives its secret’s life',
    caughtBy: 'a look ends with its secret’s life',
    seed: lateByOne,
  },
  {
    defect: 'both forms of a secret are alive',
    caughtBy: 'a claim with a look leaves it to its opener, and the link finds nothing',
    seed(store) {
      const before = new Map<string, StoredSecret>();
      return {
        ...store,
        async findSecret(id) {
          const secret = await store.findSecret(id);
          if (secret !== null) before.set(id.toHex(), secret);
          return secret ?? ((await store.findAnyLook(id)) && (before.get(id.toHex()) ?? null));
        },
      };
    },
  },
  {
    defect: 'a second claim takes the look over',
    caughtBy: 'a claim with a look leaves it to its opener, and the link finds nothing',
    seed: (store) => ({
      ...store,
      async claim(target, isAbandoned, look = null) {
        const outcome = await store.claim(target, isAbandoned, look);
        const kept = outcome === 'gone' ? await store.findAnyLook(target.secretId) : null;
        if (kept !== null && look !== null)
          await store.replaceWrapping(target.secretId, kept.sealedSecret, look.sealedLook);
        return outcome;
      },
    }),
  },
  {
    defect: 'a claim reads, then takes with its look',
    caughtBy: 'of a hundred openers at once one wins, and only its nonce is answered again',
    seed: (store) => ({
      ...store,
      async claim(target, isAbandoned, look = null) {
        if ((await store.findSecret(target.secretId)) === null) return 'gone';
        await turn();
        await store.claim(target, isAbandoned, look);
        return 'won';
      },
    }),
  },
  {
    defect: 'a claim without a look leaves what was sealed',
    caughtBy: 'a claim without a look leaves none',
    seed(store) {
      const claimed = new Map<string, StoredLook>();
      return {
        ...store,
        async claim(target, isAbandoned, look = null) {
          const secret = await store.findSecret(target.secretId);
          const outcome = await store.claim(target, isAbandoned, look);
          if (secret !== null && look === null) claimed.set(target.secretId.toHex(), { ...secret, until: 0 });
          return outcome;
        },
        findAnyLook: async (id) => (await store.findAnyLook(id)) ?? claimed.get(id.toHex()) ?? null,
      };
    },
  },
  {
    defect: 'a waiting secret is found as a look',
    caughtBy: 'a waiting secret has no look',
    seed: (store) => ({
      ...store,
      async findAnyLook(id) {
        const secret = await store.findSecret(id);
        return secret === null ? store.findAnyLook(id) : { ...secret, until: secret.expiresAt };
      },
    }),
  },
  {
    defect: 'a receipt shows the look',
    caughtBy: 'a claim with a look leaves it to its opener, and the link finds nothing',
    seed: (store) => ({
      ...store,
      async findReceipt(...asked) {
        const receipt = await store.findReceipt(...asked);
        const look = receipt === null ? null : await store.findAnyLook(receipt.secretId);
        return receipt && { ...receipt, sealedSecret: look?.sealedSecret ?? receipt.sealedSecret };
      },
    }),
  },
  {
    defect: 'a receipt says waiting until the look has ended',
    caughtBy: 'a claim with a look leaves it to its opener, and the link finds nothing',
    seed: (store) => ({
      ...store,
      async findReceipt(...asked) {
        const receipt = await store.findReceipt(...asked);
        const look = receipt === null ? null : await store.findAnyLook(receipt.secretId);
        return receipt && look ? { ...receipt, state: 'waiting', endedAt: null } : receipt;
      },
    }),
  },
  {
    defect: 'an answer is counted for a client that has left',
    caughtBy: 'an answer to a client that has left is not counted',
    seed: (store) => ({
      ...store,
      async takeAnswer(id, tag, isAbandoned) {
        const outcome = await store.takeAnswer(id, tag, clientStays);
        return isAbandoned() ? 'abandoned' : outcome;
      },
    }),
  },
  {
    defect: 'an answer asks when it is handed in, and not again after it has waited',
    caughtBy:
      'a claim with a look, or an answer, that had to wait takes nothing for a client that left meanwhile',
    seed: (store, _subject, released) => ({
      ...store,
      async claim(target, isAbandoned, look = null) {
        await released();
        return store.claim(target, isAbandoned, look);
      },
      async takeAnswer(id, tag, isAbandoned) {
        const hasLeft = isAbandoned();
        await released();
        return store.takeAnswer(id, tag, () => hasLeft);
      },
    }),
  },
  {
    defect: 'an unconfirmed answer is released',
    caughtBy: 'neither an unconfirmed claim nor an unconfirmed answer releases a look',
    seed: (store) => ({
      ...store,
      takeAnswer: (id, tag, isAbandoned) => store.takeAnswer(id, tag, isAbandoned).catch(() => 'answered'),
    }),
  },
  {
    defect: 'an unconfirmed claim with a look is released',
    caughtBy: 'neither an unconfirmed claim nor an unconfirmed answer releases a look',
    seed: (store) => ({
      ...store,
      claim: (target, isAbandoned, look = null) => store.claim(target, isAbandoned, look).catch(() => 'won'),
    }),
  },
];

const rowDefects: readonly SeededDefect[] = [
  {
    defect: 'a look that does not fit is left out in silence',
    caughtBy: 'a look that does not fit its secret any more is refused, and takes nothing',
    seed: (store) => ({
      ...store,
      claim: (target, isAbandoned, look = null) =>
        store.claim(target, isAbandoned, look).catch(() => store.claim(target, isAbandoned)),
    }),
  },
  {
    defect: 'a look fits only the very wrapping that was found',
    caughtBy: 'who has proven a link before it is re-wrapped still takes the secret with a look',
    seed(store) {
      const rewrapped = new Set<string>();
      return {
        ...store,
        async replaceWrapping(id, from, to) {
          rewrapped.add(id.toHex());
          return store.replaceWrapping(id, from, to);
        },
        claim: async (target, isAbandoned, look = null) =>
          rewrapped.has(target.secretId.toHex()) ? 'gone' : store.claim(target, isAbandoned, look),
      };
    },
  },
  {
    defect: 'a rotation leaves looks out',
    caughtBy: 'a look under an older root is listed, re-wrapped and then as it was',
    seed: (store) => ({
      ...store,
      async listUnderOlderRoots(...asked) {
        const { secretIds, next } = await store.listUnderOlderRoots(...asked);
        const secrets = await Promise.all(secretIds.map((id) => store.findSecret(id)));
        return { secretIds: secrets.flatMap((each) => each?.secretId ?? []), next };
      },
    }),
  },
  {
    defect: 'roots of looks are not in use',
    caughtBy: 'a look under an older root is listed, re-wrapped and then as it was',
    seed: (store) => ({ ...store, rootKidsInUse: async () => [] }),
  },
  {
    defect: 'a re-wrapping gives the answers back',
    caughtBy: 'a look under an older root is listed, re-wrapped and then as it was',
    seed: (store) => ({
      ...store,
      async replaceWrapping(id, from, to) {
        const whole = to.slice();
        whole[lookRow.answersAt] = 2;
        return store.replaceWrapping(id, from, whole);
      },
    }),
  },
  {
    defect: 'an ended look is said to be re-wrapped',
    caughtBy: 'an ended look is under no root, and gets no new wrapping',
    seed: (store) => ({
      ...store,
      replaceWrapping: async (...given) =>
        (await store.replaceWrapping(...given)) || (await store.findAnyLook(given[0])) === null,
    }),
  },
  {
    defect: 'a look keeps no copy of the tag',
    caughtBy: 'a store keeps its own copy of a look and of its tag',
    seed: (store) => ({
      ...store,
      async findLook(id, tag) {
        await turn();
        return store.findLook(id, tag);
      },
    }),
  },
  {
    defect: 'an answer keeps no copy of the tag',
    caughtBy: 'a store keeps its own copy of a look and of its tag',
    seed: (store) => ({
      ...store,
      async takeAnswer(id, tag, isAbandoned) {
        await turn();
        return store.takeAnswer(id, tag, isAbandoned);
      },
    }),
  },
];

export const lookDefects: readonly SeededDefect[] = [...openerDefects, ...outlivingDefects, ...rowDefects];
