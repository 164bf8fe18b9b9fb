/**
 * The records of API v2 in the client's form. An incomplete answer is an error (`unexpected_answer`), never a partial
 * record.
 */

import { secretLink } from '../src/protocol/link.ts';
import {
  type Burner,
  burners,
  type LockCause,
  lockCauses,
  type NoticeKind,
  noticeKinds,
  type ReceiptState,
  receiptStates,
} from '../src/protocol/vocabulary.ts';
import { type Delivery, toDelivery, type WireDelivery } from './delivery.ts';
import { MayflyError } from './error.ts';
import { isJson } from './json.ts';
import {
  flagAt,
  isText,
  listAt,
  numberAt,
  objectAt,
  optionalFlag,
  optionalNumber,
  optionalText,
  optionalTime,
  type Raw,
  textAt,
  timeAt,
  toObject,
  unexpected,
  withHidden,
  wordAt,
} from './wire.ts';

/** What the creator of a secret may know about it. */
export interface Receipt {
  /** Manages the secret. Keep it private. */
  readonly metadataKey: string;
  /** `null` once the secret is gone, and always in a list. */
  readonly secretKey: string | null;
  /** The link to share; `null` if `secretKey` is, and of an end-to-end secret, whose link is known only where it was created. */
  readonly link: string | null;
  /** Whether it was encrypted end to end. */
  readonly isSealed: boolean;
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
  /** `null` also where neither did, as when an operator burned everything. */
  readonly burnedBy: Burner | null;
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
  /** The lock after too many wrong passphrases; `null` while there is none. */
  readonly locked: Lock | null;
}

export interface Lock {
  readonly by: LockCause;
  /** `null`: until `allowMore`. */
  readonly until: Date | null;
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
  /** An earlier call with the same `idempotencyKey` has created it, and this is what it is now. */
  readonly repeated: boolean;
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
  /** Whether it was encrypted end to end: only its full link opens it. */
  readonly isSealed: boolean;
  /** The remaining time. */
  readonly secretTtlSeconds: number;
  readonly createdAt: Date;
}

export interface SharedFile {
  /** Its last path segment is shared, without control and direction characters, at most 255 bytes. */
  readonly name: string;
  /** Its media type; `''` if unknown. A hint for the reader. */
  readonly type: string;
  readonly bytes: Uint8Array;
}

/**
 * A text or a file. Only reading `value` or `file` gives what was shared: `console.log`, `JSON.stringify` and error reports show
 * `[sensitive]`, and a copy by spread or `Object.assign` has neither.
 */
export interface Revealed {
  readonly secretKey: string;
  /** `null` if a file was shared. */
  readonly value: string | null;
  /** `null` if a text was shared. Its name has no path, no control and no direction characters; a stranger chose it and the type. */
  readonly file: SharedFile | null;
}

/** The creator's record in the API's names, as far as the client reads it. */
export interface WireReceipt {
  readonly key: string;
  readonly secret_key: string | null;
  readonly share_url: string;
  readonly state: ReceiptState;
  readonly has_passphrase: boolean;
  readonly sealed: boolean;
  readonly secret_ttl: number;
  readonly metadata_ttl: number;
  readonly created: number;
  readonly received: number | null;
  readonly burned: number | null;
  readonly burned_by: '' | Burner;
  readonly recipients: string;
  readonly delivery: WireDelivery | null;
  readonly notify: readonly NoticeKind[];
  readonly share_domain: string;
  readonly memo: string;
  readonly locked: WireLock | null;
}

export interface WireLock {
  readonly by: LockCause;
  readonly until: number | null;
}

/** The secret's own record. */
export interface WireSecret {
  readonly key: string;
  readonly state: 'new' | 'received';
  readonly has_passphrase: boolean;
  readonly sealed: boolean;
  readonly secret_ttl: number;
  readonly lifespan: number;
  readonly created: number;
}

export interface WireOpenedSecret extends WireSecret {
  readonly secret_value: string;
}

/** Of a creation, which may be answered again later. */
export interface WireCreatedSecret extends Omit<WireSecret, 'state'> {
  readonly state: 'new' | 'received' | 'burned' | 'expired';
}

export interface WireGeneratedSecret extends WireCreatedSecret {
  readonly secret_value: string;
}

/** An end-to-end secret that was just read. */
export interface WireSealedSecret extends Omit<WireSecret, 'sealed'> {
  readonly sealed: { readonly v: 1; readonly ciphertext: string };
}

/** In place of a secret's record where a key opens nothing. */
export interface WireUnknownSecret {
  readonly key: string;
  readonly state: 'unknown';
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

export interface WireCreation<Secret = WireCreatedSecret> {
  readonly record: { readonly metadata: WireReceipt; readonly secret: Secret };
  readonly details: WireRemarks & { readonly repeated?: true | undefined };
}

/** Why one of a batch was not created. */
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

export interface WireBatch {
  readonly results: readonly (
    | (WireCreation & { readonly success: true })
    | (WireCreation<WireGeneratedSecret> & { readonly success: true })
    | WireProblem
  )[];
}

export interface WireRecord<Record> {
  readonly record: Record;
}

export interface WireChange extends WireRecord<WireReceipt> {
  readonly details: WireRemarks;
}

export interface WireStatuses {
  readonly records: readonly (WireSecret | WireUnknownSecret)[];
}

export interface WireRecent {
  readonly records: readonly WireReceipt[];
  readonly details: { readonly next_cursor: string | null };
}

function lockOf({ locked }: Raw<WireReceipt>): Lock | null {
  if (locked === null || locked === undefined) return null;
  const record = toObject<WireLock>(locked);
  return { by: wordAt(record, 'by', lockCauses), until: optionalTime(record, 'until') };
}

/** Kinds unknown to this client are left out. */
function noticesOf({ notify }: Raw<WireReceipt>): NoticeKind[] {
  return Array.isArray(notify) ? noticeKinds.filter((kind) => notify.includes(kind)) : [];
}

export function toReceipt(record: Raw<WireReceipt>): Receipt {
  return {
    metadataKey: textAt(record, 'key'),
    secretKey: optionalText(record, 'secret_key'),
    link: optionalText(record, 'share_url'),
    isSealed: optionalFlag(record, 'sealed') === true,
    state: wordAt(record, 'state', receiptStates),
    hasPassphrase: optionalFlag(record, 'has_passphrase'),
    // 0 once the secret is gone.
    secretTtlSeconds: optionalNumber(record, 'secret_ttl') || null,
    receiptTtlSeconds: numberAt(record, 'metadata_ttl'),
    createdAt: timeAt(record, 'created'),
    receivedAt: optionalTime(record, 'received'),
    burnedAt: optionalTime(record, 'burned'),
    burnedBy: burners.find((each) => each === record.burned_by) ?? null,
    recipient: optionalText(record, 'recipients'),
    delivery: toDelivery(record.delivery),
    notify: noticesOf(record),
    shareDomain: optionalText(record, 'share_domain') ?? '',
    memo: optionalText(record, 'memo') ?? '',
    locked: lockOf(record),
  };
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

/** @param server for links without a share domain */
export function toCreated(answer: Raw<WireCreation>, server: string): Created {
  const record = objectAt(answer, 'record');
  const receipt = toReceipt(objectAt(record, 'metadata'));
  const secret = objectAt(record, 'secret');
  const secretKey = textAt(secret, 'key');
  const link = receipt.link ?? secretLink(secretKey, receipt.shareDomain, server);
  const ttlSeconds = numberAt(secret, 'lifespan');
  return { ...receipt, ...remarksOf(answer), repeated: isRepeated(answer), secretKey, link, ttlSeconds };
}

function isRepeated({ details }: Raw<WireCreation>): boolean {
  return isJson(details) && details.repeated === true;
}

/** @param linkOfKey the whole link, which only its creator knows */
export function toSealedCreated(
  answer: Raw<WireCreation>,
  linkOfKey: (secretKey: string) => string,
): Created {
  const record = objectAt(answer, 'record');
  const receipt = toReceipt(objectAt(record, 'metadata'));
  const secret = objectAt(record, 'secret');
  if (!flagAt(secret, 'sealed')) throw unexpected();
  const secretKey = textAt(secret, 'key');
  const link = linkOfKey(secretKey);
  const ttlSeconds = numberAt(secret, 'lifespan');
  return { ...receipt, ...remarksOf(answer), repeated: isRepeated(answer), secretKey, link, ttlSeconds };
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
    isSealed: optionalFlag(record, 'sealed') === true,
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
  if (sealed.v !== 1) throw new MayflyError('unreadable', 'A later version of Mayfly sealed this secret.');
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
  /** `null` at the end. */
  readonly nextCursor: string | null;
}

export function toReceiptPage(answer: Raw<WireRecent>): ReceiptPage {
  return {
    receipts: listAt(answer, 'records').map(toReceipt),
    nextCursor: optionalText(objectAt(answer, 'details'), 'next_cursor'),
  };
}
