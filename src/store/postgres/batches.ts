/**
 * Lets many callers share one statement. `unnest` passes their asks in the order of their ids, so that
 * concurrent statements lock rows in the same order. While two statements are in flight, further asks queue up.
 */
import type { Engine, Values } from './engine.ts';
import { NotExecutedError } from './faults.ts';
import type { Statement } from './statement.ts';
import { requestWaits } from './waits.ts';

const maxAsks = 256;
const maxBytes = 4 * 1024 * 1024;
const maxInFlight = 2;
/** Asks that wait longer are not sent, so the statement always has enough of a call's two seconds left. */
const maxWaitMs = 1_000;
/** Each ask has its own deadline; this slack lets one timer serve several. */
const watchSlackMs = 50;

export interface BatchOptions<Ask, Answer, Row = unknown> {
  /** Made by `decision`, or by `statement` for reads. */
  readonly statement: Statement;
  readonly kind: 'read' | 'decide';
  /** If two decisions have the same id, the second waits for the next statement. A read may contain an id twice. */
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

/** If a statement fails, every ask sent with it is rejected. */
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
    /** Drops asks abandoned while the statement was waiting for the store time or for a connection. */
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
    // The batch also serves requests other than the one that scheduled it.
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

const textOf = (id: Uint8Array): string => Buffer.from(id).toString('latin1');

/** Returns each ask's row, or `null`. Statements return rows in any order, one for each ask whose id is known. */
export function rowsInOrderOf<Ask, Row extends { readonly asked_id: Uint8Array }>(
  asks: readonly Ask[],
  idOf: (ask: Ask) => Uint8Array,
  rows: readonly Row[],
): (Row | null)[] {
  const byId = Map.groupBy(rows, (row) => textOf(row.asked_id));
  return asks.map((ask) => byId.get(textOf(idOf(ask)))?.pop() ?? null);
}

/**
 * Combines many look-ups into one statement.
 * @param find returns a row for each key, found or not, with the key's place (from 1) and `recordsColumn`, which saves
 *   a separate query for where the statement ran
 * @param found returns `null` for the row of a key that was not found
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

/**
 * Returns the decision's row, or `null` if it has none. If it changed nothing, the answer depends on what others
 * wrote, so their writes are first proven durable: a secret reported gone stays gone.
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

interface Done {
  readonly done?: boolean;
}

/** Whether the decision did what was asked: it has a row, and if that has a column `done`, this is true. */
export async function isDone(engine: Engine, decide: Statement, values: Values): Promise<boolean> {
  const isChange = ({ done }: Done) => done === undefined || done;
  const row = await decided(engine, decide, values, isChange);
  return row !== null && isChange(row);
}
