/** The saved time: when a batch writes its anchor (P8). */
import { describe, expect, it } from 'bun:test';
import { useSqlite } from '../../../test/support/sqlite-folder.ts';
import type { TimeAnchor } from '../store-time.ts';
import { writerSettings } from './database.ts';
import { createTimeKeeper, createTimeReader, createTimeWriter } from './time.ts';

const current = useSqlite(writerSettings);
const saved: TimeAnchor = { seconds: 1_800_000_000, bootId: 'one', sinceBoot: 100, dispute: null };
const dispute = { since: saved.seconds, aheadSeconds: 60 };

describe('the saved time', () => {
  it.each<[string, Partial<TimeAnchor>, boolean]>([
    ['a later second', { seconds: saved.seconds + 1 }, true],
    ['the same second', { sinceBoot: 101 }, false],
    ['a reboot within the second', { bootId: 'two' }, true],
    ['a dispute that begins within the second', { dispute }, true],
    ['an earlier second', { seconds: saved.seconds - 1, bootId: 'two' }, false],
  ])('follows the anchor of %s: %o: %p', (_name, change, isWritten) => {
    createTimeWriter(current.db)(saved, 0);
    const anchor = { ...saved, ...change };
    createTimeKeeper(current.db)({ now: anchor.seconds, sinceBoot: 100, timesSet: 0, anchor });
    expect(createTimeReader(current.db)().anchor).toEqual(isWritten ? anchor : saved);
  });
});
