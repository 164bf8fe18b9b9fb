/** What the server says of itself and of the caller's account. */
import type { WireRecord } from './records.ts';
import {
  flagAt,
  numberAt,
  objectAt,
  optionalNumber,
  optionalText,
  type Raw,
  textAt,
  textsAt,
  timeAt,
} from './wire.ts';

export interface ServiceStatus {
  /** The server's default language. */
  readonly locale: string;
  /** The region that answers; `null` where there are none. */
  readonly region: string | null;
}

export interface Locales {
  /** BCP 47 tags. */
  readonly offered: readonly string[];
  readonly default: string;
}

export interface Account {
  /** Its e-mail address. */
  readonly username: string;
  readonly plan: string;
  readonly createdAt: Date;
  /** The longest lifetime of a secret. */
  readonly maxTtlSeconds: number;
  /** The largest value, in bytes of UTF-8. */
  readonly maxValueBytes: number;
  /** The largest end-to-end secret: bytes of a text, or of a file with its name and type. `null` if the server takes none. */
  readonly maxSealedBytes: number | null;
  readonly hasShareDomains: boolean;
}

export interface WireServiceStatus {
  readonly locale: string;
  readonly region?: string | undefined;
}

export interface WireVersion {
  readonly version: readonly string[];
}

export interface WireLocales {
  readonly locales: readonly string[];
  readonly default_locale: string;
}

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
