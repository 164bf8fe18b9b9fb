/** What API v1 takes and answers, in the client's form. */
import { type ReceiptState, receiptStates } from '../src/protocol/vocabulary.ts';
import type { CreateOptions, GenerateOptions } from './creation.ts';
import type { CallOptions } from './limit.ts';
import { linkOf } from './link.ts';
import type { Receipt } from './records.ts';
import {
  isText,
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

export type { PassphraseOption as V1PassphraseOption } from './creation.ts';

export interface V1CreateOptions
  extends CallOptions,
    Pick<CreateOptions, 'passphrase' | 'shareDomain' | 'notify'> {
  /** Whole seconds; the plan's default if absent, the nearest it allows if out of range. */
  readonly ttlSeconds?: number;
  /** The e-mail address to send the link to. Needs an account. */
  readonly recipient?: string;
}

export interface V1Revealed {
  readonly secretKey: string;
  /** Only reading this property gives the value: nothing prints or copies it. */
  readonly value: string;
}

export interface V1ConcealOptions extends V1CreateOptions {
  /** Any text, returned byte for byte. */
  readonly value: string;
}

export interface V1GenerateOptions extends V1CreateOptions, Pick<GenerateOptions, 'length' | 'charset'> {}

type SameAsInV2 =
  | ('metadataKey' | 'secretKey' | 'state' | 'secretTtlSeconds')
  | ('receiptTtlSeconds' | 'createdAt' | 'receivedAt' | 'shareDomain');

/** What the creator of a secret may know about it. */
export interface V1Receipt extends Pick<Receipt, SameAsInV2> {
  /** The creator's username, or `anon`. */
  readonly username: string;
  /** The link to share; `null` if `secretKey` is. */
  readonly link: string | null;
  /** `null` if the server has forgotten it with the secret. */
  readonly hasPassphrase: boolean | null;
  /** The lifetime granted. */
  readonly ttlSeconds: number;
  readonly updatedAt: Date;
  /** Obfuscated; `null` if none was named. */
  readonly recipient: string | null;
}

export interface V1Created extends V1Receipt {
  readonly secretKey: string;
  readonly link: string;
}

export interface V1Generated extends V1Created {
  /** Returned only now, and not printed or copied with the rest: see `Revealed`. */
  readonly value: string;
}

/** Fields that are absent or empty once the secret is gone, in forms that depend on the server's dialect. */
export interface WireV1Receipt {
  readonly custid: string;
  readonly metadata_key: string;
  readonly secret_key?: string | null | undefined;
  readonly state: ReceiptState;
  readonly passphrase_required?: boolean | undefined;
  readonly ttl: number;
  readonly secret_ttl?: number | null | undefined;
  readonly metadata_ttl: number;
  readonly created: number;
  readonly updated: number;
  readonly received?: number | undefined;
  readonly recipient?: string | readonly string[] | undefined;
  readonly share_domain: string;
}

export interface WireV1Generated extends WireV1Receipt {
  readonly value: string;
}

export interface WireV1Revealed {
  readonly secret_key: string;
  readonly value: string;
}

export interface WireV1Burned {
  readonly state: WireV1Receipt;
}

export interface WireV1Status {
  readonly locale: string;
}

/** In the API's names. */
export function v1CreationFields(options: V1CreateOptions) {
  const { passphrase, ttlSeconds: ttl, recipient, shareDomain: share_domain, notify } = options;
  // An empty parameter counts as not given.
  return { passphrase, ttl, recipient, share_domain, notify: notify && (notify.join(',') || 'none') };
}

export function v1GenerationFields({ length, charset, ...options }: V1GenerateOptions) {
  return { ...v1CreationFields(options), length, charset: charset?.join(',') };
}

function recipientOf({ recipient }: Raw<WireV1Receipt>): string | null {
  const [first] = [recipient].flat();
  return isText(first) ? first : null;
}

export function toReceipt(record: Raw<WireV1Receipt>, server: string): V1Receipt {
  const secretKey = optionalText(record, 'secret_key');
  const shareDomain = textAt(record, 'share_domain');
  return {
    username: textAt(record, 'custid'),
    metadataKey: textAt(record, 'metadata_key'),
    secretKey,
    link: secretKey === null ? null : linkOf(secretKey, shareDomain, server),
    state: wordAt(record, 'state', receiptStates),
    hasPassphrase: optionalFlag(record, 'passphrase_required'),
    ttlSeconds: numberAt(record, 'ttl'),
    secretTtlSeconds: optionalNumber(record, 'secret_ttl'),
    receiptTtlSeconds: numberAt(record, 'metadata_ttl'),
    createdAt: timeAt(record, 'created'),
    updatedAt: timeAt(record, 'updated'),
    receivedAt: optionalTime(record, 'received'),
    recipient: recipientOf(record),
    shareDomain,
  };
}

export function toCreated(record: Raw<WireV1Receipt>, server: string): V1Created {
  const { secretKey, link, ...receipt } = toReceipt(record, server);
  if (secretKey === null || link === null) throw unexpected();
  return { ...receipt, secretKey, link };
}

export function toGenerated(record: Raw<WireV1Generated>, server: string): V1Generated {
  return withHidden(toCreated(record as Raw<WireV1Receipt>, server), { value: textAt(record, 'value') });
}

export function toRevealed(answer: Raw<WireV1Revealed>): V1Revealed {
  return withHidden({ secretKey: textAt(answer, 'secret_key') }, { value: textAt(answer, 'value') });
}

export function toBurned(answer: Raw<WireV1Burned>, server: string): V1Receipt {
  return toReceipt(objectAt(answer, 'state'), server);
}

export function toList(answer: object, server: string): V1Receipt[] {
  if (!Array.isArray(answer)) throw unexpected();
  return answer.map((record) => toReceipt(toObject(record), server));
}

export function toStatus(answer: Raw<WireV1Status>) {
  return { locale: textAt(answer, 'locale') };
}
