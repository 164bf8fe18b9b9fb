/**
 * The wrapping roots. For each root we store until when it may wrap live records, rounded up to whole days so that most
 * puts need not update it. An exact answer then requires examining only the few roots whose time has not passed. Sealed
 * bytes name their own root: updating the column `root_kid` would change the row's size (see 001-records.sql), so the
 * column keeps its value from the creation.
 */
import type { Database } from 'bun:sqlite';
import { ServiceError } from '../../core/errors.ts';
import type { SecretId } from '../../core/keys.ts';
import {
  type OlderRootsBatch,
  type RootStore,
  type RotationStore,
  rootKidOf,
} from '../../core/ports/roots.ts';
import type { UnixSeconds } from '../../core/time.ts';
import type { Deciding } from './decisions.ts';
import { holdsLook } from './looks.ts';
import { locateSecret, type Parts, type Read, readBy } from './parts.ts';

const daySeconds = 86_400;

export interface RootUses {
  extend(kid: number, expiresAt: UnixSeconds): void;
  forget(): void;
}

export function createRootUses(db: Database): RootUses {
  const raise = db.query(`
    INSERT INTO root_uses (kid, until) VALUES (?1, ?2)
    ON CONFLICT (kid) DO UPDATE SET until = max(until, excluded.until)`);
  const known = new Map<number, UnixSeconds>();
  return {
    extend(kid, expiresAt) {
      if (expiresAt <= (known.get(kid) ?? 0)) return;
      const until = Math.ceil(expiresAt / daySeconds) * daySeconds;
      raise.run(kid, until);
      known.set(kid, until);
    },
    forget: () => known.clear(),
  };
}

/** Looks for the newest root starting at the newest record, and for the others starting at the oldest. */
function readRootKidsInUse(db: Database, now: UnixSeconds): number[] {
  const kids = db
    .query<{ kid: number }, [number]>('SELECT kid FROM root_uses WHERE until > ?1 AND kid > 0 ORDER BY kid')
    .all(now)
    .map((row) => row.kid);
  const live = (order: 'ASC' | 'DESC') =>
    db.query(
      `SELECT 1 FROM records WHERE ${namedRoot} = ?1 AND ${isSealed} ORDER BY position ${order} LIMIT 1`,
    );
  const ofRecords = kids.filter(
    (kid) => live(kid === kids.at(-1) ? 'DESC' : 'ASC').get(nameOf(kid), now) !== null,
  );
  return [...new Set([...ofRecords, ...rootsOfCreations(db, now)])].sort((a, b) => a - b);
}

/** Seeds are not re-wrapped: they last only 24 hours. */
function rootsOfCreations(db: Database, now: UnixSeconds): number[] {
  return db
    .query<{ root: Uint8Array }, [number]>(
      'SELECT DISTINCT substr(seed, 2, 2) AS root FROM creations WHERE ends_at > ?1',
    )
    .all(now)
    .map(({ root: [high = 0, low = 0] }) => high * 256 + low);
}

/** The root's number as two bytes, which compare as the numbers do. */
export const namedRoot = 'substr(sealed_secret, 2, 2)';
/** Whether the row is waiting or has a look, at `?2`. */
const isSealed = `((state = 'w' AND expires_at > ?2) OR (sweep_at > ?2 AND ${holdsLook}))`;
const nameOf = (kid: number): Uint8Array => new Uint8Array([kid >> 8, kid & 255]);

const selectOlder = `
  SELECT position, iif(${isSealed} AND ${namedRoot} < ?3, secret_id, NULL) AS secret_id
  FROM records WHERE position > ?1 ORDER BY position LIMIT ?4`;

const selectCheck = 'SELECT check_value FROM root_checks WHERE kid = ?1';

export function createRootReads(db: Database, earliest: () => UnixSeconds) {
  const check = db.query<{ check_value: Uint8Array }, [number]>(selectCheck);
  const older = db.query<
    { position: number; secret_id: SecretId | null },
    [number, number, Uint8Array, number]
  >(selectOlder);
  const floor = db.query<{ kid: number }, []>('SELECT kid FROM root_floor');
  return {
    findRootCheck: (kid: number) => check.get(kid)?.check_value ?? null,
    rootKidsInUse: () => readRootKidsInUse(db, earliest()),
    findFirstOpenRoot: () => floor.get()?.kid ?? 0,
    listUnderOlderRoots(kid: number, after: string | null, limit: number): OlderRootsBatch {
      const rows = older.all(Number(after ?? 0), earliest(), nameOf(kid), limit);
      const secretIds = rows.map((row) => row.secret_id).filter((id) => id !== null);
      const last = rows.at(-1);
      return { secretIds, next: last === undefined || rows.length < limit ? null : String(last.position) };
    },
  };
}

/** `row_version` is left unchanged: a link proved against the earlier bytes can still claim (P3). */
const changeWrapping = `
  UPDATE records SET sealed_secret = ?4
  WHERE position = ?1 AND secret_id = ?2 AND (state = 'w' OR (${holdsLook}))
    AND sealed_secret = ?3 AND length(?4) = length(?3)
  RETURNING expires_at`;

export function createRootWrites(
  db: Database,
  uses: RootUses,
): Deciding<'addRootCheck' | 'closeRootsBefore' | 'forgetRoots' | 'replaceWrapping'> {
  const wrapping = db.query<{ expires_at: UnixSeconds }, [number, Uint8Array, Uint8Array, Uint8Array]>(
    changeWrapping,
  );
  const closing = db.query('SELECT 1 FROM root_floor WHERE kid > ?1');
  const insertCheck = db.query(
    'INSERT INTO root_checks (kid, check_value) VALUES (?1, ?2) ON CONFLICT (kid) DO NOTHING',
  );
  const kept = db.query<{ check_value: Uint8Array }, [number]>(selectCheck);
  const raiseFloor = db.query('UPDATE root_floor SET kid = max(kid, ?1)');
  const forget = db.query('DELETE FROM root_uses WHERE kid = ?1 AND kid < (SELECT kid FROM root_floor)');
  return {
    addRootCheck(_now, kid, check) {
      // The first value is kept, so that a root that does not match is noticed instead of overwriting it (P12).
      insertCheck.run(kid, check);
      return kept.get(kid)?.check_value ?? check;
    },
    closeRootsBefore: (_now, kid) => void raiseFloor.run(kid),
    forgetRoots(_now, kids) {
      for (const kid of kids) forget.run(kid);
    },
    replaceWrapping(_now, { position, id }, from, to) {
      const kid = rootKidOf(to) ?? 0;
      if (closing.get(kid) !== null) return null;
      const replaced = wrapping.get(position, id, from, to);
      if (replaced !== null) uses.extend(kid, replaced.expires_at);
      return replaced !== null;
    },
  };
}

export function rootStore(parts: Parts): Omit<Read<RootStore & RotationStore>, 'findAnyLook'> {
  const { db, queue, time, reader } = parts;
  const locate = locateSecret(parts);
  return {
    ...readBy(reader, createRootReads(db, time.earliest)),
    mayMakeRoots: async () => true,
    async replaceWrapping(asked, from, to) {
      const [before, after] = [from.slice(), to.slice()];
      const at = await locate(asked);
      if (at === null) return false;
      const replaced = await queue.decide('replaceWrapping', at, before, after);
      if (replaced === null) throw new ServiceError('unavailable', 'The root of the wrapping was closed.');
      return replaced;
    },
  };
}
