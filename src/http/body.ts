/**
 * The only reader of request bodies, bounded in bytes and in time (P21): never more than the cap (and one chunk) is held,
 * whatever Content-Length says or omits, and a body that has not arrived within the time limit is given up. Most bodies come in
 * the packet of their head and are there at the end of the turn; only the others are watched, by one interval for all. A body
 * with a length goes through the runtime's own buffering, which costs a tenth of a stream.
 */
import type { Plan, Plans } from '../core/plans.ts';
import { maxPassphraseBytes } from '../core/secrets/access.ts';
import { maxCiphertextBytes } from '../core/secrets/end-to-end.ts';
import { RequestProblem } from './problem.ts';
import { endOfTurn } from './turn.ts';

/**
 * The largest body: room for the largest value of any plan beside the longest passphrase, both escaped to six bytes a byte
 * as JSON does with control characters, and for everything around them; at least 64 KiB.
 */
export function bodyCapBytesFor(plans: Plans): number {
  const largestValueBytes = Math.max(...Object.values(plans).map((plan) => plan.maxValueBytes));
  return Math.max(65_536, 6 * (largestValueBytes + maxPassphraseBytes) + 4_096);
}

/** Escaped and with names: a label of 500 characters, a share domain, and what else goes with a creation. */
const besideSealedBytes = 16_384;

/** The largest body of a creation: as any, and where the caller's plan allows it, with the largest end-to-end secret in base64url. */
export function creationCapBytesFor(plans: Plans, plan: Plan): number {
  return Math.max(bodyCapBytesFor(plans), Math.ceil((maxCiphertextBytes(plan) * 4) / 3) + besideSealedBytes);
}

/** The body came too slowly: what is left of it is not awaited, so the connection must end with the answer. */
export class BodyTimeout extends RequestProblem {
  constructor(limitMs: number) {
    super(
      {
        problem: 'malformed',
        message: `The request body did not arrive within ${limitMs / 1000} seconds`,
      },
      { connection: 'close' },
    );
  }
}

interface BodyReaderOptions {
  /** Unless a read names another. */
  readonly capBytes: number;
  /** 10,000 when absent; observed to a tenth. */
  readonly limitMs?: number | undefined;
}

/**
 * Resolves at the end of the turn in which the last of the body came (`turn.ts`). Throws `RequestProblem`: `body_too_large`,
 * or `malformed` when the body broke off or came too slowly.
 */
export type ReadBody = (request: Request, capBytes?: number) => Promise<Uint8Array>;

const empty = new Uint8Array(0);
const ticksPerLimit = 10;

export function createBodyReader({ capBytes: usualCapBytes, limitMs = 10_000 }: BodyReaderOptions): ReadBody {
  const watch = new Watch(limitMs);
  return async (request, capBytes = usualCapBytes) => {
    const declared = request.headers.get('content-length');
    if (declared !== null && Number(declared) > capBytes) throw tooLarge(capBytes);
    try {
      const bytes = await readingOf(request, declared, capBytes, watch);
      if (bytes.length > capBytes) throw tooLarge(capBytes);
      return bytes;
    } catch (error) {
      throw error instanceof RequestProblem ? error : brokenOff();
    }
  };
}

function readingOf(
  request: Request,
  declared: string | null,
  capBytes: number,
  watch: Watch,
): Promise<Uint8Array> {
  if (declared === '0') return nothing();
  if (declared !== null) return readWhole(request, watch);
  return request.body === null ? nothing() : readStream(request.body, capBytes, watch);
}

async function nothing(): Promise<Uint8Array> {
  await endOfTurn();
  return empty;
}

async function readWhole(request: Request, watch: Watch): Promise<Uint8Array> {
  const reading = request.bytes();
  // It may fail before anything below waits for it.
  reading.catch(() => {});
  await endOfTurn();
  const bytes = Bun.peek(reading);
  if (bytes instanceof Uint8Array) return bytes;
  const late = await watch.bound(reading);
  await endOfTurn();
  return late;
}

async function readStream(
  stream: ReadableStream<Uint8Array>,
  capBytes: number,
  watch: Watch,
): Promise<Uint8Array> {
  const reader = stream.getReader();
  try {
    const bytes = await watch.bound(collect(reader, capBytes));
    await endOfTurn();
    return bytes;
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error;
  }
}

async function collect(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  capBytes: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    length += part.value.length;
    if (length > capBytes) throw tooLarge(capBytes);
    chunks.push(part.value);
  }
  return chunks.length === 1 ? (chunks[0] ?? empty) : Buffer.concat(chunks, length);
}

interface PendingRead {
  ticksLeft: number;
  readonly giveUp: (reason: RequestProblem) => void;
}

/** Counts the ticks of all bodies under way, while there are any. */
class Watch {
  readonly #limitMs: number;
  readonly #pending = new Set<PendingRead>();
  #interval: ReturnType<typeof setInterval> | null = null;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  /** What the reading comes to. Throws `BodyTimeout` when that takes longer than the limit. */
  async bound(reading: Promise<Uint8Array>): Promise<Uint8Array> {
    const slow = Promise.withResolvers<never>();
    // One more, because the first tick may come at once.
    const read = { ticksLeft: ticksPerLimit + 1, giveUp: slow.reject };
    this.#pending.add(read);
    this.#interval ??= setInterval(() => this.#tick(), this.#limitMs / ticksPerLimit).unref();
    try {
      return await Promise.race([reading, slow.promise]);
    } finally {
      this.#pending.delete(read);
    }
  }

  #tick(): void {
    for (const read of this.#pending) {
      if (--read.ticksLeft > 0) continue;
      this.#pending.delete(read);
      read.giveUp(new BodyTimeout(this.#limitMs));
    }
    if (this.#pending.size > 0 || this.#interval === null) return;
    clearInterval(this.#interval);
    this.#interval = null;
  }
}

function tooLarge(capBytes: number): RequestProblem {
  return new RequestProblem({ problem: 'body_too_large', capBytes });
}

function brokenOff(): RequestProblem {
  return new RequestProblem({ problem: 'malformed', message: 'The request body broke off' });
}
