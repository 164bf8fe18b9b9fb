/** What a new secret may be given. */
import type { CallOptions } from './limit.ts';
import type { NoticeKind } from './records.ts';

export interface CreateOptions extends CallOptions {
  /** The recipient must know it. 1–1,024 bytes of UTF-8; every byte counts. */
  readonly passphrase?: string;
  /** Whole seconds; the plan's default if absent, the nearest it allows if out of range (see `adjusted`). */
  readonly ttlSeconds?: number;
  /** The e-mail address to send the link to. Needs an account. */
  readonly recipient?: string;
  /** A share domain of the account, for the link. */
  readonly shareDomain?: string;
  /** The notices about this secret, `[]` for none; the account's setting if absent. Needs an account. */
  readonly notify?: readonly NoticeKind[];
  /** A label for the creator only, up to 500 characters: never in a mail, and never shown to the reader. */
  readonly memo?: string;
  /** The language of the recipient's mail, a BCP 47 tag; the server's default if absent, the nearest if not offered (see `adjusted`). */
  readonly locale?: string;
}

export interface ConcealOptions extends CreateOptions {
  /** Any text, returned byte for byte. */
  readonly value: string;
}

export interface GenerateOptions extends CreateOptions {
  /** 4–128 characters; 12 if absent. */
  readonly length?: number;
  /** All if absent. */
  readonly charset?: readonly ('lower' | 'upper' | 'digits' | 'symbols')[];
}

/** In the API's names. */
export function creationFields(options: CreateOptions) {
  const { passphrase, ttlSeconds: ttl, recipient, shareDomain: share_domain, notify, memo, locale } = options;
  return { passphrase, ttl, recipient, share_domain, notify, memo, locale };
}

export function generationFields({ length, charset, ...options }: GenerateOptions) {
  return { ...creationFields(options), length, charset };
}
