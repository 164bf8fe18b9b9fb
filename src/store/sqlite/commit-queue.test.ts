/**
 * The event loop's side of the writer, with a scripted writer: one that fails and recovers, and one that ends without
 * an answer.
 */

import { afterEach, beforeEach, describe, expect, it, spyOn } from 'bun:test';
import { clientStays, newRecord } from '../../../test/stores/conformance/check.ts';
import { batchTimeAt } from '../../../test/support/clocks.ts';
import { ServiceError } from '../../core/errors.ts';
import { CommitQueue } from './commit-queue.ts';
import { writerSettings } from './database.ts';
import { readFrames } from './frames.ts';
import { type FromWriter, frameOutcome, type ToWriter } from './protocol.ts';

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

describe('a batch that fails', () => {
  it('P2: rejects all of it; what was asked meanwhile is committed when nothing is broken (P23)', async () => {
    const { queue, writer } = open();
    const first = endsOf(queue.put(newRecord(now)), queue.decide('scrub'));
    await sent();
    const later = endsOf(queue.put(newRecord(now)), queue.decide('scrub'));
    await sent();
    expect(writer.batches()).toHaveLength(1);
    writer.say({
      kind: 'failed',
      message: 'database is locked',
      code: 'SQLITE_BUSY',
      broken: false,
      moved: false,
    });
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
    writer.say({
      kind: 'failed',
      message: 'the disk is gone',
      code: 'SQLITE_IOERR_FSYNC',
      broken: true,
      moved: false,
    });
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
    writer.say({ kind: 'failed', message: 'is locked', code: 'SQLITE_BUSY', broken: false, moved: false });
    expect(await failing).toEqual(['unavailable']);
    const [first] = [queue.assertCommits(false).catch((error: ServiceError) => error.cause)];
    await sent();
    expect(writer.lastBatch().asks.map(({ name }) => name)).toEqual(['keepTime']);
    writer.say({ kind: 'failed', message: 'is locked', code: 'SQLITE_BUSY', broken: false, moved: false });
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
