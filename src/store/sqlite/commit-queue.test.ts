/** What the queue makes of its engine, the log's sync and the disk's threads, which here do only what the test says. */
import { describe, expect, it, mock, spyOn } from 'bun:test';
import {
  diskGone,
  endsOf,
  faultOf,
  haveEnded,
  locked,
  now,
  open,
  put,
  turn,
} from '../../../test/stores/commit-queue.ts';
import { clientStays, newRecord } from '../../../test/stores/conformance/check.ts';
import type { AccountId } from '../../core/account.ts';
import { ServiceError, StoreMovedError } from '../../core/errors.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Answer } from './decisions.ts';
import { FilesMoved } from './files.ts';

describe('what is asked', () => {
  it('in one turn is one batch, and what is asked while that is committed is the next', async () => {
    const { queue, sizes, commit } = open();
    const first = endsOf(...Array.from({ length: 48 }, () => put(queue)));
    await turn();
    const second = endsOf(put(queue), queue.decide('scrub'));
    await turn();
    expect(sizes()).toEqual([48]);
    await commit();
    expect(sizes()).toEqual([48, 2]);
    await commit();
    expect([...(await first), ...(await second)]).toEqual(new Array(50).fill(true));
  });

  it.each<[string, Answer | null, unknown]>([
    ['done', { answer: 7 }, 7],
    ['out of room', { full: true }, 'storage_full'],
    ['refused', { refused: 'a constraint' }, 'unavailable'],
    ['not answered', null, 'unavailable'],
  ])('P2, P23: is told when it is %s', async (_, answer, told) => {
    const { queue, commit } = open();
    const asked = endsOf(put(queue));
    await turn();
    await commit(answer);
    expect(await asked).toEqual([told]);
  });
});

describe('a batch that was committed', () => {
  it('P2: is answered when it is on the disk, and the next one waits for that', async () => {
    const synced = Promise.withResolvers<void>();
    const { queue, sizes, commit } = open({ settled: () => synced.promise });
    const first = endsOf(put(queue), queue.decide('scrub'));
    await turn();
    void endsOf(put(queue));
    await commit();
    expect([await haveEnded(first), sizes()]).toEqual([false, [2]]);
    synced.resolve();
    expect([await haveEnded(first), sizes()]).toEqual([true, [2, 1]]);
  });

  it('P2: is rejected whole when its sync fails, and nothing more is accepted until the store has recovered', async () => {
    const recovered = Promise.withResolvers<boolean>();
    const { queue, sizes, commit } = open({
      settled: () => Promise.reject(faultOf('EIO')),
      recover: () => recovered.promise,
    });
    const asked = endsOf(put(queue), queue.decide('scrub'));
    await turn();
    const waiting = endsOf(put(queue));
    await commit();
    expect([await asked, await waiting]).toEqual([['unavailable', 'unavailable'], ['unavailable']]);
    expect([await endsOf(put(queue)), queue.isSound]).toEqual([['unavailable'], false]);
    recovered.resolve(true);
    await turn();
    void endsOf(put(queue));
    await turn();
    expect([sizes(), queue.isSound]).toEqual([[2, 1], true]);
  });
});

describe('a failed sync that only a read has waited for', () => {
  it('P2: stops the decisions as well, until the store has recovered', async () => {
    const recovered = Promise.withResolvers<boolean>();
    const { queue, batches, commit } = open({ recover: () => recovered.promise });
    const waiting = endsOf(put(queue));
    queue.fail(faultOf('EIO'));
    expect([await waiting, await endsOf(put(queue))]).toEqual([['unavailable'], ['unavailable']]);
    const asked = await queue.assertCommits(false).catch((error: ServiceError) => error.cause);
    expect([asked, batches]).toEqual([expect.objectContaining({ code: 'EIO' }), []]);
    recovered.resolve(true);
    await turn();
    const asserted = endsOf(queue.assertCommits(false));
    await turn();
    await commit();
    expect(await asserted).toEqual([undefined]);
  });
});

describe('a log that has to be written out first', () => {
  it('P24: holds the batch and not what is asked meanwhile, which goes with it', async () => {
    const held = Promise.withResolvers<void>();
    const { queue, sizes } = open({ tend: () => held.promise });
    void endsOf(put(queue));
    await turn();
    void endsOf(put(queue));
    await turn();
    expect(sizes()).toEqual([]);
    held.resolve();
    await turn();
    expect(sizes()).toEqual([2]);
  });

  it('P23: holds nothing that was rejected meanwhile', async () => {
    const held = Promise.withResolvers<void>();
    const { queue, batches } = open({ tend: () => held.promise });
    const asked = endsOf(put(queue));
    await turn();
    queue.lose('out of memory');
    expect(await asked).toEqual(['unavailable']);
    held.resolve();
    await turn();
    expect(batches).toEqual([]);
  });

  it('P23: fails the batch when its length cannot be read', async () => {
    const { queue } = open({
      tend() {
        throw diskGone;
      },
    });
    expect(await endsOf(put(queue))).toEqual(['unavailable']);
  });
});

describe('large decisions', () => {
  const mib = 1_048_576;
  const claimOf = { secretId: newRecord(now).secretId, position: 1, rowVersion: 1 };
  const receipt = { id: newRecord(now).receiptId, position: 1 };
  const lookOf = (bytes: number) => ({ until: 1, sealedLook: new Uint8Array(bytes) }) as never;
  const logoOf = (bytes: number) => ({ name: '', type: '', bytes: new Uint8Array(bytes) });
  const expiryOf = (bytes: number) => ({
    ...newRecord(now),
    sealedSecret: new Uint8Array(bytes),
    noticeDueAt: null,
  });
  const kinds: [string, (queue: CommitQueue, bytes: number) => Promise<unknown>][] = [
    ['puts', put],
    ['claims with a look', (queue, bytes) => queue.decide('claim', { ...claimOf, look: lookOf(bytes) })],
    ['changed expiries', (queue, bytes) => queue.decide('setExpiry', receipt, now, expiryOf(bytes))],
    ['memos', (queue, bytes) => queue.decide('setMemo', receipt, new Uint8Array(bytes))],
    ['logos', (queue, bytes) => queue.decide('setDomainLogo', 1 as AccountId, 'a.example', logoOf(bytes))],
  ];

  it.each(kinds)('%s fill a batch up to 1 MiB, and a larger one goes alone', async (_, ask) => {
    const { queue, sizes, batches, commit } = open();
    const asked = endsOf(...Array.from({ length: 20 }, () => ask(queue, mib / 8 - 512)));
    await turn();
    for (let left = 0; left < 3; left += 1) await commit();
    await asked;
    expect(sizes()).toEqual([8, 8, 4]);
    expect(batches[0]?.bytes).toBeWithin(mib - 8 * 512, mib + 1);
    void endsOf(...[100, mib + 1, 100].map((bytes) => ask(queue, bytes)));
    await turn();
    await commit();
    expect(sizes().slice(3)).toEqual([2, 1]);
  });

  it.each<[string, (queue: CommitQueue) => Promise<unknown>, number]>([
    ['a put', put, 100],
    ['a claim', (queue) => queue.decide('claim', claimOf), 0],
    ['a claim with a look', (queue) => queue.decide('claim', { ...claimOf, look: lookOf(100) }), 100],
    [
      'another decision',
      (queue) => queue.decide('setMemo', receipt, new Uint8Array(100)),
      100 + receipt.id.length,
    ],
  ])('count by their bytes: %s', async (_, ask, bytes) => {
    const { queue, batches } = open();
    void endsOf(ask(queue));
    await turn();
    expect(batches[0]?.bytes).toBe(bytes);
  });

  it('fill a batch to the last byte', async () => {
    const { queue, sizes } = open();
    void endsOf(...[mib / 2, mib / 2].map((bytes) => put(queue, bytes)));
    await turn();
    expect(sizes()).toEqual([2]);
  });

  it('let a small one go with the next batch, whatever waits before it', async () => {
    const { queue, sizes, commit } = open();
    void endsOf(put(queue));
    await turn();
    void endsOf(...Array.from({ length: 5 }, () => put(queue, 0.7 * mib)));
    const small = endsOf(put(queue));
    await commit();
    await commit();
    expect([await haveEnded(small), sizes()]).toEqual([true, [1, 2, 1]]);
  });

  it('P23: are all rejected when the store breaks, in whichever batch they wait, and leave nothing behind', async () => {
    const { queue, sizes, fail, commit } = open();
    const asked = endsOf(...Array.from({ length: 4 }, () => put(queue, 0.7 * mib)));
    await turn();
    await fail(diskGone);
    expect(await asked).toEqual(new Array(4).fill('unavailable'));
    const next = endsOf(put(queue));
    await turn();
    await commit();
    expect([await next, sizes()]).toEqual([[true], [1, 1]]);
  });

  it('P3: are withdrawn from the batch they wait in, when their client leaves', async () => {
    const { queue, batches, commit } = open();
    let isGone = false;
    void endsOf(put(queue));
    await turn();
    const claim = { ...claimOf, look: lookOf(0.7 * mib) };
    for (const isAbandoned of [clientStays, () => isGone])
      void endsOf(queue.decideFor(isAbandoned, 'claim', claim));
    await commit();
    isGone = true;
    await commit();
    expect(batches.map(({ asks }) => asks.map(({ name }) => name))).toEqual([
      ['put'],
      ['claim'],
      ['withdrawn'],
    ]);
  });
});

describe('a batch that fails', () => {
  it('P2: rejects all of it; what was asked meanwhile is committed when nothing is broken (P23)', async () => {
    const { queue, sizes, fail, commit } = open();
    const first = endsOf(put(queue), queue.decide('scrub'));
    await turn();
    const later = endsOf(put(queue), queue.decide('scrub'));
    await fail(locked);
    expect([await first, sizes(), queue.isSound]).toEqual([['unavailable', 'unavailable'], [2, 2], true]);
    await commit();
    expect(await later).toEqual([true, true]);
  });

  it('P23: rejects everything at once until the store may be trusted again, which is asked each second', async () => {
    const slept = Promise.withResolvers<void>();
    const sleep = spyOn(Bun, 'sleep').mockReturnValue(slept.promise);
    try {
      const verdicts = [false, true];
      const { queue, batches, fail, commit } = open({ recover: async () => verdicts.shift() ?? true });
      const failing = endsOf(put(queue));
      await turn();
      const waiting = endsOf(put(queue));
      await fail(diskGone);
      expect([await failing, await waiting]).toEqual([['unavailable'], ['unavailable']]);
      expect(await endsOf(put(queue), queue.decide('scrub'))).toEqual(['unavailable', 'unavailable']);
      expect([batches.length, queue.isSound, sleep.mock.calls]).toEqual([1, false, [[1_000]]]);
      slept.resolve();
      await turn();
      const record = newRecord(now);
      const again = endsOf(queue.decide('put', record));
      await turn();
      // It holds nothing of the rejected calls.
      expect(batches.at(-1)?.asks).toEqual([{ name: 'put', args: [record] }]);
      await commit();
      expect(await again).toEqual([true]);
    } finally {
      sleep.mockRestore();
    }
  });

  it('P23: because the files were moved says so, to reads as well, until they are back', async () => {
    const recovered = Promise.withResolvers<boolean>();
    const { queue, fail } = open({ recover: () => recovered.promise });
    const asked = put(queue).catch((error: unknown) => error);
    await turn();
    await fail(new FilesMoved('gone'));
    expect([await asked, queue.hasMoved]).toEqual([expect.any(StoreMovedError), true]);
    expect(await put(queue).catch((error: unknown) => error)).toBeInstanceOf(StoreMovedError);
    recovered.resolve(true);
    await turn();
    expect(queue.hasMoved).toBe(false);
  });
});

describe('a thread that ends', () => {
  it('P23: leaves no call without an answer: those under way, those that wait, and every later one', async () => {
    const { queue, commit } = open({ settled: () => Promise.reject(new Error('out of memory')) });
    const underWay = endsOf(put(queue));
    await turn();
    const waiting = endsOf(queue.decide('scrub'));
    queue.lose('out of memory');
    await commit();
    expect([await underWay, await waiting]).toEqual([['unavailable'], ['unavailable']]);
    expect(await endsOf(put(queue), queue.decide('scrub'))).toEqual(['unavailable', 'unavailable']);
    await queue.close();
  });

  it('P23: is a fault and never recovers, because nothing but a restart helps', async () => {
    const recover = mock(async () => true);
    const { queue } = open({ recover });
    queue.lose('out of memory');
    // Its syncs fail then.
    queue.fail(new Error('out of memory'));
    await turn();
    const fault = await queue.assertCommits(false).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(Error);
    expect(fault).not.toBeInstanceOf(ServiceError);
    expect([recover.mock.calls, queue.isSound]).toEqual([[], false]);
  });
});

describe('whether decisions can be committed', () => {
  it('P23: writes nothing to find out, until something has failed; then only a commit shows it', async () => {
    const { queue, batches, fail, commit } = open();
    await queue.assertCommits(false);
    expect(batches).toHaveLength(0);
    const failing = endsOf(put(queue));
    await turn();
    await fail(locked);
    expect(await failing).toEqual(['unavailable']);
    const first = queue.assertCommits(false).catch((error: ServiceError) => error.cause);
    await turn();
    expect(batches.at(-1)?.asks.map(({ name }) => name)).toEqual(['keepTime']);
    await fail(locked);
    expect(await first).toMatchObject({ code: 'SQLITE_BUSY' });
    const second = queue.assertCommits(false);
    await turn();
    await commit();
    await second;
    await queue.assertCommits(false);
    expect(batches).toHaveLength(3);
    const doubted = queue.assertCommits(true);
    await turn();
    await commit();
    await doubted;
    expect(batches).toHaveLength(4);
  });

  it.each(['a commit', 'a sync', 'a log that is written out'])(
    'P23: not while the disk has not answered for six seconds, in %s',
    async (what) => {
      const held = Promise.withResolvers<void>();
      const { queue, commit } = open({
        settled: () => (what === 'a sync' ? held.promise : null),
        tend: () => (what.startsWith('a log') ? held.promise : null),
      });
      // Whole, so that adding to it is exact.
      const begunMs = Math.ceil(performance.now());
      const clock = spyOn(performance, 'now').mockReturnValue(begunMs);
      const asked = endsOf(put(queue));
      try {
        await turn();
        if (what === 'a sync') await commit();
        clock.mockReturnValue(begunMs + 6_000);
        await queue.assertCommits(false);
        clock.mockReturnValue(begunMs + 6_001);
        const cause = await queue.assertCommits(false).catch((error: ServiceError) => error.cause);
        expect(cause).toMatchObject({ code: 'ETIMEDOUT' });
      } finally {
        clock.mockRestore();
      }
      held.resolve();
      await turn();
      await commit();
      expect(await asked).toEqual([true]);
      await queue.assertCommits(false);
    },
  );
});

describe('the end of the queue', () => {
  it('P5: waits for what is under way and commits what waits, in however many batches', async () => {
    const { queue, sizes, commit } = open();
    const asked = endsOf(put(queue));
    await turn();
    const waiting = endsOf(...[1, 2].map(() => put(queue, 700_000)));
    const closed = queue.close();
    await commit();
    await commit();
    expect([await asked, sizes(), await haveEnded(closed)]).toEqual([[true], [1, 1, 1], false]);
    await commit();
    await closed;
    expect([await waiting, await endsOf(queue.decide('scrub'))]).toEqual([[true, true], ['unavailable']]);
  });

  it('ends the recovery', async () => {
    const slept = Promise.withResolvers<void>();
    const sleep = spyOn(Bun, 'sleep').mockReturnValue(slept.promise);
    try {
      const recover = mock(async () => false);
      const { queue, fail } = open({ recover });
      void endsOf(put(queue));
      await turn();
      await fail(diskGone);
      await queue.close();
      slept.resolve();
      await turn();
      expect(recover).toHaveBeenCalledTimes(1);
    } finally {
      sleep.mockRestore();
    }
  });

  it('P5: waits for what was asked in the same turn', async () => {
    const { queue, commit } = open();
    const asked = endsOf(put(queue));
    const closed = queue.close();
    expect(await haveEnded(closed)).toBe(false);
    await commit();
    await closed;
    expect(await asked).toEqual([true]);
  });
});
