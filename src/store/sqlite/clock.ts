/** How an operator inspects store time and sets it, for every process on the folder. */
import type { Database } from 'bun:sqlite';
import type { StoreClock } from '../../core/ports/clock.ts';
import { lookSeconds } from '../../core/ports/looks.ts';
import type { UnixSeconds } from '../../core/time.ts';
import type { TimeMark } from '../store-time.ts';
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
      const mark = {
        seconds: clock.wall(),
        sinceBoot: clock.sinceBoot(),
        bootId: clock.bootId,
        dispute: null,
      };
      await queue.decide('setTime', mark);
      time.refresh();
    },
  };
}

/** More than are swept in one step, and few enough for one statement. */
const sweptAtOnce = 5_000;

/** What was erased has expired for good, whatever time it is: its expiry is no longer sealed with anything. */
const endErased = `
  UPDATE records SET expires_at = ?1
  WHERE state = 'w' AND sweep_at >= receipt_expires_at AND expires_at > ?1`;

/**
 * What was counted or begun at a time that has not come yet keeps what remains of it: guesses, sessions and tickets would
 * otherwise last longer by as much as the time is set back. Records cannot be moved: their times are sealed with them.
 */
const movedTimes = [
  'UPDATE attempts SET stale_at = stale_at + ?1 - ?2, at = at + ?1 - ?2 WHERE at > ?1',
  `UPDATE tickets SET expires_at = iif(expires_at = 0, 0, expires_at + ?1 - ?2),
     counts_until = counts_until + ?1 - ?2, created_at = created_at + ?1 - ?2 WHERE created_at > ?1`,
  `UPDATE sessions SET expires_at = expires_at + ?1 - ?2, created_at = created_at + ?1 - ?2,
     last_used_at = min(last_used_at, ?1) WHERE created_at > ?1`,
];

/** A look's end would come later by as much, so all of them end now. None lasts longer than this after `?1`. */
const endLooks = `${eraseLook} WHERE sweep_at > ?1 AND sweep_at <= ?1 + ${lookSeconds} AND ${holdsLook}`;

/** Sets the time, also back: what had expired by `now` is erased first, so that nothing gone comes back (P8). */
export function createTimeSetter(db: Database, sweep: Sweep): (now: UnixSeconds, mark: TimeMark) => void {
  const write = createTimeWriter(db);
  const end = db.query(endErased);
  const forgetLooks = db.query(endLooks);
  const move = movedTimes.map((sql) => db.query(sql));
  return (now, mark) => {
    while (sweep(now, sweptAtOnce) >= sweptAtOnce);
    if (mark.seconds < now) {
      end.run(mark.seconds);
      forgetLooks.run(now);
      for (const each of move) each.run(mark.seconds, now);
    }
    write(mark, 1);
  };
}
