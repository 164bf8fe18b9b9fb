/** The records that programs get. An incomplete answer is an error (`unexpected_answer`), never a partial record. */

import { secretLink } from '../src/protocol/link.ts';
import { MayflyError } from './error.ts';
import { type Receipt, toReceipt, type WireReceipt } from './receipt.ts';
import {
  type Adjustment,
  flagAt,
  isJson,
  isText,
  listAt,
  numberAt,
  objectAt,
  optionalNumber,
  optionalText,
  type Raw,
  textAt,
  textsAt,
  timeAt,
  unexpected,
  type WireAccount,
  type WireCreatedSecret,
  type WireGeneratedSecret,
  type WireLocales,
  type WireOpenedSecret,
  type WireProblem,
  type WireRecord,
  type WireRemarks,
  type WireSealedSecret,
  type WireSecret,
  type WireServiceStatus,
  type WireStatuses,
  type WireUnknownSecret,
  type WireVersion,
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

export interface WireCreation<Secret = WireCreatedSecret> {
  readonly record: { readonly metadata: WireReceipt; readonly secret: Secret };
  readonly details: WireRemarks & { readonly repeated?: true | undefined };
}

type WireMade = (WireCreation | WireCreation<WireGeneratedSecret>) & { readonly success: true };

export type WireBatch = Readonly<{ results: readonly (WireMade | WireProblem)[] }>;
export type WireChange = WireRecord<WireReceipt> & Readonly<{ details: WireRemarks }>;

export interface WireRecent {
  readonly records: readonly WireReceipt[];
  readonly details: { readonly next_cursor: string | null };
}

function remarksOf({ details }: Raw<WireChange | WireCreation>): Remarks {
  const { adjusted, ignored }: Raw<WireRemarks> = isJson(details) ? details : {};
  const { ttl, locale }: Raw<NonNullable<WireRemarks['adjusted']>> = isJson(adjusted) ? adjusted : {};
  return {
    adjusted: {
      ...(isJson(ttl) && ttlAdjusted(ttl)),
      ...(isJson(locale) && localeAdjusted(locale)),
    },
    ignored: Array.isArray(ignored) ? ignored.filter(isText) : [],
  };
}

type RawAdjustment = Raw<Adjustment<unknown, unknown>>;

function ttlAdjusted({ asked, granted }: RawAdjustment): Remarks['adjusted'] {
  const isAsked = typeof asked === 'number' || isText(asked);
  return isAsked && typeof granted === 'number' ? { ttlSeconds: { asked, granted } } : {};
}

function localeAdjusted({ asked, granted }: RawAdjustment): Remarks['adjusted'] {
  return isText(asked) && isText(granted) ? { locale: { asked, granted } } : {};
}

function createdOf(
  answer: Raw<WireCreation>,
  linkOf: (secretKey: string, receipt: Receipt) => string,
): Created {
  const { details } = answer;
  const record = objectAt(answer, 'record');
  const receipt = toReceipt(objectAt(record, 'metadata'));
  const secret = objectAt(record, 'secret');
  const secretKey = textAt(secret, 'key');
  return {
    ...receipt,
    ...remarksOf(answer),
    repeated: isJson(details) && details.repeated === true,
    secretKey,
    link: linkOf(secretKey, receipt),
    ttlSeconds: numberAt(secret, 'lifespan'),
  };
}

export function toCreated(answer: Raw<WireCreation>, server: string): Created {
  return createdOf(answer, (key, { link, shareDomain }) => link ?? secretLink(key, shareDomain, server));
}

/** @param linkOf returns the full link, which the server does not know */
export function toSealedCreated(answer: Raw<WireCreation>, linkOf: (secretKey: string) => string): Created {
  if (!flagAt(objectAt(objectAt(answer, 'record'), 'secret'), 'sealed')) throw unexpected();
  return createdOf(answer, linkOf);
}

export function toGenerated(answer: Raw<WireCreation<WireGeneratedSecret>>, server: string): Generated {
  const secret = objectAt(objectAt(answer, 'record'), 'secret');
  return withHidden(toCreated(answer as Raw<WireCreation>, server), {
    value: textAt(secret, 'secret_value'),
  });
}

function toWaitingSecret(record: Raw<WireSecret>): WaitingSecret {
  return {
    secretKey: textAt(record, 'key'),
    hasPassphrase: flagAt(record, 'has_passphrase'),
    isSealed: record.sealed === true,
    needsCode: record.verify === true,
    secretTtlSeconds: numberAt(record, 'secret_ttl'),
    createdAt: timeAt(record, 'created'),
  };
}

function waitingOrNull(record: Raw<WireSecret | WireUnknownSecret>): WaitingSecret | null {
  return record.state === 'unknown' ? null : toWaitingSecret(record as Raw<WireSecret>);
}

export function toInspected(answer: Raw<WireRecord<WireSecret>>): WaitingSecret {
  return toWaitingSecret(objectAt(answer, 'record'));
}

export function toStatus(answer: Raw<WireRecord<WireSecret | WireUnknownSecret>>): WaitingSecret | null {
  return waitingOrNull(objectAt(answer, 'record'));
}

export function toStatuses(answer: Raw<WireStatuses>): (WaitingSecret | null)[] {
  return listAt(answer, 'records').map(waitingOrNull);
}

export function toRevealed(answer: Raw<WireRecord<WireOpenedSecret>>): Revealed {
  const record = objectAt(answer, 'record');
  return withHidden(
    { secretKey: textAt(record, 'key') },
    { value: textAt(record, 'secret_value'), file: null },
  );
}

/** @throws MayflyError `unreadable` if a later version sealed it */
export function toSealedCiphertext(answer: Raw<WireRecord<WireSealedSecret>>) {
  const record = objectAt(answer, 'record');
  const sealed = objectAt(record, 'sealed');
  const ciphertext = textAt(sealed, 'ciphertext');
  if (sealed.v !== 1) throw new MayflyError('unreadable', 'A later version sealed the secret.');
  return { secretKey: textAt(record, 'key'), ciphertext };
}

export function toReceiptAnswer(answer: Raw<WireRecord<WireReceipt>>): Receipt {
  return toReceipt(objectAt(answer, 'record'));
}

export function toRemarkedReceipt(answer: Raw<WireChange>): Receipt & Remarks {
  return { ...toReceipt(objectAt(answer, 'record')), ...remarksOf(answer) };
}

export interface ReceiptPage {
  readonly receipts: readonly Receipt[];
  /** `null` on the last page. */
  readonly nextCursor: string | null;
}

export function toReceiptPage(answer: Raw<WireRecent>): ReceiptPage {
  return {
    receipts: listAt(answer, 'records').map(toReceipt),
    nextCursor: optionalText(objectAt(answer, 'details'), 'next_cursor'),
  };
}

export function toServiceStatus(answer: Raw<WireServiceStatus>): ServiceStatus {
  return { locale: textAt(answer, 'locale'), region: optionalText(answer, 'region') };
}

export function toVersion(answer: Raw<WireVersion>): string {
  return textsAt(answer, 'version').join('.');
}

export function toLocales(answer: Raw<WireLocales>): Locales {
  return { offered: textsAt(answer, 'locales'), default: textAt(answer, 'default_locale') };
}

export function toAccount(answer: Raw<WireRecord<WireAccount>>): Account {
  const record = objectAt(answer, 'record');
  const plan = objectAt(record, 'plan');
  const options = objectAt(plan, 'options');
  return {
    username: textAt(record, 'custid'),
    plan: textAt(plan, 'planid'),
    createdAt: timeAt(record, 'created'),
    maxTtlSeconds: numberAt(options, 'ttl'),
    maxValueBytes: numberAt(options, 'size'),
    maxSealedBytes: optionalNumber(options, 'max_sealed_bytes'),
    hasShareDomains: flagAt(options, 'custom_domains'),
  };
}
