/** The ledger of requests for a secret that goes along with kills and failovers: it finds nothing in a sound store, and each defect. */
import { expect, it } from 'bun:test';
import { randomBytes } from 'node:crypto';
import type { AnswerId } from '../../src/core/request.ts';
import type { MemoryStore } from '../stores/memory.ts';
import { createTestApp } from '../support/app.ts';
import { count, limitMs } from '../support/counts.ts';
import { createMailboxes, type Mailboxes, type Post } from '../support/mailboxes.ts';
import { announceSeed, seededFractions } from '../support/run-seed.ts';

const callers = 8;
const stepsOfEach = 60;

/** Until there are faults, or so many rounds are over. */
async function play(wrapStore: (store: MemoryStore) => MemoryStore, rounds: number): Promise<Mailboxes> {
  const app = createTestApp({ requests: 'anyone', wrapStore });
  const { authorization } = await app.account();
  const post: Post = async (path, body, isAnonymous = false) => {
    const headers = { 'content-type': 'application/json', ...(!isAnonymous && { authorization }) };
    const answer = await app.fetch(`/api/v2${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: answer.status, body: await answer.json() };
  };
  const random = seededFractions(announceSeed('mailboxes'));
  const mailboxes = createMailboxes('mailboxes');
  const call = async () => {
    for (let steps = 0; steps < stepsOfEach; steps += 1) await mailboxes.step(post, random);
  };
  for (let round = 0; round < rounds && mailboxes.faults.length === 0; round += 1) {
    await Promise.all(Array.from({ length: callers }, call));
    await mailboxes.settle(post);
  }
  return mailboxes;
}

it(
  'P1, P5: finds nothing in a sound store, and takes every step',
  async () => {
    const { faults, done } = await play((store) => store, count({ usual: 4, long: 40 }));
    expect(faults).toEqual([]);
    expect(Object.keys(done).toSorted()).toEqual([
      ...['again', 'answer', 'ask', 'close', 'discard', 'list', 'open'],
    ]);
  },
  limitMs(60_000),
);

/** What a store has acknowledged, and lost. */
const losses: Readonly<Record<string, (store: MemoryStore) => Partial<MemoryStore>>> = {
  'a request is lost': (store) => {
    const lost = new Set<string>();
    return {
      async putRequest(request, maxPlaces) {
        if (lost.size === 0) lost.add(request.id.toHex());
        return store.putRequest(request, maxPlaces);
      },
      findRequest: async (id) => (lost.has(id.toHex()) ? null : store.findRequest(id)),
    };
  },
  'an answer is lost from its list': (store) => ({
    listAnswers: async (id) => (await store.listAnswers(id)).slice(1),
  }),
  'an answer that is sent again is stored anew': (store) => ({
    findAnswer: async () => null,
    putAnswer: (answer) => store.putAnswer({ ...answer, id: new Uint8Array(randomBytes(16)) as AnswerId }),
  }),
  'a close is lost': (store) => ({
    changeRequest: async (id, change, maxPlaces) =>
      'close' in change ? 'changed' : store.changeRequest(id, change, maxPlaces),
  }),
  'a discard is lost': () => ({ discardAnswer: async () => true }),
  'the burn of a discarded answer is lost': (store) => ({ burnFound: async () => store.now() }),
  'what an answer consumed is lost': () => ({ claim: async () => 'won' }),
  'the state of an answer is lost': (store) => ({
    findLives: async (ids) =>
      (await store.findLives(ids)).map((life) => life && { ...life, state: 'waiting' }),
  }),
};

it.each(Object.entries(losses))('finds that %s', async (_, lose) => {
  expect((await play((store) => ({ ...store, ...lose(store) }), 100)).faults).not.toEqual([]);
});
