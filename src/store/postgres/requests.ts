/**
 * Requests for a secret, and their answers. The functions in 009-requests.sql lock a request's row before they count, so of many
 * answers at once only as many as were wanted are stored; the secret and its row in the mailbox are one statement. All lock the
 * owner first, then the request, then its answers.
 */
import { ServiceError } from '../../core/errors.ts';
import { type ChangeOutcome, type RequestStore, requestNoticeSeconds } from '../../core/ports/requests.ts';
import { maxAnswers } from '../../core/request.ts';
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
import { decided, isDone } from './batches.ts';
import type { Engine } from './engine.ts';
import { createRootUses } from './roots.ts';
import { copyOfRecord, insertFit, recordValues, withFit } from './secrets.ts';
import { copyOf, decision, statement } from './statement.ts';

const isKept = (now: string) => `
  greatest(r.until, r.answers_until) > ${now} AND (r.owner IS NULL OR EXISTS (
    SELECT FROM mayfly_store.accounts o WHERE o.id = r.owner AND o.locked_at IS NULL))`;

const isOpen = (now: string) => `is_ended = 0 AND until > ${now}`;

const findRequest = statement(`
  SELECT ${requestColumns('mayfly_store.answers', '$2')} FROM mayfly_store.requests r WHERE r.request_id = $1 AND ${isKept('$2')}`);

const listAnswers = statement(`
  SELECT ${answerColumns} FROM mayfly_store.requests r JOIN mayfly_store.answers a USING (request_id)
  WHERE r.request_id = $1 AND ${isKept('$2')} AND ($3::bytea IS NULL OR a.answer_id = $3) ORDER BY a.number`);

const listRequests = statement(`
  SELECT ${requestColumns('mayfly_store.answers', '$1')} FROM mayfly_store.requests r
  WHERE ${isOpen('$1')} AND (reports, created_at, request_id) < ($3, $4, $5)
  ORDER BY reports DESC, created_at DESC, request_id DESC LIMIT $2`);

const putRequest = decision(`
  WITH judged AS MATERIALIZED (
    SELECT mayfly_store.judge_places($4::bigint, $8::integer, $14::integer, $3::bytea, now) AS outcome FROM clock),
  made AS (
    INSERT INTO mayfly_store.requests (request_id, owner, owner_hash, ask_hash, terms, places, created_at, until, answer_ttl, notify,
      share_domain, updated_at)
    SELECT $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $9 FROM judged WHERE outcome = 'stored')
  SELECT outcome FROM judged`);

/** The parameters after the record's. */
const [requestId, answerId, box] = ['$20', '$21', '$22'];

const putAnswer = decision(`
  WITH judged AS MATERIALIZED (
    SELECT outcome, next FROM clock, mayfly_store.judge_answer(${requestId}::bytea, ${answerId}::bytea, ${maxAnswers}, clock.now)),
  ${withFit(`AND (SELECT outcome FROM judged) = 'stored'`)},
  stored AS (${insertFit} RETURNING expires_at),
  answered AS (
    INSERT INTO mayfly_store.answers (answer_id, request_id, number, box)
    SELECT ${answerId}, ${requestId}, next, ${box} FROM judged, stored),
  noted AS (
    UPDATE mayfly_store.requests r SET updated_at = clock.now, answers_until = greatest(r.answers_until, stored.expires_at)
    FROM stored, clock WHERE r.request_id = ${requestId})
  SELECT CASE WHEN outcome = 'stored' AND NOT EXISTS (SELECT FROM stored) THEN 'refused' ELSE outcome END AS outcome FROM judged`);

const changeRequest = decision(`
  SELECT mayfly_store.change_request($3::bytea, $4::boolean, $5::bigint, $6::integer, $7::integer, now) AS outcome FROM clock`);

const discardAnswer = decision(`
  WITH held AS MATERIALIZED (
    SELECT request_id FROM mayfly_store.requests r, clock WHERE r.request_id = $3 AND ${isKept('clock.now')} FOR UPDATE OF r),
  discarded AS (
    UPDATE mayfly_store.answers a SET is_discarded = 1 FROM held
    WHERE a.request_id = held.request_id AND a.answer_id = $4 AND a.is_discarded = 0 RETURNING a.request_id)
  UPDATE mayfly_store.requests r SET updated_at = clock.now FROM discarded, clock WHERE r.request_id = discarded.request_id
  RETURNING 1`);

const takeNotice = decision(`
  UPDATE mayfly_store.requests r SET noticed_at = clock.now FROM clock
  WHERE r.request_id = $3 AND r.notify = 1 AND r.noticed_at <= clock.now - ${requestNoticeSeconds} AND ${isKept('clock.now')}
  RETURNING 1`);

const reportRequest = decision(
  'UPDATE mayfly_store.requests SET reports = reports + 1 WHERE request_id = $3',
);

/** Every open request, or one. */
const endRequests = decision(`
  WITH held AS MATERIALIZED (
    SELECT request_id FROM mayfly_store.requests, clock WHERE ${isOpen('now')} AND ($3::bytea IS NULL OR request_id = $3)
    ORDER BY request_id LIMIT $4 FOR UPDATE OF requests)
  UPDATE mayfly_store.requests r SET is_ended = 1, updated_at = clock.now FROM held, clock WHERE r.request_id = held.request_id
  RETURNING 1`);

interface Outcome<Word extends string> {
  readonly outcome: Word;
}

export function createRequestStore(engine: Engine): RequestStore {
  const { time } = engine;
  const roots = createRootUses(engine);

  /** What a sender or an asker is told of an answer stays true. */
  async function answersOf(id: Uint8Array, answer: Uint8Array | null) {
    const rows = await engine.read<AnswerRow>(listAnswers, [
      copyOf(id),
      time.now(),
      answer && copyOf(answer),
    ]);
    if (rows.length > 0) await engine.prove(rows);
    return rows.map(answerOf);
  }

  const findAnswer: RequestStore['findAnswer'] = async (id, answer) =>
    (await answersOf(id, answer))[0] ?? null;

  return {
    async putRequest(request, maxPlaces) {
      const values = [...valuesOfRequest(request), maxPlaces];
      const [row] = await engine.decide<Outcome<'stored' | 'too_many_places' | 'refused'>>(
        putRequest,
        values,
      );
      if (row === undefined || row.outcome === 'refused')
        throw new ServiceError('unavailable', 'The account of the request is not there.');
      return row.outcome;
    },
    async findRequest(id) {
      const [row] = await engine.read<RequestRow>(findRequest, [copyOf(id), time.now()]);
      return row === undefined ? null : requestOf(row);
    },
    findAnswer,
    listAnswers: (id) => answersOf(id, null),
    async putAnswer(given) {
      const record = copyOfRecord(given.record);
      const [id, answer] = [copyOf(given.requestId), copyOf(given.id)] as [
        typeof given.requestId,
        typeof given.id,
      ];
      const values = [...recordValues([record]), id, answer, copyOf(given.box)];
      await roots.extend(record.sealedSecret, record.expiresAt);
      type Word = 'stored' | 'full' | 'ended' | 'unknown' | 'repeated' | 'refused';
      const row = await decided<Outcome<Word>>(
        engine,
        putAnswer,
        values,
        ({ outcome }) => outcome === 'stored',
      );
      if (row === null || row.outcome === 'refused')
        throw new ServiceError('unavailable', 'The account or the root of the answer is gone.');
      return row.outcome === 'repeated' ? ((await findAnswer(id, answer)) ?? 'unknown') : row.outcome;
    },
    async changeRequest(id, change, maxPlaces) {
      const until = 'until' in change ? change.until : null;
      const places = 'places' in change ? change.places : null;
      const values = [copyOf(id), 'close' in change, until, places, maxPlaces];
      const isChange = ({ outcome }: Outcome<ChangeOutcome>) => outcome === 'changed';
      const row = await decided(engine, changeRequest, values, isChange);
      return row?.outcome ?? 'unknown';
    },
    discardAnswer: (id, answer) => isDone(engine, discardAnswer, [copyOf(id), copyOf(answer)]),
    takeRequestNotice: (id) => isDone(engine, takeNotice, [copyOf(id)]),
    async reportRequest(id) {
      await engine.decide(reportRequest, [copyOf(id)]);
    },
    async listRequests(limit, after) {
      const values = [time.now(), limit, ...partsOfCursor(after)];
      return (await engine.read<RequestRow>(listRequests, values)).map(listedRequestOf);
    },
    endRequest: (id) => isDone(engine, endRequests, [copyOf(id), 1]),
    endRequests: async (limit) => (await engine.decide(endRequests, [null, limit])).length,
  };
}
