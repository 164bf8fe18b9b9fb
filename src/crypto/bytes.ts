/** Injective encodings: big-endian integers, length-prefixed fields, well-formed UTF-8. Two records never have the same additional data. */
import { timingSafeEqual } from 'node:crypto';

const encoder = new TextEncoder();

/** Encodes text. Callers check `isWellFormed()` first: a lone surrogate would silently become U+FFFD. */
export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  let total = 0;
  for (const part of parts) total += part.length;
  const joined = new Uint8Array(total);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** Copies a few bytes by hand: a `Buffer`'s `subarray` and `slice` cost several times as much (measured). */
export function part(bytes: Uint8Array, from: number, to: number): Uint8Array {
  const copy = new Uint8Array(to - from);
  for (let at = from; at < to; at += 1) copy[at - from] = bytes[at] ?? 0;
  return copy;
}

/**
 * Writes big-endian fields into an array of exactly the given size. Shifts by hand: a `DataView` needs the array's buffer, which costs
 * more than all the fields together (measured).
 */
export class FieldWriter {
  readonly bytes: Uint8Array;
  #at = 0;

  constructor(size: number) {
    this.bytes = new Uint8Array(size);
  }

  u8(value: number): this {
    this.bytes[this.#at++] = value;
    return this;
  }

  u16(value: number): this {
    return this.u8(value >>> 8).u8(value);
  }

  u32(value: number): this {
    return this.u16(value >>> 16).u16(value);
  }

  /** @param value a whole number below 2^53 */
  u64(value: number): this {
    return this.u32(Math.floor(value / 2 ** 32)).u32(value % 2 ** 32);
  }

  /** @throws RangeError if the bytes do not fit */
  raw(value: Uint8Array): this {
    this.bytes.set(value, this.#at);
    this.#at += value.length;
    return this;
  }

  /** Writes u32 length ‖ bytes. */
  field(value: Uint8Array): this {
    return this.u32(value.length).raw(value);
  }
}

/** Copies even a `Buffer`, whose own `slice` returns a view. */
const { slice } = Uint8Array.prototype;

/**
 * Reads what `FieldWriter` wrote; every method throws `RangeError` if the bytes end early. Returns copies: for a view, the runtime would
 * allocate a buffer for the array, which costs more (measured).
 */
export class FieldReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  u8(): number {
    const value = this.#bytes[this.#at];
    if (value === undefined) throw new RangeError('the record ends early');
    this.#at += 1;
    return value;
  }

  u16(): number {
    return this.u8() * 2 ** 8 + this.u8();
  }

  u32(): number {
    return this.u16() * 2 ** 16 + this.u16();
  }

  /** Inexact for values of 2^53 and above. */
  u64(): number {
    return this.u32() * 2 ** 32 + this.u32();
  }

  raw(length: number): Uint8Array {
    const from = this.#at;
    if (from + length > this.#bytes.length) throw new RangeError('the record ends early');
    this.#at = from + length;
    return slice.call(this.#bytes, from, from + length);
  }

  field(): Uint8Array {
    return this.raw(this.u32());
  }

  rest(): Uint8Array {
    return this.raw(this.#bytes.length - this.#at);
  }
}

/** Compares in time that depends only on the lengths. */
export function equalInConstantTime(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Returns lower-case hex digits. */
export function hex(bytes: Uint8Array): string {
  return bytes.toHex();
}
