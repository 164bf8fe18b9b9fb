/** What the embedded store keeps of codes: nothing that opens anything, rows of one length, none without a record, and a mark that is sealed. */
import { Database } from 'bun:sqlite';
import { describe, expect, it } from 'bun:test';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { anonymous } from '../../src/core/account.ts';
import { generateSecretKey, secretIdOf } from '../../src/core/keys.ts';
import { countedId } from '../../src/core/ports/attempts.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { utf8 } from '../../src/crypto/bytes.ts';
import { deriveCodeTag, deriveLookTag } from '../../src/crypto/derive.ts';
import { openSqliteSource, openSqliteTarget } from '../../src/store/sqlite/moving.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { createBench, guess, readBy } from '../support/service-bench.ts';
import { limits, newClient } from './conformance/attempt-fixtures.ts';
import { clientStays, createSettableClock, putNew, ttlSeconds } from './conformance/check.ts';
import { makeMemoryFolder } from './memory-folder.ts';
import { moveBetween } from './move-fixtures.ts';
import { useStoreFolder } from './store-folder.ts';
import { testBallastBytes } from './subjects.ts';

const { current, open, countOf, valuesOf } = useStoreFolder();
const random = seededRandom('rows of codes');
const newCode = () => ({ lookTag: random(16), codeTag: random(16) });

/** A secret with all other marks, of a store that is closed. */
async function putIn() {
  await using store = await open();
  return await putNew(store, { sealed: true, notify: ['read', 'burned', 'expiring'] });
}

describe('the rows of codes', () => {
  it('P9 P11: hold no link, no nonce and no code, and have one length', async () => {
    await using store = await open();
    const [link, nonce] = [generateSecretKey(random, null), random(16)];
    const { secretId } = await putNew(store, { secretId: secretIdOf(link), verify: true });
    const lookTag = deriveLookTag(nonce, secretId);
    for (const code of ['000000', '493207']) {
      const codeTag = deriveCodeTag(link, nonce, code);
      await store.putCode(secretId, { lookTag, codeTag });
      await store.setCodeState(secretId, codeTag, 'given_up');
      current.wallClock.advance(1);
    }
    await store.reserve(countedId(secretId, 'wrongCodes'), newClient(), limits);
    expect(await store.scrub()).toBe(true);
    const files = readdirSync(current.directory).filter((name) => name !== 'ballast');
    const all = Buffer.concat(files.map((name) => readFileSync(join(current.directory, name))));
    for (const needle of [utf8(link), nonce, utf8('493207')]) expect(all.includes(needle)).toBe(false);
    expect(all.includes(lookTag)).toBe(true);
    const lengths = valuesOf('SELECT length(secret_id), length(look_tag), length(code_tag) FROM codes');
    expect(lengths).toEqual([
      [16, 16, 16],
      [16, 16, 16],
    ]);
  });

  it('go with their record, also where that is only overwritten for now', async () => {
    await using store = await open();
    for (let n = 0; n < 200; n += 1) {
      const { secretId } = await putNew(store);
      await store.putCode(secretId, newCode());
      await store.putCode(secretId, newCode());
    }
    const kept = await putNew(store, { receiptExpiresAt: store.now() + 4 * ttlSeconds });
    await store.putCode(kept.secretId, newCode());
    expect(countOf('codes')).toBe(401);
    current.wallClock.advance(2 * ttlSeconds);
    // One record stays live, so rows near it are only overwritten for now.
    await putNew(store);
    while ((await store.sweep(100)) === 100);
    expect(countOf('codes')).toBe(1);
    expect(countOf('records')).toBeGreaterThan(100);
  });

  it('stay with the receipt of a secret that is burned, alone or with all others', async () => {
    await using store = await open();
    for (const burn of [() => store.burnAll(null, 10), null]) {
      const { secretId, receiptId } = await putNew(store);
      const code = newCode();
      await store.putCode(secretId, code);
      await (burn === null ? store.burn(receiptId, clientStays) : burn());
      expect(await store.listCodes(secretId)).toEqual([{ at: store.now(), state: 'queued' }]);
      expect(await store.putCode(secretId, code)).toBeNull();
    }
  });
});

describe('the mark of a secret that asks for a code', () => {
  const mark = 1 << 5;

  /** A secret of the whole core on this store. */
  async function shared(store: Awaited<ReturnType<typeof open>>, verify: string | null) {
    const bench = createBench({ wrap: () => store });
    const caller = await bench.signUp(`${verify === null ? 'jo' : 'jane'}@example.org`);
    const given = verify === null ? null : new Sensitive(verify);
    const { secretKey } = await bench.share('the value', { caller, verify: given });
    const reveal = () => bench.service.reveal(guess(secretKey), anonymous).catch((error) => error.code);
    return { bench, secretKey, reveal };
  }

  it('P3 P9: turned off in the database leaves a damaged row, which opens nothing and loses nothing', async () => {
    await using store = await open();
    const { bench, secretKey, reveal } = await shared(store, 'anna@example.org');
    valuesOf(`UPDATE records SET marks = marks & ~${mark}`);
    expect(await reveal()).toBe('damaged');
    valuesOf(`UPDATE records SET marks = marks | ${mark}`);
    expect(await reveal()).toEqual({ outcome: 'code_required' });
    const look = random(16);
    const asked = { secretKey, look, linkProof: null, clientPrefix: '192.0.2.0/24', locale: 'en' };
    expect(await bench.service.mailCode(asked)).toMatchObject({ outcome: 'queued' });
    await bench.service.settled();
    const opening = { ...guess(secretKey), look, code: bench.codeMailed() };
    expect(readBy(await bench.service.reveal(opening, anonymous))).toBe('the value');
  });

  it('is refused because it is sealed, too: one that is only in the database is no obstacle (self-test)', async () => {
    await using store = await open();
    const { reveal } = await shared(store, null);
    valuesOf(`UPDATE records SET marks = marks | ${mark}`);
    expect(await reveal()).toBe('damaged');
    valuesOf(`UPDATE records SET marks = marks & ~${mark}`);
    expect(readBy(await reveal())).toBe('the value');
  });
});

describe('a store from before there were codes', () => {
  const makeOlder = () => {
    using db = new Database(join(current.directory, 'mayfly.db'));
    db.run('DROP TABLE codes');
    db.run('PRAGMA user_version = 17');
  };
  it('has secrets that need none, and takes codes from then on', async () => {
    const record = await putIn();
    makeOlder();
    await using store = await open();
    const told = await store.findSecret(record.secretId);
    expect([told?.verify, told?.sealed, told?.notify]).toEqual([false, true, record.notify]);
    expect(await store.listCodes(record.secretId)).toEqual([]);
    const { secretId } = await putNew(store, { verify: true });
    const code = newCode();
    await store.putCode(secretId, code);
    expect(await store.findCode(secretId, code.lookTag)).toEqual(code.codeTag);
  });

  it('P5: can be moved', async () => {
    const record = await putIn();
    makeOlder();
    const [clock, copy] = [createSettableClock(), makeMemoryFolder()];
    try {
      await using from = openSqliteSource(current.directory, clock);
      await using to = openSqliteTarget(copy);
      expect((await moveBetween(from, to)).outcome).toBe('moved');
      await using store = await openSqliteStore({ directory: copy, clock, ballastBytes: testBallastBytes });
      expect((await store.findSecret(record.secretId))?.verify).toBe(false);
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  });
});
