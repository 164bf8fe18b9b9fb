/** The write-ahead log: what of it is known to be on the disk, and that it is written out before it gets too long. */
import { afterEach, beforeEach, describe, expect, it, mock } from 'bun:test';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { useSqlite } from '../../../test/support/sqlite-folder.ts';
import { openConnection, setFileKind, writerSettings } from './database.ts';
import { Disk } from './disk.ts';
import { createLogKeeper, LogSync, watchOthers, writeOut } from './log.ts';

describe('what is on the disk', () => {
  /** Each of its syncs ends when the test says. */
  function open() {
    const syncs: PromiseWithResolvers<void>[] = [];
    const failed = mock((_: Error) => {});
    const sync = () => {
      const begun = Promise.withResolvers<void>();
      syncs.push(begun);
      return begun.promise;
    };
    return { log: new LogSync(sync, failed), syncs, failed };
  }

  /** What each has come to by the end of this turn. */
  const endsOf = async (...waits: (Promise<void> | null)[]) => {
    const ends: string[] = waits.map((wait) => (wait === null ? 'settled' : 'waits'));
    for (const [n, wait] of waits.entries())
      wait?.then(
        () => (ends[n] = 'settled'),
        (error) => (ends[n] = error.message),
      );
    await new Promise((resolve) => setImmediate(resolve));
    return ends;
  };

  it('P2: is all that was there when a sync began that has ended, and one serves all who wait', async () => {
    const { log, syncs } = open();
    expect(log.settled()).toBeNull();
    log.changed();
    const first = [log.settled(), log.settled()];
    log.changed();
    const later = [log.settled(), log.settled()];
    expect(syncs).toHaveLength(1);
    expect(await endsOf(...first, ...later)).toEqual(['waits', 'waits', 'waits', 'waits']);
    syncs[0]?.resolve();
    expect(await endsOf(...first, ...later)).toEqual(['settled', 'settled', 'waits', 'waits']);
    expect(syncs).toHaveLength(2);
    const beside = log.settled();
    syncs[1]?.resolve();
    expect(await endsOf(...later, beside)).toEqual(['settled', 'settled', 'settled']);
    expect([log.settled(), syncs.length]).toEqual([null, 2]);
  });

  it('P2: is in doubt once a sync has failed, for all who wait or ask later, until all was written anew', async () => {
    const { log, syncs, failed } = open();
    log.changed();
    const first = log.settled();
    log.changed();
    const next = log.settled();
    syncs[0]?.reject(new Error('EIO'));
    expect(await endsOf(first, next, log.settled())).toEqual(['EIO', 'EIO', 'EIO']);
    expect(await endsOf(log.settled())).toEqual(['EIO']);
    expect([syncs.length, failed.mock.calls]).toEqual([1, [[new Error('EIO')]]]);
    const { seen } = log;
    log.changed();
    log.recovered(seen);
    // What came while it was written anew still needs a sync.
    const after = log.settled();
    expect([await endsOf(after), syncs.length]).toEqual([['waits'], 2]);
    syncs[1]?.resolve();
    expect([await endsOf(after), log.settled()]).toEqual([['settled'], null]);
  });
});

const current = useSqlite();
let disk: Disk;

beforeEach(() => {
  disk = new Disk(current.wal, (message) => {
    throw new Error(message);
  });
});

afterEach(() => disk.close());

const frameBytes = 4_096 + 24;
const logBytes = () => statSync(current.wal).size;
const write = (kid: number, on = current.db) =>
  on.run('INSERT INTO root_checks VALUES (?1, zeroblob(100))', [kid]);
const openKeeper = (limitBytes: number) => createLogKeeper(current.db, disk, current.database, limitBytes);

/** Another process's connection, in a snapshot of the latest state. */
function openReader() {
  const reader = openConnection(current.database, writerSettings);
  const read = () => {
    if (reader.inTransaction) reader.run('COMMIT');
    reader.run('BEGIN');
    reader.query('SELECT count(*) FROM root_checks').get();
  };
  read();
  return { read, close: () => reader.close() };
}

describe('what other connections have committed', () => {
  it('P2: is noticed once each, as is what was there before, but not one’s own commits', () => {
    const other = openConnection(current.database, writerSettings);
    const changed = mock(() => {});
    const isStore = watchOthers(current.db, changed);
    const changesAfter = (deed: () => void) => {
      changed.mockClear();
      deed();
      expect([isStore(), isStore()]).toEqual([true, true]);
      return changed.mock.calls.length;
    };
    expect(changesAfter(() => {})).toBe(1);
    expect(changesAfter(() => write(1))).toBe(0);
    expect(changesAfter(() => write(2, other))).toBe(1);
    // In a transaction it is what that shows.
    current.db.run('BEGIN IMMEDIATE');
    expect(changesAfter(() => write(3))).toBe(0);
    current.db.run('COMMIT');
    other.close();
  });

  it('P5: may have closed the store, for good', () => {
    const isStore = watchOthers(current.db, () => {});
    expect(isStore()).toBe(true);
    const other = openConnection(current.database, writerSettings);
    setFileKind(other, 'closed');
    expect([isStore(), isStore()]).toEqual([false, false]);
    other.close();
  });
});

describe('a store that is checked after a failure', () => {
  it('P2: may be used again once all of its log is in the database, so not while a reader is in the way', async () => {
    const check = () => disk.ask('check', current.database);
    write(1);
    expect(await check()).toBe(true);
    const reader = openReader();
    write(2);
    expect(await check()).toBe(false);
    reader.close();
    expect(await check()).toBe(true);
  });
});

describe('writing the log out', () => {
  it('P10: empties it, and says so', () => {
    write(1);
    expect(logBytes()).toBeGreaterThan(0);
    expect(writeOut(current.db, 'TRUNCATE')).toBe(true);
    expect(logBytes()).toBe(0);
  });

  it('P10: says that it was not, where that fails', () => {
    current.db.run('BEGIN IMMEDIATE');
    write(1);
    expect(writeOut(current.db, 'TRUNCATE')).toBe(false);
    current.db.run('COMMIT');
    expect(writeOut(current.db, 'TRUNCATE')).toBe(true);
  });

  it.each(['PASSIVE', 'TRUNCATE'] as const)(
    'P10: says that it was not, where a reader is in the way of %s',
    (mode) => {
      write(1);
      const reader = openReader();
      write(2);
      expect(writeOut(current.db, mode)).toBe(false);
      reader.close();
      expect(writeOut(current.db, mode)).toBe(true);
    },
  );

  it('P24: begins the next log, so that no commit of the event loop has to', async () => {
    for (let kid = 1; kid < 20; kid += 1) write(kid);
    expect(await openKeeper(1_000_000).empty()).toBe(true);
    expect(logBytes()).toBeWithin(frameBytes, 2 * frameBytes);
  });

  it('P23: holds nobody up, and says that it was not, where the thread cannot', async () => {
    const ask = () => Promise.reject(new Error('the database does not open'));
    const keeper = createLogKeeper(current.db, { ask }, current.database, 0);
    write(1);
    expect(await keeper.empty()).toBe(false);
    expect(await keeper.tend()).toBe(false);
  });
});

describe('a log that grows', () => {
  const limitBytes = 400 * frameBytes;

  /** One row for each, in one transaction. */
  function writeTogether(bytes: readonly number[]) {
    current.db.run('BEGIN');
    for (const each of bytes) current.db.run('INSERT INTO root_checks VALUES (NULL, zeroblob(?1))', [each]);
    current.db.run('COMMIT');
  }

  it.each([
    ['one small decision', [100]],
    ['one large decision', [128 * 1_024]],
    ['large decisions', new Array<number>(8).fill(128 * 1_024)],
    ['a slice of a sweep', new Array<number>(500).fill(2_000)],
  ])(
    'P23: is written over from its start before it is longer than its limit and a batch, which is %s',
    async (_, batch) => {
      const keeper = openKeeper(limitBytes);
      let longest = 0;
      const batchBytes = batch.reduce((sum, bytes) => sum + bytes, 3 * frameBytes);
      for (let written = 0; written < 12 * limitBytes; written += batchBytes) {
        await keeper.tend();
        writeTogether(batch);
        longest = Math.max(longest, logBytes());
      }
      expect(longest).toBeGreaterThan(limitBytes / 2);
      expect(longest).toBeLessThan(limitBytes + 1.5 * batchBytes);
    },
  );

  it('P23: is written out once for each length of its limit while a reader keeps it from starting over', async () => {
    const keeper = openKeeper(limitBytes);
    const reader = openReader();
    let writtenOut = 0;
    for (let n = 0; n < 1_000; n += 1) {
      writeTogether([100]);
      // It reads the latest state, so that everything may be written out, but the log is in use.
      reader.read();
      const held = keeper.tend();
      if (held !== null) writtenOut += 1;
      await held;
    }
    reader.close();
    expect(writtenOut).toBeGreaterThan(1);
    expect(writtenOut).toBeLessThan(logBytes() / limitBytes + 1);
  });

  it('is left alone while it is short', async () => {
    const keeper = openKeeper(limitBytes);
    await keeper.empty();
    write(1);
    const before = logBytes();
    for (let look = 0; look < 1_000; look += 1) expect(keeper.tend()).toBeNull();
    expect(logBytes()).toBe(before);
    // Nothing was moved: a checkpoint still has everything to do.
    const row = current.db.query<{ checkpointed: number }, []>('PRAGMA wal_checkpoint(NOOP)').get();
    expect(row?.checkpointed).toBe(0);
  });
});

describe('the thread that waits for the disk', () => {
  it('P2: tells of a sync that failed by the system’s code', async () => {
    await disk.sync();
    const unsyncable = new Disk('/dev/null', () => {});
    expect(await unsyncable.sync().catch((error: unknown) => error)).toMatchObject({ code: 'EINVAL' });
    await unsyncable.close();
  });

  it('P2: trusts a store again when every frame of its log is written out and its file is sound', async () => {
    write(1);
    const reader = openReader();
    write(2);
    expect(await disk.ask('check', current.database)).toBe(false);
    reader.close();
    expect([await disk.ask('check', current.database), logBytes()]).toEqual([true, 0]);
    const bytes = readFileSync(current.database);
    // A page in the middle.
    writeFileSync(current.database, bytes.fill(1, 8_192, 12_288));
    expect(await disk.ask('check', current.database)).toBe(false);
    rmSync(current.database);
    expect(await disk.ask('check', current.database).catch(() => 'not opened')).toBe('not opened');
  });
});
