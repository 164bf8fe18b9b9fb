/**
 * The high-water mark: new secrets are refused while the pages in use reach it, and nothing is evicted for them (P21).
 *
 * What a sweep has freed counts as free at once, although the file keeps its length: SQLite fills free pages first. The
 * batch that reaches the mark is let in whole, so the store may end above it by one batch.
 */
import type { Database } from 'bun:sqlite';
import type { Batch } from './protocol.ts';

const usedBytesQuery = `
  SELECT (page_count - freelist_count) * page_size AS bytes
  FROM pragma_page_count, pragma_freelist_count, pragma_page_size`;

/** A decision writes its row and the indexes it is in, each of which may take a new page. */
const bytesPerDecision = 8 * 4_096;
/** It looks again after this part of the limit at the latest: another process may have written as well. */
const looksPerLimit = 16;

/** What the database's pages hold, without those that are free for reuse. */
export function usedBytes(db: Database): number {
  return db.query<{ bytes: number }, []>(usedBytesQuery).get()?.bytes ?? 0;
}

/** Whether a batch finds room, and the count of what it may take. A look costs microseconds; most batches need none. */
export type HasRoom = (db: Database, batch: Pick<Batch, 'frames' | 'frameCount' | 'asks'>) => boolean;

/** @param limitBytes `null`: only the disk is one */
export function createStorageMark(limitBytes: number | null): HasRoom {
  let unlookedBytes = 0;
  return (db, { frames, frameCount, asks }) => {
    if (limitBytes === null) return true;
    if (unlookedBytes <= 0) unlookedBytes = Math.min(limitBytes - usedBytes(db), limitBytes / looksPerLimit);
    if (unlookedBytes <= 0) return false;
    unlookedBytes -= frames.byteLength + (frameCount + asks.length) * bytesPerDecision;
    return true;
  };
}
