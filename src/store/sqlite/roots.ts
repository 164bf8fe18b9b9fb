/**
 * The wrapping roots: the check value of each, and which of them live records may be under.
 *
 * For the latter an upper bound is kept for each root, in whole days, so that most puts need not write it; the exact answer then
 * takes a look at the few roots that have not passed theirs.
 */
import type { Database } from 'bun:sqlite';
import type { UnixSeconds } from '../../core/time.ts';
import type { Deciding } from './protocol.ts';

const daySeconds = 86_400;

export interface RootUses {
  note(kid: number, expiresAt: UnixSeconds): void;
  forget(): void;
}

export function createRootUses(db: Database): RootUses {
  const raise = db.query(`
    INSERT INTO root_uses (kid, until) VALUES (?1, ?2)
    ON CONFLICT (kid) DO UPDATE SET until = max(until, excluded.until)`);
  const known = new Map<number, UnixSeconds>();
  return {
    note(kid, expiresAt) {
      if (expiresAt <= (known.get(kid) ?? 0)) return;
      const until = Math.ceil(expiresAt / daySeconds) * daySeconds;
      raise.run(kid, until);
      known.set(kid, until);
    },
    forget: () => known.clear(),
  };
}

/**
 * The roots that live records are wrapped under. The newest is looked for from the newest record, the others from the
 * oldest, where theirs are.
 */
function readRootKidsInUse(db: Database, now: UnixSeconds): number[] {
  const kids = db
    .query<{ kid: number }, [number]>('SELECT kid FROM root_uses WHERE until > ?1 AND kid > 0 ORDER BY kid')
    .all(now)
    .map((row) => row.kid);
  const live = (order: 'ASC' | 'DESC') =>
    db.query(
      `SELECT 1 FROM records WHERE root_kid = ?1 AND state = 'w' AND expires_at > ?2 ORDER BY position ${order} LIMIT 1`,
    );
  return kids.filter((kid) => live(kid === kids.at(-1) ? 'DESC' : 'ASC').get(kid, now) !== null);
}

const selectCheck = 'SELECT check_value FROM root_checks WHERE kid = ?1';

export interface RootReads {
  findRootCheck(kid: number): Uint8Array | null;
  rootKidsInUse(now: UnixSeconds): number[];
}

export function createRootReads(db: Database): RootReads {
  const check = db.query<{ check_value: Uint8Array }, [number]>(selectCheck);
  return {
    findRootCheck: (kid) => check.get(kid)?.check_value ?? null,
    rootKidsInUse: (now) => readRootKidsInUse(db, now),
  };
}

export function createRootWrites(db: Database): Deciding<'addRootCheck'> {
  const insertCheck = db.query(
    'INSERT INTO root_checks (kid, check_value) VALUES (?1, ?2) ON CONFLICT (kid) DO NOTHING',
  );
  const kept = db.query<{ check_value: Uint8Array }, [number]>(selectCheck);
  return {
    addRootCheck(_now, kid, check) {
      // The first value stays: a root that does not fit it must be noticed, not written over it (P12).
      insertCheck.run(kid, check);
      return kept.get(kid)?.check_value ?? check;
    },
  };
}
