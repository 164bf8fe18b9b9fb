/**
 * A move that ends anywhere goes on, and at no moment both stores serve.
 */
import { describe, expect, it } from 'bun:test';
import { StoreRefusal } from '../../src/store/store.ts';
import { fill, moveBetween, type Place, runMove } from './move-fixtures.ts';
import {
  contentsAt,
  freshPlaces,
  from,
  makeAnother,
  pairs,
  refusalAt,
  removePlaces,
  to,
  usePlaces,
  watched,
} from './move-pairs.ts';

/** Whether anything is served there. */
async function isServing(place: Place): Promise<boolean> {
  try {
    await using store = await place.open();
    return await store.hasAccounts();
  } catch (error) {
    if (!(error instanceof StoreRefusal)) throw error;
    return false;
  }
}

/** Moves with a cut before or after the call of that number among those that `counts`; whether it came that far. */
async function moveCutAt(cut: number, after: boolean, counts: (call: string) => boolean): Promise<boolean> {
  await using source = await from.source();
  await using target = await to.target();
  let calls = 0;
  let underWay = 0;
  const count = (name: string, args: readonly unknown[]) => {
    if (!counts([name, (args[0] as { name?: string } | undefined)?.name ?? ''].join(' '))) return;
    calls += 1;
    if (calls === cut) throw new Error('cut');
  };
  const begin = (name: string, args: readonly unknown[]) => {
    underWay += 1;
    expect(underWay).toBe(1);
    if (!after) count(name, args);
  };
  const end = (name: string, args: readonly unknown[]) => {
    underWay -= 1;
    if (after) count(name, args);
  };
  try {
    await moveBetween(watched(source, begin, end), watched(target, begin, end), { pageRows: 20 });
    return false;
  } catch (error) {
    if ((error as Error).message !== 'cut') throw error;
    return true;
  }
}

/** A server's pages of the other tables are copied as these are. */
const isTelling = (call: string) => !/^(readPage|addRows) (?!records|domains)/.test(call);

describe.each(pairs)('a move from %s to %s that was cut short', (...kinds) => {
  usePlaces(...kinds);
  const isInOneProcess = !kinds.includes('PostgreSQL');
  const counts = isInOneProcess ? () => true : isTelling;
  // One call follows the other, so a cut after a call leaves both stores as one before the next call does. Whether the move itself
  // makes a difference is seen with any stores.
  const cuts = isInOneProcess ? (['before', 'after'] as const) : (['before'] as const);

  it.each(cuts)(
    'P1 P5: %s any of its steps goes on, and at most one store serves meanwhile',
    async (moment) => {
      for (let cut = 1; ; cut += 1) {
        await removePlaces();
        await freshPlaces();
        {
          await using store = await from.open();
          await fill(store);
        }
        const before = await contentsAt(from);
        const wasCut = await moveCutAt(cut, moment === 'after', counts);
        const serving = [await isServing(from), await isServing(to)];
        expect([cut, ...serving]).not.toEqual([cut, true, true]);
        await runMove(from, to);
        expect([await isServing(from), await isServing(to)]).toEqual([false, true]);
        expect(await contentsAt(to)).toEqual(before);
        if (!wasCut) break;
        expect(cut).toBeLessThan(200);
      }
    },
    120_000,
  );

  it('P1: changes nothing any more once another run has begun', async () => {
    {
      await using store = await from.open();
      await fill(store);
    }
    await using source = await from.source();
    await using target = await to.target();
    let other: unknown = null;
    const begun = watched(target, async (name) => {
      if (name === 'addRows' && other === null) other = await runMove(from, to);
    });
    const problem = await moveBetween(source, begun).catch((error: Error) => error.message);
    expect([problem, other]).toEqual(['Another run of the command has begun.', expect.anything()]);
  });

  it('P5: may be ended: the store serves again, and the copy never does', async () => {
    {
      await using store = await from.open();
      await fill(store);
    }
    const before = await contentsAt(from);
    {
      await using source = await from.source();
      await using target = await to.target();
      const stop = watched(source, (name) => {
        if (name === 'handOver') throw new Error('cut');
      });
      await moveBetween(stop, target).catch(() => {});
    }
    expect(await refusalAt(from)).toContain('closed by');
    {
      await using source = await from.source();
      expect(await source.cancel()).toBe(true);
      expect(await source.cancel()).toBe(false);
    }
    expect(await contentsAt(from)).toEqual(before);
    expect([await refusalAt(from), await refusalAt(to)]).toEqual([null, expect.any(String)]);
    await expect(runMove(from, to)).rejects.toThrow('There is a store in');
  });

  it('P1: is not ended once the store was handed over, nor begun to another place', async () => {
    {
      await using store = await from.open();
      await fill(store);
    }
    await runMove(from, to);
    await using source = await from.source();
    await expect(source.cancel()).rejects.toThrow('handed over');
    await using third = await makeAnother();
    await expect(runMove(from, third)).rejects.toThrow('was moved to another store');
    expect((await runMove(from, to)).outcome).toBe('moved');
  });

  it('P1: takes no store that was there before for its target', async () => {
    for (const place of [from, to]) {
      await using store = await place.open();
      await fill(store);
    }
    await expect(runMove(from, to)).rejects.toThrow('There is a store in');
    expect([await refusalAt(from), await refusalAt(to)]).toEqual([null, null]);
  });
});
