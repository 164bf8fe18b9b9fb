/** A receipt, as programs get it and as the API sends it. */

import {
  type Burner,
  burners,
  type DeliveryState,
  deliveryStates,
  type LockCause,
  lockCauses,
  type NoticeKind,
  noticeKinds,
  type ReceiptState,
  receiptStates,
} from '../src/protocol/vocabulary.ts';
import {
  numberAt,
  optionalFlag,
  optionalNumber,
  optionalText,
  optionalTime,
  type Raw,
  textAt,
  timeAt,
  toObject,
  wordAt,
} from './wire.ts';

export interface Delivery {
  readonly state: DeliveryState;
  readonly at: Date;
  /** The mail server's last reply in one line, or a note that it was unreachable or did not respond. */
  readonly reply: string | null;
}

/** What a secret's creator may know about it. */
export interface Receipt {
  /** Manages the secret. Keep it private. */
  readonly metadataKey: string;
  /** `null` once the secret is gone, and always in a list. */
  readonly secretKey: string | null;
  /** The link to share; `null` if `secretKey` is, and for an end-to-end secret, whose link is known only where it was created. */
  readonly link: string | null;
  /** End-to-end encrypted. */
  readonly isSealed: boolean;
  readonly state: ReceiptState;
  /** `null` once the secret is gone. */
  readonly hasPassphrase: boolean | null;
  /** Remaining lifetime; `null` once the secret is gone. */
  readonly secretTtlSeconds: number | null;
  /** Remaining lifetime. */
  readonly receiptTtlSeconds: number;
  readonly createdAt: Date;
  readonly receivedAt: Date | null;
  readonly burnedAt: Date | null;
  /** Also `null` if neither creator nor recipient burned it, for example when an operator burned everything. */
  readonly burnedBy: Burner | null;
  /** The last email's recipient, obfuscated. */
  readonly recipient: string | null;
  /** `null` if no email was requested. */
  readonly delivery: Delivery | null;
  readonly notify: readonly NoticeKind[];
  /** `''` if links use the site's own host. */
  readonly shareDomain: string;
  /** The creator's label; `''` for none. */
  readonly memo: string;
  /** Asks for a code (see `verify`). */
  readonly needsCode: boolean;
  /** The emails with codes, oldest first; `null` in a list. */
  readonly codes: readonly Pick<Delivery, 'state' | 'at'>[] | null;
  /** Set after too many wrong passphrases or codes. */
  readonly locked: Lock | null;
}

export interface Lock {
  readonly by: LockCause;
  /** `null` if the lock lasts until `allowMore`. */
  readonly until: Date | null;
}

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
  readonly verify: boolean;
  readonly codes: readonly WireCodeMail[] | null;
  readonly locked: WireLock | null;
}

export type WireLock = Readonly<{ by: LockCause; until: number | null }>;

export type WireDelivery = Readonly<{ state: DeliveryState; at: number; reply: string | null }>;

export type WireCodeMail = Pick<WireDelivery, 'state' | 'at'>;

function toCodeMail(mail: unknown) {
  const record = toObject<WireCodeMail>(mail);
  return { state: wordAt(record, 'state', deliveryStates), at: timeAt(record, 'at') };
}

function toDelivery(delivery: unknown): Delivery | null {
  if (!delivery) return null;
  return { ...toCodeMail(delivery), reply: optionalText(toObject<WireDelivery>(delivery), 'reply') };
}

function lockOf({ locked }: Raw<WireReceipt>): Lock | null {
  if (!locked) return null;
  const record = toObject<WireLock>(locked);
  return { by: wordAt(record, 'by', lockCauses), until: optionalTime(record, 'until') };
}

/** Leaves out kinds that this client does not know. */
function noticesOf({ notify }: Raw<WireReceipt>): NoticeKind[] {
  return Array.isArray(notify) ? noticeKinds.filter((kind) => notify.includes(kind)) : [];
}

export function toReceipt(record: Raw<WireReceipt>): Receipt {
  return {
    metadataKey: textAt(record, 'key'),
    secretKey: optionalText(record, 'secret_key'),
    link: optionalText(record, 'share_url'),
    isSealed: record.sealed === true,
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
    needsCode: record.verify === true,
    codes: Array.isArray(record.codes) ? record.codes.map(toCodeMail) : null,
    locked: lockOf(record),
  };
}
