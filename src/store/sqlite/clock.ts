import type { Database } from 'bun:sqlite';
import type { StoreClock } from '../../core/ports/clock.ts';
import { codeSeconds } from '../../core/ports/codes.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { lookSeconds } from '../../protocol/limits.ts';
import type { TimeAnchor } from '../store-time.ts';
import { eraseLook, holdsLook } from './looks.ts';
import type { Parts } from './parts.ts';
import type { Sweep } from './sweep.ts';
import { createTimeWriter } from './time.ts';

const countExpiring = `
  SELECT count(*) AS n FROM records WHERE state = 'w' AND expires_at > ?1 AND expires_at <= ?2`;

export function storeClock({ db, queue, clock, time, reader }: Parts): StoreClock {
  return {
    clock: time.report,
    countExpiringBy: (at) =>
      reader.read(() => db.query<{ n: number }, [number, number]>(countExpiring).get(time.now(), at)?.n ?? 0),
    async setTime() {
      const anchor = {
        seconds: clock.wall(),
        sinceBoot: clock.sinceBoot(),
        bootId: clock.bootId,
        dispute: null,
      };
      await queue.decide('setTime', anchor);
      time.refresh();
    },
  };
}

const sweptAtOnce = 5_000;

/** An erased secret remains expired even if the time is set back. */
const endErased = `
  UPDATE records SET expires_at = ?1
  WHERE state = 'w' AND sweep_at >= receipt_expires_at AND expires_at > ?1`;

/**
 * Shifts guesses, codes, sessions and tickets dated later than the new time, so that they keep their remaining duration.
 * Records cannot be shifted: their times are sealed with them.
 */
const movedTimes = [
  'UPDATE attempts SET stale_at = stale_at + ?1 - ?2, at = at + ?1 - ?2 WHERE at > ?1',
  `UPDATE tickets SET expires_at = iif(expires_at = 0, 0, expires_at + ?1 - ?2),
     counts_until = counts_until + ?1 - ?2, created_at = created_at + ?1 - ?2 WHERE created_at > ?1`,
  `UPDATE sessions SET expires_at = expires_at + ?1 - ?2, created_at = created_at + ?1 - ?2,
     last_used_at = min(last_used_at, ?1) WHERE created_at > ?1`,
  // Also earlier ones, which would otherwise be valid again. One that another replaces has ended.
  `UPDATE OR REPLACE codes SET at = at + ?1 - ?2 WHERE at > ?1 - ${codeSeconds}`,
  // An end is for ever.
  'UPDATE requests SET is_ended = is_ended OR until <= ?2, noticed_at = min(noticed_at, ?1) WHERE until > ?1',
];

/** Ends all looks: once the time is set back, they would last longer. None ends more than `lookSeconds` after `?1`. */
const endLooks = `${eraseLook} WHERE sweep_at > ?1 AND sweep_at <= ?1 + ${lookSeconds} AND ${holdsLook}`;

/** First erases what had expired by `now`, so that nothing expired comes back (P8). */
export function createTimeSetter(db: Database, sweep: Sweep): (now: UnixSeconds, anchor: TimeAnchor) => void {
  const write = createTimeWriter(db);
  const end = db.query(endErased);
  const forgetLooks = db.query(endLooks);
  const move = movedTimes.map((sql) => db.query(sql));
  return (now, anchor) => {
    while (sweep(now, sweptAtOnce) >= sweptAtOnce);
    if (anchor.seconds < now) {
      end.run(anchor.seconds);
      forgetLooks.run(now);
      for (const each of move) each.run(anchor.seconds, now);
    }
    write(anchor, 1);
  };
}
