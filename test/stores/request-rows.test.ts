/**
 * What the embedded store keeps of requests and answers: nothing that opens anything, rows of one length, and no byte of what was erased.
 */
import { Database } from 'bun:sqlite';
import { describe, expect, it, spyOn } from 'bun:test';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateRequestKey, generateSecretKey, requestIdOf, secretIdOf } from '../../src/core/keys.ts';
import { answerContent, answerIdOf, type NewAnswer, type NewRequest } from '../../src/core/request.ts';
import { sealBox } from '../../src/crypto/box.ts';
import { utf8 } from '../../src/crypto/bytes.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { newReceiptId } from './conformance/check.ts';
import { answer, ask, newAnswer, openSeconds, sweepAll } from './conformance/request-fixtures.ts';
import { useStoreFolder } from './store-folder.ts';

const { current, open, countOf, valuesOf } = useStoreFolder();
const random = seededRandom('rows of requests');
const hash = (bytes: Uint8Array) => new Uint8Array(createHash('sha256').update(bytes).digest());

const files = (): Buffer[] =>
  readdirSync(current.directory)
    .filter((each) => each !== 'ballast')
    .map((each) => readFileSync(join(current.directory, each)));
const areIn = (needles: readonly Uint8Array[]): Uint8Array[] => {
  const all = files();
  return needles.filter((needle) => all.some((file) => file.includes(needle)));
};

describe('the rows of a request and its answers', () => {
  it('P9 P11: hold no key, no proof, no wrapped link and no hash of an answer’s link, and have one length', async () => {
    await using store = await open();
    const key = generateRequestKey(random, null);
    const [owner, proof] = [random(32), random(32)];
    const request = await ask(store, {
      id: requestIdOf(key),
      ownerHash: hash(owner),
      askHash: hash(proof),
      places: 20,
    });
    const needles: Uint8Array[] = [utf8(key), owner, proof];
    for (const sizeBytes of [17, 100_000, 1_000_000]) {
      const [secretKey, linkHash, wrapped] = [generateSecretKey(random, null), random(32), random(64)];
      const facts = {
        secretKey,
        receiptId: newReceiptId(),
        wrapped,
        linkHash,
        createdAt: store.now(),
        sizeBytes,
      };
      const id = answerIdOf(key, linkHash);
      const content = answerContent(facts);
      const at = { label: 'answer', keyMaterial: utf8(key), binding: id } as const;
      const given = newAnswer(store, request, { secretId: secretIdOf(secretKey) });
      await store.putAnswer({ ...given, id, box: sealBox({ ...at, content, random }) });
      needles.push(utf8(secretKey), linkHash, wrapped);
    }
    expect(await store.scrub()).toBe(true);
    expect(areIn(needles)).toEqual([]);
    expect(areIn([hash(owner), hash(proof), request.terms])).toHaveLength(3);
    const lengths = valuesOf('SELECT length(answer_id), length(request_id), length(box) FROM answers');
    expect(lengths).toEqual([1, 2, 3].map(() => [16, 16, 240]));
  });

  it('say what became of each answer in one snapshot, in which no value is read', async () => {
    const read: string[] = [];
    const { query } = Database.prototype;
    const noting = spyOn(Database.prototype, 'query').mockImplementation(function (this: Database, sql) {
      const statement = query.call(this, sql);
      for (const method of ['get', 'values', 'run'] as const) {
        const original = statement[method].bind(statement) as (...args: unknown[]) => never;
        Object.assign(statement, {
          [method]: (...args: unknown[]) => [read.push(sql), original(...args)][1],
        });
      }
      return statement as never;
    });
    await using store = await open();
    noting.mockRestore();
    const request = await ask(store, { places: 3 });
    const sent = [await answer(store, request), await answer(store, request), await answer(store, request)];
    read.length = 0;
    const lives = await store.findLives(sent.map(({ record }) => record.receiptId));
    expect(lives.map((life) => life?.state)).toEqual(['waiting', 'waiting', 'waiting']);
    expect(read.filter((sql) => sql === 'BEGIN')).toHaveLength(1);
    expect(read.filter((sql) => sql.includes('SELECT r.state, r.created_at'))).toHaveLength(3);
    expect(read.filter((sql) => sql.includes('sealed_secret'))).toEqual([]);
  });

  it('P10: leave no byte once all of them were erased', async () => {
    await using store = await open();
    const [dying, living]: { request: NewRequest; sent: NewAnswer }[][] = [[], []];
    for (let n = 0; n < 400; n += 1) {
      const until = store.now() + (n % 3 === 0 ? 100 : 1) * openSeconds;
      const request = await ask(store, { until, terms: random([272, 528, 784, 1_040][n % 4] ?? 272) });
      (n % 3 === 0 ? living : dying)?.push({ request, sent: await answer(store, request) });
    }
    // A long row is in several pieces.
    const endsOf = (bytes: Uint8Array) => [bytes.subarray(0, 48), bytes.subarray(-48)];
    const bytesOf = (kept: typeof dying) =>
      kept?.flatMap(({ request, sent }) => [...endsOf(request.terms), ...endsOf(sent.box)]) ?? [];
    current.wallClock.advance(openSeconds);
    await sweepAll(store);
    expect(await store.scrub()).toBe(true);
    expect(areIn(bytesOf(living)).length).toBe(bytesOf(living).length);
    current.wallClock.advance(100 * openSeconds);
    await sweepAll(store);
    expect([countOf('requests'), countOf('answers')]).toEqual([0, 0]);
    expect(await store.scrub()).toBe(true);
    expect(areIn([...bytesOf(dying), ...bytesOf(living)])).toEqual([]);
  });
});
