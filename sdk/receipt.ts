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
  flagOrNull,
  isTrue,
  type Kind,
  number,
  numberOrNull,
  orNull,
  read,
  text,
  textOrEmpty,
  textOrNull,
  time,
  timeOrNull,
  type WireOf,
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

const codeMailRecord = { state: ['state', deliveryStates], at: ['at', time] } as const;
const deliveryRecord = {
  state: ['state', deliveryStates],
  at: ['at', time],
  reply: ['reply', textOrNull],
} as const;
const lockRecord = { by: ['by', lockCauses], until: ['until', timeOrNull] } as const;

export type WireCodeMail = WireOf<typeof codeMailRecord>;
export type WireDelivery = WireOf<typeof deliveryRecord>;
export type WireLock = WireOf<typeof lockRecord>;

const toCodeMails: Kind<Receipt['codes'], readonly WireCodeMail[] | null> = (value) =>
  Array.isArray(value) ? value.map((mail) => read(mail, codeMailRecord)) : null;
/** 0 once the secret is gone. */
const positiveOrNull: Kind<number | null, number> = (value) => numberOrNull(value) || null;
const toBurner: Kind<Burner | null, '' | Burner> = (value) => burners.find((each) => each === value) ?? null;
/** Leaves out kinds that this client does not know. */
const toNotices: Kind<NoticeKind[], readonly NoticeKind[]> = (value) =>
  Array.isArray(value) ? noticeKinds.filter((kind) => value.includes(kind)) : [];

export const receiptRecord = {
  metadataKey: ['key', text],
  secretKey: ['secret_key', textOrNull],
  link: ['share_url', textOrNull],
  isSealed: ['sealed', isTrue],
  state: ['state', receiptStates],
  hasPassphrase: ['has_passphrase', flagOrNull],
  secretTtlSeconds: ['secret_ttl', positiveOrNull],
  receiptTtlSeconds: ['metadata_ttl', number],
  createdAt: ['created', time],
  receivedAt: ['received', timeOrNull],
  burnedAt: ['burned', timeOrNull],
  burnedBy: ['burned_by', toBurner],
  recipient: ['recipients', textOrNull],
  delivery: ['delivery', /* @__PURE__ */ orNull(deliveryRecord)],
  notify: ['notify', toNotices],
  shareDomain: ['share_domain', textOrEmpty],
  memo: ['memo', textOrEmpty],
  needsCode: ['verify', isTrue],
  codes: ['codes', toCodeMails],
  locked: ['locked', /* @__PURE__ */ orNull(lockRecord)],
} as const;

export type WireReceipt = WireOf<typeof receiptRecord>;

export const toReceipt = (value: unknown): Receipt => read(value, receiptRecord);
