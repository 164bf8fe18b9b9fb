/** How both stores read and write a request's row. */
import type { ListedRequest } from '../core/ports/requests.ts';
import type { NewRequest, StoredAnswer, StoredRequest } from '../core/request.ts';
import type { UnixSeconds } from '../core/time.ts';

type InNumbers<Value, Flag extends keyof Value> = Omit<Value, Flag> & Readonly<Record<Flag, number>>;
export type RequestRow = InNumbers<StoredRequest, 'notify' | 'isEnded'>;
export type AnswerRow = InNumbers<StoredAnswer, 'isDiscarded'>;

/** @param now SQL for the store time */
export const requestColumns = (answers: string, now: string): string => `
  r.request_id AS id, r.owner, r.owner_hash AS "ownerHash", r.ask_hash AS "askHash", r.terms, r.places, r.created_at AS "createdAt",
  r.until, r.answer_ttl AS "answerTtlSeconds", r.notify, r.share_domain AS "shareDomain", r.updated_at AS "updatedAt", r.reports,
  CASE WHEN r.is_ended = 1 OR r.until <= ${now} THEN 1 ELSE 0 END AS "isEnded",
  (SELECT count(*) FROM ${answers} a WHERE a.request_id = r.request_id) AS answered,
  (SELECT count(*) FROM ${answers} a WHERE a.request_id = r.request_id AND a.is_discarded = 0) AS taken`;

export const answerColumns = 'a.answer_id AS id, a.box, a.is_discarded AS "isDiscarded"';

export const requestOf = (row: RequestRow): StoredRequest => ({
  ...row,
  notify: row.notify === 1,
  isEnded: row.isEnded === 1,
});

export const answerOf = (row: AnswerRow): StoredAnswer => ({ ...row, isDiscarded: row.isDiscarded === 1 });

/** In the order of a request's columns. */
export const valuesOfRequest = (asked: NewRequest) =>
  [
    ...([asked.id, asked.owner, asked.ownerHash, asked.askHash, asked.terms, asked.places] as const),
    ...([asked.createdAt, asked.until, asked.answerTtlSeconds, asked.notify ? 1 : 0] as const),
    asked.shareDomain,
  ] as const;

/** A cursor is what requests are sorted by. */
export const listedRequestOf = (row: RequestRow): ListedRequest => ({
  ...requestOf(row),
  cursor: `${row.reports}.${row.createdAt}.${row.id.toHex()}`,
});

/** Returns what the next page comes before; without a cursor, something that comes after every request. */
export function partsOfCursor(cursor: string | null): readonly [number, UnixSeconds, Uint8Array] {
  const [reports = Number.MAX_SAFE_INTEGER, createdAt = 0, id = ''] = cursor?.split('.') ?? [];
  return [Number(reports), Number(createdAt), Uint8Array.fromHex(id)];
}
