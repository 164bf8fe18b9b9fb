import { describe, expect, it } from 'bun:test';
import { type BatchOptions, createBatch } from '../../../src/store/postgres/batches.ts';
import type { Engine, Values } from '../../../src/store/postgres/engine.ts';
import { NotExecutedError } from '../../../src/store/postgres/faults.ts';
import { statement } from '../../../src/store/postgres/statement.ts';

interface Ask {
  readonly id: number;
  readonly isGone?: boolean;
  readonly bytes?: number;
}

/** An engine that answers when it is told to. */
function openWaitingEngine() {
  const sent: { ids: number[]; answer: () => void; fail: (fault: unknown) => void }[] = [];
  const decide = (_: unknown, [ids]: Values): Promise<never[]> => {
    const { promise, resolve, reject } = Promise.withResolvers<never[]>();
    const answer = () => resolve((ids as number[]).map((id) => ({ id })) as never[]);
    sent.push({ ids: ids as number[], answer, fail: reject });
    return promise;
  };
  const engine: Pick<Engine, 'read' | 'decide'> = { decide, read: decide };
  return { engine, sent };
}

const options: BatchOptions<Ask, string, { id: number }> = {
  statement: statement('SELECT'),
  kind: 'decide',
  idOf: ({ id }) => Uint8Array.of(id >> 8, id),
  valuesOf: (asks) => [asks.map(({ id }) => id)],
  answersOf: (rows, asks) => asks.map(({ id }) => `${id}:${rows.some((row) => row.id === id)}`),
  isAbandoned: ({ isGone }) => isGone === true,
  bytesOf: ({ bytes }) => bytes ?? 0,
};

const turn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

describe('a batch', () => {
  it('sends all that is asked for in one turn as one statement, in the order of their ids', async () => {
    const { engine, sent } = openWaitingEngine();
    const ask = createBatch(engine, options);
    const answers = [3, 1, 2].map((id) => ask({ id }));
    await turn();
    expect(sent.map(({ ids }) => ids)).toEqual([[1, 2, 3]]);
    sent[0]?.answer();
    expect(await Promise.all(answers)).toEqual(['3:true', '1:true', '2:true']);
  });

  it('keeps two statements in flight, and gathers the rest', async () => {
    const { engine, sent } = openWaitingEngine();
    const ask = createBatch(engine, options);
    for (const id of [1, 2, 3, 4]) {
      void ask({ id });
      await turn();
    }
    expect(sent.map(({ ids }) => ids)).toEqual([[1], [2]]);
    sent[0]?.answer();
    await turn();
    expect(sent.map(({ ids }) => ids)).toEqual([[1], [2], [3, 4]]);
  });

  it('sends at most 256 asks and 4 MiB in a statement, and each ask however large', async () => {
    const { engine, sent } = openWaitingEngine();
    const ask = createBatch(engine, options);
    for (let id = 0; id < 300; id += 1) void ask({ id });
    await turn();
    await turn();
    expect(sent.map(({ ids }) => ids.length)).toEqual([256, 44]);
    for (const { answer } of sent) answer();
    await turn();
    const mebibyte = 1024 * 1024;
    for (const [id, mebibytes] of [2, 3, 9, 1].entries()) void ask({ id, bytes: mebibytes * mebibyte });
    await turn();
    await turn();
    expect(sent.slice(2).map(({ ids }) => ids)).toEqual([[0, 3], [1]]);
    sent[2]?.answer();
    await turn();
    expect(sent[4]?.ids).toEqual([2]);
  });

  it('never has one id twice in a statement that decides', async () => {
    const { engine, sent } = openWaitingEngine();
    const [decide, read] = (['decide', 'read'] as const).map((kind) =>
      createBatch(engine, { ...options, kind }),
    );
    for (const id of [7, 7, 5]) void decide?.({ id });
    await turn();
    await turn();
    for (const id of [7, 7, 5]) void read?.({ id });
    await turn();
    expect(sent.map(({ ids }) => ids)).toEqual([[5, 7], [7], [5, 7, 7]]);
  });

  it('refuses what it could not send for a second, and nothing of it happens', async () => {
    const { engine, sent } = openWaitingEngine();
    const ask = createBatch(engine, options);
    for (const id of [1, 2]) {
      void ask({ id });
      await turn();
    }
    await expect(ask({ id: 3 })).rejects.toBeInstanceOf(NotExecutedError);
    sent[0]?.answer();
    await turn();
    expect(sent.map(({ ids }) => ids)).toEqual([[1], [2]]);
  });

  it('asks right before sending whether the client has left, and sends nothing for it then', async () => {
    const { engine, sent } = openWaitingEngine();
    const ask = createBatch(engine, options);
    for (const id of [1, 2]) {
      void ask({ id });
      await turn();
    }
    const leaving = { id: 3, isGone: false };
    const left = ask(leaving);
    const stays = ask({ id: 4 });
    leaving.isGone = true;
    sent[0]?.answer();
    expect(await left).toBe('abandoned');
    await turn();
    expect(sent[2]?.ids).toEqual([4]);
    sent[2]?.answer();
    expect(await stays).toBe('4:true');
  });

  it('makes the fault of a statement the fault of all that it was sent for, and goes on', async () => {
    const { engine, sent } = openWaitingEngine();
    const ask = createBatch(engine, options);
    const settled = Promise.allSettled([ask({ id: 1 }), ask({ id: 2 })]);
    await turn();
    sent[0]?.fail(new Error('cut'));
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const next = ask({ id: 3 });
    await turn();
    sent[1]?.answer();
    expect(await next).toBe('3:true');
  });
});
