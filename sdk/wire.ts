/**
 * Reads answers by tables of their records' fields. `test/sdk/contract.ts` compares what they read with the API's schemas. The tables are
 * plain data, so that a bundler drops those that a program does not need.
 */
import { domainStates } from '../src/protocol/vocabulary.ts';
import { MayflyError } from './error.ts';

export type Json = Record<string, unknown>;

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Omits absent fields, so the server's defaults apply. */
export function given<Fields extends object>(fields: Fields): Json {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

declare const onWire: unique symbol;

/** Reads a value, or throws `unexpected_answer`. `Wire` is what the API may send. */
export type Kind<Value, Wire = Value> = ((value: unknown) => Value) & { readonly [onWire]?: readonly [Wire] };

/** For each field of a record, its name on the wire, and its kind, all its words, or its own fields. */
export interface Fields {
  readonly [name: string]: readonly [string, ((value: unknown) => unknown) | readonly string[] | Fields];
}

type ValueOf<K> = K extends (value: unknown) => infer Value
  ? Value
  : K extends readonly (infer Word)[]
    ? Word
    : K extends Fields
      ? Values<K>
      : never;

export type Values<F extends Fields> = { readonly [Name in keyof F]: ValueOf<F[Name][1]> };

type WireIn<K> = K extends readonly (infer Word)[]
  ? Word
  : K extends { readonly [onWire]?: readonly [infer Wire] } & ((value: unknown) => unknown)
    ? Wire
    : K extends Fields
      ? WireOf<K>
      : never;

/** The record as the API sends it, limited to these fields. */
export type WireOf<F extends Fields> = { readonly [Name in keyof F as F[Name][0]]: WireIn<F[Name][1]> };

/** @throws MayflyError `unexpected_answer` */
export function read<F extends Fields>(value: unknown, fields: F): Values<F> {
  const values = Object.entries(fields).map(([name, [own, kind]]) => [
    name,
    readAs(kind, objectOf(value)[own]),
  ]);
  return Object.fromEntries(values);
}

export function orNull<F extends Fields>(fields: F): Kind<Values<F> | null, WireOf<F> | null> {
  return (value) => (value ? read(value, fields) : null);
}

function readAs(kind: Fields[string][1], value: unknown): unknown {
  if (typeof kind === 'function') return kind(value);
  if (!Array.isArray(kind)) return read(value, kind as Fields);
  if (!kind.includes(value)) throw unexpected();
  return value;
}

/** Where every answer has its record, or its records. */
export const recordOf = (answer: unknown): unknown => objectOf(answer).record;
export const recordsOf = (answer: unknown): readonly unknown[] => listOf(objectOf(answer).records);

function kind<Value>(isKind: (value: unknown) => value is Value): Kind<Value> {
  return (value) => {
    if (!isKind(value)) throw unexpected();
    return value;
  };
}

export const objectOf = /* @__PURE__ */ kind(isJson);
export const listOf: Kind<readonly unknown[]> = /* @__PURE__ */ kind(Array.isArray);
export const text = /* @__PURE__ */ kind(isText);
export const number = /* @__PURE__ */ kind((value) => typeof value === 'number');
export const flag = /* @__PURE__ */ kind((value) => typeof value === 'boolean');
export const texts: Kind<readonly string[]> = (value) => listOf(value).map(text);
export const time: Kind<Date, number> = (value) => new Date(number(value) * 1000);

export const isTrue: Kind<boolean> = (value) => value === true;
/** Also `null` for an empty text. */
export const textOrNull: Kind<string | null> = (value) => (isText(value) && value) || null;
export const textOrEmpty: Kind<string> = (value) => textOrNull(value) ?? '';
export const numberOrNull: Kind<number | null> = (value) => (typeof value === 'number' ? value : null);
export const flagOrNull: Kind<boolean | null> = (value) => (typeof value === 'boolean' ? value : null);
export const timeOrNull: Kind<Date | null, number | null> = (value) =>
  numberOrNull(value) === null ? null : time(value);

export function unexpected(): MayflyError {
  return new MayflyError('unexpected_answer', 'The server’s answer is not one of Mayfly’s API.');
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

const hidden = '[sensitive]';

/** Adds values that are never printed. */
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

export interface Adjustment<Asked, Granted> {
  readonly asked: Asked;
  readonly granted: Granted;
}

export interface WireRemarks {
  readonly adjusted?:
    | {
        readonly ttl?: Adjustment<number | string, number> | undefined;
        readonly locale?: Adjustment<string, string> | undefined;
      }
    | undefined;
  readonly ignored?: readonly string[] | undefined;
}

/** Why an item of a batch was not created. */
export interface WireProblem {
  readonly success: false;
  readonly error: string;
  readonly message: string;
  readonly status: number;
  readonly retry_after?: number | undefined;
  readonly field?: string | undefined;
  readonly errors?: readonly { readonly field: string; readonly message: string }[] | undefined;
  readonly limit?: number | undefined;
}

export const brandRecord = {
  name: ['name', textOrNull],
  colour: ['primary_color', textOrNull],
  darkColour: ['primary_color_dark', textOrNull],
  instructionsBefore: ['instructions_pre_reveal', textOrNull],
  instructionsAfter: ['instructions_post_reveal', textOrNull],
  locale: ['locale', textOrNull],
  logo: ['logo', textOrNull],
  isPublic: ['allow_public_homepage', flag],
} as const;

export const domainRecord = {
  name: ['name', text],
  displayName: ['display_domain', text],
  state: ['state', domainStates],
  finding: ['finding', textOrNull],
  checkedAt: ['checked', timeOrNull],
  txtName: ['txt_validation_host', textOrNull],
  txtValue: ['txt_validation_value', textOrNull],
  brand: ['brand', brandRecord],
  createdAt: ['created', time],
  updatedAt: ['updated', time],
} as const;

const targetRecord = { host: ['cluster_host', text], addresses: ['cluster_ips', texts] } as const;
export const domainAnswer = {
  record: ['record', domainRecord],
  details: ['details', { target: ['cluster', targetRecord] }],
} as const;
export const domainsAnswer = { details: ['details', { max: ['max', number] }] } as const;

export type WireBrand = WireOf<typeof brandRecord>;
/** Absent fields are left unchanged. */
export type WireBrandChanges = {
  readonly [Field in Exclude<keyof WireBrand, 'logo'>]: WireBrand[Field] | undefined;
};
export type WireDomainAnswer = WireOf<typeof domainAnswer>;
export type WireDomains = WireOf<typeof domainsAnswer> &
  Readonly<{ records: readonly WireDomainAnswer['record'][] }>;
