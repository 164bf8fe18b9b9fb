/**
 * Load that is cut off at a chosen operation, and the comparison with the ledger afterwards. Everything is written to the
 * ledger before it is sent.
 */
import {
  type Attempt,
  attemptRequest,
  createV1,
  createV2,
  type Door,
  doors,
  type Made,
  readAttempt,
  readMade,
  readReceiptState,
  receiptRequest,
} from './calls.ts';
import type { Entry, Ledger } from './ledger.ts';
import { type Mailboxes, postOver } from './mailboxes.ts';
import { ConnectionCut, openConnection, type RawConnection } from './raw-client.ts';
import { openPool } from './started-server.ts';

export interface Load {
  readonly port: number;
  readonly ledger: Ledger;
  /** Of servers that have them, one operation in four. */
  readonly mailboxes?: Mailboxes;
  readonly basic: string;
  readonly random: () => number;
  readonly connectionCount: number;
  /** Called after each whole answer with the number so far. */
  readonly onAnswer: (answered: number) => void;
  /** Called before each operation: `false` ends the load. */
  readonly goesOn: () => boolean;
  /** Awaited before each operation of a connection; without it they follow as fast as they can. */
  readonly between?: () => Promise<unknown>;
}

export interface LoadResult {
  readonly answered: number;
  /** Requests whose answer arrived only in part. */
  readonly cut: number;
  /** Requests that got no byte of an answer. */
  readonly unanswered: number;
}

/** Twice as often to read as to burn. */
const drawn: readonly Door[] = [...doors, 'v1.reveal', 'v2.reveal', 'v1.reveal', 'v2.reveal'];

function pick<T>(items: readonly T[], random: () => number): T | undefined {
  return items[Math.floor(random() * items.length)];
}

async function createOne({ ledger, basic, random }: Load, connection: RawConnection): Promise<Entry | null> {
  const entry = ledger.open();
  const secret = { value: entry.value, basic };
  const answer = await connection.send(random() < 0.5 ? createV1(secret) : createV2(secret));
  const made = readMade(answer);
  if (made === null) return null;
  ledger.acknowledge(entry, made);
  return entry;
}

/** One reveal or burn, written to the ledger before and after; whether it was answered at all, and not with 503. */
export async function attemptOne(
  ledger: Ledger,
  entry: Entry,
  connection: RawConnection,
  door: Door,
  basic: string,
): Promise<boolean> {
  if (entry.made === null) return false;
  const attempt: Attempt = { door, made: entry.made, basic };
  const wasGone = entry.wasGone;
  ledger.attempt(entry);
  const answer = await connection.send(attemptRequest(attempt));
  const reading = readAttempt(attempt, answer);
  ledger.note(entry, reading, wasGone);
  return reading.is !== 'unavailable';
}

const mostTries = 100;
const betweenTriesMs = 100;

/** As people do it: what is answered with 503 is tried again. */
async function attemptAgain(...attempt: Parameters<typeof attemptOne>): Promise<void> {
  for (let tries = 1; !(await attemptOne(...attempt)) && tries < mostTries; tries += 1)
    await new Promise((resume) => setTimeout(resume, betweenTriesMs));
}

/** Runs until `goesOn` returns `false` or the server cuts every connection. */
export async function runLoad(load: Load): Promise<LoadResult> {
  const { ledger, mailboxes, random, basic } = load;
  using pool = await openPool(load.port, load.connectionCount);
  const waiting: Entry[] = ledger.unsettled().filter(({ attempts }) => attempts === 0);
  const counts = { answered: 0, cut: 0, unanswered: 0 };
  const work = async (connection: RawConnection): Promise<void> => {
    while (load.goesOn() && connection.isOpen()) {
      await load.between?.();
      if (mailboxes !== undefined && random() < 0.25) {
        await mailboxes.step(postOver(connection, basic), random);
        counts.answered += 1;
        load.onAnswer(counts.answered);
        continue;
      }
      const target = random() < 0.5 ? pick(waiting, random) : undefined;
      if (target === undefined) {
        const entry = await createOne(load, connection);
        if (entry !== null) waiting.push(entry);
      } else {
        // One in five stays in the list, so that others race for it.
        if (random() < 0.8) waiting.splice(waiting.indexOf(target), 1);
        await attemptOne(ledger, target, connection, pick(drawn, random) ?? 'v1.reveal', basic);
      }
      counts.answered += 1;
      load.onAnswer(counts.answered);
    }
  };
  const runs = await Promise.allSettled(pool.connections.map(work));
  for (const run of runs) {
    if (run.status === 'fulfilled') continue;
    if (!(run.reason instanceof ConnectionCut)) throw run.reason;
    ledger.noteFragment(run.reason.partial);
    if (run.reason.partial === '') counts.unanswered += 1;
    else counts.cut += 1;
  }
  return counts;
}

/**
 * Compares the server's receipts with the ledger for every unsettled entry, and reveals everything that no longer waits
 * once more: it must not be released again.
 */
export async function settle(port: number, ledger: Ledger, basic: string): Promise<void> {
  const connection = await openConnection(port);
  try {
    for (const entry of ledger.unsettled()) {
      if (entry.made === null) continue;
      const state = readReceiptState(await connection.send(receiptRequest(entry.made, basic)));
      ledger.compare(entry, state);
      if (state !== 'new') await attemptOne(ledger, entry, connection, 'v1.reveal', basic);
    }
  } finally {
    connection.destroy();
  }
}

/** As `settle`, for requests and their answers; 503 is tried again. */
export async function settleMailboxes(port: number, mailboxes: Mailboxes, basic: string): Promise<void> {
  const connection = await openConnection(port);
  const post = postOver(connection, basic);
  try {
    await mailboxes.settle(async (...request) => {
      for (let tries = 1; ; tries += 1) {
        const told = await post(...request);
        if (told.status !== 503 || tries === mostTries) return told;
        await new Promise((resume) => setTimeout(resume, betweenTriesMs));
      }
    });
  } finally {
    connection.destroy();
  }
}

/** Reads everything that still waits twice: the first time must give the value, the second must not. */
export async function readOut(port: number, ledger: Ledger, basic: string): Promise<number> {
  const connection = await openConnection(port);
  let count = 0;
  try {
    for (const entry of ledger.unsettled()) {
      const before = entry.releases;
      await attemptOne(ledger, entry, connection, count % 2 === 0 ? 'v1.reveal' : 'v2.reveal', basic);
      if (entry.releases !== before + 1) throw new Error(`${entry.value} waits and did not come out`);
      await attemptOne(ledger, entry, connection, 'v1.reveal', basic);
      count += 1;
    }
  } finally {
    connection.destroy();
  }
  await settle(port, ledger, basic);
  return count;
}

/** The receipt's state; 503 is tried again. */
async function stateOf(made: Made, connection: RawConnection, basic: string): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    const answer = await connection.send(receiptRequest(made, basic));
    if (answer.status !== 503 || tries === mostTries) return readReceiptState(answer);
    await new Promise((resume) => setTimeout(resume, betweenTriesMs));
  }
}

/** Checks receipts, opens everything that waits, and tries all of it once more. How many waited. */
export async function readAll(
  port: number,
  { ledger, basic }: Pick<Load, 'ledger' | 'basic'>,
): Promise<number> {
  using pool = await openPool(port, 16);
  const left = ledger.unsettled();
  let waited = 0;
  const work = async (connection: RawConnection) => {
    for (let entry = left.pop(); entry !== undefined; entry = left.pop()) {
      if (entry.made === null) continue;
      const state = await stateOf(entry.made, connection, basic);
      ledger.compare(entry, state);
      const before = entry.releases;
      await attemptAgain(ledger, entry, connection, 'v2.reveal', basic);
      if (state !== 'new') continue;
      waited += 1;
      if (entry.releases !== before + 1) throw new Error(`${entry.value} waits and did not come out`);
      await attemptOne(ledger, entry, connection, 'v1.reveal', basic);
    }
  };
  await Promise.all(pool.connections.map(work));
  return waited;
}
