/**
 * Nothing that opens a request or its answers leaves the core in clear: not to the store, not in an event, not in a mail.
 *
 * Runs a request's life, searches everything that was handed over, and proves that the search finds what a store was given.
 */
import { describe, expect, it } from 'bun:test';
import { anonymous } from '../../src/core/account.ts';
import type { ServiceParts } from '../../src/core/secrets/service.ts';
import { clientAnswer, clientRequest } from '../support/asking.ts';
import { type Canary, dumpOf, findCanaries } from '../support/canary.ts';
import { createBench } from '../support/service-bench.ts';

type Store = ServiceParts['store'];

const { input, ownerProof, askProof } = clientRequest();

/** Records every argument of every call, before the call. */
function listening(store: Store, heard: Buffer[]): Store {
  return new Proxy(store, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return (...args: unknown[]) => {
        heard.push(dumpOf([name, ...args]));
        return Reflect.apply(method, target, args);
      };
    },
  });
}

async function lifeOfARequest() {
  const heard: Buffer[] = [];
  const bench = createBench({ wrap: (store) => listening(store, heard) });
  const caller = await bench.signUp('asker@example.org');
  heard.length = 0;
  const { requests } = bench;
  const made = await requests.ask({ ...input, places: 3, notify: true }, caller);
  if (made.outcome !== 'found') throw new Error(made.outcome);
  const { requestKey } = made;
  const sent = clientAnswer('canary');
  const answer = { requestKey, askProof, sealed: sent.secret.input(), wrapped: sent.wrapped };
  const wrong = { requestKey, askProof: ownerProof, ownerProof: askProof };
  const outcomes = [
    await requests.look(wrong),
    await requests.look({ requestKey, askProof }),
    await requests.report({ requestKey, askProof }, '192.0.2.0/24'),
    await requests.answer({ ...answer, sealed: sent.secret.input() }),
    await requests.answer(answer),
    await requests.answers(wrong),
    await requests.answers({ requestKey, ownerProof }),
    await requests.change({ requestKey, ownerProof, change: { close: true } }, anonymous),
    await requests.answer({ ...answer, sealed: clientAnswer('late').secret.input() }),
  ];
  const [, , , answered] = outcomes;
  if (answered?.outcome !== 'answered') throw new Error(answered?.outcome);
  const { secretKey } = answered;
  await requests.discard({ requestKey, ownerProof }, secretKey);
  await requests.settled();
  const { ciphertext, proofs } = sent.secret;
  const canaries: Canary[] = [
    { name: 'request key', content: requestKey },
    { name: 'secret key', content: secretKey },
    { name: 'O', content: ownerProof },
    { name: 'Q', content: askProof },
    { name: 'W', content: sent.wrapped },
    { name: 'the hash of L', content: sent.secret.input().linkHash },
    { name: 'L', content: proofs.linkProof },
    { name: 'C', content: ciphertext },
  ];
  return { bench, heard, canaries, outcomes };
}

describe('a canary', () => {
  it('P9 P18: in the keys and proofs of a request and in its answer is in nothing that the store was handed', async () => {
    const { bench, heard, canaries, outcomes } = await lifeOfARequest();
    const [wrongLook, , , , again, wrongList, , , late] = outcomes.map(({ outcome }) => outcome);
    expect([wrongLook, again, wrongList, late]).toEqual(['incomplete_link', 'answered', 'unknown', 'ended']);
    expect(heard.length).toBeGreaterThan(20);
    expect(heard.flatMap((each) => findCanaries(each, canaries))).toEqual([]);
    expect(bench.accountMails.length).toBe(1);
  });

  it('P18: is in no event and in no mail', async () => {
    const { bench, canaries } = await lifeOfARequest();
    const told = [...new Set(bench.events.map(({ event }) => event))];
    expect(told.filter((event) => event.startsWith('request_')).toSorted()).toEqual([
      'request_answered',
      'request_created',
      'request_ended',
      'request_refused',
      'request_reported',
    ]);
    const handed = [...bench.events, ...bench.accountMails].map(dumpOf);
    expect(handed.flatMap((each) => findCanaries(each, canaries))).toEqual([]);
  });

  it('is found when it is handed to a store (self-test)', async () => {
    const { bench, heard, canaries } = await lifeOfARequest();
    const store = listening(bench.memory, heard);
    for (const { content } of canaries)
      await store.findAnswer(Buffer.from(content) as never, askProof as never);
    const found = heard.flatMap((each) => findCanaries(each, canaries)).map(({ canary }) => canary);
    expect([...new Set(found)].toSorted()).toEqual(canaries.map(({ name }) => name).toSorted());
  });
});
