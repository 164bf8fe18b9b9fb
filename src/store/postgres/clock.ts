import type { StoreClock } from '../../core/ports/clock.ts';
import { codeSeconds } from '../../core/ports/codes.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { lookSeconds } from '../../protocol/limits.ts';
import { erased } from './claims.ts';
import type { Engine } from './engine.ts';
import { decision, statement } from './statement.ts';

const countExpiring = statement(`
  SELECT count(*) AS n FROM mayfly_store.records WHERE state = 'w' AND expires_at > $1 AND expires_at <= $2`);

const sweptAtOnce = 1_000;
const walkedAtOnce = 20_000;

/**
 * Expired secrets remain expired, and ended requests ended, even if the time is set back. Guesses, codes, sessions and tickets dated in what is
 * now the future keep their remaining duration; earlier codes, too, which would otherwise be valid again. All looks end now, because they would
 * otherwise end too late. A record's times cannot be shifted, because they are sealed with it.
 *
 * The time's row is locked first: concurrent decisions use the old time until this commits, and the new one afterwards.
 */
const setTime = decision(`
  WITH kept AS MATERIALIZED (SELECT only_row FROM mayfly_store.store_time WHERE only_row = 1 FOR UPDATE),
  back AS (SELECT now, $3::bigint AS at, now - $3::bigint AS by FROM clock, kept WHERE $3::bigint < now),
  ended AS (
    UPDATE mayfly_store.records r SET ${erased}, sweep_at = receipt_expires_at FROM back
    WHERE sweep_at <= now AND expires_at <= now AND state = 'w' AND sealed_secret IS NOT NULL),
  ended_looks AS (
    UPDATE mayfly_store.records r SET ${erased} FROM back
    WHERE state <> 'w' AND look_until IS NOT NULL AND secret_id IN (
      SELECT secret_id FROM mayfly_store.looks WHERE until > now
      UNION ALL SELECT secret_id FROM mayfly_store.records WHERE sweep_at > now AND sweep_at <= now + ${lookSeconds})),
  counted AS (
    UPDATE mayfly_store.attempts a SET last_number = last_number + 1, stale_at = stale_at - by,
      times = ARRAY(
        SELECT CASE WHEN each > at THEN each - by ELSE each END FROM unnest(times) WITH ORDINALITY AS t (each, place) ORDER BY place)
    FROM back WHERE EXISTS (SELECT FROM unnest(times) AS each WHERE each > at)),
  undated AS (
    DELETE FROM mayfly_store.codes c USING back WHERE c.at > back.at - ${codeSeconds} RETURNING c.*, by),
  redated AS (
    INSERT INTO mayfly_store.codes SELECT secret_id, look_tag, at - by, code_tag, state FROM undated ORDER BY at ON CONFLICT DO NOTHING),
  handed AS (
    UPDATE mayfly_store.tickets SET expires_at = CASE WHEN expires_at = 0 THEN 0 ELSE expires_at - by END,
      counts_until = counts_until - by, created_at = created_at - by
    FROM back WHERE created_at > at),
  begun AS (
    UPDATE mayfly_store.sessions SET expires_at = expires_at - by, created_at = created_at - by, last_used_at = least(last_used_at, at)
    FROM back WHERE created_at > at),
  asked AS (
    UPDATE mayfly_store.requests SET is_ended = CASE WHEN until <= now THEN 1 ELSE is_ended END, noticed_at = least(noticed_at, at)
    FROM back WHERE until > at)
  UPDATE mayfly_store.store_time SET seconds = $3, used_until = $3, server_clock = $3, boot_id = $4, since_boot = $5,
    disputed_since = NULL, disputed_ahead = NULL, times_set = times_set + 1
  FROM kept WHERE store_time.only_row = 1`);

/** An erased secret remains expired, even if the time is set back. */
const endErased = decision(`
  WITH walked AS MATERIALIZED (
    SELECT secret_id, position, state = 'w' AND sealed_secret IS NULL AND expires_at > now AS is_erased
    FROM mayfly_store.records, clock WHERE position > $3 ORDER BY position LIMIT ${walkedAtOnce}),
  ended AS (
    UPDATE mayfly_store.records r SET expires_at = now FROM walked, clock
    WHERE r.secret_id = walked.secret_id AND is_erased AND state = 'w' AND sealed_secret IS NULL)
  SELECT count(*) AS looked, max(position) AS upto FROM walked`);

interface WalkedRow {
  readonly looked: number;
  readonly upto: number | null;
}

/** @param sweep erases what has expired by store time, even if the wall clock disagrees */
export function createStoreClock(
  { time, read, decide }: Pick<Engine, 'time' | 'read' | 'decide'>,
  sweep: (limit: number) => Promise<number>,
): StoreClock {
  return {
    clock: time.report,
    async countExpiringBy(at: UnixSeconds) {
      const [row] = await read<{ n: number }>(countExpiring, [time.now(), at]);
      return row?.n ?? 0;
    },
    async setTime() {
      while ((await sweep(sweptAtOnce)) >= sweptAtOnce);
      await decide(setTime, time.machine());
      for (let after: number | null = 0; after !== null; ) {
        const [walked]: readonly WalkedRow[] = await decide<WalkedRow>(endErased, [after]);
        after = walked?.looked === walkedAtOnce ? walked.upto : null;
      }
    },
  };
}
