/**
 * The only reader of request bodies, bounded in bytes and time (P21): it buffers at most the cap and one chunk, regardless of
 * Content-Length. A large body gets more time as long as it keeps arriving. Most bodies arrive in the same packet as their headers and
 * are complete at the end of the turn (`turn.ts`); a single timer watches all others. The runtime itself buffers a small body of known
 * length, at a tenth of a stream's cost.
 */

import type { Plan, Plans } from '../core/plans.ts';
import { maxCiphertextBytes } from '../core/secrets/end-to-end.ts';
import { maxPassphraseBytes } from '../protocol/limits.ts';
import { malformed, RequestProblem } from './problem.ts';
import { endOfTurn } from './turn.ts';

/**
 * Returns a cap that allows for the largest value of any plan and the longest passphrase, with every byte escaped to six (as JSON
 * does with control characters), plus the rest of the body.
 */
export function bodyCapBytesFor(plans: Plans): number {
  const largestValueBytes = Math.max(...Object.values(plans).map((plan) => plan.maxValueBytes));
  return Math.max(65_536, 6 * (largestValueBytes + maxPassphraseBytes) + 4_096);
}

/** Room for the rest of a creation, escaped: field names, a label of 500 characters, a note, a share domain. */
const besideSealedBytes = 16_384;

/** Returns a cap that also allows for the plan's largest end-to-end secret in base64url. */
export function creationCapBytesFor(plans: Plans, plan: Plan): number {
  return Math.max(bodyCapBytesFor(plans), Math.ceil((maxCiphertextBytes(plan) * 4) / 3) + besideSealedBytes);
}

/** Refuses encoded bodies: nothing is decompressed here (RFC 9110 §15.5.16, P21). @throws RequestProblem `unsupported_media_type` */
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

/** The rest of the body is not awaited, so the connection must close after the response. */
export class BodyTimeout extends RequestProblem {
  /** @param isLong whether the body was given more time than `limitMs` */
  constructor(limitMs: number, isLong: boolean) {
    const message = isLong
      ? 'The request body came too slowly'
      : `The request body did not arrive within ${limitMs / 1000} seconds`;
    super({ problem: 'malformed', message }, { connection: 'close' });
  }
}

interface BodyReaderOptions {
  readonly capBytes: number;
  /** Default 10,000; accurate to a tenth of the limit. A body over `promptBytes` gains a second per `slowestBytesPerSecond`. */
  readonly limitMs?: number | undefined;
}

/** Up to this size the time limit is fixed, however steadily bytes drip in. */
const promptBytes = 65_536;
/** As slow as a phone at the edge of coverage: a megabyte in two minutes. */
const slowestBytesPerSecond = 8_192;

/** Returns the longest time that a body of this declared length may take, or `null` for the default limit. */
export function longestBodySeconds(declaredBytes: number): number | null {
  return declaredBytes > promptBytes ? Math.ceil(declaredBytes / slowestBytesPerSecond) : null;
}

/**
 * Resolves at the end of the turn in which the last byte arrived (`turn.ts`). Throws `RequestProblem`: `body_too_large`, or `malformed` if
 * the body was cut off or too slow.
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
      // A stream may end silently if the connection is cut.
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
  // The promise may reject before anything below awaits it.
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
  /** Bytes beyond `promptBytes` that have already earned extra time. */
  paidBytes: number;
  readonly giveUp: (reason: RequestProblem) => void;
}

class Watch {
  readonly #limitMs: number;
  readonly #pending = new Set<PendingRead>();
  #interval: ReturnType<typeof setInterval> | null = null;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  async bound(begin: (onPart: (length: number) => void) => Promise<Uint8Array>): Promise<Uint8Array> {
    const slow = Promise.withResolvers<never>();
    // One extra, because the first tick may come immediately.
    const read = { ticksLeft: ticksPerLimit + 1, paidBytes: 0, giveUp: slow.reject };
    this.#pending.add(read);
    this.#interval ??= setInterval(() => this.#tick(), this.#limitMs / ticksPerLimit).unref();
    try {
      return await Promise.race([begin((length) => this.#extend(read, length)), slow.promise]);
    } finally {
      this.#pending.delete(read);
    }
  }

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
  return malformed('The request body broke off');
}
