/**
 * Requests for a secret, and their answers. `test/stores/conformance/requests.ts` checks these promises.
 *
 * A request is open until it is ended or, by store time, `until` has come; an end is for ever. It is kept until `until` and the
 * lifetimes of its answers have passed, ended or not; then `SecretStore.sweep` erases it with its answers. While its owner is
 * locked, and once the owner is deleted, it is `unknown`. Nothing in it is under a root.
 */
import type { RequestId } from '../keys.ts';
import type { AnswerId, NewAnswer, NewRequest, StoredAnswer, StoredRequest } from '../request.ts';
import type { UnixSeconds } from '../time.ts';

/** How much time passes at least between two notices of one request. */
export const requestNoticeSeconds = 3_600;

export type RequestChange =
  | { readonly close: true }
  | { readonly until: UnixSeconds }
  /** All places, not those to add. */
  | { readonly places: number };

/**
 * - `ended`: the request had ended. Only `close` is still `changed` then.
 * - `too_many_places`: as in `putRequest`.
 * - `places_taken`: more answers are there than the new number of places.
 */
export type ChangeOutcome = 'changed' | 'unknown' | 'ended' | 'too_many_places' | 'places_taken';

export interface ListedRequest extends StoredRequest {
  /** Marks where the next page starts. */
  readonly cursor: string;
}

export interface RequestStore {
  /**
   * Stores the request, durably. `too_many_places`: with its places, the owner's open requests would have more than `maxPlaces`
   * together, counted in the same atomic step; `null` sets no limit. Rejects as `unavailable` if the owner does not exist or is
   * locked, and with `storage_full` whenever `SecretStore.put` would.
   */
  putRequest(request: NewRequest, maxPlaces: number | null): Promise<'stored' | 'too_many_places'>;
  /** Returns the request, or `null` if it is unknown or no longer kept. One look-up in any case (P17). Changes nothing. */
  findRequest(id: RequestId): Promise<StoredRequest | null>;
  /** Returns one answer to this request, or `null`. It exists as long as the request. Changes nothing. */
  findAnswer(requestId: RequestId, id: AnswerId): Promise<StoredAnswer | null>;
  /** Lists the answers to this request, oldest first, discarded ones too. Changes nothing. */
  listAnswers(requestId: RequestId): Promise<StoredAnswer[]>;
  /**
   * Stores an answer in one atomic step: its secret, its row in the mailbox, one place less. Of any number of calls with the same
   * id, one is `stored`; the others get what it stored, whatever became of places, end and secret since, and store nothing.
   * `full`: no place is free, or the request has had `maxAnswers` answers. Rejects like `SecretStore.put`; after a rejection, either
   * all of it was stored or nothing.
   */
  putAnswer(answer: NewAnswer): Promise<'stored' | 'full' | 'ended' | 'unknown' | StoredAnswer>;
  /** Changes a request in one atomic step; any outcome but `changed` changes nothing. Places are counted as in `putRequest`. */
  changeRequest(id: RequestId, change: RequestChange, maxPlaces: number | null): Promise<ChangeOutcome>;
  /** Marks an answer as discarded: its place is free again. Returns whether it was not discarded before: one call does it. */
  discardAnswer(requestId: RequestId, id: AnswerId): Promise<boolean>;
  /** Returns whether a notice of this request may be mailed now: of many calls within `requestNoticeSeconds`, one. */
  takeRequestNotice(id: RequestId): Promise<boolean>;
  /** Counts a report. Ignores an unknown request. */
  reportRequest(id: RequestId): Promise<void>;
  /**
   * Lists open requests of all owners, locked ones too: the most reported first, then the newest.
   * @param after a cursor of the previous page, or `null`; a request whose reports change meanwhile may be missed or repeated
   */
  listRequests(limit: number, after: string | null): Promise<ListedRequest[]>;
  /** Ends a request, also of a locked owner. Returns whether it was open. */
  endRequest(id: RequestId): Promise<boolean>;
  /** Ends at most `limit` of the open requests, and returns how many: fewer than `limit` means that none is open. */
  endRequests(limit: number): Promise<number>;
}
