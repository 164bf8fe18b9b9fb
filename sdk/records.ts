/**
 * The records of API v2 in the client's form. An incomplete answer is an error (`unexpected_answer`), never a partial
 * record.
 */
import { MayflyError } from './error.ts';
import { isJson, type Json } from './transport.ts';

const receiptStates = ['new', 'viewed', 'received', 'burned', 'expired'] as const;
export type ReceiptState = (typeof receiptStates)[number];

const deliveryStates = ['queued', 'accepted', 'refused', 'given_up', 'not_sent'] as const;

/**
 * What became of the mail to the recipient.
 * - `queued`: being handed over, or waiting for a retry.
 * - `accepted`: the mail server took it. Whether it was read is unknown.
 * - `refused`: the mail server rejected it permanently.
 * - `given_up`: the mail server deferred it until the last try, or could not be reached.
 * - `not_sent`: the mail server never answered.
 */
export type DeliveryState = (typeof deliveryStates)[number];

export interface Delivery {
  readonly state: DeliveryState;
  readonly at: Date;
  /** The mail server's last reply, in one line, or that it cannot be reached or did not answer; `null` for neither. */
  readonly reply: string | null;
}

const noticeKinds = ['read', 'burned', 'expiring'] as const;

/** The notices an account can get about its secrets. */
export type NoticeKind = (typeof noticeKinds)[number];

/** What the creator of a secret may know about it. */
export interface Receipt {
  /** Manages the secret. Keep it private. */
  readonly metadataKey: string;
  /** `null` once the secret is gone, and always in a list. */
  readonly secretKey: string | null;
  /** The link to share; `null` if `secretKey` is. */
  readonly link: string | null;
  readonly state: ReceiptState;
  /** `null` once the secret is gone. */
  readonly hasPassphrase: boolean | null;
  /** The secret's remaining time; `null` once it is gone. */
  readonly secretTtlSeconds: number | null;
  /** This receipt's remaining time. */
  readonly receiptTtlSeconds: number;
  readonly createdAt: Date;
  readonly receivedAt: Date | null;
  readonly burnedAt: Date | null;
  /** The last mail's recipient, obfuscated. */
  readonly recipient: string | null;
  /** `null` if nothing was mailed. */
  readonly delivery: Delivery | null;
  /** The notices that the account gets about this secret. */
  readonly notify: readonly NoticeKind[];
  /** `''` if links use the site's own host. */
  readonly shareDomain: string;
  /** The creator's own label; `''` for none. */
  readonly memo: string;
}

/** What was requested, and what was granted instead. */
export interface Adjustment<Asked, Granted> {
  readonly asked: Asked;
  readonly granted: Granted;
}

/** What the server changed or ignored in a request. */
export interface Remarks {
  /** Empty if everything was granted as requested. */
  readonly adjusted: {
    /** The lifetime in seconds, if outside the plan's limits. */
    readonly ttlSeconds?: Adjustment<number | string, number>;
    /** The mail's language, if not offered. */
    readonly locale?: Adjustment<string, string>;
  };
  /** Fields unknown to the server, as dotted paths in the request's body: misspelt, or too new for it. */
  readonly ignored: readonly string[];
}

/** A new secret. */
export interface Created extends Receipt, Remarks {
  readonly secretKey: string;
  readonly link: string;
  /** The lifetime granted. */
  readonly ttlSeconds: number;
}

export interface Generated extends Created {
  /** Returned only now, and not printed or copied with the rest: see `Revealed`. */
  readonly value: string;
}

/** What anyone with the link may know about a secret that still waits. */
export interface WaitingSecret {
  readonly secretKey: string;
  readonly hasPassphrase: boolean;
  /** The remaining time. */
  readonly secretTtlSeconds: number;
  readonly createdAt: Date;
}

export interface Revealed {
  readonly secretKey: string;
  /**
   * Only reading this property gives the value: `console.log`, `JSON.stringify` and error reports show `[sensitive]`, and a copy by
   * spread or `Object.assign` has no value.
   */
  readonly value: string;
}

const hidden = '[sensitive]';

/** Adds a value that nothing prints. */
function withValue<T extends object>(record: T, value: string): T & { readonly value: string } {
  const shown = { value: () => ({ ...record, value: hidden }) };
  return Object.defineProperties(record, {
    value: { value },
    toJSON: shown,
    // What Node, Bun and Deno print.
    [Symbol.for('nodejs.util.inspect.custom')]: shown,
  }) as T & { readonly value: string };
}

function unexpected(): MayflyError {
  return new MayflyError('unexpected_answer', "The server's answer is not one of Mayfly's API v2.");
}

function objectAt(from: Json, field: string): Json {
  const value = from[field];
  if (!isJson(value)) throw unexpected();
  return value;
}

function textAt(from: Json, field: string): string {
  const value = from[field];
  if (typeof value !== 'string') throw unexpected();
  return value;
}

function numberAt(from: Json, field: string): number {
  const value = from[field];
  if (typeof value !== 'number') throw unexpected();
  return value;
}

function optionalText(from: Json, field: string): string | null {
  const value = from[field];
  return typeof value === 'string' && value !== '' ? value : null;
}

function optionalNumber(from: Json, field: string): number | null {
  const value = from[field];
  return typeof value === 'number' ? value : null;
}

function optionalTime(from: Json, field: string): Date | null {
  const seconds = optionalNumber(from, field);
  return seconds === null ? null : new Date(seconds * 1000);
}

function stateAt(from: Json): ReceiptState {
  const state = receiptStates.find((known) => known === from.state);
  if (state === undefined) throw unexpected();
  return state;
}

function deliveryOf(from: Json): Delivery | null {
  const { delivery } = from;
  if (delivery === null || delivery === undefined) return null;
  const record = objectAt(from, 'delivery');
  const state = deliveryStates.find((known) => known === record.state);
  if (state === undefined) throw unexpected();
  return { state, at: new Date(numberAt(record, 'at') * 1000), reply: optionalText(record, 'reply') };
}

/** Kinds unknown to this client are left out. */
function noticesOf({ notify }: Json): NoticeKind[] {
  return Array.isArray(notify) ? noticeKinds.filter((kind) => notify.includes(kind)) : [];
}

export function toReceipt(record: Json): Receipt {
  return {
    metadataKey: textAt(record, 'key'),
    secretKey: optionalText(record, 'secret_key'),
    link: optionalText(record, 'share_url'),
    state: stateAt(record),
    hasPassphrase: typeof record.has_passphrase === 'boolean' ? record.has_passphrase : null,
    // 0 once the secret is gone.
    secretTtlSeconds: optionalNumber(record, 'secret_ttl') || null,
    receiptTtlSeconds: numberAt(record, 'metadata_ttl'),
    createdAt: new Date(numberAt(record, 'created') * 1000),
    receivedAt: optionalTime(record, 'received'),
    burnedAt: optionalTime(record, 'burned'),
    recipient: optionalText(record, 'recipients'),
    delivery: deliveryOf(record),
    notify: noticesOf(record),
    shareDomain: optionalText(record, 'share_domain') ?? '',
    memo: optionalText(record, 'memo') ?? '',
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function remarksOf({ details }: Json): Remarks {
  const { adjusted, ignored } = isJson(details) ? details : {};
  const { ttl, locale } = isJson(adjusted) ? adjusted : {};
  return {
    adjusted: {
      ...(isJson(ttl) && ttlAdjusted(ttl)),
      ...(isJson(locale) && localeAdjusted(locale)),
    },
    ignored: Array.isArray(ignored) ? ignored.filter(isText) : [],
  };
}

function ttlAdjusted({ asked, granted }: Json): Remarks['adjusted'] {
  const isAsked = typeof asked === 'number' || isText(asked);
  return isAsked && typeof granted === 'number' ? { ttlSeconds: { asked, granted } } : {};
}

function localeAdjusted({ asked, granted }: Json): Remarks['adjusted'] {
  return isText(asked) && isText(granted) ? { locale: { asked, granted } } : {};
}

/** @param server for links without a share domain */
export function toCreated(answer: Json, server: string): Created {
  const record = objectAt(answer, 'record');
  const receipt = toReceipt(objectAt(record, 'metadata'));
  const secret = objectAt(record, 'secret');
  const secretKey = textAt(secret, 'key');
  const origin = receipt.shareDomain === '' ? server : `https://${receipt.shareDomain}`;
  const link = receipt.link ?? `${origin}/secret/${secretKey}`;
  return { ...receipt, ...remarksOf(answer), secretKey, link, ttlSeconds: numberAt(secret, 'lifespan') };
}

export function toGenerated(answer: Json, server: string): Generated {
  const secret = objectAt(objectAt(answer, 'record'), 'secret');
  return withValue(toCreated(answer, server), textAt(secret, 'secret_value'));
}

export function toWaitingSecret(answer: Json): WaitingSecret {
  const record = objectAt(answer, 'record');
  if (typeof record.has_passphrase !== 'boolean') throw unexpected();
  return {
    secretKey: textAt(record, 'key'),
    hasPassphrase: record.has_passphrase,
    secretTtlSeconds: numberAt(record, 'secret_ttl'),
    createdAt: new Date(numberAt(record, 'created') * 1000),
  };
}

export function toRevealed(answer: Json): Revealed {
  const record = objectAt(answer, 'record');
  return withValue({ secretKey: textAt(record, 'key') }, textAt(record, 'secret_value'));
}

export function toReceiptAnswer(answer: Json): Receipt {
  return toReceipt(objectAt(answer, 'record'));
}

export function toRemarkedReceipt(answer: Json): Receipt & Remarks {
  return { ...toReceiptAnswer(answer), ...remarksOf(answer) };
}

export interface ReceiptPage {
  readonly receipts: readonly Receipt[];
  /** `null` at the end. */
  readonly nextCursor: string | null;
}

export function toReceiptPage(answer: Json): ReceiptPage {
  const records = answer.records;
  if (!Array.isArray(records) || !records.every(isJson)) throw unexpected();
  return {
    receipts: records.map(toReceipt),
    nextCursor: optionalText(objectAt(answer, 'details'), 'next_cursor'),
  };
}
