/** What a new secret may be given. */
import type { CharacterSet } from '../src/protocol/drawing.ts';
import type { NoticeKind } from '../src/protocol/vocabulary.ts';
import type { CallOptions } from './limit.ts';
import type { SharedFile } from './records.ts';

export interface CreateOptions extends CallOptions {
  /**
   * `true`: the server encrypts the value, and sees it when it is stored and when it is read. Otherwise it is encrypted here, the
   * end of the link opens it, and the server never sees it; that needs https, or a server on this machine.
   */
  readonly plain?: boolean;
  /**
   * 1–255 characters of ASCII without a comma, new for every secret; needs an account. Makes it safe to send the creation again: it is sent up to three
   * times if its answer is lost, and is one secret (see `repeated`). A later call with the same key and options has the same
   * answer for 24 hours if it is `plain`; one that encrypts does so again, and is refused as `idempotency_mismatch`.
   */
  readonly idempotencyKey?: string;
  /** The recipient must know it. 1–1,024 bytes of UTF-8; every byte counts. */
  readonly passphrase?: string;
  /** Whole seconds; the plan's default if absent, the nearest it allows if out of range (see `adjusted`). */
  readonly ttlSeconds?: number;
  /** The e-mail address to send the link to. Needs an account, and `plain: true`, because only then the server knows the link. */
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

/** A text or a file. Files are only shared end to end. */
export type ConcealOptions = CreateOptions &
  (
    | {
        /** Any text, returned byte for byte. */
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
   * Of `newLook()`: for one minute the same secret answers again to the same `look`, three times in all, until `done` ends that. For
   * callers that may have to ask again themselves, as after a restart. If absent, the client draws one, asks again when an answer is
   * lost, at most twice, and ends it.
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
