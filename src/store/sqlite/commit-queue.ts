/**
 * The event loop's end of the writer: collects decisions while a batch is being committed, and hands out the answers.
 *
 * At most one batch is with the writer while the next ones collect. A promise resolves only with the answer of a committed batch; when a
 * batch fails, everything in it rejects with `unavailable`, and while the writer is broken everything rejects at once (P23). A claim or
 * burn whose client disconnected while it was collecting is withdrawn when its batch is put together (P3).
 */
import { availableParallelism } from 'node:os';
import { ServiceError, StoreMovedError } from '../../core/errors.ts';
import type { ClaimOutcome, IsAbandoned } from '../../core/ports.ts';
import type { NewRecord } from '../../core/secret.ts';
import { type RefusalReason, StoreRefusal } from '../store.ts';
import { FrameSink, type LocatedClaim } from './frames.ts';
import { hintOf, type Locator, type StoredRow } from './locator.ts';
import {
  type Answer,
  type Ask,
  type BatchClock,
  type DecisionAnswer,
  type DecisionArguments,
  type DecisionName,
  type FromWriter,
  frameOutcome,
  type OpenRequest,
  type ToWriter,
} from './protocol.ts';

interface Waiting<Result> {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: Error) => void;
}

/** A put or a claim; a put knows by what its row is found. */
interface WaitingFrame extends Waiting<number> {
  readonly put: StoredRow | null;
}

interface WaitingAsk extends Waiting<Answer> {
  readonly ask: Ask;
}

/** A decision that is taken only for a client that is still there. */
interface Revocable {
  readonly isAbandoned: IsAbandoned;
  readonly withdraw: () => void;
}

interface Collected {
  readonly sink: FrameSink;
  readonly frames: WaitingFrame[];
  readonly asks: WaitingAsk[];
  readonly revocables: Revocable[];
  bytes: number;
  /** Resolves when all of it was answered, whatever the answers. */
  readonly answered: PromiseWithResolvers<void>;
}

/**
 * With so many, a batch does not wait for the rest of its turn: on a core of its own, the writer commits these while the event loop
 * prepares the next ones. Fewer would share an fsync less well. On a single core nothing would overlap.
 */
const enoughForBatch = (cores: number): number => (cores > 1 ? 32 : Number.POSITIVE_INFINITY);

/** A small decision waits for no more than this of large ones in each batch; a single larger one has a batch to itself. */
const maxBatchBytes = 1024 * 1024;

const bytesIn = (value: unknown): number => {
  if (value instanceof Uint8Array) return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, part) => sum + bytesIn(part), 0);
};

const writerEnded = 'WRITER_ENDED';
/** Longer than the lock of another process is waited for. */
const hungMs = 6_000;

const nothingCollected = (sink: FrameSink): Collected => ({
  sink,
  bytes: 0,
  frames: [],
  asks: [],
  revocables: [],
  answered: Promise.withResolvers<void>(),
});
const sizeOf = (collected: Collected): number => collected.frames.length + collected.asks.length;

type Answers = Extract<FromWriter, { kind: 'answers' }>;

/** Holds the writer's thread. */
export class CommitQueue {
  readonly #worker = new Worker(new URL('./writer.ts', import.meta.url).href);
  readonly #opening = Promise.withResolvers<void>();
  readonly #closing = Promise.withResolvers<void>();
  readonly #time: BatchClock;
  readonly #locator: Locator;
  readonly #enough: number;
  /** None is empty; the first is sent next. */
  #collecting: Collected[] = [];
  #idleSink: FrameSink | null = null;
  #committing: Collected | null = null;
  #scheduled = false;
  /** Why nothing is accepted at present. */
  #outage: string | null = null;
  #hasMoved = false;
  /** Why the last batch failed, until `assertCommits` has seen one succeed. */
  #failure: { readonly message: string; readonly code: string } | null = null;
  #sentAtMs = 0;

  constructor(request: OpenRequest, time: BatchClock, locator: Locator, cores = availableParallelism()) {
    this.#time = time;
    this.#locator = locator;
    this.#enough = enoughForBatch(cores);
    this.#worker.onmessage = ({ data }: MessageEvent<FromWriter>) => this.#hear(data);
    this.#worker.onerror = (event) => this.#lose(event.message);
    this.#tell({ kind: 'open', ...request });
  }

  /** Resolves when the writer has the database open; rejects with its refusal. */
  get opened(): Promise<void> {
    return this.#opening.promise;
  }

  /** Whether the open files are known not to be those of the folder, so that reads do not count either. */
  get hasMoved(): boolean {
    return this.#hasMoved;
  }

  /**
   * Resolves when decisions can be committed; rejects with why not. After a failure only a commit shows that; without one nothing is
   * written, so it may be asked every second.
   */
  async assertCommits(isDoubted: boolean): Promise<void> {
    // Only a restart helps.
    if (this.#failure?.code === writerEnded) throw new Error(this.#failure.message);
    if (this.#committing !== null && performance.now() - this.#sentAtMs > hungMs)
      throw this.#fault('The disk does not answer', 'ETIMEDOUT');
    if (this.#failure === null && !isDoubted) return;
    await this.decide('keepTime');
    this.#failure = null;
  }

  async put(record: NewRecord): Promise<void> {
    const outcome = await this.#collect<number>(record, ({ sink, frames }, waiting) => {
      sink.put(record);
      const { secretId, receiptId, owner } = record;
      const put = { secretHint: hintOf(secretId), receiptHint: hintOf(receiptId), owner };
      frames.push({ ...waiting, put });
    });
    if (outcome === frameOutcome.done) return;
    if (outcome === frameOutcome.full) {
      throw new ServiceError('storage_full', 'There is no room for another secret.');
    }
    throw new ServiceError('unavailable', 'The store refused the record.');
  }

  async claim(target: LocatedClaim, isAbandoned: IsAbandoned): Promise<ClaimOutcome> {
    const outcome = await this.#collect<number>(target, ({ sink, frames, revocables }, waiting) => {
      const at = sink.claim(target);
      frames.push({ ...waiting, put: null });
      revocables.push({ isAbandoned, withdraw: () => sink.withdraw(at) });
    });
    if (outcome === frameOutcome.done) return 'won';
    if (outcome === frameOutcome.gone) return 'gone';
    if (outcome === frameOutcome.withdrawn) return 'abandoned';
    throw new ServiceError('unavailable', 'The store did not take the claim.');
  }

  /** A decision that is not taken for a client that has left meanwhile. */
  async decideFor<N extends 'burn' | 'burnFound' | 'takeAnswer'>(
    isAbandoned: IsAbandoned,
    name: N,
    ...args: DecisionArguments<N>
  ): Promise<DecisionAnswer<N> | 'abandoned'> {
    const answered = await this.#collect<Answer>(args, ({ asks, revocables }, waiting) => {
      const index = asks.push({ ...waiting, ask: { name, args } }) - 1;
      const withdraw = () => void asks.splice(index, 1, { ...waiting, ask: withdrawnAsk });
      revocables.push({ isAbandoned, withdraw });
    });
    return answerIn<N | 'withdrawn'>(answered);
  }

  async decide<N extends DecisionName>(name: N, ...args: DecisionArguments<N>): Promise<DecisionAnswer<N>> {
    const add = ({ asks }: Collected, waiting: Waiting<Answer>) =>
      asks.push({ ...waiting, ask: { name, args } });
    return answerIn<N>(await this.#collect<Answer>(args, add));
  }

  /** Commits what waits, then ends the thread. */
  async close(): Promise<void> {
    while (this.#committing !== null || this.#collecting.length > 0) {
      this.#flush();
      await this.#committing?.answered.promise;
    }
    this.#outage = 'it is closed';
    this.#tell({ kind: 'close' });
    await this.#closing.promise;
    this.#worker.terminate();
  }

  #tell(message: ToWriter, transfer: ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transfer);
  }

  /** The next batch with room for it: small decisions do not wait for large ones, and none for later ones. */
  #batchFor(bytes: number): Collected {
    const fitting = this.#collecting.find((batch) => batch.bytes + bytes <= maxBatchBytes);
    if (fitting !== undefined) return fitting;
    const added = nothingCollected(this.#idleSink ?? new FrameSink());
    this.#idleSink = null;
    this.#collecting.push(added);
    return added;
  }

  /** Takes a decision in, unless nothing is being accepted. */
  #collect<R>(decision: unknown, add: (batch: Collected, waiting: Waiting<R>) => unknown): Promise<R> {
    if (this.#outage !== null) {
      return Promise.reject(this.#fault(`The store is down: ${this.#outage}`, this.#failure?.code));
    }
    const { promise, resolve, reject } = Promise.withResolvers<R>();
    const bytes = bytesIn(decision);
    const batch = this.#batchFor(bytes);
    batch.bytes += bytes;
    add(batch, { resolve, reject });
    if (sizeOf(batch) < this.#enough) this.#schedule();
    else this.#flush();
    return promise;
  }

  /** After this turn's decisions have come together; while a batch is being committed, its answer sends the next one. */
  #schedule(): void {
    if (this.#scheduled || this.#committing !== null) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    const batch = this.#committing === null ? this.#collecting.shift() : undefined;
    if (batch === undefined) return;
    const { asks, frames: waiting, revocables, sink } = batch;
    // The batch before may have taken seconds.
    for (const { isAbandoned, withdraw } of revocables) if (isAbandoned()) withdraw();
    this.#committing = batch;
    const [frames, frameCount] = [sink.take(), waiting.length];
    this.#sentAtMs = performance.now();
    const batchAsks = asks.map(({ ask }) => ask);
    this.#tell({ kind: 'batch', time: this.#time.read(), frames, frameCount, asks: batchAsks }, [frames]);
  }

  #hear(message: FromWriter): void {
    if (message.kind === 'answers') this.#answer(message);
    else if (message.kind === 'failed') this.#fail(message, message.broken, message.moved);
    else if (message.kind === 'recovered') this.#recover();
    else if (message.kind === 'opened') this.#opening.resolve();
    else if (message.kind === 'refused') this.#refuse(message.reason, message.message);
    else this.#closing.resolve();
  }

  /** The batch that the writer has finished with. */
  #finished(): Collected {
    const batch = this.#committing ?? nothingCollected(new FrameSink());
    this.#committing = null;
    batch.answered.resolve();
    return batch;
  }

  #answer(message: Answers): void {
    this.#time.raiseTo(message.now);
    const batch = this.#finished();
    batch.sink.recycle(message.frames);
    this.#idleSink = batch.sink;
    this.#takeIn(batch.frames, message);
    this.#flush();
    for (const [n, waiting] of batch.frames.entries()) waiting.resolve(message.frameOutcomes[n] ?? -1);
    for (const [n, waiting] of batch.asks.entries()) {
      waiting.resolve(message.answers[n] ?? { refused: 'no answer' });
    }
  }

  /** Where the new rows are, before anybody is told that they are. */
  #takeIn(frames: readonly WaitingFrame[], message: Answers): void {
    if (message.firstPosition > 0) {
      const stored = frames.filter((_, n) => message.frameOutcomes[n] === frameOutcome.done);
      const rows = stored.map((frame) => frame.put).filter((put) => put !== null);
      this.#locator.stored(message.firstPosition, rows);
    }
    this.#locator.indexed(message.indexedUpto);
  }

  #fault(message: string, code = ''): ServiceError {
    const cause = Object.assign(new Error(message), { code });
    return this.#hasMoved ? new StoreMovedError() : new ServiceError('unavailable', message, { cause });
  }

  #recover(): void {
    this.#outage = null;
    this.#hasMoved = false;
  }

  #fail(failure: { message: string; code: string }, broken: boolean, moved: boolean): void {
    this.#hasMoved = moved;
    this.#failure = failure;
    this.#reject(this.#finished());
    if (broken) this.#stop(failure.message);
    else this.#flush();
  }

  /** Accepts nothing until the writer has recovered. */
  #stop(message: string): void {
    this.#outage = message;
    for (const waiting of this.#collecting.splice(0)) this.#reject(waiting);
  }

  #reject(collected: Collected): void {
    const { message = '', code } = this.#failure ?? {};
    const fault = this.#fault(`The store did not confirm: ${message}`, code);
    for (const waiting of [...collected.frames, ...collected.asks]) waiting.reject(fault);
  }

  /** The thread has ended: nothing more will be answered. */
  #lose(message: string): void {
    this.#fail({ message, code: writerEnded }, true, false);
    this.#refuse(null, `The store’s writer has ended: ${message}`);
    this.#closing.resolve();
  }

  #refuse(reason: RefusalReason | null, message: string): void {
    this.#outage = message;
    this.#opening.reject(new StoreRefusal(reason ?? 'damaged', message));
  }
}

const withdrawnAsk: Ask = { name: 'withdrawn', args: [] };

function answerIn<N extends DecisionName>(answered: Answer): DecisionAnswer<N> {
  if ('answer' in answered) return answered.answer as DecisionAnswer<N>;
  if ('full' in answered) throw new ServiceError('storage_full', 'There is no room for it.');
  throw new ServiceError('unavailable', `The store refused: ${answered.refused}`);
}
