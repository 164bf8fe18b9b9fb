/** The options of calls. */
import type { CharacterSet } from '../src/protocol/drawing.ts';
import type { NoticeKind } from '../src/protocol/vocabulary.ts';
import type { CallOptions } from './limit.ts';
import type { SharedFile } from './records.ts';

export interface CreateOptions extends CallOptions {
  /**
   * `true`: the server encrypts the value, and sees it when it is stored and read. Otherwise it is encrypted here, only the whole link
   * opens it, and the server never sees it; that needs https, or a server on this machine.
   */
  readonly plain?: boolean;
  /**
   * 1–255 characters of ASCII without a comma, new for every secret; needs an account. If the answer is lost, the creation is sent up to
   * three times, and makes one secret (see `repeated`). For 24 hours a later call with the same key and options has the same answer if it is
   * `plain`; otherwise the value is encrypted again, and refused as `idempotency_mismatch`.
   */
  readonly idempotencyKey?: string;
  /** For the recipient to know. 1–1,024 bytes of UTF-8, used exactly as given. */
  readonly passphrase?: string;
  /** Whole seconds; absent: the plan's default; out of range: the nearest it allows (see `adjusted`). */
  readonly ttlSeconds?: number;
  /** The e-mail address to send the link to. Needs an account, and `plain: true`: otherwise the server does not know the link. */
  readonly recipient?: string;
  /** A share domain of the account, for the link. */
  readonly shareDomain?: string;
  /** `[]` for no notices; absent: the account's setting. Needs an account. */
  readonly notify?: readonly NoticeKind[];
  /** A label for the creator only, up to 500 characters. */
  readonly memo?: string;
  /** The mail's language, a BCP 47 tag; absent: the server's default; not offered: the nearest (see `adjusted`). */
  readonly locale?: string;
}

/** A text or a file. Files are only shared end to end. */
export type ConcealOptions = CreateOptions &
  (
    | {
        /** Returned byte for byte. */
        readonly value: string;
        readonly file?: undefined;
      }
    | { readonly file: SharedFile; readonly value?: undefined }
  );

export interface GenerateOptions extends CreateOptions {
  /** 4–128 characters; 12 if absent. */
  readonly length?: number;
  /** All if absent. */
  readonly charset?: readonly CharacterSet[];
}

export interface PassphraseOption extends CallOptions {
  readonly passphrase?: string;
}

export interface RevealOptions extends PassphraseOption {
  /**
   * From `newLook()`, for callers that ask again themselves, for example after a restart: for one minute the secret answers again to the same
   * `look`, three times in all, until `done`. If absent, the client draws one, asks again at most twice if an answer is lost, and ends it.
   */
  readonly look?: string;
  /** `true`: no second look. A lost answer has then consumed the secret. */
  readonly strictlyOnce?: boolean;
}

/** In the API's names. */
export function creationFields(options: CreateOptions) {
  const { passphrase, ttlSeconds: ttl, recipient, shareDomain: share_domain, notify, memo, locale } = options;
  return { passphrase, ttl, recipient, share_domain, notify, memo, locale };
}

export function generationFields({ length, charset, ...options }: GenerateOptions) {
  return { ...creationFields(options), length, charset };
}
