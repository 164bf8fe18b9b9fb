/**
 * Collects decisions while a batch is being committed, and hands out the answers.
 *
 * A batch is committed on the event loop and synced in a thread while the next ones fill up. A promise resolves only
 * when its batch is on disk. If a batch fails, everything in it rejects as `unavailable`, and so does everything else
 * until the store has recovered (P2, P23). A claim or burn whose client has left is withdrawn when its batch is
 * assembled (P3).
 *
 * After a failed sync, a later one can succeed without the data, so we trust the store again only after rewriting every
 * frame of the log and checking the file.
 */
import { ServiceError, StoreMovedError } from '../../core/errors.ts';
import type { IsAbandoned } from '../../core/ports/claims.ts';
import type { NewRecord } from '../../core/secret.ts';
import type {
  Answer,
  Ask,
  BatchClock,
  DecisionAnswer,
  DecisionArguments,
  DecisionName,
  LocatedClaim,
} from './decisions.ts';
import type { Engine } from './engine.ts';
import { codeOf, FilesMoved, isBusy, messageOf } from './files.ts';
import type { DecisionQueue } from './parts.ts';

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

interface Revocable {
  readonly isAbandoned: IsAbandoned;
  readonly index: number;
}

interface Collected {
  readonly asks: Ask[];
  readonly waiting: Waiting[];
  readonly revocables: Revocable[];
  bytes: number;
}

const nothingCollected = (): Collected => ({ asks: [], waiting: [], revocables: [], bytes: 0 });

/** In each batch, a small decision waits for at most this many bytes of larger ones. A decision larger than this gets its own. */
const maxBatchBytes = 1024 * 1024;

/** Most decisions are puts and claims; for these, we count only the fields that can be large. */
function bytesOf({ name, args }: Ask): number {
  if (name === 'put') return (args[0] as NewRecord).sealedSecret.length;
  if (name === 'claim') return (args[0] as LocatedClaim).look?.sealedLook.length ?? 0;
  return bytesIn(args);
}

const bytesIn = (value: unknown): number => {
  if (value instanceof Uint8Array) return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, part) => sum + bytesIn(part), 0);
};

const threadEnded = 'THREAD_ENDED';
/** Longer than we wait for another process's lock. */
const hungMs = 6_000;
const retryMs = 1_000;

const withdrawnAsk: Ask = { name: 'withdrawn', args: [] };

export interface QueueParts {
  readonly engine: Pick<Engine, 'run'>;
  readonly time: BatchClock;
  /** Resolves once everything committed is on disk; returns `null` if it already is. */
  readonly settled: () => Promise<void> | null;
  /** What the next batch must wait for, so that the log does not outgrow its space. */
  readonly tend: () => Promise<unknown> | null;
  readonly recover: () => Promise<boolean>;
}

export class CommitQueue implements DecisionQueue {
  readonly #parts: QueueParts;
  /** No batch is empty; the first is committed next. */
  #collecting: Collected[] = [];
  #committing: Promise<void> | null = null;
  #scheduled = false;
  #outage: string | null = null;
  #hasMoved = false;
  /** Kept until `assertCommits` has seen a commit succeed. */
  #failure: { readonly message: string; readonly code: string } | null = null;
  #begunAtMs = 0;
  #isClosed = false;

  constructor(parts: QueueParts) {
    this.#parts = parts;
  }

  get isSound(): boolean {
    return this.#outage === null;
  }

  /** Whether the folder's files have been replaced by others, which makes reads invalid too. */
  get hasMoved(): boolean {
    return this.#hasMoved;
  }

  /**
   * Rejects with the reason if decisions cannot be committed. Makes a test commit only after a failure or if
   * `isDoubted`, so it may be called every second.
   */
  async assertCommits(isDoubted: boolean): Promise<void> {
    // Only a restart helps.
    if (this.#failure?.code === threadEnded) throw new Error(this.#failure.message);
    if (this.#committing !== null && performance.now() - this.#begunAtMs > hungMs)
      throw this.#fault('The disk does not answer', 'ETIMEDOUT');
    if (this.#failure === null && !isDoubted) return;
    await this.decide('keepTime');
    this.#failure = null;
  }

  async decideFor<N extends 'claim' | 'burn' | 'burnFound' | 'takeAnswer'>(
    isAbandoned: IsAbandoned,
    name: N,
    ...args: DecisionArguments<N>
  ): Promise<DecisionAnswer<N> | 'abandoned'> {
    return answerIn<N | 'withdrawn'>(await this.#collect({ name, args }, isAbandoned));
  }

  async decide<N extends DecisionName>(name: N, ...args: DecisionArguments<N>): Promise<DecisionAnswer<N>> {
    return answerIn<N>(await this.#collect({ name, args }, null));
  }

  async close(): Promise<void> {
    while (this.#committing !== null || this.#collecting.length > 0) {
      this.#flush();
      await this.#committing;
    }
    this.#isClosed = true;
    this.#outage ??= 'it is closed';
  }

  fail(error: Error): void {
    if (this.#failure?.code === threadEnded) return;
    this.#failure = { message: error.message, code: codeOf(error) };
    this.#stop();
  }

  lose(message: string): void {
    this.#failure = { message, code: threadEnded };
    this.#rejectAll();
    this.#outage = `The store’s thread has ended: ${message}`;
  }

  /** Small decisions do not wait for large ones, and no decision waits for a later one. */
  #batchFor(bytes: number): Collected {
    const fitting = this.#collecting.find((batch) => batch.bytes + bytes <= maxBatchBytes);
    if (fitting !== undefined) return fitting;
    const added = nothingCollected();
    this.#collecting.push(added);
    return added;
  }

  #collect(ask: Ask, isAbandoned: IsAbandoned | null): Promise<Answer> {
    if (this.#outage !== null) {
      return Promise.reject(this.#fault(`The store is down: ${this.#outage}`, this.#failure?.code));
    }
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const bytes = bytesOf(ask);
    const batch = this.#batchFor(bytes);
    batch.bytes += bytes;
    if (isAbandoned !== null) batch.revocables.push({ isAbandoned, index: batch.asks.length });
    batch.asks.push(ask);
    batch.waiting.push({ resolve, reject });
    this.#schedule();
    return promise;
  }

  /** A batch in progress starts the next one when it ends. */
  #schedule(): void {
    if (this.#scheduled || this.#committing !== null) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#committing !== null || this.#collecting.length === 0) return;
    this.#begunAtMs = performance.now();
    this.#committing = this.#commitNext();
  }

  async #commitNext(): Promise<void> {
    let batch: Collected | undefined;
    try {
      await this.#parts.tend();
      batch = this.#collecting.shift();
      // Everything may have been rejected during the wait.
      if (batch === undefined) return this.#finish();
      const { asks, waiting, revocables, bytes } = batch;
      for (const { isAbandoned, index } of revocables) if (isAbandoned()) asks[index] = withdrawnAsk;
      const { now, answers } = await this.#parts.engine.run({ time: this.#parts.time.read(), asks, bytes });
      this.#parts.time.raiseTo(now);
      await this.#parts.settled();
      this.#finish();
      for (const [n, { resolve }] of waiting.entries()) resolve(answers[n] ?? { refused: 'no answer' });
    } catch (error) {
      batch ??= this.#collecting.shift();
      this.#failBatch(error, batch?.waiting ?? []);
    }
  }

  #finish(): void {
    this.#committing = null;
    this.#flush();
  }

  #failBatch(error: unknown, waiting: readonly Waiting[]): void {
    this.#committing = null;
    // It is no fault if another process held the lock for too long.
    const isBroken = !isBusy(error);
    this.#hasMoved = error instanceof FilesMoved;
    if (this.#failure?.code !== threadEnded)
      this.#failure = { message: messageOf(error), code: codeOf(error) };
    this.#reject(waiting);
    if (isBroken) this.#stop();
    else this.#flush();
  }

  #fault(message: string, code = ''): ServiceError {
    const cause = Object.assign(new Error(message), { code });
    return this.#hasMoved ? new StoreMovedError() : new ServiceError('unavailable', message, { cause });
  }

  #stop(): void {
    this.#rejectAll();
    if (this.#outage !== null) return;
    this.#outage = this.#failure?.message ?? '';
    void this.#recover();
  }

  async #recover(): Promise<void> {
    while (!this.#isClosed && !(await this.#parts.recover())) await Bun.sleep(retryMs);
    if (this.#isClosed) return;
    this.#outage = null;
    this.#hasMoved = false;
  }

  #rejectAll(): void {
    for (const { waiting } of this.#collecting.splice(0)) this.#reject(waiting);
  }

  #reject(waiting: readonly Waiting[]): void {
    const { message = '', code } = this.#failure ?? {};
    const fault = this.#fault(`The store did not confirm: ${message}`, code);
    for (const { reject } of waiting) reject(fault);
  }
}

function answerIn<N extends DecisionName>(answered: Answer): DecisionAnswer<N> {
  if ('answer' in answered) return answered.answer as DecisionAnswer<N>;
  if ('full' in answered) throw new ServiceError('storage_full', 'There is no room for it.');
  throw new ServiceError('unavailable', `The store refused: ${answered.refused}`);
}
