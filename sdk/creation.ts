/** Options of the client's calls. */
import type { CharacterSet } from '../src/protocol/drawing.ts';
import type { NoticeKind } from '../src/protocol/vocabulary.ts';
import type { CallOptions } from './limit.ts';
import type { SharedFile } from './records.ts';

export interface CreateOptions extends CallOptions {
  /**
   * `true`: the server encrypts the value, and sees it when it is stored and read. Otherwise the client encrypts it, only the full link
   * opens it, and the server never sees it; that requires https, or a server on this machine.
   */
  readonly plain?: boolean;
  /**
   * 1–255 ASCII characters without a comma, new for every secret; needs an account. If the answer is lost, the creation is sent up to three
   * times but makes only one secret (see `repeated`). For 24 hours, a later call with the same key and options returns the same answer if
   * it is `plain`; otherwise the value is encrypted again, and refused as `idempotency_mismatch`.
   */
  readonly idempotencyKey?: string | undefined;
  /** The recipient must know it. 1–1,024 bytes of UTF-8, used exactly as given. */
  readonly passphrase?: string | undefined;
  /** An email address: opening then also takes a code sent there. Needs an account. `unsupported` if the server knows no codes. */
  readonly verify?: string | undefined;
  /** In whole seconds. Default: the plan's. If out of range, the nearest that the plan allows (see `adjusted`). */
  readonly ttlSeconds?: number | undefined;
  /** The email address to send the link to. Needs an account, and `plain: true`: otherwise the server does not know the link. */
  readonly recipient?: string | undefined;
  /** The account's share domain to use in the link. */
  readonly shareDomain?: string | undefined;
  /** `[]` for no notices. Default: the account's setting. Needs an account. */
  readonly notify?: readonly NoticeKind[] | undefined;
  /** A label for the creator only, up to 500 characters. */
  readonly memo?: string | undefined;
  /** One line for the recipient to read before opening, up to 140 characters, encrypted like the value; tidied if need be. */
  readonly note?: string | undefined;
  /** The email's language, a BCP 47 tag. Default: the server's. If not offered, the nearest (see `adjusted`). */
  readonly locale?: string | undefined;
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
  /** 4–128 characters. Default: 12. */
  readonly length?: number;
  /** Default: all. */
  readonly charset?: readonly CharacterSet[];
}

export interface PassphraseOption extends CallOptions {
  readonly passphrase?: string | undefined;
}

export interface RevealOptions extends PassphraseOption {
  /**
   * From `newLook()`, for callers that do their own retries, even after a restart. For one minute or until `done`, the same `look` reveals
   * the secret again, three times in total. If absent, the client draws one, retries up to twice if an answer is lost, and ends the look.
   */
  readonly look?: string;
  /** `true`: no second look. If the answer is lost, so is the secret. */
  readonly strictlyOnce?: boolean;
  /** The six digits that `sendCode` had emailed. Needs the same `look`. A wrong code consumes nothing. */
  readonly code?: string | undefined;
}

export function creationFields(options: CreateOptions) {
  const { passphrase, verify, recipient, notify, memo, note, locale } = options;
  const { ttlSeconds: ttl, shareDomain: share_domain } = options;
  return { passphrase, verify, ttl, recipient, share_domain, notify, memo, note, locale };
}

export function generationFields({ length, charset, ...options }: GenerateOptions) {
  return { ...creationFields(options), length, charset };
}
