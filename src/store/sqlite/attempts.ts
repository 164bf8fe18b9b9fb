/**
 * Passphrase guesses (P14). Each is counted in one transaction. The passphrase is checked only once that is durable, so
 * no guess is ever checked without being counted.
 */
import type { Database } from 'bun:sqlite';
import {
  type AttemptLimits,
  type AttemptStore,
  type CountedId,
  type Lock,
  networkBytes,
  secretIn,
} from '../../core/ports/attempts.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { allowanceAfter, exhaustionOf, lockOf } from '../store.ts';
import type { Deciding } from './decisions.ts';
import type { Parts } from './parts.ts';

export type AttemptWrites = Deciding<'reserve' | 'refund' | 'allowMore'>;

interface Life {
  in_life: number;
  ends_at: UnixSeconds;
}

const selectLife = 'SELECT in_life, ends_at FROM attempt_lives WHERE secret_id = ?1';

interface Counted {
  at: UnixSeconds;
  same_client: number;
  same_network: number;
}

const selectWindow = `
  SELECT at, client = ?2 AS same_client, substr(client, 1, ${networkBytes}) = substr(?2, 1, ${networkBytes}) AS same_network
  FROM attempts WHERE secret_id = ?1 AND at > ?3 ORDER BY at`;

export function createLockRead(db: Database) {
  const times = db.query<{ at: UnixSeconds }, [Uint8Array, number]>(
    'SELECT at FROM attempts WHERE secret_id = ?1 AND at > ?2 ORDER BY at',
  );
  const life = db.query<Life, [Uint8Array]>(selectLife);
  return (id: CountedId, limits: AttemptLimits, now: UnixSeconds): Lock | null => {
    const ofSecret = times.all(id, now - limits.windowSeconds).map(({ at }) => at);
    return lockOf({ ofSecret, inLife: life.get(id)?.in_life ?? 0 }, limits, now);
  };
}

const countAttempt = `
  INSERT INTO attempt_lives (secret_id, in_life, ends_at) VALUES (?1, 1, ?2)
  ON CONFLICT (secret_id) DO UPDATE SET in_life = in_life + 1`;

export function createAttemptWrites(db: Database): AttemptWrites {
  const inWindow = db.query<Counted, [Uint8Array, Uint8Array, number]>(selectWindow);
  const life = db.query<Life, [Uint8Array]>(selectLife);
  const expiry = db.query<{ expires_at: UnixSeconds }, [number, Uint8Array]>(
    'SELECT expires_at FROM records WHERE position = ?1 AND secret_id = ?2',
  );
  const insert = db.query('INSERT INTO attempts (secret_id, client, at, stale_at) VALUES (?1, ?2, ?3, ?4)');
  const count = db.query(countAttempt);
  const remove = db.query('DELETE FROM attempts WHERE attempt = ?1 AND secret_id = ?2');
  const uncount = db.query(
    'UPDATE attempt_lives SET in_life = in_life - 1 WHERE secret_id = ?1 AND in_life > 0',
  );

  const forgetWindow = db.query('DELETE FROM attempts WHERE secret_id = ?1');
  const forgetLife = db.query('DELETE FROM attempt_lives WHERE secret_id = ?1');

  return {
    reserve(now, id, position, client, limits) {
      const window = inWindow.all(id, client, now - limits.windowSeconds);
      const known = life.get(id);
      // An unknown secret has no passphrase to guess, but attempts on it still count, for one window.
      const lifeEndsAt =
        known?.ends_at ?? expiry.get(position ?? 0, secretIn(id))?.expires_at ?? now + limits.windowSeconds;
      const counted = {
        ofSecret: window.map((each) => each.at),
        ofClient: window.filter((each) => each.same_client === 1).map((each) => each.at),
        ofNetwork: window.filter((each) => each.same_network === 1).map((each) => each.at),
        inLife: known?.in_life ?? 0,
        lifeEndsAt,
      };
      const exhausted = exhaustionOf(counted, limits, now);
      if (exhausted !== null) return exhausted;
      const { lastInsertRowid } = insert.run(id, client, now, now + limits.windowSeconds);
      count.run(id, lifeEndsAt);
      return {
        outcome: 'reserved',
        attempt: Number(lastInsertRowid),
        ...allowanceAfter(counted, limits, now),
      };
    },
    refund(_now, id, attempt) {
      if (remove.run(attempt, id).changes === 1) uncount.run(id);
    },
    allowMore(_now, id) {
      forgetWindow.run(id);
      forgetLife.run(id);
    },
  };
}

export function attemptStore({ db, queue, locator, reader, time }: Parts): AttemptStore {
  const lockOf = createLockRead(db);
  return {
    async reserve(id, client, limits) {
      const [counted, token] = [id.slice() as CountedId, client.slice()];
      const position = await reader.read(() => locator.ofSecret(secretIn(counted)));
      return queue.decide('reserve', counted, position, token, limits);
    },
    refund: (id, attempt) => queue.decide('refund', id, attempt),
    allowMore: (id) => queue.decide('allowMore', id.slice() as CountedId),
    findLocks(asked, limits) {
      const ids = asked.map((id) => id.slice() as CountedId);
      return reader.read(() => ids.map((id) => lockOf(id, limits, time.now())));
    },
  };
}
