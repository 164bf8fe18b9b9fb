/**
 * Reads a response strictly from the bytes of a connection (RFC 9112 §4 to §7.1). The end of a body must be certain, so that no byte of one
 * response is mistaken for the next. Refused: two lengths, a length with a coding, any coding but `chunked`, folded or damaged lines,
 * interim responses, chunk extensions, trailers, and bodies that end with their connection. The result does not depend on how the bytes are
 * split. Source of the limits: `docs/decisions/015-router.md`.
 */
export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' };

export interface AnswerHead {
  readonly status: number;
  /** End-to-end fields in the order received, with names in lower case. */
  readonly fields: [name: string, value: string][];
  readonly framing: Framing;
  readonly isLast: boolean;
}

const statusLine = /^HTTP\/1\.1 ([2-5]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const fieldLine = /^([!#$%&'*+.^_`|~\dA-Za-z-]+):[\t ]*([\t\x20-\x7e\x80-\xff]*)$/;

/** Hop-by-hop fields (RFC 9110 §7.6.1), in addition to those that `Connection` names. */
const hopByHop = new Set([
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'te',
  'trailer',
  'upgrade',
]);

interface Reading {
  readonly fields: [name: string, value: string][];
  readonly lengths: string[];
  readonly codings: string[];
  readonly options: string[];
}

function parseAnswerHead(text: string, method: string): AnswerHead | null {
  const lines = text.split('\r\n');
  const status = Number(statusLine.exec(lines[0] ?? '')?.[1]);
  if (Number.isNaN(status)) return null;
  const reading: Reading = { fields: [], lengths: [], codings: [], options: [] };
  for (let at = 1; at < lines.length; at += 1) if (!readField(lines[at] ?? '', reading)) return null;
  const framing = framingOf(reading, status, method);
  if (framing === null) return null;
  const { fields, options, lengths } = reading;
  const kept = options.length === 0 ? fields : fields.filter(([name]) => !options.includes(name));
  // Without a body, the length describes the resource (RFC 9110 §8.6); with one, it is only framing.
  if (framing.kind === 'none' && status !== 204 && lengths[0] !== undefined)
    kept.push(['content-length', lengths[0]]);
  return { status, fields: kept, framing, isLast: options.includes('close') };
}

function readField(line: string, { fields, lengths, codings, options }: Reading): boolean {
  const field = fieldLine.exec(line);
  if (field === null) return false;
  const [, spelled = '', padded = ''] = field;
  const name = spelled.toLowerCase();
  const value = padded.trimEnd();
  if (name === 'content-length') lengths.push(value);
  else if (name === 'transfer-encoding') codings.push(value.toLowerCase());
  else if (name === 'connection') options.push(...value.toLowerCase().split(/[\t ]*,[\t ]*/));
  else if (!hopByHop.has(name)) fields.push([name, value]);
  return true;
}

function framingOf({ lengths, codings }: Reading, status: number, method: string): Framing | null {
  if (lengths.length > 1 || codings.length > 1 || lengths.length + codings.length > 1) return null;
  const [length] = lengths;
  if (length !== undefined && !/^\d{1,15}$/.test(length)) return null;
  if (codings[0] !== undefined && codings[0] !== 'chunked') return null;
  if (method === 'HEAD' || status === 304) return { kind: 'none' };
  if (status === 204) return codings.length === 0 && Number(length ?? 0) === 0 ? { kind: 'none' } : null;
  if (codings.length > 0) return { kind: 'chunked' };
  return length === undefined ? null : { kind: 'length', bytes: Number(length) };
}

export type ReaderState = 'head' | 'body' | 'done' | 'odd';

const maxHeadBytes = 32_768;
/** Eight hexadecimal digits and the line ending. */
const maxSizeLineLength = 10;
const sizeLine = /^[\da-f]{1,8}$/i;
const headEnd = Buffer.from('\r\n\r\n');
const lineFeed = 10;

/** The next line expected in a chunked body. */
type LineKind = 'size' | 'data_end' | 'trailer';

export class AnswerReader {
  state: ReaderState = 'head';
  head: AnswerHead | null = null;
  surplusBytes = 0;
  readonly #method: string;
  #held: Buffer | null = null;
  #parts: Uint8Array[] = [];
  #partBytes = 0;
  /** Bytes left in the body, or in the current chunk. */
  #leftBytes = 0;
  #line = '';
  #expected: LineKind = 'size';

  constructor(method: string) {
    this.#method = method;
  }

  get bodyBytes(): number {
    return this.#partBytes;
  }

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

  /** Takes body bytes starting at `at`, and returns the index where it stopped. */
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
