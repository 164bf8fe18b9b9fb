import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  clientStays,
  createSettableClock,
  found,
  newRecord,
  putNew,
  startOfTest,
} from '../../../test/stores/conformance/check.ts';
import {
  askAgain,
  lookOf,
  opened as openedWithLook,
} from '../../../test/stores/conformance/look-fixtures.ts';
import { answer, ask, outcomeOf, stored } from '../../../test/stores/conformance/request-fixtures.ts';
import type { BackupOutcome } from '../../core/store-copies.ts';
import type { MachineClock } from '../../core/time.ts';
import { StoreRefusal } from '../store.ts';
import { backUpStore, previewRestore, restoreStore, wordsOf } from './backup.ts';
import { openSqliteStore, type SqliteStore } from './store.ts';

let parent = '';
const opened: SqliteStore[] = [];

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'mayfly-'));
});

afterEach(async () => {
  for (const store of opened.splice(0)) await store[Symbol.asyncDispose]();
  rmSync(parent, { recursive: true, force: true });
});

const at = (name: string) => join(parent, name);
const unwatched = () => {};

async function openAt(directory: string, clock: MachineClock = createSettableClock()): Promise<SqliteStore> {
  const store = await openSqliteStore({ directory, clock, ballastBytes: 1_048_576 });
  opened.push(store);
  return store;
}

function factsIn(outcome: BackupOutcome) {
  if (outcome.outcome === 'refused') throw new Error(outcome.problem);
  return outcome.facts;
}

const problemIn = (outcome: BackupOutcome) => (outcome.outcome === 'refused' ? outcome.problem : '');

async function refusalAt(directory: string): Promise<StoreRefusal | null> {
  return openAt(directory).then(
    () => null,
    (error) => (error instanceof StoreRefusal ? error : Promise.reject(error)),
  );
}

/** A store with one secret that waits, one that was opened and one that has expired, its backup, and the store of that. */
async function restored() {
  const clock = createSettableClock();
  const store = await openAt(at('live'), clock);
  const [waiting, opened] = [await putNew(store), await putNew(store)];
  const short = newRecord(store.now(), { expiresAt: store.now() + 1 });
  await store.put(short);
  clock.advance(2);
  expect(await store.claim(await found(store, opened.secretId), clientStays)).toBe('won');
  const made = factsIn(await backUpStore(at('live'), at('backup'), unwatched));
  const lost = await putNew(store);
  const restoring = await restoreStore(at('backup'), at('new'), clock.wall() + 60, unwatched);
  return { clock, store, waiting, opened, short, lost, made, facts: factsIn(restoring) };
}

describe('a backup', () => {
  it('is one file for its user alone, and says what it holds', async () => {
    const { made, facts } = await restored();
    expect(made).toEqual({ takenAt: startOfTest + 2, waiting: 1, accounts: 0 });
    expect(facts).toEqual(made);
    expect(factsIn(previewRestore(at('backup'), at('other')))).toEqual(made);
    expect(readdirSync(parent).sort()).toEqual(['backup', 'live', 'new']);
    expect(statSync(at('backup')).mode & 0o777).toBe(0o600);
  });

  it('P1: opens in no server as it is, wherever it is put', async () => {
    const { clock } = await restored();
    const before = readFileSync(at('backup'));
    rmSync(at('new'), { recursive: true });
    await openAt(at('new'), clock);
    await opened.pop()?.[Symbol.asyncDispose]();
    copyFileSync(at('backup'), join(at('new'), 'mayfly.db'));
    const refusal = await refusalAt(at('new'));
    expect(refusal?.reason).toBe('not_a_store');
    expect(refusal?.message).toContain('mayfly restore');
    expect(readFileSync(join(at('new'), 'mayfly.db')).equals(before)).toBe(true);
  });

  it('P10: holds no bytes of what was erased before it was taken', async () => {
    const clock = createSettableClock();
    const store = await openAt(at('live'), clock);
    const records = await Promise.all(Array.from({ length: 40 }, () => putNew(store)));
    for (const { secretId } of records.slice(1))
      expect(await store.claim(await found(store, secretId), clientStays)).toBe('won');
    factsIn(await backUpStore(at('live'), at('backup'), unwatched));
    const bytes = readFileSync(at('backup'));
    const remains = records.map(({ sealedSecret }) => bytes.includes(sealedSecret));
    expect(remains).toEqual([true, ...records.slice(1).map(() => false)]);
  });

  it('is not made of a damaged store', async () => {
    await putNew(await openAt(at('live')));
    using db = new Database(join(at('live'), 'mayfly.db'));
    db.run('PRAGMA ignore_check_constraints = ON');
    db.run("UPDATE records SET delivery = '?'");
    expect(problemIn(await backUpStore(at('live'), at('backup'), unwatched))).toStartWith(
      'The copy is damaged',
    );
    expect(readdirSync(parent)).toEqual(['live']);
  });

  it('never takes the place of a file', async () => {
    await openAt(at('live'));
    writeFileSync(at('backup'), 'something of value');
    expect(problemIn(await backUpStore(at('live'), at('backup'), unwatched))).toContain('not overwritten');
    expect(readFileSync(at('backup'), 'utf8')).toBe('something of value');
    expect(readdirSync(parent).sort()).toEqual(['backup', 'live']);
    writeFileSync(at('other.part'), 'half of one');
    expect(problemIn(await backUpStore(at('live'), at('other'), unwatched))).toContain('other.part is there');
    expect(readFileSync(at('other.part'), 'utf8')).toBe('half of one');
    expect(problemIn(await backUpStore(at('live'), at('no/folder'), unwatched))).toStartWith(
      'There is no such',
    );
    expect(problemIn(await backUpStore(at('live'), at('backup/in'), unwatched))).toBe(
      `${at('backup/in.part')} would be in a file, not in a folder (ENOTDIR): choose another name.`,
    );
  });
});

it('a backup whose thread fails is refused, and says why', async () => {
  const realWorker = globalThis.Worker;
  globalThis.Worker = class extends realWorker {
    constructor() {
      super(URL.createObjectURL(new Blob(["self.onmessage = () => { throw new Error('a fault'); }"])));
    }
  };
  const taking = backUpStore(parent, at('backup.db'), unwatched);
  globalThis.Worker = realWorker;
  expect(await taking).toEqual({ outcome: 'refused', problem: expect.stringContaining('a fault') });
});

describe('a file that cannot be written', () => {
  it.each([
    ['EACCES', '/srv/x.db.part may not be written by this user (EACCES)'],
    ['EPERM', '/srv/x.db.part may not be written by this user (EPERM)'],
    ['EROFS', '/srv/x.db.part is on a read-only file system (EROFS)'],
    ['ENOSPC', 'The disk is full (ENOSPC)'],
    ['SQLITE_FULL', 'The disk is full (SQLITE_FULL)'],
  ])('by %s is said in words, with what to do', (code, words) => {
    const said = wordsOf(Object.assign(new Error(`${code}: open`), { code, path: '/srv/x.db.part' }));
    expect(said).toStartWith(`${words}: `);
    expect(said).toEndWith('.');
  });
});

describe('a restored store', () => {
  it('P1: opens nothing that waited when the backup was taken', async () => {
    const { clock, store, waiting, opened, short, lost } = await restored();
    // What happened after the backup: in the store that went on, it was opened.
    expect(await store.claim(await found(store, waiting.secretId), clientStays)).toBe('won');
    const again = await openAt(at('new'), clock);
    for (const { secretId } of [waiting, opened, short, lost])
      expect(await again.findSecret(secretId)).toBeNull();
    // Neither with a clock that is behind.
    clock.jump(-86_400);
    for (const { secretId } of [waiting, opened, short]) expect(await again.findSecret(secretId)).toBeNull();
  });

  it('P1: gives nobody a second look at what was open when the backup was taken, and holds none of its bytes', async () => {
    const clock = createSettableClock();
    const store = await openAt(at('live'), clock);
    const looked = await openedWithLook(store);
    const { sealedLook } = looked.look;
    const made = factsIn(await backUpStore(at('live'), at('backup'), unwatched));
    expect(made.waiting).toBe(0);
    expect(readFileSync(at('backup')).includes(sealedLook)).toBe(true);
    factsIn(await restoreStore(at('backup'), at('new'), clock.wall(), unwatched));
    const again = await openAt(at('new'), clock);
    expect(await lookOf(again, looked)).toBeNull();
    expect(await askAgain(again, looked)).toBe('gone');
    expect((await again.findReceipt(looked.record.receiptId))?.state).toBe('received');
    for (const name of readdirSync(at('new')))
      expect([name, readFileSync(join(at('new'), name)).includes(sealedLook)]).toEqual([name, false]);
    expect(await askAgain(store, looked)).toBe('answered');
  });

  it('P1: takes no answer to a request that was open when the backup was taken', async () => {
    const clock = createSettableClock();
    const store = await openAt(at('live'), clock);
    const request = await ask(store, { places: 2 });
    const sent = await answer(store, request);
    factsIn(await backUpStore(at('live'), at('backup'), unwatched));
    factsIn(await restoreStore(at('backup'), at('new'), clock.wall(), unwatched));
    const again = await openAt(at('new'), clock);
    expect(await outcomeOf(again, request)).toBe('ended');
    expect(await again.findSecret(sent.record.secretId)).toBeNull();
    expect(await again.listAnswers(request.id)).toEqual([stored(sent)]);
    expect(await outcomeOf(store, request)).toBe('stored');
  });

  it('P10: holds none of the bytes that waited', async () => {
    const { waiting, short } = await restored();
    for (const name of readdirSync(at('new'))) {
      const bytes = readFileSync(join(at('new'), name));
      expect([name, bytes.includes(waiting.sealedSecret)]).toEqual([name, false]);
    }
    expect(readFileSync(at('backup')).includes(short.sealedSecret)).toBe(true);
  });

  it('has the receipts, which say what became of each', async () => {
    const { clock, waiting, opened, lost } = await restored();
    const again = await openAt(at('new'), clock);
    const ended = { state: 'burned', burnedBy: null, endedAt: startOfTest + 62 };
    expect(await again.findReceipt(waiting.receiptId)).toMatchObject(ended);
    expect((await again.findReceipt(opened.receiptId))?.state).toBe('received');
    expect(await again.findReceipt(lost.receiptId)).toBeNull();
    const fresh = await putNew(again);
    expect(await again.claim(await found(again, fresh.secretId), clientStays)).toBe('won');
  });

  it('P1: opens nothing that waited either when it is made of a store’s own file, as Litestream restores one', async () => {
    const { clock, waiting, short, made } = await restored();
    await opened.pop()?.[Symbol.asyncDispose]();
    await opened.pop()?.[Symbol.asyncDispose]();
    rmSync(at('new'), { recursive: true });
    copyFileSync(at('live/mayfly.db'), at('replica'));
    expect(factsIn(previewRestore(at('replica'), at('new')))).toMatchObject({ waiting: 2, accounts: 0 });
    const before = readFileSync(at('replica'));
    factsIn(await restoreStore(at('replica'), at('new'), clock.wall() + 60, unwatched));
    expect(readFileSync(at('replica')).equals(before)).toBe(true);
    const again = await openAt(at('new'), clock);
    expect(await again.findSecret(waiting.secretId)).toBeNull();
    expect((await again.findReceipt(waiting.receiptId))?.state).toBe('burned');
    expect((await again.findReceipt(short.receiptId))?.state).not.toBe('burned');
    expect(made.waiting).toBe(1);
  });

  it('is for its user alone, whatever the file was, and is not made by a link to a store in use', async () => {
    const { clock } = await restored();
    const restore = (from: string, to: string) => restoreStore(at(from), at(to), clock.wall(), unwatched);
    mkdirSync(at('there'), { mode: 0o755 });
    copyFileSync(at('backup'), at('open'));
    chmodSync(at('open'), 0o644);
    factsIn(await restore('open', 'there'));
    expect(statSync(join(at('there'), 'mayfly.db')).mode & 0o777).toBe(0o600);
    symlinkSync(join(at('live'), 'mayfly.db'), at('link'));
    expect(problemIn(previewRestore(at('link'), at('other')))).toContain('-wal');
    expect(problemIn(await restore('link', 'other'))).toContain('-wal');
  });

  it('is not made of a store’s file whose log cannot be looked at: it may have later changes', async () => {
    const { clock } = await restored();
    copyFileSync(at('live/mayfly.db'), at('replica'));
    symlinkSync('replica-wal', at('replica-wal'));
    expect(problemIn(previewRestore(at('replica'), at('other')))).toContain('ELOOP');
    const made = await restoreStore(at('replica'), at('other'), clock.wall(), unwatched);
    expect(problemIn(made)).toContain('ELOOP');
  });

  it('is not made where there is a store, of a store in use, of a damaged backup, or of anything else', async () => {
    const { clock } = await restored();
    const restore = (from: string, to: string) => restoreStore(at(from), at(to), clock.wall(), unwatched);
    expect(problemIn(await restore('backup', 'live'))).toContain('There is a store in');
    expect(problemIn(previewRestore(at('backup'), at('live')))).toContain('There is a store in');
    expect(problemIn(previewRestore(at('nothing'), at('other')))).toStartWith('There is no such');
    expect(problemIn(previewRestore(at('live/mayfly.db'), at('other')))).toContain('mayfly backup');
    expect(problemIn(await restore('live/mayfly.db', 'other'))).toContain('mayfly.db-wal');
    await opened.pop()?.[Symbol.asyncDispose]();
    writeFileSync(at('empty'), '');
    expect(problemIn(await restore('empty', 'other'))).toBe('This is a database of another program.');
    writeFileSync(at('text'), 'not a database, but long enough to look like one'.repeat(200));
    expect(problemIn(await restore('text', 'other'))).toBe('This is not a backup.');
    expect(problemIn(await restore('nothing', 'other'))).toStartWith('There is no such');
    const damaged = readFileSync(at('backup'));
    damaged.fill(0xff, 4_096 + 8, 4_096 + 2_000);
    writeFileSync(at('damaged'), damaged);
    expect(problemIn(await restore('damaged', 'other'))).not.toBe('');
    expect(existsSync(join(at('other'), 'mayfly.db'))).toBe(false);
    expect(readdirSync(at('other'))).toEqual([]);
  });
});
