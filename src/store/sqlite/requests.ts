/**
 * Requests for a secret, and their answers. Each decision finds its request, judges and writes in one transaction, so places are
 * never counted twice and an answer that was sent again is never stored twice. A request whose owner is locked or gone is not found.
 */
import type { Database } from 'bun:sqlite';
import type { AccountId } from '../../core/account.ts';
import { ServiceError } from '../../core/errors.ts';
import type { RequestId } from '../../core/keys.ts';
import { type RequestStore, requestNoticeSeconds } from '../../core/ports/requests.ts';
import { type AnswerId, freePlaces, type StoredAnswer, type StoredRequest } from '../../core/request.ts';
import type { NewRecord } from '../../core/secret.ts';
import type { UnixSeconds } from '../../core/time.ts';
import {
  type AnswerRow,
  answerColumns,
  answerOf,
  listedRequestOf,
  partsOfCursor,
  type RequestRow,
  requestColumns,
  requestOf,
  valuesOfRequest,
} from '../request-rows.ts';
import type { WritesOf } from './decisions.ts';
import { type Parts, type Read, readBy } from './parts.ts';

/** At store time `?2`. */
const isKept = `r.request_id = ?1 AND max(r.until, r.answers_until) > ?2
  AND (r.owner IS NULL OR EXISTS (SELECT 1 FROM accounts WHERE id = r.owner AND locked_at IS NULL))`;

const isOpen = (now: string) => `is_ended = 0 AND until > ${now}`;

const selectRequest = `SELECT ${requestColumns('answers', '?2')} FROM requests r WHERE ${isKept}`;

const selectAnswer = `
  SELECT ${answerColumns} FROM answers a JOIN requests r USING (request_id) WHERE a.answer_id = ?3 AND ${isKept}`;

const selectAnswers = `
  SELECT ${answerColumns} FROM requests r JOIN answers a USING (request_id) WHERE ${isKept} ORDER BY a.number`;

const selectListed = `
  SELECT ${requestColumns('answers', '?1')} FROM requests r
  WHERE ${isOpen('?1')} AND (reports, created_at, request_id) < (?3, ?4, ?5)
  ORDER BY reports DESC, created_at DESC, request_id DESC LIMIT ?2`;

type AtRequest = [Uint8Array, UnixSeconds];

function createRequestReads(db: Database, now: () => UnixSeconds) {
  const request = db.query<RequestRow, AtRequest>(selectRequest);
  const answer = db.query<AnswerRow, [...AtRequest, Uint8Array]>(selectAnswer);
  const answers = db.query<AnswerRow, AtRequest>(selectAnswers);
  const listed = db.query<RequestRow, [UnixSeconds, number, number, UnixSeconds, Uint8Array]>(selectListed);
  return {
    findRequest(id: RequestId, at = now()): StoredRequest | null {
      const row = request.get(id, at);
      return row && requestOf(row);
    },
    findAnswer(requestId: RequestId, id: AnswerId, at = now()): StoredAnswer | null {
      const row = answer.get(requestId, at, id);
      return row && answerOf(row);
    },
    listAnswers: (requestId: RequestId) => answers.all(requestId, now()).map(answerOf),
    listRequests: (limit: number, after: string | null) =>
      listed.all(now(), limit, ...partsOfCursor(after)).map(listedRequestOf),
  };
}

const insertRequest = `
  INSERT INTO requests (request_id, owner, owner_hash, ask_hash, terms, places, created_at, until, answer_ttl, notify, share_domain,
    updated_at)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?7)`;

/** Of all the owner's open requests but `?3`. */
const countPlaces = `
  SELECT ifnull(sum(places), 0) AS places FROM requests WHERE owner = ?1 AND ${isOpen('?2')} AND request_id <> ?3`;

const end = `UPDATE requests SET is_ended = 1, updated_at = ?1 WHERE ${isOpen('?1')}`;

/** @param put stores an answer's secret; returns its position, or `null` if it was refused */
export function createRequestWrites(
  db: Database,
  put: (record: NewRecord) => number | null,
): WritesOf<RequestStore> {
  const { findRequest, findAnswer } = createRequestReads(db, () => 0);
  const unlocked = db.query('SELECT 1 FROM accounts WHERE id = ?1 AND locked_at IS NULL');
  const placesOf = db.query<{ places: number }, [AccountId | null, UnixSeconds, Uint8Array]>(countPlaces);
  const insert = db.query(insertRequest);
  const insertAnswer = db.query(
    'INSERT INTO answers (answer_id, request_id, number, box) VALUES (?1, ?2, ?3, ?4)',
  );
  const noteAnswer = db.query(
    'UPDATE requests SET updated_at = ?1, answers_until = max(answers_until, ?3) WHERE request_id = ?2',
  );
  const change = db.query(
    'UPDATE requests SET updated_at = ?1, until = ?3, places = ?4 WHERE request_id = ?2',
  );
  const discard = db.query('UPDATE answers SET is_discarded = 1 WHERE answer_id = ?1 AND is_discarded = 0');
  const touch = db.query('UPDATE requests SET updated_at = ?1 WHERE request_id = ?2');
  const takeNotice = db.query(
    `UPDATE requests SET noticed_at = ?1 WHERE request_id = ?2 AND notify = 1 AND noticed_at <= ?1 - ${requestNoticeSeconds}`,
  );
  const report = db.query('UPDATE requests SET reports = reports + 1 WHERE request_id = ?1');
  const endOne = db.query(`${end} AND request_id = ?2`);
  const endMany = db.query(
    `${end} AND request_id IN (SELECT request_id FROM requests WHERE ${isOpen('?1')} LIMIT ?2)`,
  );

  const isTooMany = (
    now: UnixSeconds,
    { id, owner, places }: Pick<StoredRequest, 'id' | 'owner' | 'places'>,
    maxPlaces: number | null,
  ) => maxPlaces !== null && places + (placesOf.get(owner, now, id)?.places ?? 0) > maxPlaces;

  return {
    putRequest(now, request, maxPlaces) {
      if (request.owner !== null && unlocked.get(request.owner) === null) return 'refused';
      if (isTooMany(now, request, maxPlaces)) return 'too_many_places';
      insert.run(...valuesOfRequest(request));
      return 'stored';
    },
    putAnswer(now, { requestId, id, box, record }) {
      const request = findRequest(requestId, now);
      if (request === null) return 'unknown';
      const known = findAnswer(requestId, id, now);
      if (known !== null) return known;
      if (request.isEnded) return 'ended';
      if (freePlaces(request) === 0) return 'full';
      const position = put(record);
      if (position === null) return 'refused';
      insertAnswer.run(id, requestId, request.answered + 1, box);
      noteAnswer.run(now, requestId, record.expiresAt);
      return { position };
    },
    changeRequest(now, id, changes, maxPlaces) {
      const request = findRequest(id, now);
      if (request === null) return 'unknown';
      if ('close' in changes) endOne.run(now, id);
      if ('close' in changes) return 'changed';
      if (request.isEnded) return 'ended';
      const next = { ...request, ...changes };
      if (next.places < request.taken) return 'places_taken';
      if (next.places > request.places && isTooMany(now, next, maxPlaces)) return 'too_many_places';
      change.run(now, id, next.until, next.places);
      return 'changed';
    },
    discardAnswer(now, requestId, id) {
      if (findAnswer(requestId, id, now) === null || discard.run(id).changes === 0) return false;
      touch.run(now, requestId);
      return true;
    },
    takeRequestNotice: (now, id) => findRequest(id, now) !== null && takeNotice.run(now, id).changes === 1,
    reportRequest: (_now, id) => void report.run(id),
    endRequest: (now, id) => endOne.run(now, id).changes === 1,
    endRequests: (now, limit) => Number(endMany.run(now, limit).changes),
  };
}

export function requestStore({ db, queue, reader, time }: Parts): Read<RequestStore> {
  return {
    ...readBy(reader, createRequestReads(db, time.now)),
    async putRequest(request, maxPlaces) {
      const outcome = await queue.decide('putRequest', structuredClone(request), maxPlaces);
      if (outcome === 'refused')
        throw new ServiceError('unavailable', 'The account of the request is not there.');
      return outcome;
    },
    async putAnswer(answer) {
      const outcome = await queue.decide('putAnswer', structuredClone(answer));
      if (outcome === 'refused') throw new ServiceError('unavailable', 'The store refused the answer.');
      return typeof outcome === 'object' && 'position' in outcome ? 'stored' : outcome;
    },
  };
}
