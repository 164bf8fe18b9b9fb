/**
 * The only reader of request bodies, bounded in bytes and in time (P21): never more than the cap (and one chunk) is held,
 * whatever Content-Length says or omits, and a body that has not arrived within the time limit is given up. A large one may take
 * longer, as long as it keeps coming. Most bodies come in the packet of their head and are there at the end of the turn; only the
 * others are watched, by one interval for all. A small body with a length goes through the runtime's own buffering, which costs a
 * tenth of a stream.
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

/** Nothing is decompressed here (RFC 9110 §15.5.16, P21). @throws RequestProblem `unsupported_media_type` */
export function assertNotEncoded(request: Request): void {
  const { headers } = request;
  const codings = headers.get('content-encoding')?.split(',') ?? [];
  const isPlain = codings.every((coding) => ['', 'identity'].includes(coding.trim().toLowerCase()));
  if (isPlain || headers.get('content-length') === '0' || request.body === null) return;
  throw new RequestProblem(
    { problem: 'unsupported_media_type', isEncoded: true },
    { 'accept-encoding': 'identity' },
  );
}

/** The body came too slowly: what is left of it is not awaited, so the connection must end with the answer. */
export class BodyTimeout extends RequestProblem {
  /** @param isLong whether it was given more time than that */
  constructor(limitMs: number, isLong: boolean) {
    const message = isLong
      ? 'The request body came too slowly'
      : `The request body did not arrive within ${limitMs / 1000} seconds`;
    super({ problem: 'malformed', message }, { connection: 'close' });
  }
}

interface BodyReaderOptions {
  /** Unless a read names another. */
  readonly capBytes: number;
  /** 10,000 when absent; observed to a tenth. A body of more than `promptBytes` gains a second with each `slowestBytesPerSecond`. */
  readonly limitMs?: number | undefined;
}

/** Up to here the time limit holds, however steadily the bytes drip. */
const promptBytes = 65_536;
/** A phone at the edge of its network: a megabyte in two minutes. */
const slowestBytesPerSecond = 8_192;

/** How long a body that says this length may take at most; `null` for one within the usual limit. */
export function longestBodySeconds(declaredBytes: number): number | null {
  return declaredBytes > promptBytes ? Math.ceil(declaredBytes / slowestBytesPerSecond) : null;
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
      // A stream may end quietly where the connection was cut.
      if (declared !== null && bytes.length < Number(declared)) throw brokenOff();
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
  if (declared !== null && Number(declared) <= promptBytes) return readWhole(request, watch);
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
  const late = await watch.bound(() => reading);
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
    const bytes = await watch.bound((onPart) => collect(reader, capBytes, onPart));
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
  onPart: (length: number) => void,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    length += part.value.length;
    if (length > capBytes) throw tooLarge(capBytes);
    onPart(length);
    chunks.push(part.value);
  }
  return chunks.length === 1 ? (chunks[0] ?? empty) : Buffer.concat(chunks, length);
}

interface PendingRead {
  ticksLeft: number;
  /** Counted beyond `promptBytes`, and already paid with time. */
  paidBytes: number;
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
  async bound(begin: (onPart: (length: number) => void) => Promise<Uint8Array>): Promise<Uint8Array> {
    const slow = Promise.withResolvers<never>();
    // One more, because the first tick may come at once.
    const read = { ticksLeft: ticksPerLimit + 1, paidBytes: 0, giveUp: slow.reject };
    this.#pending.add(read);
    this.#interval ??= setInterval(() => this.#tick(), this.#limitMs / ticksPerLimit).unref();
    try {
      return await Promise.race([begin((length) => this.#extend(read, length)), slow.promise]);
    } finally {
      this.#pending.delete(read);
    }
  }

  /** @param length of what has come so far */
  #extend(read: PendingRead, length: number): void {
    const beyond = Math.max(0, length - promptBytes);
    const tickMs = this.#limitMs / ticksPerLimit;
    read.ticksLeft += ((beyond - read.paidBytes) / slowestBytesPerSecond) * (1_000 / tickMs);
    read.paidBytes = beyond;
  }

  #tick(): void {
    for (const read of this.#pending) {
      read.ticksLeft -= 1;
      if (read.ticksLeft > 0) continue;
      this.#pending.delete(read);
      read.giveUp(new BodyTimeout(this.#limitMs, read.paidBytes > 0));
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
