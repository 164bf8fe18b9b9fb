/**
 * Proves that one caller wins, whatever the order in which the steps of two or three callers reach the store.
 *
 * Every store call waits at a gate, and the gates are opened in every possible order. Where there are too many orders,
 * fast-check draws some and prints the seed of a failure.
 */
import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import { clientStays } from '../../../test/stores/conformance/check.ts';
import {
  everyOrder,
  type Gate,
  gated,
  type Run,
  type Scenario,
  type Store,
} from '../../../test/support/orders.ts';
import { type Bench, createBench, guess } from '../../../test/support/service-bench.ts';
import { anonymous } from '../account.ts';
import type { IsAbandoned } from '../ports/claims.ts';
import { Sensitive } from '../sensitive.ts';

/** The defect: checks first, then takes in a second step whatever is there. */
function readThenDelete(store: Store, gate: Gate): Store {
  return {
    ...store,
    async claim(secret) {
      if ((await store.findSecret(secret.secretId)) === null) return 'gone';
      await gate();
      await store.claim(secret, clientStays);
      return 'won';
    },
  };
}

interface Made {
  readonly bench: Bench;
  readonly secretKey: string;
  readonly metadataKey: string;
  readonly passphrase: string | undefined;
}

async function made(bench: Bench, passphrase?: string): Promise<Made> {
  const { secretKey, metadataKey } = await bench.share('v', {
    ttlSeconds: 60,
    ...(passphrase === undefined ? {} : { passphrase }),
  });
  return { bench, secretKey, metadataKey, passphrase };
}

const reveals =
  ({ bench, secretKey, passphrase }: Made) =>
  async () =>
    (await bench.service.reveal(guess(secretKey, passphrase), anonymous)).outcome;
const burns =
  ({ bench, metadataKey }: Made) =>
  async () => {
    const burned = await bench.service.burn(
      { proof: null, metadataKey, authority: 'holder', isAbandoned: clientStays },
      anonymous,
    );
    return 'receipt' in burned ? `${burned.outcome}, ${burned.receipt.state}` : burned.outcome;
  };
const burnsByLink =
  ({ bench, secretKey, passphrase }: Made) =>
  async () =>
    `by link: ${(await bench.service.burnByRecipient(guess(secretKey, passphrase))).outcome}`;
const looks =
  ({ bench, metadataKey }: Made) =>
  async () => {
    const seen = await bench.service.viewReceipt({ metadataKey, authority: 'holder' }, anonymous);
    return seen.outcome === 'found' ? `seen ${seen.receipt.state}` : seen.outcome;
  };
/** Time passes at one point of the order: the store call is only there to wait at a gate. */
const expires =
  ({ bench }: Made) =>
  async () => {
    await bench.deps.store.listAccounts();
    bench.advance(60);
    return 'time passed';
  };

async function receiptAfter({ bench }: Run, metadataKey: string) {
  const found = await bench.service.findReceipt({ metadataKey, authority: 'holder' }, anonymous);
  return found.outcome === 'found' ? found.receipt : null;
}

async function stateAfter({ bench }: Run, metadataKey: string): Promise<string> {
  const found = await bench.service.findReceipt({ metadataKey, authority: 'holder' }, anonymous);
  return found.outcome === 'found' ? found.receipt.state : found.outcome;
}

/** Prepares the callers, and keeps their metadata key for the check. */
function scenario(
  callers: ReadonlyArray<(subject: Made) => () => Promise<string>>,
  options: Omit<Scenario, 'prepare'> & { passphrase?: string } = {},
) {
  let metadataKey = '';
  const prepare = async (bench: Bench) => {
    const subject = await made(bench, options.passphrase);
    metadataKey = subject.metadataKey;
    return callers.map((caller) => caller(subject));
  };
  return { ...options, prepare, metadataKeyOf: () => metadataKey };
}

describe('in every order of their steps', () => {
  it('P1: of two reveals exactly one wins', async () => {
    const race = scenario([reveals, reveals], { bothWays: true });
    const orders = await everyOrder(race, async (run) => {
      expect(run.outcomes.toSorted()).toEqual(['revealed', 'unknown']);
      expect(await stateAfter(run, race.metadataKeyOf())).toBe('received');
    });
    expect(orders).toBeGreaterThanOrEqual(20);
  });

  it('P1: of two reveals with the right passphrase exactly one wins', async () => {
    const race = scenario([reveals, reveals], { passphrase: 'right' });
    const orders = await everyOrder(race, async (run) => {
      expect(run.outcomes.toSorted()).toEqual(['revealed', 'unknown']);
      expect(await stateAfter(run, race.metadataKeyOf())).toBe('received');
    });
    expect(orders).toBeGreaterThanOrEqual(50);
  });

  it('P1: of three reveals exactly one wins', async () => {
    const orders = await everyOrder(scenario([reveals, reveals, reveals]), ({ outcomes }) =>
      expect(outcomes.toSorted()).toEqual(['revealed', 'unknown', 'unknown']),
    );
    expect(orders).toBeGreaterThanOrEqual(60);
  });

  it('P7: of a reveal and a burn exactly one wins, the other is told, and the receipt agrees', async () => {
    const race = scenario([reveals, burns], { bothWays: true });
    const seen = new Set<string>();
    const orders = await everyOrder(race, async (run) => {
      const told = run.outcomes.join(' | ');
      expect(['revealed | already_gone, received', 'unknown | burned, burned']).toContain(told);
      seen.add(told);
      const expected = told.startsWith('revealed') ? 'received' : 'burned';
      expect(await stateAfter(run, race.metadataKeyOf())).toBe(expected);
    });
    expect(seen.size).toBe(2);
    expect(orders).toBeGreaterThanOrEqual(20);
  });

  it('P7: of a reveal and a burn by the link exactly one wins, and the receipt says which and who', async () => {
    const race = scenario([reveals, burnsByLink], { bothWays: true });
    const seen = new Set<string>();
    const orders = await everyOrder(race, async (run) => {
      const told = run.outcomes.join(' | ');
      expect(['revealed | by link: unknown', 'unknown | by link: burned']).toContain(told);
      seen.add(told);
      const wasRead = told.startsWith('revealed');
      expect(await receiptAfter(run, race.metadataKeyOf())).toMatchObject({
        state: wasRead ? 'received' : 'burned',
        burnedBy: wasRead ? null : 'recipient',
      });
    });
    expect(seen.size).toBe(2);
    expect(orders).toBeGreaterThanOrEqual(20);
  });

  it('P7: of a reveal and burns of both kinds exactly one wins, and the receipt says which and who', async () => {
    const race = scenario([reveals, burns, burnsByLink]);
    const seen = new Set<string>();
    await everyOrder(race, async (run) => {
      const [revealed, burned, byLink] = run.outcomes;
      const winners = [
        revealed === 'revealed' ? 'received, null' : [],
        burned === 'burned, burned' ? 'burned, creator' : [],
        byLink === 'by link: burned' ? 'burned, recipient' : [],
      ].flat();
      const receipt = await receiptAfter(run, race.metadataKeyOf());
      expect(winners).toEqual([`${receipt?.state}, ${receipt?.burnedBy}`]);
      seen.add(winners.join());
    });
    expect([...seen].toSorted()).toEqual(['burned, creator', 'burned, recipient', 'received, null']);
  });

  it('P7: of two burns exactly one burns', async () => {
    await everyOrder(scenario([burns, burns], { bothWays: true }), ({ outcomes }) =>
      expect(outcomes.toSorted()).toEqual(['already_gone, burned', 'burned, burned']),
    );
  });

  it('P7 P8: of a reveal, a burn and the end of its life at most one wins, and the receipt names it', async () => {
    const race = scenario([reveals, burns, expires]);
    const ends = new Set<string>();
    await everyOrder(race, async (run) => {
      const [revealed = '', burned = ''] = run.outcomes;
      const winners = [revealed === 'revealed', burned === 'burned, burned'].filter(Boolean);
      expect(winners.length).toBeLessThanOrEqual(1);
      const expected = winners.length === 0 ? 'expired' : revealed === 'revealed' ? 'received' : 'burned';
      expect(await stateAfter(run, race.metadataKeyOf())).toBe(expected);
      ends.add(expected);
    });
    expect([...ends].toSorted()).toEqual(['burned', 'expired', 'received']);
  });

  it('P6: a creator who looks while a reader reads never sees it unread after the release', async () => {
    await everyOrder(scenario([reveals, looks], { bothWays: true }), async (run) => {
      expect(run.outcomes[0]).toBe('revealed');
      expect(['seen viewed', 'seen received']).toContain(run.outcomes[1] ?? '');
    });
  });

  /** Two openers, each with a code, and the first of them asks for another. */
  async function openersOf(bench: Bench) {
    const caller = await bench.signUp('jo@example.org');
    const verify = new Sensitive('anna@example.org');
    const { secretKey } = await bench.share('v', { caller, verify, ttlSeconds: 60 });
    const ask = async (look: Uint8Array) => {
      const given = { secretKey, look, linkProof: null, clientPrefix: '192.0.2.0/24', locale: 'en' };
      return (await bench.service.mailCode(given)).outcome;
    };
    const openerOf = async (look: Uint8Array) => {
      await ask(look);
      await bench.service.settled();
      const input = { ...guess(secretKey), look, code: bench.codeMailed() };
      return async () => (await bench.service.reveal(input, anonymous)).outcome;
    };
    const looks = [new Uint8Array(16).fill(1), new Uint8Array(16).fill(2)] as const;
    const [one, two] = [await openerOf(looks[0]), await openerOf(looks[1])];
    return { one, two, again: () => ask(looks[0]) };
  }

  it('P1: of two openers with codes of their own exactly one wins', async () => {
    const prepare = async (bench: Bench) => {
      const { one, two } = await openersOf(bench);
      return [one, two];
    };
    const orders = await everyOrder({ prepare }, ({ outcomes }) =>
      expect(outcomes.toSorted()).toEqual(['revealed', 'unknown']),
    );
    expect(orders).toBeGreaterThanOrEqual(200);
  });

  it('P3: an opener who asks for another code meanwhile opens, or is told that the code is wrong', async () => {
    const prepare = async (bench: Bench) => {
      const { one, again } = await openersOf(bench);
      return [one, again];
    };
    const seen = new Set<string>();
    await everyOrder({ prepare }, ({ outcomes }) => void seen.add(outcomes.join(' | ')));
    expect([...seen].toSorted()).toEqual(['code_wrong | queued', 'revealed | queued', 'revealed | unknown']);
  });

  it('finds the two readers of a store that reads and then deletes (self-test)', async () => {
    let doubles = 0;
    await everyOrder(scenario([reveals, reveals], { defect: readThenDelete }), ({ outcomes }) => {
      if (outcomes.every((outcome) => outcome === 'revealed')) doubles += 1;
    });
    expect(doubles).toBeGreaterThan(0);
  });

  it('finds the secret of such a store both read and burned (self-test)', async () => {
    let doubles = 0;
    await everyOrder(scenario([reveals, burns], { defect: readThenDelete }), ({ outcomes }) => {
      if (outcomes[0] === 'revealed' && outcomes[1]?.startsWith('burned')) doubles += 1;
    });
    expect(doubles).toBeGreaterThan(0);
  });
});

describe('a client that leaves', () => {
  const leavers: ReadonlyArray<
    [string, (subject: Made, isAbandoned: IsAbandoned) => Promise<{ outcome: string }>]
  > = [
    [
      'a reveal',
      ({ bench, secretKey, passphrase }, isAbandoned) =>
        bench.service.reveal({ ...guess(secretKey, passphrase), isAbandoned }, anonymous),
    ],
    [
      'a burn by the link',
      ({ bench, secretKey, passphrase }, isAbandoned) =>
        bench.service.burnByRecipient({ ...guess(secretKey, passphrase), isAbandoned }),
    ],
    [
      'a burn with the passphrase',
      ({ bench, metadataKey, passphrase }, isAbandoned) => {
        const { clientPrefix, passphrase: given = null } = guess('', passphrase);
        const proof = { passphrase: given, clientPrefix };
        return bench.service.burn({ metadataKey, authority: 'holder', proof, isAbandoned }, anonymous);
      },
    ],
  ];

  it.each(leavers)(
    'P3: before any step of %s but its decision takes nothing and asks the store for nothing',
    async (_name, leave) => {
      const decisions: string[] = [];
      let [step, leavesAt, hasLeft] = [0, 0, false];
      const gate = async () => {
        step += 1;
        if (step === leavesAt) hasLeft = true;
      };
      const bench = createBench({ wrap: (store) => gated(noting(store, decisions), gate, true) });
      const subject = await made(bench, 'right');
      const attempt = async (at: number) => {
        [step, leavesAt, hasLeft] = [0, at, false];
        return (await leave(subject, () => hasLeft)).outcome;
      };
      let at = 1;
      for (; decisions.length === 0; at += 1) {
        expect(['abandoned', 'revealed', 'burned']).toContain(await attempt(at));
        expect(at).toBeLessThan(20);
      }
      // Find, reserve and refund, each with a gate both ways, then the gate before the decision.
      expect(at - 2).toBeGreaterThanOrEqual(6);
    },
  );
});

/** Records each claim and burn, then runs it as for a client that stays. */
function noting(store: Store, decisions: string[]): Store {
  return {
    ...store,
    claim(secret) {
      decisions.push('claim');
      return store.claim(secret, clientStays);
    },
    burn(id) {
      decisions.push('burn');
      return store.burn(id, clientStays);
    },
    burnFound(secret) {
      decisions.push('burn by the link');
      return store.burnFound(secret, clientStays);
    },
  };
}

describe('in orders drawn at random', () => {
  /** How many of two readers and burners of both kinds, with the passphrase, won. */
  async function winners(scheduler: fc.Scheduler, defect?: Scenario['defect']): Promise<number> {
    let closed = false;
    const gate: Gate = () => (closed ? scheduler.schedule(Promise.resolve()) : Promise.resolve());
    const bench = createBench({ wrap: (store) => gated(defect?.(store, gate) ?? store, gate, true) });
    const subject = await made(bench, 'right');
    closed = true;
    const callers = [reveals, reveals, burnsByLink, burns].map((caller) => caller(subject)());
    const outcomes = await scheduler.waitFor(Promise.all(callers));
    closed = false;
    return outcomes.filter((outcome) => ['revealed', 'burned, burned', 'by link: burned'].includes(outcome))
      .length;
  }

  it('P1 P7: of two reveals and two burns exactly one wins (1,000 orders)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => expect(await winners(scheduler)).toBe(1)),
      { numRuns: 1000 },
    );
  });

  it('is where a store that reads and then deletes is found out (self-test)', async () => {
    const found = fc.asyncProperty(
      fc.scheduler(),
      async (scheduler) => (await winners(scheduler, readThenDelete)) === 1,
    );
    expect((await fc.check(found, { numRuns: 1000, seed: 20_261_121 })).failed).toBe(true);
  });
});
