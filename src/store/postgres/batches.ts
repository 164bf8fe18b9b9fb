/**
 * Many callers share a statement: `unnest` passes their asks in the order of their ids, so that concurrent statements
 * lock rows in the same order. While two are in flight, further asks collect.
 */
import type { Engine, Values } from './engine.ts';
import { NotExecutedError } from './faults.ts';
import type { Statement } from './statement.ts';
import { requestWaits } from './waits.ts';

const maxAsks = 256;
const maxBytes = 4 * 1024 * 1024;
const maxInFlight = 2;
/** Asks that wait longer are not sent, which leaves the statement enough of a call's two seconds. */
const maxWaitMs = 1_000;
/** Requests have waited for different times; the slack saves a timer for each. */
const watchSlackMs = 50;

export interface BatchOptions<Ask, Answer, Row = unknown> {
  /** Made by `decision`, or for reads by `statement`. */
  readonly statement: Statement;
  readonly kind: 'read' | 'decide';
  /** Of two decisions with the same id the second waits for the next statement; reads may have one twice. */
  idOf(ask: Ask): Uint8Array;
  /** One array per column, in the order of the asks. */
  valuesOf(asks: readonly Ask[]): Values;
  /** One answer per ask, in their order. */
  answersOf(rows: readonly Row[], asks: readonly Ask[]): readonly Answer[];
  /** Checked just before sending; abandoned asks are dropped. */
  isAbandoned?(ask: Ask): boolean;
  bytesOf?(ask: Ask): number;
}

interface Waiting<Ask, Answer> {
  readonly ask: Ask;
  readonly id: Buffer;
  readonly askedAtMs: number;
  readonly resolve: (answer: Answer | 'abandoned') => void;
  readonly reject: (fault: unknown) => void;
}

/** A fault of the statement rejects every ask sent with it. */
export function createBatch<Ask, Answer, Row = unknown>(
  engine: Pick<Engine, 'read' | 'decide'>,
  batch: BatchOptions<Ask, Answer, Row>,
): (ask: Ask) => Promise<Answer | 'abandoned'> {
  let waiting: Waiting<Ask, Answer>[] = [];
  let inFlight = 0;
  let isDue = false;
  let watchedMs = Number.POSITIVE_INFINITY;

  function refuseLate(): void {
    watchedMs = Number.POSITIVE_INFINITY;
    const lateMs = performance.now() - maxWaitMs;
    for (const { reject } of waiting.filter(({ askedAtMs }) => askedAtMs <= lateMs))
      reject(new NotExecutedError('PostgreSQL is too slow.', { mayTryAgain: false }));
    waiting = waiting.filter(({ askedAtMs }) => askedAtMs > lateMs);
    for (const { askedAtMs } of waiting) watchQueue(askedAtMs);
  }

  function watchQueue(askedAtMs: number): void {
    const lateMs = askedAtMs + maxWaitMs;
    if (lateMs > watchedMs - watchSlackMs) return;
    watchedMs = lateMs;
    setTimeout(refuseLate, Math.ceil(lateMs - performance.now())).unref();
  }

  function takeNext(): Waiting<Ask, Answer>[] {
    const taken: Waiting<Ask, Answer>[] = [];
    const left: Waiting<Ask, Answer>[] = [];
    const ids = new Set<string>();
    let bytes = 0;
    for (const each of waiting) {
      if (batch.isAbandoned?.(each.ask)) {
        each.resolve('abandoned');
        continue;
      }
      const id = each.id.toString('latin1');
      const size = batch.bytesOf?.(each.ask) ?? 0;
      const isRoom = taken.length < maxAsks && (taken.length === 0 || bytes + size <= maxBytes);
      if (!isRoom || (batch.kind === 'decide' && ids.has(id))) {
        left.push(each);
        continue;
      }
      ids.add(id);
      bytes += size;
      taken.push(each);
    }
    waiting = left;
    return taken.sort((a, b) => Buffer.compare(a.id, b.id));
  }

  async function send(taken: readonly Waiting<Ask, Answer>[]): Promise<void> {
    let sent = taken;
    const asks = () => sent.map(({ ask }) => ask);
    const values = batch.valuesOf(asks());
    /** It may have waited again since: for the time, or for a connection. */
    function lateValues(): Values | null {
      const there = sent.filter(({ ask }) => !batch.isAbandoned?.(ask));
      if (there.length === sent.length) return values;
      for (const each of sent) if (!there.includes(each)) each.resolve('abandoned');
      sent = there;
      return sent.length === 0 ? null : batch.valuesOf(asks());
    }
    try {
      const askedAtMs = Math.min(...taken.map((each) => each.askedAtMs));
      const { statement, kind } = batch;
      const rows = await engine[kind]<Row>(statement, values, askedAtMs, lateValues);
      if (sent.length === 0) return;
      const answers = batch.answersOf(rows, asks());
      for (const [at, { resolve }] of sent.entries()) resolve(answers[at] as Answer);
    } catch (fault) {
      for (const { reject } of sent) reject(fault);
    }
  }

  async function sendNext(): Promise<void> {
    isDue = false;
    if (inFlight === maxInFlight || waiting.length === 0) return;
    const taken = takeNext();
    if (taken.length === 0) return;
    inFlight += 1;
    if (waiting.length > 0) schedule();
    await send(taken);
    inFlight -= 1;
    schedule();
  }

  function schedule(): void {
    if (isDue || inFlight === maxInFlight || waiting.length === 0) return;
    isDue = true;
    // It serves other requests than the one that scheduled it.
    requestWaits.apart(() => setImmediate(sendNext));
  }

  return (ask) => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer | 'abandoned'>();
    const askedAtMs = requestWaits.beganMs();
    waiting.push({ ask, id: Buffer.from(batch.idOf(ask)), askedAtMs, resolve, reject });
    schedule();
    watchQueue(askedAtMs);
    return requestWaits.count(() => promise);
  };
}

/**
 * Many look-ups in one statement.
 * @param find returns a row for each key, found or not: with its place, from 1, and `recordsColumn`, which saves asking where
 *   it ran
 * @param found `null` for a row of a key that was not found
 */
export function createLookUp<
  Key extends Uint8Array | string | null,
  Row extends { readonly place: number },
  Found,
>(engine: Engine, find: Statement, found: (row: Row) => Found | null): (key: Key) => Promise<Found | null> {
  const lookUp = createBatch<Key, Found | null, Row>(engine, {
    statement: find,
    kind: 'read',
    idOf: (key) => Buffer.from(key ?? ''),
    valuesOf: (keys) => [keys],
    answersOf(rows, keys) {
      const answers = keys.map((): Found | null => null);
      for (const row of rows) answers[row.place - 1] = found(row);
      return answers;
    },
  });
  return async (key) => {
    const answer = await lookUp(key);
    return answer === 'abandoned' ? null : answer;
  };
}

export interface Done {
  done: boolean;
}

/**
 * The row that a decision made or changed. Without one, the answer depends on what others wrote, so that is proven first:
 * what is reported gone stays gone.
 */
export async function decided<Row>(
  engine: Engine,
  decide: Statement,
  values: Values,
  isChange: (row: Row) => boolean = () => true,
): Promise<Row | null> {
  const rows = await engine.decide<Row>(decide, values);
  const [row = null] = rows;
  if (row === null || !isChange(row)) await engine.prove(rows);
  return row;
}
