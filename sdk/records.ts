/** The records that programs get. An incomplete answer is an error (`unexpected_answer`), never a partial record. */

import { secretLink } from '../src/protocol/link.ts';
import { MayflyError } from './error.ts';
import { type Receipt, receiptRecord, toReceipt, type WireReceipt } from './receipt.ts';
import {
  type Adjustment,
  flag,
  isJson,
  isText,
  isTrue,
  type Json,
  type Kind,
  listOf,
  number,
  numberOrNull,
  objectOf,
  read,
  recordOf,
  recordsOf,
  text,
  textOrNull,
  texts,
  time,
  unexpected,
  type WireOf,
  type WireProblem,
  type WireRemarks,
  withHidden,
} from './wire.ts';

/** What the server changed or ignored. */
export interface Remarks {
  /** Empty if everything was granted. */
  readonly adjusted: {
    /** A lifetime outside the plan's limits. */
    readonly ttlSeconds?: Adjustment<number | string, number>;
    /** An email language that is not offered. */
    readonly locale?: Adjustment<string, string>;
  };
  /** Unknown fields, as dotted paths in the request's body: misspelt, or too new for the server. */
  readonly ignored: readonly string[];
}

export interface Created extends Receipt, Remarks {
  /** Whether an earlier call with the same `idempotencyKey` created the secret; the record then shows its current state. */
  readonly repeated: boolean;
  readonly secretKey: string;
  readonly link: string;
  /** The lifetime granted. */
  readonly ttlSeconds: number;
}

export interface Generated extends Created {
  /** Returned only once, and never printed or copied with the rest: see `Revealed`. */
  readonly value: string;
}

/** What anyone with the link may know about an unread secret. */
export interface WaitingSecret {
  readonly secretKey: string;
  readonly hasPassphrase: boolean;
  /** End-to-end encrypted: only the full link opens it. */
  readonly isSealed: boolean;
  /** Opening takes a code that is emailed to its recipient: see `sendCode`. */
  readonly needsCode: boolean;
  /** Remaining lifetime. */
  readonly secretTtlSeconds: number;
  readonly createdAt: Date;
}

export interface SentCode {
  /** The address, obfuscated. */
  readonly sentTo: string;
  readonly until: Date;
}

export interface SharedFile {
  /** Only the last path segment is shared, without control and direction characters, in at most 255 bytes. */
  readonly name: string;
  /** A media type, as a hint; `''` if unknown. */
  readonly type: string;
  readonly bytes: Uint8Array;
}

/**
 * A text or a file, available only as `value` or `file`: `console.log`, `JSON.stringify` and error reports show `[sensitive]`, and a copy
 * made by spread or `Object.assign` has neither.
 */
export interface Revealed {
  readonly secretKey: string;
  /** `null` if a file was shared. */
  readonly value: string | null;
  /** `null` if a text was shared. A stranger chose its type and its name, which contains no path, control or direction characters. */
  readonly file: SharedFile | null;
}

export interface ServiceStatus {
  /** The server's default language. */
  readonly locale: string;
  /** `null` if the service has no regions. */
  readonly region: string | null;
}

export interface Locales {
  /** BCP 47 tags. */
  readonly offered: readonly string[];
  readonly default: string;
}

export interface Account {
  /** The account's email address. */
  readonly username: string;
  readonly plan: string;
  readonly createdAt: Date;
  readonly maxTtlSeconds: number;
  /** The largest value, in bytes of UTF-8. */
  readonly maxValueBytes: number;
  /** The largest end-to-end secret, in bytes: a text, or a file with its name and type. `null` if the server accepts none. */
  readonly maxSealedBytes: number | null;
  readonly hasShareDomains: boolean;
}

const toRemarks: Kind<Remarks, WireRemarks> = (value) => {
  const { adjusted, ignored } = isJson(value) ? value : {};
  const { ttl, locale } = isJson(adjusted) ? adjusted : {};
  return {
    adjusted: {
      ...(isJson(ttl) && ttlAdjusted(ttl)),
      ...(isJson(locale) && localeAdjusted(locale)),
    },
    ignored: Array.isArray(ignored) ? ignored.filter(isText) : [],
  };
};

function ttlAdjusted({ asked, granted }: Json): Remarks['adjusted'] {
  const isAsked = typeof asked === 'number' || isText(asked);
  return isAsked && typeof granted === 'number' ? { ttlSeconds: { asked, granted } } : {};
}

function localeAdjusted({ asked, granted }: Json): Remarks['adjusted'] {
  return isText(asked) && isText(granted) ? { locale: { asked, granted } } : {};
}

type WireDetails = WireRemarks & { readonly repeated?: true | undefined };
const toDetails: Kind<Remarks & { readonly repeated: boolean }, WireDetails> = (value) => {
  return { ...toRemarks(value), repeated: isJson(value) && value.repeated === true };
};

const createdRecord = {
  secretKey: ['key', text],
  isSealed: ['sealed', isTrue],
  ttlSeconds: ['lifespan', number],
} as const;

const creation = {
  record: ['record', { receipt: ['metadata', receiptRecord], secret: ['secret', createdRecord] }],
  details: ['details', toDetails],
} as const;

export type WireCreation = WireOf<typeof creation>;

/** @param linkOf may refuse a secret that is not sealed */
function createdOf(
  answer: unknown,
  linkOf: (secretKey: string, receipt: Receipt, isSealed: boolean) => string,
): Created {
  const { record, details } = read(answer, creation);
  const { isSealed, ...secret } = record.secret;
  const link = linkOf(secret.secretKey, record.receipt, isSealed);
  return { ...record.receipt, ...details, ...secret, link };
}

export function toCreated(answer: unknown, server: string): Created {
  return createdOf(answer, (key, { link, shareDomain }) => link ?? secretLink(key, shareDomain, server));
}

/** @param linkOf returns the full link, which the server does not know */
export function toSealedCreated(answer: unknown, linkOf: (secretKey: string) => string): Created {
  return createdOf(answer, (key, _receipt, isSealed) => {
    if (!isSealed) throw unexpected();
    return linkOf(key);
  });
}

const generation = {
  record: ['record', { secret: ['secret', { value: ['secret_value', text] }] }],
} as const;
export type WireGeneration = WireCreation & WireOf<typeof generation>;

export function toGenerated(answer: unknown, server: string): Generated {
  return withHidden(toCreated(answer, server), read(answer, generation).record.secret);
}

type WireResult = (WireCreation & { readonly success: true }) | WireProblem;
const toResults: Kind<readonly Json[], readonly WireResult[]> = (value) => listOf(value).map(objectOf);
export const batchAnswer = { results: ['results', toResults] } as const;
export type WireBatch = WireOf<typeof batchAnswer>;

const waitingRecord = {
  secretKey: ['key', text],
  hasPassphrase: ['has_passphrase', flag],
  isSealed: ['sealed', isTrue],
  needsCode: ['verify', isTrue],
  secretTtlSeconds: ['secret_ttl', number],
  createdAt: ['created', time],
} as const;
export type WireSecret = WireOf<typeof waitingRecord>;

export const toInspected = (answer: unknown): WaitingSecret => read(recordOf(answer), waitingRecord);

/** Of a key that opens nothing, the server says only that. */
function waitingOrNull(record: unknown): WaitingSecret | null {
  return objectOf(record).state === 'unknown' ? null : read(record, waitingRecord);
}

export const toStatus = (answer: unknown): WaitingSecret | null => waitingOrNull(recordOf(answer));

export const toStatuses = (answer: unknown) => recordsOf(answer).map(waitingOrNull);

const openedRecord = { secretKey: ['key', text], value: ['secret_value', text] } as const;
export type WireOpenedSecret = WireOf<typeof openedRecord>;

export function toRevealed(answer: unknown): Revealed {
  const { secretKey, value } = read(recordOf(answer), openedRecord);
  return withHidden({ secretKey }, { value, file: null });
}

const version: Kind<unknown, 1> = (value) => value;
const sealedRecord = {
  secretKey: ['key', text],
  sealed: ['sealed', { version: ['v', version], ciphertext: ['ciphertext', text] }],
} as const;
export type WireSealedSecret = WireOf<typeof sealedRecord>;

/** @throws MayflyError `unreadable` if a later version sealed it */
export function toSealedCiphertext(answer: unknown) {
  const { secretKey, sealed } = read(recordOf(answer), sealedRecord);
  if (sealed.version !== 1) throw new MayflyError('unreadable', 'A later version sealed the secret.');
  return { secretKey, ciphertext: sealed.ciphertext };
}

export const toReceiptAnswer = (answer: unknown): Receipt => toReceipt(recordOf(answer));

const change = { record: ['record', receiptRecord], details: ['details', toRemarks] } as const;
export type WireChange = WireOf<typeof change>;

export function toRemarkedReceipt(answer: unknown): Receipt & Remarks {
  const { record, details } = read(answer, change);
  return { ...record, ...details };
}

const page = { details: ['details', { nextCursor: ['next_cursor', textOrNull] }] } as const;
export type WireRecent = WireOf<typeof page> & Readonly<{ records: readonly WireReceipt[] }>;

/** `nextCursor` is `null` on the last page. */
export function toReceiptPage(answer: unknown) {
  return { receipts: recordsOf(answer).map(toReceipt), ...read(answer, page).details };
}

const serviceStatus = { locale: ['locale', text] } as const;
export type WireServiceStatus = WireOf<typeof serviceStatus> & Readonly<{ region?: string | undefined }>;

export function toServiceStatus(answer: unknown): ServiceStatus {
  return { ...read(answer, serviceStatus), region: textOrNull(objectOf(answer).region) };
}

const versions = { version: ['version', texts] } as const;
export type WireVersion = WireOf<typeof versions>;
export const toVersion = (answer: unknown): string => read(answer, versions).version.join('.');

const locales = { offered: ['locales', texts], default: ['default_locale', text] } as const;
export type WireLocales = WireOf<typeof locales>;
export const toLocales = (answer: unknown): Locales => read(answer, locales);

const planRecord = {
  plan: ['planid', text],
  options: [
    'options',
    {
      maxTtlSeconds: ['ttl', number],
      maxValueBytes: ['size', number],
      maxSealedBytes: ['max_sealed_bytes', numberOrNull],
      hasShareDomains: ['custom_domains', flag],
    },
  ],
} as const;

const accountRecord = {
  username: ['custid', text],
  createdAt: ['created', time],
  plan: ['plan', planRecord],
} as const;
export type WireAccount = WireOf<typeof accountRecord>;

export function toAccount(answer: unknown): Account {
  const { plan, ...account } = read(recordOf(answer), accountRecord);
  return { ...account, plan: plan.plan, ...plan.options };
}
