/** What a core file of a process would hold: the pages of its writable memory that are there (proc(5)). */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

const pageBytes = 4_096;
const presentBit = 0x80;
const entryBytes = 8;
/** So many pages are looked up at once. */
const lookPages = 1 << 16;

interface Region {
  readonly start: number;
  readonly end: number;
}

/** Those that are mapped writable, and of which any page is there. */
function regionsOf(pid: number): Region[] {
  const regions: Region[] = [];
  let region: Region | null = null;
  for (const line of readFileSync(`/proc/${pid}/smaps`, 'latin1').split('\n')) {
    const [, start = '', end = '', isWritable] = /^([0-9a-f]+)-([0-9a-f]+) r(w?)/.exec(line) ?? [];
    if (/^[0-9a-f]+-[0-9a-f]+ /.test(line))
      region =
        isWritable === 'w' ? { start: Number.parseInt(start, 16), end: Number.parseInt(end, 16) } : null;
    if (region !== null && /^Rss: +[1-9]/.test(line)) regions.push(region);
  }
  return regions;
}

/** Runs of pages that are there. */
function* presentRuns({ start, end }: Region, pagemap: number): Generator<Region> {
  const entries = Buffer.alloc(lookPages * entryBytes);
  for (let from = start; from < end; from += lookPages * pageBytes) {
    const pages = Math.min(lookPages, (end - from) / pageBytes);
    const read = readSync(pagemap, entries, 0, pages * entryBytes, (from / pageBytes) * entryBytes);
    let begun: number | null = null;
    for (let page = 0; page <= pages; page += 1) {
      const flags = page < pages && page * entryBytes < read ? (entries[page * entryBytes + 7] ?? 0) : 0;
      const isThere = (flags & presentBit) !== 0;
      if (isThere) begun ??= page;
      else if (begun !== null) {
        yield { start: from + begun * pageBytes, end: from + page * pageBytes };
        begun = null;
      }
    }
  }
}

/** Each run of pages as bytes; runs that end in between are left out. */
export function* memoryOf(pid: number): Generator<Buffer> {
  const [memory, pagemap] = [openSync(`/proc/${pid}/mem`, 'r'), openSync(`/proc/${pid}/pagemap`, 'r')];
  try {
    for (const region of regionsOf(pid))
      for (const { start, end } of presentRuns(region, pagemap)) {
        const bytes = Buffer.alloc(end - start);
        try {
          yield bytes.subarray(0, readSync(memory, bytes, 0, bytes.length, start));
        } catch {
          // Given back since it was looked up.
        }
      }
  } finally {
    closeSync(memory);
    closeSync(pagemap);
  }
}
