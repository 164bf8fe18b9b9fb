/** A request's row, in the form that both stores share. */
import type { AccountId } from '../core/account.ts';
import type { RequestId } from '../core/keys.ts';
import type { ListedRequest } from '../core/ports/requests.ts';
import type { AnswerId, NewRequest, StoredAnswer, StoredRequest } from '../core/request.ts';
import type { UnixSeconds } from '../core/time.ts';

export interface RequestRow {
  readonly request_id: Uint8Array;
  readonly owner: AccountId | null;
  readonly owner_hash: Uint8Array;
  readonly ask_hash: Uint8Array;
  readonly terms: Uint8Array;
  readonly places: number;
  readonly created_at: UnixSeconds;
  readonly until: UnixSeconds;
  readonly answer_ttl: number;
  readonly notify: 0 | 1;
  readonly share_domain: string;
  /** Also because `until` has come. */
  readonly has_ended: 0 | 1;
  readonly taken: number;
  readonly answered: number;
  readonly updated_at: UnixSeconds;
  readonly reports: number;
}

/** @param now SQL for the store time */
export const requestColumns = (answers: string, now: string): string => `
  r.request_id, r.owner, r.owner_hash, r.ask_hash, r.terms, r.places, r.created_at, r.until, r.answer_ttl, r.notify, r.share_domain,
  r.updated_at, r.reports, CASE WHEN r.is_ended = 1 OR r.until <= ${now} THEN 1 ELSE 0 END AS has_ended,
  (SELECT count(*) FROM ${answers} a WHERE a.request_id = r.request_id) AS answered,
  (SELECT count(*) FROM ${answers} a WHERE a.request_id = r.request_id AND a.is_discarded = 0) AS taken`;

export function requestOf(row: RequestRow): StoredRequest {
  return {
    id: row.request_id as RequestId,
    owner: row.owner,
    ownerHash: row.owner_hash,
    askHash: row.ask_hash,
    terms: row.terms,
    places: row.places,
    createdAt: row.created_at,
    until: row.until,
    answerTtlSeconds: row.answer_ttl,
    notify: row.notify === 1,
    shareDomain: row.share_domain,
    isEnded: row.has_ended === 1,
    taken: row.taken,
    answered: row.answered,
    updatedAt: row.updated_at,
    reports: row.reports,
  };
}

/** The first 11 columns of a new row. Copies the bytes: the caller may wipe them. */
export const requestValues = (request: NewRequest) =>
  [
    new Uint8Array(request.id),
    request.owner,
    new Uint8Array(request.ownerHash),
    new Uint8Array(request.askHash),
    new Uint8Array(request.terms),
    request.places,
    request.createdAt,
    request.until,
    request.answerTtlSeconds,
    request.notify ? 1 : 0,
    request.shareDomain,
  ] as const;

/** A cursor is what requests are sorted by. */
export function listedRequestOf(row: RequestRow): ListedRequest {
  const { reports, created_at: createdAt } = row;
  return { ...requestOf(row), cursor: `${reports}.${createdAt}.${row.request_id.toHex()}` };
}

/** Returns what the next page comes before; without a cursor, something that comes after every request. */
export function partsOfCursor(cursor: string | null): readonly [number, UnixSeconds, Uint8Array] {
  const [reports, createdAt, id] = cursor?.split('.') ?? [];
  if (id === undefined) return [Number.MAX_SAFE_INTEGER, 0, new Uint8Array(0)];
  return [Number(reports), Number(createdAt), Uint8Array.fromHex(id)];
}

export interface AnswerRow {
  readonly answer_id: Uint8Array;
  readonly is_discarded: 0 | 1;
  readonly box: Uint8Array;
}

export const answerColumns = 'a.answer_id, a.is_discarded, a.box';

export const answerOf = (row: AnswerRow): StoredAnswer => ({
  id: row.answer_id as AnswerId,
  box: row.box,
  isDiscarded: row.is_discarded === 1,
});
