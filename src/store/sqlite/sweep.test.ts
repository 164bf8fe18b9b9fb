/**
 * What deletes leave behind: rows die in random order among rows that live on, then those expire too, and the files are
 * searched for every secret there ever was.
 */
import { describe, expect, it } from 'bun:test';
import { readFileSync, rmSync } from 'node:fs';
import { newRecord } from '../../../test/stores/conformance/check.ts';
import { makeMemoryFolder } from '../../../test/stores/memory-folder.ts';
import { migrate, openConnection, writerSettings } from './database.ts';
import { prepareFolder } from './files.ts';
import { createRootUses } from './roots.ts';
import { createSecretWrites } from './secrets.ts';
import { createSweep } from './sweep.ts';

const start = 1_800_000_000;
const rows = 3_000;
const spreadSeconds = 1_000;

/** A number that looks random but is not, so the scenario is always the same. */
const scattered = (n: number, below: number): number => ((n * 7_919) % 10_007) % below;
const markOf = (n: number): string => `secret ${String(n).padStart(8, '0')}.`;

interface Remains {
  readonly deletedAmongLiving: number;
  readonly remaining: number;
}

/** `livesLong` says which rows outlive the others. */
function remainsAfter(livesLong: (n: number) => boolean, neighbours?: number): Remains {
  const directory = makeMemoryFolder();
  const { database } = prepareFolder(directory);
  const db = openConnection(database, writerSettings);
  try {
    migrate(db);
    const records = createSecretWrites(db, createRootUses(db));
    db.run('BEGIN');
    for (let n = 0; n < rows; n += 1) {
      const expiresAt = start + (livesLong(n) ? 100_000 : 1 + scattered(n, spreadSeconds));
      const sealedSecret = new Uint8Array(Buffer.from(markOf(n).repeat(10 + scattered(n, 40))));
      records.put(
        newRecord(start, {
          sealedSecret,
          expiresAt,
          receiptExpiresAt: expiresAt + (livesLong(n) ? 100_000 : 1),
        }),
      );
    }
    db.run('COMMIT');
    const sweep = createSweep(db, neighbours);
    const sweepAt = (now: number): void => {
      while (sweep(now, 100) === 100);
    };
    for (let at = 0; at <= spreadSeconds + 200; at += 10) sweepAt(start + at);
    const left = db.query<{ n: number }, []>('SELECT count(*) AS n FROM records').get()?.n ?? 0;
    // The others expire but their receipts stay: a freed page would be cleared completely.
    sweepAt(start + 150_000);
    db.run('PRAGMA wal_checkpoint(TRUNCATE)');
    const text = readFileSync(database, 'latin1');
    const remaining = Array.from({ length: rows }, (_, n) => text.includes(markOf(n))).filter(Boolean).length;
    return { deletedAmongLiving: rows - left, remaining };
  } finally {
    db.close();
    rmSync(directory, { recursive: true });
  }
}

describe('deleting rows', () => {
  it('P10: leaves nothing of the rows that lived on beside them', () => {
    const { deletedAmongLiving, remaining } = remainsAfter((n) => n % 700 === 0);
    expect(deletedAmongLiving).toBeGreaterThan(1_000);
    expect(remaining).toBe(0);
  });

  it('P10: waits while most of the neighbours live on', () => {
    expect(remainsAfter((n) => n % 3 === 0)).toEqual({ deletedAmongLiving: 0, remaining: 0 });
  });

  it('P10: leaves copies behind when it does not keep its distance', () => {
    expect(remainsAfter((n) => n % 3 === 0, 0).remaining).toBeGreaterThan(0);
  });
});
