/**
 * A value that refuses to print.
 *
 * Owns: the wrapper for anything that must never reach a log, an error message or a serialised object (P18).
 * Invariant: every way of turning the wrapper into text yields `[sensitive]`; only `expose()` yields the value.
 */
const hidden = '[sensitive]';

export class Sensitive<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  /** The value itself. Call it where the value is used, never where it is passed on. */
  expose(): T {
    return this.#value;
  }

  toString(): string {
    return hidden;
  }

  toJSON(): string {
    return hidden;
  }

  [Symbol.toPrimitive](): string {
    return hidden;
  }

  /** What `console.log`, `util.inspect` and Bun's printer show. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return hidden;
  }
}
