/**
 * The event loop's side of the writer, with a scripted writer: one that fails and recovers, and one that ends without
 * an answer.
 */

import { afterEach, beforeEach, describe, expect, it, spyOn } from 'bun:test';
import { clientStays, newRecord } from '../../../test/stores/conformance/check.ts';
import { batchTimeAt } from '../../../test/support/clocks.ts';
import type { AccountId } from '../../core/account.ts';
import { ServiceError } from '../../core/errors.ts';
import { CommitQueue } from './commit-queue.ts';
import { writerSettings } from './database.ts';
import { readFrames } from './frames.ts';
import { type FromWriter, frameOutcome, type ToWriter } from './decisions.ts';

const now = 1_800_000_000;

/** A worker that sends only what the test tells it to. */
class ScriptedWriter {
  static latest: ScriptedWriter;
  readonly heard: ToWriter[] = [];
  onmessage: ((event: { data: FromWriter }) => void) | null = null;
  onerror: ((event: { message: string }) => void) | null = null;

  constructor() {
    ScriptedWriter.latest = this;
  }

  postMessage(message: ToWriter): void {
    this.heard.push(message);
  }

  isTerminated = false;

  terminate(): void {
    this.isTerminated = true;
  }

  say(message: FromWriter): void {
    this.onmessage?.({ data: message });
  }

  end(message: string): void {
    this.onerror?.({ message });
  }

  batches(): Extract<ToWriter, { kind: 'batch' }>[] {
    return this.heard.filter((each) => each.kind === 'batch');
  }

  lastBatch(): Extract<ToWriter, { kind: 'batch' }> {
    const last = this.batches().at(-1);
    if (last === undefined) throw new Error('no batch was sent');
    return last;
  }

  /** Answers the last batch: everything is done, or every put and claim has this outcome. */
  confirm(outcome: number = frameOutcome.done): void {
    const { frames, frameCount, asks } = this.lastBatch();
    this.say({
      kind: 'answers',
      now,
      frames,
      frameOutcomes: new Uint8Array(frameCount).fill(outcome),
      firstPosition: 0,
      indexedUpto: 0,
      answers: asks.map(() => ({ answer: true })),
    });
  }
}

const failed = { kind: 'failed', moved: false } as const;
const locked = { ...failed, message: 'database is locked', code: 'SQLITE_BUSY', broken: false };
const diskGone = { ...failed, message: 'the disk is gone', code: 'SQLITE_IOERR_FSYNC', broken: true };

const realWorker = globalThis.Worker;
const locator = {
  placesOfSecret: () => [],
  placesOfReceipt: () => [],
  ofSecret: () => null,
  ofReceipt: () => null,
  recentOfOwner: () => [],
  stored: () => {},
  indexed: () => {},
};

function open(cores = 2): { readonly queue: CommitQueue; readonly writer: ScriptedWriter } {
  const request = { directory: 'none', settings: writerSettings, ballastBytes: 0, maxStorageBytes: null };
  const clock = { read: () => batchTimeAt(now), raiseTo: () => {} };
  const queue = new CommitQueue(request, clock, locator, cores);
  return { queue, writer: ScriptedWriter.latest };
}

/** Resolves once everything asked in this turn has been sent. */
const sent = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * How each call ended: a value, or an error's code. Handlers are attached at once, so that no rejection goes unhandled.
 */
const endsOf = (...calls: Promise<unknown>[]): Promise<unknown[]> =>
  Promise.all(
    calls.map((call) => call.catch((error: unknown) => (error instanceof ServiceError ? error.code : error))),
  );

beforeEach(() => {
  globalThis.Worker = ScriptedWriter as unknown as typeof Worker;
});

afterEach(() => {
  globalThis.Worker = realWorker;
});

describe('what one turn asks', () => {
  const sizesSent = async (cores: number): Promise<readonly number[]> => {
    const { queue, writer } = open(cores);
    const puts = Promise.all(Array.from({ length: 48 }, () => queue.put(newRecord(now))));
    await sent();
    writer.confirm();
    if (writer.batches().length > 1) writer.confirm();
    await puts;
    return writer.batches().map(({ frameCount }) => frameCount);
  };

  it('is sent whole where the writer has no core of its own', async () => {
    expect(await sizesSent(1)).toEqual([48]);
  });

  it('is sent in two parts where it has, and the second once the first is answered', async () => {
    expect(await sizesSent(2)).toEqual([32, 16]);
  });
});

describe('large decisions', () => {
  const mib = 1_048_576;
  const record = (bytes: number) => newRecord(now, { sealedSecret: new Uint8Array(bytes) });
  const { secretId } = newRecord(now);
  const claimOf = { secretId, position: 1, rowVersion: 1 };
  const receipt = { id: newRecord(now).receiptId, position: 1 };
  const lookOf = (bytes: number) => ({ until: 1, sealedLook: new Uint8Array(bytes) }) as never;
  const logoOf = (bytes: number) => ({ name: '', type: '', bytes: new Uint8Array(bytes) });
  const expiryOf = (bytes: number) => ({ ...record(bytes), noticeDueAt: null });
  const kinds: [string, (queue: CommitQueue, bytes: number) => Promise<unknown>][] = [
    ['puts', (queue, bytes) => queue.put(record(bytes))],
    ['claims with a look', (queue, bytes) => queue.claim({ ...claimOf, look: lookOf(bytes) }, clientStays)],
    ['changed expiries', (queue, bytes) => queue.decide('setExpiry', receipt, now, expiryOf(bytes))],
    ['memos', (queue, bytes) => queue.decide('setMemo', receipt, new Uint8Array(bytes))],
    ['logos', (queue, bytes) => queue.decide('setDomainLogo', 1 as AccountId, 'a.example', logoOf(bytes))],
  ];

  /** How many decisions each batch holds, once all are answered. */
  async function batchesOf(cores: number, ask: (queue: CommitQueue) => Promise<unknown>[]) {
    const { queue, writer } = open(cores);
    const asked = endsOf(...ask(queue));
    await sent();
    for (let answered = 0; answered < writer.batches().length; answered += 1) writer.confirm();
    await asked;
    return writer.batches().map(({ frameCount, asks }) => frameCount + asks.length);
  }

  it.each(kinds)('%s fill a batch up to 1 MiB', async (_, ask) => {
    const twenty = (queue: CommitQueue) => Array.from({ length: 20 }, () => ask(queue, mib / 8 - 512));
    for (const cores of [1, 2]) expect(await batchesOf(cores, twenty)).toEqual([8, 8, 4]);
  });

  it.each(kinds)('one of the %s that is larger than that goes alone', async (_, ask) => {
    const sizes = [100, mib + 1, 100];
    expect(await batchesOf(1, (queue) => sizes.map((bytes) => ask(queue, bytes)))).toEqual([2, 1]);
  });

  it('let a small one go with the next batch, whatever waits before it', async () => {
    const { queue, writer } = open();
    const first = queue.put(record(100));
    await sent();
    const large = Array.from({ length: 5 }, () => queue.put(record(0.7 * mib)));
    const small = queue.put(record(100));
    writer.confirm();
    await first;
    expect(writer.lastBatch().frameCount).toBe(2);
    writer.confirm();
    await small;
    for (let left = 0; left < 4; left += 1) writer.confirm();
    await Promise.all(large);
    expect(writer.batches().map(({ frameCount }) => frameCount)).toEqual([1, 2, 1, 1, 1, 1]);
  });

  it('P23: are all rejected when the writer breaks, in whichever batch they wait, and leave nothing behind', async () => {
    const { queue, writer } = open();
    const asked = endsOf(...Array.from({ length: 4 }, () => queue.put(record(0.7 * mib))));
    await sent();
    writer.say(diskGone);
    expect(await asked).toEqual(Array.from({ length: 4 }, () => 'unavailable'));
    writer.say({ kind: 'recovered' });
    const next = endsOf(queue.put(record(100)));
    await sent();
    writer.confirm();
    expect(await next).toEqual([undefined]);
    expect(writer.batches().map(({ frameCount }) => frameCount)).toEqual([1, 1]);
  });

  it('P3: are withdrawn from the batch they wait in, when their client leaves', async () => {
    const { queue, writer } = open();
    let isGone = false;
    const first = queue.put(record(100));
    await sent();
    const look = lookOf(0.7 * mib);
    const claims = [clientStays, () => isGone].map((isAbandoned) =>
      queue.claim({ ...claimOf, look }, isAbandoned),
    );
    writer.confirm();
    isGone = true;
    writer.confirm();
    const { frames, frameCount } = writer.lastBatch();
    expect([...readFrames(frames, frameCount)].map(({ kind }) => kind)).toEqual(['withdrawn']);
    writer.confirm(frameOutcome.withdrawn);
    await first;
    expect(await Promise.all(claims)).toEqual(['won', 'abandoned']);
  });

  it('P5: are all committed at the end', async () => {
    const { queue, writer } = open();
    const asked = endsOf(...Array.from({ length: 3 }, () => queue.put(record(0.7 * mib))));
    const closed = queue.close();
    for (let left = 0; left < 3; left += 1) {
      writer.confirm();
      await sent();
    }
    expect(await asked).toEqual([undefined, undefined, undefined]);
    writer.say({ kind: 'closed' });
    await closed;
    expect(writer.batches()).toHaveLength(3);
  });
});

describe('a batch that fails', () => {
  it('P2: rejects all of it; what was asked meanwhile is committed when nothing is broken (P23)', async () => {
    const { queue, writer } = open();
    const first = endsOf(queue.put(newRecord(now)), queue.decide('scrub'));
    await sent();
    const later = endsOf(queue.put(newRecord(now)), queue.decide('scrub'));
    await sent();
    expect(writer.batches()).toHaveLength(1);
    writer.say(locked);
    expect(await first).toEqual(['unavailable', 'unavailable']);
    expect(writer.batches().map(({ frameCount, asks }) => [frameCount, asks.length])).toEqual([
      [1, 1],
      [1, 1],
    ]);
    writer.confirm();
    expect(await later).toEqual([undefined, true]);
    const again = endsOf(queue.decide('scrub'));
    await sent();
    writer.confirm();
    expect(await again).toEqual([true]);
  });

  it('P23: rejects everything at once while the writer is broken, and nothing when it has recovered', async () => {
    const { queue, writer } = open();
    const failing = endsOf(queue.put(newRecord(now)));
    await sent();
    const waiting = endsOf(queue.put(newRecord(now)));
    writer.say(diskGone);
    expect(await endsOf(queue.put(newRecord(now)), queue.decide('scrub'))).toEqual([
      'unavailable',
      'unavailable',
    ]);
    expect([await failing, await waiting]).toEqual([['unavailable'], ['unavailable']]);
    await sent();
    expect(writer.batches()).toHaveLength(1);
    writer.say({ kind: 'recovered' });
    const record = newRecord(now);
    const put = endsOf(queue.put(record));
    await sent();
    // It holds nothing of the rejected calls.
    const { frames, frameCount } = writer.lastBatch();
    const packed = [...readFrames(frames, frameCount)].map((each) => each.kind === 'put' && each.secretId);
    expect(packed).toEqual([record.secretId]);
    writer.confirm();
    expect(await put).toEqual([undefined]);
  });
});

describe('what the writer says of one put or claim', () => {
  it.each([
    ['done', undefined, 'won'],
    ['gone', 'unavailable', 'gone'],
    ['full', 'storage_full', 'unavailable'],
    ['refused', 'unavailable', 'unavailable'],
  ] as const)('P23: %s, is told as that', async (outcome, ofPut, ofClaim) => {
    const { queue, writer } = open();
    const { secretId } = newRecord(now);
    const asked = endsOf(
      queue.put(newRecord(now)),
      queue.claim({ secretId, position: 1, rowVersion: 1 }, clientStays),
    );
    await sent();
    writer.confirm(frameOutcome[outcome]);
    expect(await asked).toEqual([ofPut, ofClaim]);
  });
});

describe('an answer that says nothing of a put or a claim', () => {
  it('P2: confirms neither', async () => {
    const { queue, writer } = open();
    const { secretId } = newRecord(now);
    const claim = queue.claim({ secretId, position: 1, rowVersion: 1 }, clientStays);
    const asked = endsOf(queue.put(newRecord(now)), claim);
    await sent();
    const { frames } = writer.lastBatch();
    const frameOutcomes = new Uint8Array(0);
    writer.say({
      kind: 'answers',
      now,
      frames,
      frameOutcomes,
      firstPosition: 0,
      indexedUpto: 0,
      answers: [],
    });
    expect(await asked).toEqual(['unavailable', 'unavailable']);
  });
});

describe('a writer that ends', () => {
  it('P23: leaves no call without an answer: those under way, those that wait, and every later one', async () => {
    const { queue, writer } = open();
    const opened = endsOf(queue.opened);
    const underWay = endsOf(queue.put(newRecord(now)));
    await sent();
    const waiting = endsOf(queue.decide('scrub'));
    writer.end('out of memory');
    expect([await underWay, await waiting]).toEqual([['unavailable'], ['unavailable']]);
    expect(await endsOf(queue.put(newRecord(now)), queue.decide('scrub'))).toEqual([
      'unavailable',
      'unavailable',
    ]);
    expect(await opened).toEqual([expect.objectContaining({ name: 'StoreRefusal', reason: 'damaged' })]);
    await queue.close();
  });

  it('P23: is heard also when it is a real thread, and throws', async () => {
    globalThis.Worker = class extends realWorker {
      constructor() {
        super(URL.createObjectURL(new Blob(["self.onmessage = () => { throw new Error('a fault'); };"])));
      }
    };
    const { queue } = open();
    const put = endsOf(queue.put(newRecord(now)));
    expect(await endsOf(queue.opened)).toEqual([expect.objectContaining({ name: 'StoreRefusal' })]);
    expect(await put).toEqual(['unavailable']);
    await queue.close();
  });
});

describe('whether decisions can be committed', () => {
  it('P23: writes nothing to find out, until something has failed; then only a commit shows it', async () => {
    const { queue, writer } = open();
    await queue.assertCommits(false);
    expect(writer.batches()).toHaveLength(0);
    const failing = endsOf(queue.put(newRecord(now)));
    await sent();
    writer.say(locked);
    expect(await failing).toEqual(['unavailable']);
    const [first] = [queue.assertCommits(false).catch((error: ServiceError) => error.cause)];
    await sent();
    expect(writer.lastBatch().asks.map(({ name }) => name)).toEqual(['keepTime']);
    writer.say(locked);
    expect(await first).toMatchObject({ code: 'SQLITE_BUSY' });
    const second = queue.assertCommits(false);
    await sent();
    writer.confirm();
    await second;
    await queue.assertCommits(false);
    expect(writer.batches()).toHaveLength(3);
    const doubted = queue.assertCommits(true);
    await sent();
    writer.confirm();
    await doubted;
    expect(writer.batches()).toHaveLength(4);
  });

  it('P23: not while the disk has not answered for six seconds', async () => {
    const { queue, writer } = open();
    const put = endsOf(queue.put(newRecord(now)));
    await sent();
    await queue.assertCommits(false);
    const later = performance.now() + 6_001;
    const clock = spyOn(performance, 'now').mockReturnValue(later);
    try {
      expect(await queue.assertCommits(false).catch((error: ServiceError) => error.cause)).toMatchObject({
        code: 'ETIMEDOUT',
      });
    } finally {
      clock.mockRestore();
    }
    writer.confirm();
    expect(await put).toEqual([undefined]);
    await queue.assertCommits(false);
  });

  it('P23: where the writer has ended, that is a fault, because nothing but a restart helps', async () => {
    const { queue, writer } = open();
    void endsOf(queue.opened);
    writer.end('out of memory');
    const fault = await queue.assertCommits(false).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(Error);
    expect(fault).not.toBeInstanceOf(ServiceError);
    await queue.close();
  });
});

describe('the end of the queue', () => {
  it('P5: waits for what is under way and commits what waits', async () => {
    const { queue, writer } = open();
    const first = endsOf(queue.put(newRecord(now)));
    await sent();
    const second = endsOf(queue.put(newRecord(now)));
    const closed = queue.close();
    writer.confirm();
    expect(await first).toEqual([undefined]);
    writer.confirm();
    expect(await second).toEqual([undefined]);
    await sent();
    expect(writer.heard.map(({ kind }) => kind)).toEqual(['open', 'batch', 'batch', 'close']);
    writer.say({ kind: 'closed' });
    await closed;
    expect(writer.isTerminated).toBe(true);
    expect(await endsOf(queue.decide('scrub'))).toEqual(['unavailable']);
  });
});
