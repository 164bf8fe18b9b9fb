/**
 * Every look-up runs the same statements, whatever happened to the secret (P17), immediately finds what another process has stored
 * (P5), and writes nothing (P4).
 */
import type { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, it, spyOn } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownerIn } from '../../../test/stores/conformance/account-fixtures.ts';
import {
  clientStays,
  createSettableClock,
  found,
  newReceiptId,
  newSecretId,
  putNew,
  startOfTest,
} from '../../../test/stores/conformance/check.ts';
import { newLook, newTag, opened as openedWithLook } from '../../../test/stores/conformance/look-fixtures.ts';
import { testBallastBytes } from '../../../test/stores/subjects.ts';
import type { ReceiptId, SecretId } from '../../core/keys.ts';
import type { NewRecord } from '../../core/secret.ts';
import { accountReads } from './accounts.ts';
import { createLockRead } from './attempts.ts';
import { creationReads } from './creations.ts';
import { loopSettings, openConnection } from './database.ts';
import { deletionReads } from './deletion.ts';
import { domainReads } from './domains.ts';
import { readEpochKey } from './epochs.ts';
import { createLocator, hintOf } from './locator.ts';
import { createLookReads } from './looks.ts';
import type { Parts } from './parts.ts';
import { passwordReads } from './passwords.ts';
import { createReceiptReads } from './receipts.ts';
import { requestStore } from './requests.ts';
import { createRootReads } from './roots.ts';
import { createSecretReads } from './secrets.ts';
import { sessionReads } from './sessions.ts';
import { openSqliteStore, type SqliteStore } from './store.ts';
import { usedBytes } from './sweep.ts';
import { ticketReads } from './tickets.ts';
import { createTimeReader } from './time.ts';
import { tokenReads } from './tokens.ts';

const now = startOfTest + 100;
let directory = '';
const connections: Database[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mayfly-'));
});

afterEach(() => {
  for (const db of connections.splice(0)) db.close();
  rmSync(directory, { recursive: true, force: true });
});

const openStore = () =>
  openSqliteStore({ directory, clock: createSettableClock(), ballastBytes: testBallastBytes });

function connect(): Database {
  const db = openConnection(join(directory, 'mayfly.db'), loopSettings);
  connections.push(db);
  return db;
}

/** Records the text of every statement run on the connection. */
function listening(db: Database, heard: string[]): Database {
  const running = ['get', 'all', 'values', 'run'];
  const query = (sql: string) =>
    new Proxy(db.query(sql), {
      get(statement, name) {
        const member: unknown = Reflect.get(statement, name, statement);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          if (running.includes(String(name))) heard.push(sql.trim());
          return Reflect.apply(member, statement, args) as unknown;
        };
      },
    });
  return new Proxy(db, {
    get(target, name) {
      if (name === 'query') return query;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

/** The reads of another process on the folder, and the statements they run. */
function openReads() {
  const heard: string[] = [];
  const db = listening(connect(), heard);
  const locator = createLocator(db);
  const reads = { ...createSecretReads(db, locator), ...createReceiptReads(db, locator) };
  const looks = createLookReads(db, locator);
  const statementsOf = (look: () => unknown): string[] => {
    heard.length = 0;
    look();
    return [...heard];
  };
  return {
    ...reads,
    ofSecret: (id: SecretId) => statementsOf(() => reads.findSecret(id, now)),
    ofLook: (id: SecretId) => statementsOf(() => looks.findLook(id, newTag(), startOfTest)),
    ofReceipt: (id: ReceiptId) => statementsOf(() => reads.findReceipt(id, null, now)),
  };
}

/** Stores a secret in each state that a look-up can meet; the expired one expires at `now`. */
async function storeStates(store: SqliteStore): Promise<Readonly<Record<string, NewRecord>>> {
  const states = {
    waiting: await putNew(store),
    owned: await putNew(store, { owner: await ownerIn(store) }),
    read: await putNew(store),
    looked: (await openedWithLook(store)).record,
    burned: await putNew(store),
    expired: await putNew(store, { expiresAt: now }),
    forgotten: await putNew(store, { expiresAt: now - 1, receiptExpiresAt: now }),
  };
  await store.claim(await found(store, states.read.secretId), clientStays);
  await store.burn(states.burned.receiptId, clientStays);
  return states;
}

/** Another id with the same hint, which is the first six bytes. */
function sameHint<Id extends Uint8Array>(id: Id): Id {
  const other = id.slice() as Id;
  other[15] = (other[15] ?? 0) ^ 1;
  return other;
}

/** Expects look-ups of all these records to run the same statements as look-ups of unknown ids. */
function expectEqualWork(reads: ReturnType<typeof openReads>, records: Readonly<Record<string, NewRecord>>) {
  const unknown = {
    secret: reads.ofSecret(newSecretId()),
    look: reads.ofLook(newSecretId()),
    receipt: reads.ofReceipt(newReceiptId()),
  };
  expect(unknown.secret.length).toBeGreaterThan(0);
  for (const [state, { secretId, receiptId }] of Object.entries(records)) {
    expect({ state, asked: reads.ofSecret(secretId) }).toEqual({ state, asked: unknown.secret });
    expect({ state, asked: reads.ofLook(secretId) }).toEqual({ state, asked: unknown.look });
    expect({ state, asked: reads.ofReceipt(receiptId) }).toEqual({ state, asked: unknown.receipt });
  }
}

describe('a look-up', () => {
  it('P17: asks the same of the database for every state of a secret that is in the index', async () => {
    const store = await openStore();
    const states = await storeStates(store);
    // A clean shutdown indexes every row.
    await store[Symbol.asyncDispose]();
    expectEqualWork(openReads(), states);
  });

  it('P17: asks the same for every state of a secret that is not in the index yet', async () => {
    await using store = await openStore();
    const states = await storeStates(store);
    expectEqualWork(openReads(), states);
  });

  it('P17: asks the same when another process has just stored, for a hit and for a miss', async () => {
    await using store = await openStore();
    const states = Object.values(await storeStates(store));
    const asked: string[][] = [];
    for (const id of [newSecretId(), ...states.map((each) => each.secretId)]) {
      const reads = openReads();
      await putNew(store);
      asked.push(reads.ofSecret(id));
    }
    for (const each of asked) expect(each).toEqual(asked[0] ?? []);
  });

  it('P17: asks the same where an entry of the index leads nowhere, and where an id shares its hint', async () => {
    const store = await openStore();
    const { read, waiting, burned } = await storeStates(store);
    await store[Symbol.asyncDispose]();
    if (!read || !waiting || !burned) throw new Error('records are missing');
    const reads = openReads();
    const usual = reads.ofSecret(newSecretId());
    for (const { secretId } of [read, waiting]) {
      expect(reads.ofSecret(secretId)).toEqual(usual);
      expect(reads.ofSecret(sameHint(secretId))).toEqual(usual);
    }
    expect(reads.findSecret(sameHint(waiting.secretId), now)).toBeNull();
    connect().query('DELETE FROM records WHERE secret_id = ?1').run(burned.secretId);
    expect(reads.ofSecret(burned.secretId)).toEqual(usual);
  });

  it('P17: reads another row for an id that has none, so that a page is read either way', async () => {
    await using store = await openStore();
    expect(createLocator(connect()).placesOfSecret(newSecretId())).toEqual([1]);
    await storeStates(store);
    const locator = createLocator(connect());
    const places = Array.from({ length: 40 }, () => locator.placesOfSecret(newSecretId()));
    expect(places.filter((each) => each.length !== 1)).toEqual([]);
    // All of them are equal only once in 7^39 runs.
    expect(new Set(places.flat()).size).toBeGreaterThan(1);
    expect(Math.min(...places.flat())).toBeGreaterThan(0);
    expect(Math.max(...places.flat())).toBeLessThan(8);
  });

  it('P5: finds at once what another process has stored, one record after the other', async () => {
    await using store = await openStore();
    const reads = openReads();
    for (let n = 0; n < 20; n += 1) {
      const { secretId, receiptId } = await putNew(store);
      if (n % 2 === 0) expect(reads.findSecret(secretId, now)?.secretId).toEqual(secretId);
      else expect(reads.findReceipt(receiptId, null, now)?.receiptId).toEqual(receiptId);
    }
  });
});

it('a row that this process has stored is not read again to find it', async () => {
  await using store = await openStore();
  const heard: string[] = [];
  const locator = createLocator(listening(connect(), heard));
  const { secretId, receiptId } = await putNew(store);
  locator.stored(1, { secretHint: hintOf(secretId), receiptHint: hintOf(receiptId), owner: null });
  expect(locator.placesOfSecret(secretId)).toEqual([1]);
  expect(heard.filter((sql) => sql.includes('WHERE position > ?1'))).toHaveLength(1);
});

describe('the event loop’s connection', () => {
  it('P4: is read by statements of which none writes', async () => {
    await using _ = await openStore();
    const db = connect();
    const query = spyOn(db, 'query');
    const locator = createLocator(db);
    for (const create of [createSecretReads, createReceiptReads, createLookReads]) create(db, locator);
    const parts = { db, time: { now: () => now } } as unknown as Parts;
    for (const create of [accountReads, tokenReads, ticketReads, passwordReads, sessionReads]) create(parts);
    for (const create of [deletionReads, creationReads, domainReads, requestStore]) create(parts);
    createRootReads(db, () => now);
    for (const create of [createLockRead, createTimeReader]) create(db);
    readEpochKey(db, 1);
    usedBytes(db);
    const asked = query.mock.calls.map(([sql]) => sql);
    query.mockRestore();
    const steps = (sql: string) => db.query<{ opcode: string; p2: number }, []>(`EXPLAIN ${sql}`).all();
    const writes = (sql: string) => steps(sql).some(({ opcode, p2 }) => opcode === 'Transaction' && p2 !== 0);
    expect(asked.filter(writes)).toEqual([]);
    expect([asked.length > 30, writes('DELETE FROM records')]).toEqual([true, true]);
  });
});

describe('a claim', () => {
  it('holds the bytes of the moment it was asked', async () => {
    await using store = await openStore();
    // Of a copy the place is not known.
    for (const isCopied of [false, true]) {
      const { secretId } = await putNew(store);
      const [secret, tag] = [await found(store, secretId), newTag()];
      const look = newLook(secret, store.now(), tag);
      const { sealedLook } = structuredClone(look);
      const claim = store.claim(isCopied ? { ...secret } : secret, clientStays, look);
      for (const bytes of [secret.secretId, look.sealedLook]) bytes.fill(0);
      expect(await claim).toBe('won');
      expect((await store.findLook(secretId, tag))?.sealedSecret).toEqual(sealedLook);
    }
  });
});
