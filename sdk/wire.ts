/**
 * Reads the fields of an answer. An incomplete answer is an error (`unexpected_answer`), never a partial record.
 *
 * Each answer has an interface in the API's own names, with the fields that the client reads. The compiler lets a reader take only a
 * field of its type, and `test/sdk/contract.ts` compares the interfaces with the API's schemas.
 */
import { MayflyError } from './error.ts';
import { isJson, type Json } from './json.ts';

declare const form: unique symbol;

/** What should be a `Wire`, and is not checked yet. */
export type Raw<Wire> = { readonly [Field in keyof Wire]?: unknown } & { readonly [form]?: Wire };

/** The fields whose values are all of one kind. */
export type FieldsOf<Wire, Kind> = {
  [Field in keyof Wire]-?: Wire[Field] extends Kind ? Field : never;
}[keyof Wire];

type Absent = null | undefined;

export function unexpected(): MayflyError {
  return new MayflyError('unexpected_answer', "The server's answer is not one of Mayfly's API.");
}

export function objectAt<Wire, Field extends FieldsOf<Wire, object>>(
  from: Raw<Wire>,
  field: Field,
): Raw<Wire[Field]> {
  return toObject(from[field]);
}

export function toObject<Wire>(value: unknown): Raw<Wire> {
  if (!isJson(value)) throw unexpected();
  return value as Json & Raw<Wire>;
}

export function listAt<Wire, Field extends FieldsOf<Wire, readonly object[]>>(
  from: Raw<Wire>,
  field: Field,
): Raw<Wire[Field] extends readonly (infer Item)[] ? Item : never>[] {
  const value = from[field];
  if (!Array.isArray(value)) throw unexpected();
  return value.map((item) => toObject(item));
}

export function textsAt<Wire>(from: Raw<Wire>, field: FieldsOf<Wire, readonly string[]>): string[] {
  const value = from[field];
  if (!Array.isArray(value) || !value.every(isText)) throw unexpected();
  return value;
}

export function textAt<Wire>(from: Raw<Wire>, field: FieldsOf<Wire, string>): string {
  const value = from[field];
  if (!isText(value)) throw unexpected();
  return value;
}

export function numberAt<Wire>(from: Raw<Wire>, field: FieldsOf<Wire, number>): number {
  const value = from[field];
  if (typeof value !== 'number') throw unexpected();
  return value;
}

export function flagAt<Wire>(from: Raw<Wire>, field: FieldsOf<Wire, boolean>): boolean {
  const value = from[field];
  if (typeof value !== 'boolean') throw unexpected();
  return value;
}

export function timeAt<Wire>(from: Raw<Wire>, field: FieldsOf<Wire, number>): Date {
  return new Date(numberAt(from, field) * 1000);
}

/** One of a closed set of words. */
export function wordAt<Wire, Field extends FieldsOf<Wire, string>>(
  from: Raw<Wire>,
  field: Field,
  known: readonly (Wire[Field] & string)[],
): Wire[Field] & string {
  const word = known.find((each) => each === from[field]);
  if (word === undefined) throw unexpected();
  return word;
}

/** `null` for an empty text too. */
export function optionalText<Wire>(from: Raw<Wire>, field: FieldsOf<Wire, string | Absent>): string | null {
  const value = from[field];
  return isText(value) && value !== '' ? value : null;
}

export function optionalNumber<Wire>(from: Raw<Wire>, field: FieldsOf<Wire, number | Absent>): number | null {
  const value = from[field];
  return typeof value === 'number' ? value : null;
}

export function optionalFlag<Wire>(from: Raw<Wire>, field: FieldsOf<Wire, boolean | Absent>): boolean | null {
  const value = from[field];
  return typeof value === 'boolean' ? value : null;
}

export function optionalTime<Wire>(from: Raw<Wire>, field: FieldsOf<Wire, number | Absent>): Date | null {
  const seconds = optionalNumber(from, field);
  return seconds === null ? null : new Date(seconds * 1000);
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

const hidden = '[sensitive]';

/** Adds values that nothing prints. */
export function withHidden<T extends object, Values extends object>(
  record: T,
  values: Values,
): T & Readonly<Values> {
  const hide = (value: unknown) => (value === null ? null : hidden);
  const masks = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, hide(value)]));
  const shown = { value: () => ({ ...record, ...masks }) };
  for (const [name, value] of Object.entries(values)) Object.defineProperty(record, name, { value });
  return Object.defineProperties(record, {
    toJSON: shown,
    // What Node, Bun and Deno print.
    [Symbol.for('nodejs.util.inspect.custom')]: shown,
  }) as T & Readonly<Values>;
}
