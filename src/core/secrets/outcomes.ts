/** Inputs and outcomes of the use cases for secrets, without HTTP statuses, wire names or messages: v1, v2 and the pages encode them. */

import type { RepeatedRequest } from '../../crypto/creation.ts';
import type { CharacterSet } from '../../protocol/drawing.ts';
import type { NoticeKind, ReceiptState } from '../../protocol/vocabulary.ts';
import type { MetadataKey, SecretKey } from '../keys.ts';
import type { Exhausted } from '../ports/attempts.ts';
import type { IsAbandoned } from '../ports/claims.ts';
import type { StoredCode } from '../ports/codes.ts';
import type { Delivery, ReceiptFacts, StoredSecret } from '../secret.ts';
import type { Sensitive } from '../sensitive.ts';
import type { DomainChoice } from '../share-domains/choose.ts';
import type { UnixSeconds } from '../time.ts';
import type { NamedLock } from './attempts.ts';
import type { Proofs, SealedInput } from './end-to-end.ts';

/** Options of conceal and generate. Texts are as received, never trimmed; `null` and `''` both mean that none was given. */
export interface CreationOptions {
  readonly passphrase: Sensitive<string> | null;
  /** The lifetime requested, a whole number above zero; `null` requests the plan's default. */
  readonly ttlSeconds: number | null;
  readonly recipient: Sensitive<string> | null;
  readonly shareDomain: string | null;
  /** The `Host` header as received. It only chooses among verified share domains. */
  readonly arrivedOn: string | null;
  /** As in `InspectInput`; determines the passphrase's turn in the hash queue. */
  readonly clientPrefix: string | null;
  /** The email's language, a BCP 47 tag; the installation's default if `null` or not offered. */
  readonly locale: string | null;
  /** `null` uses the account's setting. */
  readonly notify: readonly NoticeKind[] | null;
  /** The creator's private label, up to 500 characters. */
  readonly memo: Sensitive<string> | null;
  /** For the recipient, before opening; an end-to-end secret's is in `SealedInput`. */
  readonly note: Sensitive<string> | null;
  /** The address that codes are mailed to, without which the secret does not open. `generate` takes none. */
  readonly verify: Sensitive<string> | null;
}

export interface ConcealInput extends CreationOptions {
  /** Empty if `sealed` is given. */
  readonly value: Sensitive<string>;
  /** An end-to-end secret; `null` for one that the server encrypts. */
  readonly sealed: SealedInput | null;
}

export interface GenerateInput extends CreationOptions {
  /** 4–128 characters, 12 if `null`. The caller has checked the range. */
  readonly length: number | null;
  /** At least one set; `null` for all of them. */
  readonly charset: readonly CharacterSet[] | null;
}

/** Everything that any API version shows of a receipt. */
export interface ReceiptView extends ReceiptFacts {
  /** The owner's username, or `anon`. */
  readonly custid: string;
  readonly metadataKey: MetadataKey;
  /** `null` once the secret is gone. */
  readonly secretKey: SecretKey | null;
  /** The first six characters of the secret key, even after it is gone; `''` if an earlier version did not keep them. */
  readonly secretShortkey: string;
  readonly state: ReceiptState;
  /** The lifetime granted. */
  readonly ttlSeconds: number;
  /** Seconds remaining at store time; `null` once the secret is gone. */
  readonly secretTtlSeconds: number | null;
  /** The longest lifetime that can be set now; `null` in lists, and if it cannot be changed. */
  readonly longestTtlSeconds: number | null;
  /** Seconds remaining at store time. */
  readonly metadataTtlSeconds: number;
  /** Obfuscated. */
  readonly recipient: string | null;
  readonly updatedAt: UnixSeconds;
  readonly receivedAt: UnixSeconds | null;
  readonly burnedAt: UnixSeconds | null;
  readonly delivery: Delivery | null;
  /** `''` for none. */
  readonly memo: string;
  /** The codes mailed to openers, oldest first; `null` in lists. */
  readonly codes: readonly StoredCode[] | null;
  /** The lock after too many wrong guesses. */
  readonly locked: NamedLock | null;
}

export type CreationOutcome =
  | {
      readonly outcome: 'created';
      readonly receipt: ReceiptView;
      /** Only for generate. */
      readonly value: Sensitive<string> | null;
    }
  | { readonly outcome: 'nothing_to_share' }
  | SealedRefusal
  | { readonly outcome: 'ill_formed'; readonly field: 'secret' | 'passphrase' | 'note' }
  | MemoRefusal
  | { readonly outcome: 'note_too_long'; readonly maxCharacters: number }
  | { readonly outcome: 'value_too_large'; readonly maxBytes: number }
  | { readonly outcome: 'passphrase_too_long'; readonly maxBytes: number }
  | RecipientRefusal
  /** Without an account: `recipient_needs_account`. */
  | { readonly outcome: 'verify_refused'; readonly why: 'off' | 'undeliverable' }
  | { readonly outcome: 'account_required' }
  | { readonly outcome: 'notify_needs_account' }
  | TooManyMails
  | Exclude<DomainChoice, { outcome: 'chosen' }>;

/** Identifies a repeatable creation; sent by a caller with an API token. */
export interface Idempotency {
  /** 1–255 characters of visible ASCII and blanks. */
  readonly key: string;
  /** 0, or the place in a batch. */
  readonly index: number;
  readonly request: RepeatedRequest;
  /** Called before a creation, not a repetition. Returns `null` or the seconds until creating is allowed. If absent, it is allowed. */
  readonly mayCreate?: () => number | null;
}

export type RepeatableOutcome =
  | CreationOutcome
  /** The secret of an earlier request, in its current state. */
  | {
      readonly outcome: 'repeated';
      readonly secretKey: SecretKey;
      readonly receipt: ReceiptView;
      /** Only for generate, while the secret waits. */
      readonly value: Sensitive<string> | null;
    }
  /** Even the earlier secret's receipt is gone. */
  | { readonly outcome: 'repeated_gone'; readonly secretKey: SecretKey; readonly metadataKey: MetadataKey }
  /** An identical request is in progress, or was interrupted less than 30 seconds ago. */
  | { readonly outcome: 'in_flight'; readonly retryAfterSeconds: number }
  /** The key was sent with a different body, or too often with different bodies. */
  | { readonly outcome: 'idempotency_mismatch' }
  | { readonly outcome: 'rate_limited'; readonly retryAfterSeconds: number };

/** Why a client's sealed secret is refused. Nothing was stored. */
export type SealedRefusal =
  /** A field that must be absent: the server must not see a value or a passphrase, and has no full link to send. */
  | { readonly outcome: 'sealed_beside'; readonly field: 'secret' | 'passphrase' | 'recipient' | 'note' }
  /** Badly padded ciphertext, a hash that cannot be a proof's, or a note of another length than a sealed one's. */
  | { readonly outcome: 'sealed_wrongly'; readonly flaw: 'ciphertext' | 'hash' | 'note' }
  /** @see Plan.maxSealedBytes */
  | { readonly outcome: 'sealed_too_large'; readonly maxBytes: number };

/** Nothing was stored or changed. */
export type MemoRefusal =
  | { readonly outcome: 'memo_too_long'; readonly maxCharacters: number }
  | { readonly outcome: 'ill_formed'; readonly field: 'memo' };

/** Nothing was stored or sent. */
export type RecipientRefusal =
  | { readonly outcome: 'undeliverable_recipient'; readonly recipient: string }
  /** Emails are sent in an account's name. */
  | { readonly outcome: 'recipient_needs_account' };

/** Too many emails from this account or to this address. Nothing was stored or sent. */
export interface TooManyMails {
  readonly outcome: 'too_many_mails';
  readonly retryAfterSeconds: number;
}

export interface InspectInput {
  /** As received; anything that is not a valid key is treated as unknown. */
  readonly secretKey: string;
  /** `null` and `''` both mean that none was given, which does not count as an attempt. */
  readonly passphrase: Sensitive<string> | null;
  /** Proofs for an end-to-end secret; `null` for any other secret, and to look at one without opening it. */
  readonly proofs: Proofs | null;
  /** The client's prefix (IPv4 /24, IPv6 /56) in text form; attempts are counted per prefix. */
  readonly clientPrefix: string;
}

export interface RevealInput extends InspectInput {
  readonly isAbandoned: IsAbandoned;
  /** The opener's nonce for codes and the second look, 16 bytes drawn for this secret. If absent or `null`, it opens strictly once. */
  readonly look?: Uint8Array | null;
  /** Six digits; ignored if the secret asks for none. */
  readonly code?: string | null;
}

export interface CodeInput extends NoteInput, Pick<InspectInput, 'clientPrefix'> {
  readonly look: Uint8Array;
  /** The mail's language, a BCP 47 tag that is offered. */
  readonly locale: string;
}

export type CodeOutcome =
  /** The code is stored, and its mail is being handed over. The address is obfuscated. */
  | { readonly outcome: 'queued'; readonly sentTo: string; readonly until: UnixSeconds }
  | Extract<AccessRefusal, { outcome: 'unknown' | 'incomplete_link' | 'not_sealed' }>
  | { readonly outcome: 'needs_no_code' }
  | TooManyMails;

/** What anyone with the link may know about a live secret. */
export interface SecretView
  extends Pick<StoredSecret, 'hasPassphrase' | 'sealed' | 'verify' | 'shareDomain' | 'createdAt'> {
  readonly secretKey: SecretKey;
  readonly state: 'new' | 'received';
  readonly ttlSeconds: number;
  /** Seconds remaining at store time. */
  readonly secretTtlSeconds: number;
  readonly updatedAt: UnixSeconds;
  readonly isOwner: boolean;
}

/** Why link, passphrase or proofs were not proven. None of these consumes the secret. */
export type AccessRefusal =
  /** Unknown, read, burned or expired: the same answer for all (P17). */
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'passphrase_missing' }
  | WrongGuess<'passphrase_wrong'>
  | NoGuessLeft<'attempts_exhausted'>
  /** The whole link of an end-to-end secret was not proven. Not counted as an attempt. */
  | { readonly outcome: 'incomplete_link' }
  /** Proofs were sent for a plain secret: a client that expects ciphertext does not get a value. */
  | { readonly outcome: 'not_sealed' };

/** Why a secret was not opened. None of these consumes it. */
export type SecretRefusal =
  | AccessRefusal
  /** No code was given, or this opener has none that is still good. Not counted as an attempt. */
  | { readonly outcome: 'code_required' }
  | WrongGuess<'code_wrong'>
  | NoGuessLeft<'codes_exhausted'>;

/** No guess was computed. */
export interface NoGuessLeft<Outcome> extends Omit<Exhausted, 'outcome'> {
  readonly outcome: Outcome;
}

export interface WrongGuess<Outcome> {
  readonly outcome: Outcome;
  /** This client's remaining attempts; `null` if the guess was not counted because it could not have been correct. */
  readonly attemptsLeft: number | null;
  readonly moreAfterSeconds: number;
  readonly needsCreator: boolean;
}

export type RevealedContent =
  | { readonly kind: 'value'; readonly value: Sensitive<string> }
  | { readonly kind: 'sealed'; readonly ciphertext: Uint8Array };

export type RevealOutcome =
  | { readonly outcome: 'revealed'; readonly secret: SecretView; readonly content: RevealedContent }
  | Abandoned
  | SecretRefusal;

/** The client left before anything was decided, so nothing changed. The response reaches no one (P3). */
export interface Abandoned {
  readonly outcome: 'abandoned';
}

export type InspectOutcome =
  /** An end-to-end secret may be inspected without proofs. */
  | {
      readonly outcome: 'waiting';
      readonly secret: SecretView;
      /** Whether a reveal of the same input would open the secret. */
      readonly isProven: boolean;
    }
  | SecretRefusal;

export type StatusOutcome =
  | {
      readonly outcome: 'waiting';
      readonly secret: SecretView;
      /** `null` if the secret was created anonymously. The address is obfuscated. */
      readonly sender: { readonly name: string | null; readonly address: string } | null;
    }
  | { readonly outcome: 'unknown' };

export type ArrivalOutcome =
  /** The note is `null` if it could not be read. */
  | (Extract<StatusOutcome, { outcome: 'waiting' }> & { readonly note: NoteOutcome | null })
  | { readonly outcome: 'unknown' };

/** The proof is of an end-to-end secret. */
export type NoteInput = Pick<InspectInput, 'secretKey'> & { readonly linkProof: Uint8Array | null };

export type NoteOutcome =
  /** `sealed`: the note is its client's ciphertext, in base64url. `null` without one. */
  | { readonly outcome: 'found'; readonly sealed: boolean; readonly note: Sensitive<string> | null }
  | { readonly outcome: 'unknown' | 'not_sealed' }
  | { readonly outcome: 'incomplete_link'; readonly hasNote: boolean };

export interface ReceiptInput {
  /** As received. */
  readonly metadataKey: string;
  /**
   * The authority required in addition to the key (P16). A record made by an account requires that account, except with `holder`.
   * `owner` (the API): an account; any account for a record made anonymously.
   * `creator` (the pages): nothing more for a record made anonymously, since its creator has no account.
   * `holder` (the API in the `upstream` dialect): nothing more for any record.
   */
  readonly authority: 'owner' | 'creator' | 'holder';
}

export type ReceiptOutcome =
  | { readonly outcome: 'found'; readonly receipt: ReceiptView }
  | { readonly outcome: 'unknown' };

export interface ChangeInput extends ReceiptInput {
  /** Replaces the previous memo; `null` or an empty text removes it, `undefined` keeps it. */
  readonly memo: Sensitive<string> | null | undefined;
  /** A new lifetime counted from now, at least 1; `null` keeps the old one. */
  readonly ttlSeconds: number | null;
  /** Whether to allow as many guesses at the passphrase as for a new secret. */
  readonly allowsMore?: boolean;
  /** Whether to allow as many wrong codes, and mails with codes, as for a new secret. */
  readonly allowsCodes?: boolean;
}

export type ChangeOutcome =
  | {
      readonly outcome: 'found';
      readonly receipt: ReceiptView;
      /** Counted from now: as requested, or the nearest that the plan allowed at creation; `null` if unchanged. */
      readonly grantedTtlSeconds: number | null;
    }
  /** Too late for a new lifetime or more guesses. */
  | { readonly outcome: 'already_gone'; readonly receipt: ReceiptView }
  /** Stored by an earlier version, whose secrets have a fixed lifetime. */
  | { readonly outcome: 'lifetime_fixed' }
  | { readonly outcome: 'unknown' }
  | MemoRefusal;

export interface BurnInput extends ReceiptInput {
  readonly isAbandoned: IsAbandoned;
  /**
   * If not `null`, burning a protected secret also requires its passphrase (the `upstream` dialect). `passphrase: null`
   * means that the caller gave none, which only the owner may do, and only if `sparesOwner` is set.
   */
  readonly proof: {
    readonly passphrase: Sensitive<string> | null;
    readonly clientPrefix: string;
    readonly sparesOwner?: true;
  } | null;
}

export type BurnOutcome =
  | { readonly outcome: 'burned'; readonly receipt: ReceiptView }
  /** Already read, burned or expired. */
  | { readonly outcome: 'already_gone'; readonly receipt: ReceiptView }
  | Abandoned
  | Exclude<AccessRefusal, { outcome: 'incomplete_link' | 'not_sealed' }>;

/** Of a burn by the link, with the same refusals as for a reveal. None changes anything. */
export type BurnUnreadOutcome = { readonly outcome: 'burned' } | Abandoned | SecretRefusal;

export interface RecentInput {
  /** 1–1,000. */
  readonly limit: number;
  /** From an earlier page's `nextCursor`; `null` for the first page. */
  readonly cursor: string | null;
  /** `null` for all. */
  readonly states: readonly ReceiptState[] | null;
  /** Lists only what was created in this second. */
  readonly createdAt?: UnixSeconds | null;
}

/** Options for a value to suggest in the form; nothing is stored. */
export type SuggestInput =
  | { readonly style: 'characters'; readonly length: number; readonly charset: readonly CharacterSet[] }
  /** 3–12 words, joined with hyphens. */
  | { readonly style: 'words'; readonly count: number }
  | { readonly style: 'digits'; readonly length: number };

export interface DeliverInput extends ReceiptInput {
  /** The email is sent in the owner's name, so the key alone is never enough. */
  readonly authority: 'owner' | 'creator';
  /** A new address; `null` uses the last one again. */
  readonly recipient: Sensitive<string> | null;
  /** The email's language, a BCP 47 tag; the installation's default if it is not offered. */
  readonly locale: string;
}

export type DeliverOutcome =
  /** The email is being handed over; the receipt will show the result. */
  | { readonly outcome: 'queued'; readonly receipt: ReceiptView }
  /** Another email is already being handed over. */
  | { readonly outcome: 'in_flight'; readonly receipt: ReceiptView }
  /** The secret is gone, or there is no address. */
  | { readonly outcome: 'nothing_to_send'; readonly receipt: ReceiptView }
  /** Only the client knows an end-to-end secret's full link. */
  | { readonly outcome: 'link_unknown' }
  | RecipientRefusal
  | TooManyMails
  | { readonly outcome: 'unknown' };

/** `secretKey` is always `null` in `receipts`. */
export type RecentOutcome =
  | {
      readonly outcome: 'listed';
      readonly receipts: readonly ReceiptView[];
      readonly nextCursor: string | null;
    }
  | { readonly outcome: 'invalid_cursor' };
