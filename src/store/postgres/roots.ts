/**
 * The wrapping roots (P12). A stored check is never replaced, and the statement that stores one returns whichever is
 * stored, so nodes that start together get the same check. Storing or re-wrapping a record locks the row with the first
 * open root, the floor, FOR SHARE. Closing roots waits for that lock; then nothing more is stored under them, so a
 * later walk by position misses nothing.
 *
 * No index covers a row's root: it would have to follow the row's state, and a claim would change it. Instead each node
 * records a root's use before storing the first record of a later day. These notes limit which roots can be in use;
 * only closed roots need a search.
 */

import { ServiceError } from '../../core/errors.ts';
import type { SecretId } from '../../core/keys.ts';
import { type RootStore, type RotationStore, rootKidOf } from '../../core/ports/roots.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { createBatch, rowsInOrderOf } from './batches.ts';
import type { Engine } from './engine.ts';
import { copyOf, decision, statement } from './statement.ts';

const daySeconds = 86_400;

const raiseUse = decision(`
  INSERT INTO mayfly_store.root_uses (kid, until) VALUES ($3, $4)
  ON CONFLICT (kid) DO UPDATE SET until = greatest(root_uses.until, excluded.until)`);

export interface RootUses {
  /** Resolves once it is durably noted that a record under the root of `sealed` may live until `until`. */
  extend(sealed: Uint8Array, until: UnixSeconds): Promise<void>;
}

export function createRootUses(engine: Engine): RootUses {
  const known = new Map<number, { readonly until: UnixSeconds; readonly stored: Promise<unknown> }>();
  return {
    async extend(sealed, until) {
      const kid = rootKidOf(sealed) ?? 0;
      const latest = known.get(kid);
      if (latest !== undefined && until <= latest.until) return void (await latest.stored);
      const dayEnd = Math.ceil(until / daySeconds) * daySeconds;
      const stored = engine.decide(raiseUse, [kid, dayEnd]);
      const use = { until: dayEnd, stored };
      known.set(kid, use);
      await stored.catch((fault: unknown) => {
        if (known.get(kid) === use) known.delete(kid);
        throw fault;
      });
    },
  };
}

/** Reads the root's id from the first bytes, without loading the rest. */
const rootOf = (column: string): string =>
  `(get_byte(substr(${column}, 2, 2), 0) * 256 + get_byte(substr(${column}, 2, 2), 1))`;

/** Whether, at time `$1`, the row is waiting or has a look. */
const isSealed = `((state = 'w' AND expires_at > $1) OR (state = 'r' AND look_until > $1))`;

const selectCheck = statement('SELECT check_value FROM mayfly_store.root_checks WHERE kid = $1');

const keepCheck = decision(`
  INSERT INTO mayfly_store.root_checks AS kept (kid, check_value) VALUES ($3, $4)
  ON CONFLICT (kid) DO UPDATE SET check_value = kept.check_value
  RETURNING check_value`);

const selectFloor = statement('SELECT kid FROM mayfly_store.root_floor');

const raiseFloor = decision('UPDATE mayfly_store.root_floor SET kid = greatest(kid, $3::int)');

const forgetUses = decision(`
  DELETE FROM mayfly_store.root_uses WHERE kid = ANY ($3::int[]) AND kid < (SELECT kid FROM mayfly_store.root_floor)`);

const askFirst = decision(`
  INSERT INTO mayfly_store.first_node (only_row, asked_at) SELECT 1, now FROM clock
  ON CONFLICT (only_row) DO NOTHING RETURNING 1`);

const selectUses = statement(`
  SELECT kid, kid < (SELECT kid FROM mayfly_store.root_floor) AS is_closed FROM mayfly_store.root_uses WHERE until > $1 AND kid > 0`);

/** Seeds are not re-wrapped: they last 24 hours. */
const selectSeedRoots = statement(`
  SELECT DISTINCT ${rootOf('seed')} AS kid FROM mayfly_store.creations WHERE ends_at > $1`);

const selectOlder = statement(`
  SELECT position, CASE WHEN ${isSealed} AND ${rootOf('sealed_secret')} < $2 THEN secret_id END AS secret_id
  FROM mayfly_store.records WHERE position > $3 ORDER BY position LIMIT $4`);

/** Visits at most `$4` records. */
const selectRoots = statement(`
  SELECT max(position) AS upto, count(*) AS looked, array_agg(DISTINCT kid) FILTER (WHERE kid = ANY ($2::int[])) AS kids
  FROM (
    SELECT position, CASE WHEN ${isSealed} THEN ${rootOf('sealed_secret')} END AS kid
    FROM mayfly_store.records WHERE position > $3 ORDER BY position LIMIT $4) walked`);

/** A statement over this many records finishes in time even on a slow disk. */
const walkedAtOnce = 5_000;

interface WalkedRow {
  upto: number | null;
  looked: number;
  kids: number[] | null;
}

export type SharedRootStore = RootStore & Omit<RotationStore, 'findAnyLook' | 'replaceWrapping'>;

export function createRootStore(engine: Engine): SharedRootStore {
  const { time } = engine;

  async function searchFor(kids: readonly number[]): Promise<number[]> {
    const found = new Set<number>();
    for (let after = 0; found.size < kids.length; ) {
      const values = [time.earliest(), kids, after, walkedAtOnce];
      const [walked] = await engine.read<WalkedRow>(selectRoots, values);
      for (const kid of walked?.kids ?? []) found.add(kid);
      if (walked?.upto == null || walked.looked < walkedAtOnce) break;
      after = walked.upto;
    }
    return [...found];
  }

  return {
    async findRootCheck(kid) {
      const [row] = await engine.read<{ check_value: Uint8Array }>(selectCheck, [kid]);
      // After a failover, another node's check could replace one that was not yet durable.
      if (row !== undefined) await engine.prove(row);
      return row?.check_value ?? null;
    },
    async addRootCheck(kid, check) {
      const [row] = await engine.decide<{ check_value: Uint8Array }>(keepCheck, [kid, copyOf(check)]);
      if (row === undefined) throw new ServiceError('unavailable', 'The check of a root was not kept.');
      return row.check_value;
    },
    async rootKidsInUse() {
      const uses = await engine.read<{ kid: number; is_closed: boolean }>(selectUses, [time.earliest()]);
      const kidsOf = (isClosed: boolean) =>
        uses.filter((use) => use.is_closed === isClosed).map(({ kid }) => kid);
      const seeds = await engine.read<{ kid: number }>(selectSeedRoots, [time.now()]);
      const inUse = [...kidsOf(false), ...(await searchFor(kidsOf(true))), ...seeds.map(({ kid }) => kid)];
      return [...new Set(inUse)].sort((a, b) => a - b);
    },
    async findFirstOpenRoot() {
      return (await engine.read<{ kid: number }>(selectFloor, []))[0]?.kid ?? 0;
    },
    async mayMakeRoots() {
      return (await engine.decide(askFirst, [])).length === 1;
    },
    async listUnderOlderRoots(kid, after, limit) {
      const rows = await engine.read<{ position: number; secret_id: SecretId | null }>(selectOlder, [
        time.earliest(),
        kid,
        Number(after ?? 0),
        limit,
      ]);
      const secretIds = rows.map((row) => row.secret_id).filter((id) => id !== null);
      const last = rows.at(-1);
      return { secretIds, next: last === undefined || rows.length < limit ? null : String(last.position) };
    },
    async closeRootsBefore(kid) {
      await engine.decide(raiseFloor, [kid]);
    },
    async forgetRoots(kids) {
      await engine.decide(forgetUses, [[...kids]]);
    },
  };
}

/** Leaves `row_version` unchanged, so that a link proven against the earlier bytes can still claim (P3). */
const replaceWrappings = decision(`
  WITH asked AS (
    SELECT * FROM unnest($3::bytea[], $4::bytea[], $5::bytea[], $6::integer[]) AS asked (secret_id, was, becomes, kid)),
  open_roots AS MATERIALIZED (SELECT kid FROM mayfly_store.root_floor WHERE only_row = 1 FOR SHARE),
  found AS MATERIALIZED (
    SELECT r.secret_id, asked.was, asked.becomes FROM asked JOIN mayfly_store.records r USING (secret_id)
    WHERE asked.kid >= (SELECT kid FROM open_roots) ORDER BY r.secret_id FOR UPDATE OF r),
  replaced AS (
    UPDATE mayfly_store.records r SET sealed_secret = found.becomes, sealed_version = r.sealed_version + 1
    FROM found
    WHERE r.secret_id = found.secret_id AND r.sealed_secret = found.was
      AND octet_length(found.becomes) = octet_length(found.was)
    RETURNING r.secret_id)
  SELECT asked.secret_id AS asked_id, asked.kid >= open_roots.kid AS is_open, replaced.secret_id IS NOT NULL AS is_replaced
  FROM asked CROSS JOIN open_roots LEFT JOIN replaced USING (secret_id)`);

/** A root's use is recorded only for bytes that are still stored. */
const findWrapped = statement(
  'SELECT expires_at FROM mayfly_store.records WHERE secret_id = $1 AND sealed_secret = $2',
);

interface Wrapping {
  readonly secretId: Uint8Array;
  readonly from: Uint8Array;
  readonly to: Uint8Array;
}

interface WrappingRow {
  readonly asked_id: Uint8Array;
  readonly is_open: boolean;
  readonly is_replaced: boolean;
}

export function createWrappings(engine: Engine, uses: RootUses): RotationStore['replaceWrapping'] {
  const replace = createBatch<Wrapping, WrappingRow | null, WrappingRow>(engine, {
    statement: replaceWrappings,
    kind: 'decide',
    idOf: ({ secretId }) => secretId,
    valuesOf: (asks) => [
      asks.map(({ secretId }) => secretId),
      asks.map(({ from }) => from),
      asks.map(({ to }) => to),
      asks.map(({ to }) => rootKidOf(to) ?? 0),
    ],
    answersOf: (rows, asks) => rowsInOrderOf(asks, ({ secretId }) => secretId, rows),
    bytesOf: ({ from }) => 4 * from.length,
  });

  return async (...given) => {
    const [secretId, from, to] = given.map((bytes) => new Uint8Array(bytes)) as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
    ];
    const [row] = await engine.read<{ expires_at: UnixSeconds }>(findWrapped, [secretId, from]);
    if (row === undefined || from.length !== to.length) return false;
    await uses.extend(to, row.expires_at);
    const replaced = await replace({ secretId, from, to });
    if (replaced === null || replaced === 'abandoned') return false;
    if (!replaced.is_open) throw new ServiceError('unavailable', 'The root of the wrapping was closed.');
    return replaced.is_replaced;
  };
}
