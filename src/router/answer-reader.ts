/**
 * An answer, read from the bytes of a connection as they come.
 *
 * Owns: where an answer begins and ends. Invariant: the same bytes give the same answer however they are cut into pieces;
 * chunks are read strictly (RFC 9112 §7.1, without extensions and trailers, which no server of ours sends), and what comes
 * behind the end is counted, never read. Source of the limits: `docs/decisions/015-router.md`.
 */
import { type AnswerHead, parseAnswerHead } from './answer-head.ts';

export type ReaderState = 'head' | 'body' | 'done' | 'odd';

const maxHeadBytes = 32_768;
/** Eight hexadecimal digits and the line's end. */
const maxSizeLineLength = 10;
const sizeLine = /^[\da-f]{1,8}$/i;
const headEnd = Buffer.from('\r\n\r\n');
const lineFeed = 10;

/** What the next line of a chunked body must be. */
type LineKind = 'size' | 'data_end' | 'trailer';

export class AnswerReader {
  state: ReaderState = 'head';
  head: AnswerHead | null = null;
  /** Bytes behind the end of the answer. */
  surplusBytes = 0;
  readonly #method: string;
  #held: Buffer | null = null;
  #parts: Uint8Array[] = [];
  #partBytes = 0;
  /** Of the body, or of the chunk that is being read. */
  #leftBytes = 0;
  #line = '';
  #expected: LineKind = 'size';

  constructor(method: string) {
    this.#method = method;
  }

  /** How many bytes of the body `takeBody` would give. */
  get bodyBytes(): number {
    return this.#partBytes;
  }

  /** What has come of the body since it was last taken. */
  takeBody(): Uint8Array {
    const parts = this.#parts;
    const body =
      parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts, this.#partBytes);
    this.#parts = [];
    this.#partBytes = 0;
    return body;
  }

  push(bytes: Buffer): void {
    if (this.state === 'head') this.#pushHead(bytes);
    else if (this.state === 'body') this.#pushBody(bytes);
    else this.surplusBytes += bytes.length;
  }

  #pushHead(bytes: Buffer): void {
    const all = this.#held === null ? bytes : Buffer.concat([this.#held, bytes]);
    const end = all.indexOf(headEnd);
    if (end === -1) {
      this.#held = all;
      if (all.length > maxHeadBytes) this.state = 'odd';
      return;
    }
    this.#held = null;
    this.head = end > maxHeadBytes ? null : parseAnswerHead(all.toString('latin1', 0, end), this.#method);
    if (this.head === null) {
      this.state = 'odd';
      return;
    }
    const { framing } = this.head;
    this.#leftBytes = framing.kind === 'length' ? framing.bytes : 0;
    this.state = framing.kind === 'chunked' || this.#leftBytes > 0 ? 'body' : 'done';
    const rest = all.subarray(end + headEnd.length);
    if (rest.length > 0) this.push(rest);
  }

  #pushBody(bytes: Buffer): void {
    if (this.head?.framing.kind === 'chunked') {
      this.#pushChunks(bytes);
      return;
    }
    const taken = this.#take(bytes, 0);
    if (this.#leftBytes > 0) return;
    this.state = 'done';
    this.surplusBytes += bytes.length - taken;
  }

  /** Takes body bytes from `at` on, as far as they go; gives where it stopped. */
  #take(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#leftBytes);
    this.#parts.push(bytes.subarray(at, end));
    this.#partBytes += end - at;
    this.#leftBytes -= end - at;
    return end;
  }

  #pushChunks(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length && this.state === 'body') {
      at = this.#leftBytes > 0 ? this.#take(bytes, at) : this.#takeLine(bytes, at);
    }
    this.surplusBytes += bytes.length - at;
  }

  #takeLine(bytes: Buffer, at: number): number {
    const found = bytes.indexOf(lineFeed, at);
    const end = found === -1 ? bytes.length : found + 1;
    this.#line += bytes.toString('latin1', at, Math.min(end, at + maxSizeLineLength + 1));
    if (this.#line.length > maxSizeLineLength) this.state = 'odd';
    else if (found !== -1) this.#endLine();
    return end;
  }

  #endLine(): void {
    const text = this.#line.slice(0, -2);
    const isLine =
      this.#line.endsWith('\r\n') && (this.#expected === 'size' ? sizeLine.test(text) : text === '');
    this.#line = '';
    if (!isLine) this.state = 'odd';
    else if (this.#expected === 'trailer') this.state = 'done';
    else if (this.#expected === 'data_end') this.#expected = 'size';
    else {
      this.#leftBytes = Number.parseInt(text, 16);
      this.#expected = this.#leftBytes === 0 ? 'trailer' : 'data_end';
    }
  }
}
