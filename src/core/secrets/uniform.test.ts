/** P17: every door that takes a key asks the store the same for a key that never existed as for one that says nothing. */
import { describe, expect, it } from 'bun:test';
import { clientStays } from '../../../test/stores/conformance/check.ts';
import { clientAnswer, clientRequest } from '../../../test/support/asking.ts';
import { asOwner } from '../../../test/support/receipts.ts';
import { seededRandom } from '../../../test/support/seeded-random.ts';
import { createBench, guess } from '../../../test/support/service-bench.ts';
import { type AccountCaller, anonymous, type Caller } from '../account.ts';
import type { RequestService } from '../requests/service.ts';
import { Sensitive } from '../sensitive.ts';
import { nonceIn } from './look.ts';
import type { SecretService } from './service.ts';

const random = seededRandom('uniform');
const unknownKey = '0'.repeat(31);
const nonce = nonceIn('A'.repeat(22));

type Door = (service: SecretService, key: string, caller: Caller) => Promise<unknown>;
type Doors = Readonly<Record<string, Door>>;

const revealing = (look: Uint8Array | null): Door => {
  return (service, key, caller) => service.reveal({ ...guess(key, 'a guess'), look }, caller);
};
const owner = (
  door: (service: SecretService, ...given: [ReturnType<typeof asOwner>, Caller]) => Promise<unknown>,
) => {
  const asked: Door = (service, key, caller) => door(service, asOwner(key), caller);
  return { 'as its owner': asked };
};

/** Every method of the service, by what it takes: one that is missing here does not pass the type check. */
const doors: Readonly<
  Record<
    keyof SecretService,
    { readonly secretKey: Doors } | { readonly metadataKey: Doors } | 'takes no key'
  >
> = {
  reveal: { secretKey: { 'without a nonce': revealing(null), 'with a nonce': revealing(nonce) } },
  finishLook: {
    secretKey: { plain: (service, secretKey) => service.finishLook({ secretKey, look: nonce }) },
  },
  inspect: { secretKey: { plain: (service, key, caller) => service.inspect(guess(key, 'a guess'), caller) } },
  secretStatus: {
    secretKey: { plain: (service, secretKey, caller) => service.secretStatus({ secretKey }, caller) },
  },
  arrival: {
    secretKey: { plain: (service, secretKey, caller) => service.arrival({ secretKey }, caller) },
  },
  readNote: {
    secretKey: { plain: (service, secretKey) => service.readNote({ secretKey, linkProof: null }) },
  },
  mailCode: {
    secretKey: {
      plain: (service, secretKey) =>
        service.mailCode({ secretKey, look: nonce, linkProof: null, clientPrefix: '', locale: 'en' }),
    },
  },
  burnByRecipient: { secretKey: { plain: (service, key) => service.burnByRecipient(guess(key, 'a guess')) } },
  findReceipt: { metadataKey: owner((service, input, caller) => service.findReceipt(input, caller)) },
  viewReceipt: { metadataKey: owner((service, input, caller) => service.viewReceipt(input, caller)) },
  burn: {
    metadataKey: owner((service, input, caller) =>
      service.burn({ ...input, isAbandoned: clientStays, proof: null }, caller),
    ),
  },
  change: {
    metadataKey: {
      ...owner((service, input, caller) => service.change({ ...input, memo: null, ttlSeconds: 60 }, caller)),
      'its memo alone': (service, key, caller) =>
        service.change({ ...asOwner(key), memo: new Sensitive('a memo'), ttlSeconds: null }, caller),
    },
  },
  deliver: {
    metadataKey: owner((service, input, caller) =>
      service.deliver({ ...input, recipient: new Sensitive('fr@example.org'), locale: 'en' }, caller),
    ),
  },
  conceal: 'takes no key',
  generate: 'takes no key',
  concealOnce: 'takes no key',
  generateOnce: 'takes no key',
  sendDueNotices: 'takes no key',
  suggest: 'takes no key',
  words: 'takes no key',
  recent: 'takes no key',
  authenticate: 'takes no key',
  settled: 'takes no key',
};

const wrong = { ownerProof: random(32), askProof: random(32) };
const { input: asked } = clientRequest();

/** The same for requests, each with a wrong proof. */
const requestDoors: Readonly<
  Record<keyof RequestService, ((requests: RequestService, key: string) => Promise<unknown>) | 'takes no key'>
> = {
  look: (requests, requestKey) => requests.look({ requestKey, ...wrong }),
  report: (requests, requestKey) => requests.report({ requestKey, ...wrong }, ''),
  planFor: (requests, requestKey) => requests.planFor(requestKey),
  answer: (requests, requestKey) => {
    const { secret, wrapped } = clientAnswer('uniform');
    return requests.answer({ requestKey, ...wrong, sealed: secret.input(), wrapped });
  },
  answers: (requests, requestKey) => requests.answers({ requestKey, ...wrong }),
  change: (requests, requestKey) =>
    requests.change({ requestKey, ...wrong, change: { close: true } }, anonymous),
  discard: (requests, requestKey) => requests.discard({ requestKey, ...wrong }, unknownKey),
  ask: 'takes no key',
  settled: 'takes no key',
};

/** A service, and what it asked of its store and its hasher since it was last asked. */
function observed() {
  const asked: string[] = [];
  const bench = createBench({
    wrap: (store) =>
      new Proxy(store, {
        get(methods, name) {
          if (name !== 'now') asked.push(String(name));
          return Reflect.get(methods, name) as unknown;
        },
      }),
  });
  const of = async (door: Door, key: string, caller: Caller) => {
    asked.length = 0;
    const { stretched } = bench.hasher;
    const answer = await door(bench.service, key, caller);
    return { answer, asked: [...asked], hashes: bench.hasher.stretched - stretched };
  };
  return { ...bench, of };
}

type World = ReturnType<typeof observed>;

/** Keys of secrets of an account that were read, opened with a nonce that ended, opened with another that lives, burned, or expired. */
async function makeStates({ service, share, advance }: World, caller: AccountCaller) {
  const one = (ttlSeconds = 3_600) => share('v', { caller, ttlSeconds, passphrase: 'right' });
  const made = {
    read: await one(),
    'opened before': await one(),
    opened: await one(),
    burned: await one(),
    expired: await one(60),
  };
  const open = (key: string, look: Uint8Array | null) =>
    service.reveal({ ...guess(key, 'right'), look }, anonymous);
  await open(made.read.secretKey, null);
  await open(made['opened before'].secretKey, nonce);
  advance(60);
  await open(made.opened.secretKey, random(16));
  await service.burn({ ...asOwner(made.burned.metadataKey), isAbandoned: clientStays, proof: null }, caller);
  return made;
}

/** What a store does on its writer, or in a statement that decides, takes longer where there is something. */
function expectOnlyReads({ asked, hashes }: { readonly asked: readonly string[]; readonly hashes: number }) {
  expect(asked.length).toBeGreaterThan(0);
  expect([asked.filter((name) => !name.startsWith('find')), hashes]).toEqual([[], 0]);
}

describe('P17: the store is asked the same, and nothing is written or hashed,', () => {
  for (const [name, door] of Object.entries(doors)) {
    if (door === 'takes no key') continue;
    if ('secretKey' in door)
      for (const [how, ask] of Object.entries(door.secretKey))
        it(`by ${name} (${how}) for the link of a secret that is gone as for one that never was`, async () => {
          const world = observed();
          const made = await makeStates(world, await world.signUp('jo@example.org'));
          const unknown = await world.of(ask, unknownKey, anonymous);
          expectOnlyReads(unknown);
          for (const [state, { secretKey }] of Object.entries(made))
            expect({ state, ...(await world.of(ask, secretKey, anonymous)) }).toEqual({ state, ...unknown });
        });
    else
      for (const [how, ask] of Object.entries(door.metadataKey))
        it(`by ${name} (${how}) for somebody else's metadata key as for an unknown one`, async () => {
          const world = observed();
          const caller = await world.signUp('jo@example.org');
          const states = {
            ...(await makeStates(world, caller)),
            waiting: await world.share('v', { caller }),
          };
          for (const stranger of [await world.signUp('fr@example.org'), anonymous]) {
            const unknown = await world.of(ask, unknownKey, stranger);
            expectOnlyReads(unknown);
            for (const [state, { metadataKey }] of Object.entries(states))
              expect({ state, ...(await world.of(ask, metadataKey, stranger)) }).toEqual({
                state,
                ...unknown,
              });
          }
        });
  }

  for (const [name, door] of Object.entries(requestDoors)) {
    if (door === 'takes no key') continue;
    it(`by ${name} with a wrong proof for a request, open or ended, as for one that never was`, async () => {
      const world = observed();
      const jo = await world.signUp('jo@example.org');
      const keys = await Promise.all([jo, anonymous, jo].map((caller) => askFor(world, caller)));
      const close = {
        requestKey: keys[2] ?? '',
        ownerProof: clientRequest().ownerProof,
        change: { close: true },
      } as const;
      await world.requests.change(close, anonymous);
      const ask: Door = (_service, key) => door(world.requests, key);
      const unknown = await world.of(ask, unknownKey, anonymous);
      expectOnlyReads(unknown);
      for (const key of keys) expect((await world.of(ask, key, anonymous)).asked).toEqual(unknown.asked);
    });
  }
});

async function askFor({ requests }: World, caller: Caller): Promise<string> {
  const made = await requests.ask(asked, caller);
  if (made.outcome !== 'found') throw new Error(made.outcome);
  return made.requestKey;
}
