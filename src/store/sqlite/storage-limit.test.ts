/**
 * When the storage limit checks the database, and what it counts in between: it trusts no check for longer than a
 * sixteenth of the limit, nor past the limit itself.
 */
import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import { createStorageLimit, usedBytes } from './sweep.ts';

const limitBytes = 16 * 1024 * 1024;
const trustedBytes = limitBytes / 16;
/** Each decision counts as eight pages. */
const decisionsPerLook = trustedBytes / (8 * 4_096);

let db: Database;

beforeEach(() => {
  db = new Database(':memory:');
  db.run('CREATE TABLE filling (bytes BLOB NOT NULL)');
});

afterEach(() => {
  db.close();
});

const fill = (bytes: number) => db.query('INSERT INTO filling VALUES (zeroblob(?1))').run(bytes);
const sweep = { name: 'sweep', args: [1] } as const;
const batch = { bytes: 0, asks: [sweep] };

describe('the storage limit', () => {
  it('looks again after a sixteenth of the limit (P21)', () => {
    const hasRoom = createStorageLimit(limitBytes);
    expect(hasRoom(db, batch)).toBe(true);
    fill(limitBytes);
    for (let n = 1; n < decisionsPerLook; n += 1) expect(hasRoom(db, batch)).toBe(true);
    expect(hasRoom(db, batch)).toBe(false);
    db.run('DELETE FROM filling');
    expect(hasRoom(db, batch)).toBe(true);
  });

  it('counts the bytes of a batch as well (P21)', () => {
    const hasRoom = createStorageLimit(limitBytes);
    expect(hasRoom(db, { bytes: trustedBytes, asks: [] })).toBe(true);
    fill(limitBytes);
    expect(hasRoom(db, batch)).toBe(false);
  });

  it('looks sooner when less than that is left (P21)', () => {
    fill(limitBytes - trustedBytes);
    const left = limitBytes - usedBytes(db);
    expect(left).toBeLessThan(trustedBytes);
    const hasRoom = createStorageLimit(limitBytes);
    expect(hasRoom(db, batch)).toBe(true);
    fill(trustedBytes);
    for (let n = 1; n < Math.ceil(left / (8 * 4_096)); n += 1) expect(hasRoom(db, batch)).toBe(true);
    expect(hasRoom(db, batch)).toBe(false);
  });

  it('refuses when exactly the limit is in use, and not a byte before (P21)', () => {
    expect(createStorageLimit(usedBytes(db))(db, batch)).toBe(false);
    expect(createStorageLimit(usedBytes(db) + 1)(db, batch)).toBe(true);
  });

  it('has no limit where none is set', () => {
    fill(limitBytes);
    expect(createStorageLimit(null)(db, batch)).toBe(true);
  });
});
