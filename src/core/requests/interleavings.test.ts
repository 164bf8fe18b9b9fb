/**
 * An answer in flight against what ends its request or takes its place, in every order of the steps that reach the store. Whatever the
 * order: what the sender is told, what is in the mailbox and which secrets wait agree.
 */
import { describe, expect, it } from 'bun:test';
import { clientAnswer, clientRequest } from '../../../test/support/asking.ts';
import { everyOrder, type Run, type Scenario } from '../../../test/support/orders.ts';
import type { Bench } from '../../../test/support/service-bench.ts';
import { type AccountCaller, anonymous } from '../account.ts';
import { type SecretKey, secretIdOf } from '../keys.ts';
import type { ServiceParts } from '../secrets/service.ts';

const { input, ownerProof, askProof } = clientRequest();

interface Asked {
  readonly bench: Bench;
  readonly jo: AccountCaller;
  readonly requestKey: string;
}

type Caller = (asked: Asked) => () => Promise<string>;

const answers =
  (seed: string): Caller =>
  ({ bench, requestKey }) =>
  async () => {
    const { secret, wrapped } = clientAnswer(seed);
    const sent = { requestKey, askProof, sealed: secret.input(), wrapped };
    const outcome = await bench.requests.answer(sent);
    return outcome.outcome === 'answered' ? `answered ${outcome.secretKey}` : outcome.outcome;
  };
const closes: Caller =
  ({ bench, requestKey }) =>
  async () =>
    (await bench.requests.change({ requestKey, ownerProof, change: { close: true } }, anonymous)).outcome;
const locks: Caller =
  ({ bench, jo }) =>
  async () => {
    await bench.deps.store.lockAccount(jo.account.id);
    return 'locked';
  };
const deletes: Caller =
  ({ bench, jo }) =>
  async () => {
    await bench.deps.store.deleteAccount(jo.account.id);
    await bench.deps.store.continueDeletion(jo.account.id, 500);
    return 'deleted';
  };
/** The store call is only there to wait at a gate. */
const ends: Caller =
  ({ bench }) =>
  async () => {
    await bench.deps.store.listAccounts();
    bench.advance(3_600);
    return 'over';
  };

/** What finds a request, and what changes one. */
const decisive = [
  ...['findRequest', 'putAnswer', 'changeRequest', 'lockAccount', 'deleteAccount', 'continueDeletion'],
  'listAccounts',
];

function race(callers: readonly Caller[], more: Pick<Scenario, 'defect'> = {}) {
  let asked: Asked | null = null;
  const prepare = async (bench: Bench) => {
    const jo = await bench.signUp('jo@example.org');
    const made = await bench.requests.ask({ ...input, ttlSeconds: 3_600 }, jo);
    if (made.outcome !== 'found') throw new Error(made.outcome);
    asked = { bench, jo, requestKey: made.requestKey };
    const subject = asked;
    return callers.map((caller) => caller(subject));
  };
  return { ...more, gates: decisive, prepare, asked: () => asked as Asked | null };
}

/** What is in the mailbox, by the secret keys that wait in it; `null` if it is not found. */
async function waitingIn({ bench, jo, requestKey }: Asked): Promise<readonly string[] | null> {
  await bench.deps.store.unlockAccount(jo.account.id);
  const found = await bench.requests.answers({ requestKey, ownerProof });
  if (found.outcome !== 'found') return null;
  return found.answers.map(({ secretKey, state }) => `${state} ${secretKey}`);
}

/** Returns what the senders were told, and faults: a told answer that is not there, or one that is there untold. */
async function faultsOf({ outcomes, bench }: Run, asked: Asked): Promise<readonly string[]> {
  const waiting = await waitingIn(asked);
  const told = outcomes.flatMap((outcome) => (outcome.startsWith('answered ') ? [outcome.slice(9)] : []));
  if (waiting === null) {
    const secrets = told.map((key) => bench.memory.findSecret(secretIdOf(key as SecretKey)));
    return (await Promise.all(secrets)).flatMap((secret) => (secret === null ? [] : ['left behind']));
  }
  const lost = told.filter((key) => !waiting.includes(`new ${key}`)).map((key) => `lost: ${key}`);
  return [
    ...lost,
    ...waiting.filter((each) => !told.includes(each.slice(4))).map((each) => `untold: ${each}`),
  ];
}

const tellsOf = (outcomes: readonly string[]) =>
  outcomes.map((outcome) => outcome.replace(/ .*/, '')).join(' | ');

describe('in every order of their steps', () => {
  const rows: readonly [string, readonly Caller[], readonly string[]][] = [
    ['a close', [answers('one'), closes], ['answered | found', 'ended | found']],
    ['a lock of the account', [answers('one'), locks], ['answered | locked', 'unknown | locked']],
    ['the deletion of the account', [answers('one'), deletes], ['answered | deleted', 'unknown | deleted']],
    ['the end', [answers('one'), ends], ['answered | over', 'unknown | over']],
    ['another answer', [answers('one'), answers('two')], ['answered | full', 'full | answered']],
    ['the same answer', [answers('one'), answers('one')], ['answered | answered']],
    [
      'another answer and a close',
      [answers('one'), answers('two'), closes],
      [
        'answered | ended | found',
        'answered | full | found',
        'ended | answered | found',
        'ended | ended | found',
        'full | answered | found',
      ],
    ],
  ];
  it.each(rows)('an answer against %s: both are told the truth', async (_name, callers, expected) => {
    const subject = race(callers);
    const seen = new Set<string>();
    await everyOrder(subject, async (run) => {
      const asked = subject.asked();
      if (asked === null) throw new Error('nothing was asked');
      expect(await faultsOf(run, asked)).toEqual([]);
      seen.add(tellsOf(run.outcomes));
    });
    expect([...seen].toSorted()).toEqual([...expected]);
  });

  it('finds a store that looks for a place first and takes it in a second step (self-test)', async () => {
    const subject = race([answers('one'), answers('two')], { defect: checkThenStore });
    let doubles = 0;
    await everyOrder(subject, ({ outcomes }) => {
      if (tellsOf(outcomes) === 'answered | answered') doubles += 1;
    });
    expect(doubles).toBeGreaterThan(0);
  });
});

/** The defect: makes room after it has looked. */
function checkThenStore(store: ServiceParts['store'], gate: () => Promise<void>): ServiceParts['store'] {
  return {
    ...store,
    async putAnswer(answer) {
      const request = await store.findRequest(answer.requestId);
      await gate();
      if (request === null || request.isEnded) return 'ended';
      await store.changeRequest(answer.requestId, { places: request.taken + 2 }, null);
      return store.putAnswer(answer);
    },
  };
}
