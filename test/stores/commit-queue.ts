/** A commit queue whose engine, log and disk do only what the test says. */
import { ServiceError } from '../../src/core/errors.ts';
import { CommitQueue, type QueueParts } from '../../src/store/sqlite/commit-queue.ts';
import type { Answer, Batch, BatchAnswers } from '../../src/store/sqlite/decisions.ts';
import { batchTimeAt } from '../support/clocks.ts';
import { newRecord } from './conformance/check.ts';

export const now = 1_800_000_000;
export const faultOf = (code: string, message = 'the disk is gone') =>
  Object.assign(new Error(message), { code });
export const locked = faultOf('SQLITE_BUSY', 'database is locked');
export const diskGone = faultOf('SQLITE_IOERR_WRITE');

/** Resolves once all that was asked or answered in this turn has been taken in. */
export const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

export function open(parts: Partial<QueueParts> = {}) {
  const batches: Batch[] = [];
  let running = Promise.withResolvers<BatchAnswers>();
  const run = (batch: Batch) => {
    batches.push(batch);
    running = Promise.withResolvers();
    return running.promise;
  };
  const queue = new CommitQueue({
    engine: { run },
    time: { read: () => batchTimeAt(now), raiseTo: () => {} },
    settled: () => null,
    tend: () => null,
    recover: async () => true,
    ...parts,
  });
  return {
    queue,
    batches,
    sizes: () => batches.map(({ asks }) => asks.length),
    /** Commits the last batch, and answers each of it with this. */
    commit(answer: Answer | null = { answer: true }) {
      running.resolve({
        now,
        answers: answer === null ? [] : (batches.at(-1)?.asks.map(() => answer) ?? []),
      });
      return turn();
    },
    fail(error: Error) {
      running.reject(error);
      return turn();
    },
  };
}

export const put = (queue: CommitQueue, bytes = 100) =>
  queue.decide('put', newRecord(now, { sealedSecret: new Uint8Array(bytes) }));

/** How each call ended: a value, or an error's code. Handlers are attached at once, so that no rejection goes unhandled. */
export const endsOf = (...calls: Promise<unknown>[]): Promise<unknown[]> =>
  Promise.all(
    calls.map((call) => call.catch((error: unknown) => (error instanceof ServiceError ? error.code : error))),
  );

/** Whether they have all ended by the end of this turn. */
export async function haveEnded(ends: Promise<unknown>): Promise<boolean> {
  let ended = false;
  void ends.then(() => (ended = true));
  await turn();
  return ended;
}
