/** Inputs and outcomes of the use cases for requests, as in `secrets/outcomes.ts`. */
import type { ReceiptState, RequestState } from '../../protocol/vocabulary.ts';
import type { Account } from '../account.ts';
import type { RequestKey, SecretKey } from '../keys.ts';
import type { SealedInput } from '../secrets/end-to-end.ts';
import type { SealedRefusal } from '../secrets/outcomes.ts';
import type { DomainChoice, DomainWish } from '../share-domains/choose.ts';
import type { UnixSeconds } from '../time.ts';

export type AnswerState = Exclude<ReceiptState, 'viewed'> | 'unknown';

export interface AskInput extends DomainWish {
  /** T: the sealed prompt. */
  readonly terms: Uint8Array;
  /** SHA-256 of O and of Q, 32 bytes each. */
  readonly ownerHash: Uint8Array;
  readonly askHash: Uint8Array;
  /** 1–20. The caller has checked the range. */
  readonly places: number;
  /** `null` requests the plan's default. */
  readonly ttlSeconds: number | null;
  readonly answerTtlSeconds: number | null;
  /** Whether the asker gets an email when answers arrive. */
  readonly notify: boolean;
}

/** What everyone with the ask link may know. */
interface RequestFacts {
  readonly requestKey: RequestKey;
  readonly terms: Uint8Array;
  readonly state: RequestState;
  /** When it ends, or would have ended if it was closed. */
  readonly until: UnixSeconds;
  readonly shareDomain: string;
}

/** A request as its asker sees it. */
export interface RequestView extends RequestFacts {
  readonly places: number;
  readonly left: number;
  readonly createdAt: UnixSeconds;
  readonly updatedAt: UnixSeconds;
  readonly answerTtlSeconds: number;
  readonly notify: boolean;
}

/** A request as a sender sees it. */
export interface LookView extends RequestFacts {
  /** `null` if it was made without an account. */
  readonly askedBy: Pick<Account, 'username' | 'createdAt'> | null;
  /** @see Plan.maxSealedBytes */
  readonly maxSealedBytes: number;
}

export interface AnswerView {
  readonly secretKey: SecretKey;
  /** W: the fragment of the answer's link, sealed for the asker. */
  readonly wrapped: Uint8Array;
  readonly linkHash: Uint8Array;
  readonly createdAt: UnixSeconds;
  /** Length of the ciphertext. */
  readonly sizeBytes: number;
  readonly state: AnswerState;
  readonly isDiscarded: boolean;
}

type Unknown = { readonly outcome: 'unknown' };
type TooManyPlaces = { readonly outcome: 'too_many_places'; readonly max: number };
/** Without an account, a request takes fewer answers. */
type TooManyAnswers = { readonly outcome: 'too_many_answers'; readonly max: number };

export type AskOutcome =
  | { readonly outcome: 'asked'; readonly request: RequestView }
  | { readonly outcome: 'requests_disabled' | 'account_required' | 'notify_needs_account' }
  | TooManyAnswers
  | TooManyPlaces
  | { readonly outcome: 'rate_limited'; readonly retryAfterSeconds: number }
  | Exclude<DomainChoice, { outcome: 'chosen' }>;

/** From the holder of the ask link. */
export interface SenderInput {
  /** As received; anything that is not a key of a request is treated as unknown. */
  readonly requestKey: string;
  /** Q. */
  readonly askProof: Uint8Array;
}

/** A key that is unknown, or a wrong Q. */
export type SenderRefusal = Unknown | { readonly outcome: 'incomplete_link' };

export type LookOutcome = { readonly outcome: 'found'; readonly request: LookView } | SenderRefusal;

export interface ReportInput extends SenderInput {
  /** @see InspectInput.clientPrefix */
  readonly clientPrefix: string;
}

export type ReportOutcome = { readonly outcome: 'reported' } | SenderRefusal;

export interface AnswerInput extends SenderInput {
  readonly sealed: SealedInput;
  readonly wrapped: Uint8Array;
}

export type AnswerOutcome =
  | { readonly outcome: 'answered'; readonly secretKey: SecretKey }
  /** It was stored before. */
  | { readonly outcome: 'repeated'; readonly secretKey: SecretKey }
  | SenderRefusal
  | Extract<SealedRefusal, { outcome: 'sealed_wrongly' | 'sealed_too_large' }>
  | { readonly outcome: 'full' | 'ended' };

/** From the asker. */
export interface AnswersInput {
  readonly requestKey: string;
  /** O. */
  readonly ownerProof: Uint8Array;
}

export type AnswersOutcome =
  | { readonly outcome: 'found'; readonly request: RequestView; readonly answers: readonly AnswerView[] }
  | Unknown;

export type ChangeRequestInput = Pick<AnswersInput, 'requestKey'> & {
  /** `null` for a close by the account that asked. */
  readonly ownerProof: Uint8Array | null;
} & (
    | { readonly change: 'close' }
    /** Counted from now. */
    | { readonly change: 'ttl'; readonly ttlSeconds: number }
    /** Places in all, 1–20. */
    | { readonly change: 'places'; readonly places: number }
  );

export type ChangeRequestOutcome =
  | {
      readonly outcome: 'found';
      readonly request: RequestView;
      /** `null` for the account that closed its request without O. */
      readonly answers: readonly AnswerView[] | null;
      readonly grantedTtlSeconds: number | null;
    }
  /** `places_taken`: more answers have come than places were asked for. */
  | { readonly outcome: 'ended' | 'places_taken' }
  | TooManyAnswers
  | TooManyPlaces
  | Unknown;

export interface DiscardInput extends AnswersInput {
  /** The answer's. */
  readonly secretKey: string;
}

export type DiscardOutcome = AnswersOutcome | { readonly outcome: 'unknown_answer' };
