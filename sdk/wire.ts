/**
 * Reads answers. Each has an interface in the API's names, limited to the fields that the client reads. The compiler lets a reader take
 * only fields of its type, and `test/sdk/contract.ts` compares the interfaces with the API's schemas.
 */

import type { AnswerState, DomainState, ReceiptState, RequestState } from '../src/protocol/vocabulary.ts';
import { MayflyError } from './error.ts';

export type Json = Record<string, unknown>;

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Omits absent fields, so the server's defaults apply. */
export function given<Fields extends object>(fields: Fields): Json {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

declare const form: unique symbol;

/** A `Wire` not yet checked. */
export type Raw<Wire> = { readonly [Field in keyof Wire]?: unknown } & { readonly [form]?: Wire };

/** The names of the fields whose values are of this kind. */
export type FieldsOf<Wire, Kind> = {
  [Field in keyof Wire]-?: Wire[Field] extends Kind ? Field : never;
}[keyof Wire];

type Absent = null | undefined;

export function unexpected(): MayflyError {
  return new MayflyError('unexpected_answer', 'The server’s answer is not one of Mayfly’s API.');
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

function reader<Kind>(isKind: (value: unknown) => value is Kind) {
  return <Wire>(from: Raw<Wire>, field: FieldsOf<Wire, Kind>): Kind => {
    const value: unknown = from[field];
    if (!isKind(value)) throw unexpected();
    return value;
  };
}

export const textAt = /* @__PURE__ */ reader(isText);
export const numberAt = /* @__PURE__ */ reader((value) => typeof value === 'number');
export const flagAt = /* @__PURE__ */ reader((value) => typeof value === 'boolean');

export function timeAt<Wire>(from: Raw<Wire>, field: FieldsOf<Wire, number>): Date {
  return new Date(numberAt(from, field) * 1000);
}

export function wordAt<Wire, Field extends FieldsOf<Wire, string>>(
  from: Raw<Wire>,
  field: Field,
  known: readonly (Wire[Field] & string)[],
): Wire[Field] & string {
  const word = known.find((each) => each === from[field]);
  if (word === undefined) throw unexpected();
  return word;
}

/** Also returns `null` for an empty text. */
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

/** The secret's own record. */
export interface WireSecret {
  readonly key: string;
  readonly state: 'new' | 'received';
  readonly has_passphrase: boolean;
  readonly sealed: boolean;
  readonly verify: boolean;
  readonly secret_ttl: number;
  readonly lifespan: number;
  readonly created: number;
}

type With<Wire, Fields> = Omit<Wire, keyof Fields> & Readonly<Fields>;

export type WireOpenedSecret = With<WireSecret, { secret_value: string }>;
/** A repeated creation returns the current state. */
export type WireCreatedSecret = With<WireSecret, { state: Exclude<ReceiptState, 'viewed'> }>;
export type WireGeneratedSecret = With<WireCreatedSecret, { secret_value: string }>;
/** An end-to-end secret that was just read. */
export type WireSealedSecret = With<WireSecret, { sealed: { readonly v: 1; readonly ciphertext: string } }>;
export type WireNote = Readonly<{ note: string | null }>;
export type WireSentCode = Readonly<{ sent_to: string; until: number }>;
/** For a key that opens nothing. */
export type WireUnknownSecret = Readonly<{ key: string; state: 'unknown' }>;

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

export type WireRecord<Record> = Readonly<{ record: Record }>;
export type WireStatuses = Readonly<{ records: readonly (WireSecret | WireUnknownSecret)[] }>;

export interface WireRequest extends Omit<WireLook, 'asked_by' | 'max_sealed_bytes'> {
  readonly answers: number;
  readonly left: number;
  readonly created: number;
}

export interface WireLook {
  readonly key: string;
  readonly state: RequestState;
  readonly terms: string;
  readonly until: number;
  readonly asked_by: WireAskedBy['asked_by'] | null;
  readonly max_sealed_bytes: number;
}

export type WireAskedBy = Readonly<{ asked_by: Readonly<{ username: string; since: number }> }>;

export interface WireAnswer {
  readonly secret_key: string;
  readonly wrapped: string;
  readonly link_hash: string;
  readonly state: AnswerState;
  readonly created: number;
  readonly size: number;
  readonly discarded: boolean;
}

export type WireAnswers = WireRecord<WireRequest> & Readonly<{ records: readonly WireAnswer[] }>;

export type WireServiceStatus = Readonly<{ locale: string; region?: string | undefined }>;
export type WireVersion = Readonly<{ version: readonly string[] }>;
export type WireLocales = Readonly<{ locales: readonly string[]; default_locale: string }>;

export interface WireAccount {
  readonly custid: string;
  readonly created: number;
  readonly plan: {
    readonly planid: string;
    readonly options: {
      readonly ttl: number;
      readonly size: number;
      readonly max_sealed_bytes: number;
      readonly custom_domains: boolean;
    };
  };
}

export interface WireBrand {
  readonly name: string | null;
  readonly primary_color: string | null;
  readonly primary_color_dark: string | null;
  readonly instructions_pre_reveal: string | null;
  readonly instructions_post_reveal: string | null;
  readonly locale: string | null;
  readonly logo: string | null;
  readonly allow_public_homepage: boolean;
}

/** Absent fields are left unchanged. */
export type WireBrandChanges = {
  readonly [Field in Exclude<keyof WireBrand, 'logo'>]: WireBrand[Field] | undefined;
};

export interface WireDomain {
  readonly name: string;
  readonly display_domain: string;
  readonly state: DomainState;
  readonly finding: string | null;
  readonly checked: number | null;
  readonly txt_validation_host: string | null;
  readonly txt_validation_value: string | null;
  readonly brand: WireBrand;
  readonly created: number;
  readonly updated: number;
}

export interface WireDomainAnswer extends WireRecord<WireDomain> {
  readonly details: {
    readonly cluster: { readonly cluster_host: string; readonly cluster_ips: readonly string[] };
  };
}

export type WireDomains = Readonly<{ records: readonly WireDomain[]; details: { readonly max: number } }>;
