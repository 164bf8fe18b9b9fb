/**
 * A wrapper for values that must never reach a log, an error message or a serialised object (P18): every text form is
 * `[sensitive]`; only `expose()` returns the value.
 */
const hidden = '[sensitive]';

export class Sensitive<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  /** Call this where the value is used, never to pass it on. */
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

  /** Returns what `console.log`, `util.inspect` and Bun's printer show. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return hidden;
  }
}
