/**
 * The storage limit. A server whose disk is full may stop altogether, reads and burns included; the limit keeps those
 * working (P21, P23). Usage is estimated from the engine's own counts, because its files do not shrink and reusable
 * space should not count. It is measured in the background; a put only checks the last verdict.
 */
import { ServiceError } from '../../core/errors.ts';
import type { RoomStore } from '../../core/ports/secrets.ts';
import type { Store } from '../store.ts';
import type { Engine } from './engine.ts';
import { statement } from './statement.ts';

/** A row's header and alignment. */
const rowExtraBytes = 40;
/** The share of a page that inserts fill (001-records.sql). */
const fillFactor = 0.7;
/** A chunk of a long value, with its header. */
const chunkBytes = 2_100;

/** Counts only live rows, or everything if their share is unknown. */
const selectUsedBytes = statement(`
  WITH sizes AS (
    SELECT c.relname, pg_relation_size(c.oid) AS heap, pg_indexes_size(c.oid) AS indexes,
      greatest(c.reltuples, pg_stat_get_live_tuples(c.oid)) AS live_rows,
      coalesce(pg_total_relation_size(t.oid), 0) AS long_values,
      greatest(t.reltuples, pg_stat_get_live_tuples(t.oid)) AS live_chunks
    FROM pg_class c LEFT JOIN pg_class t ON t.oid = c.reltoastrelid
    WHERE c.relnamespace = 'mayfly_store'::regnamespace AND c.relkind = 'r'),
  widths AS (
    SELECT tablename, sum(avg_width * (1 - null_frac)) + ${rowExtraBytes} AS row_bytes
    FROM pg_stats WHERE schemaname = 'mayfly_store' GROUP BY tablename),
  shares AS (
    SELECT *, least(1, coalesce(live_rows * row_bytes / ${fillFactor} / nullif(heap, 0), 1)) AS live_share
    FROM sizes LEFT JOIN widths ON tablename = relname)
  SELECT coalesce(sum((heap + indexes) * live_share + least(long_values, greatest(live_chunks, 0) * ${chunkBytes})), 0)::bigint
    AS bytes FROM shares`);

const measuredEachMs = 10_000;
/** How long a refusal by the engine counts, unless a record has been stored since. */
const refusalCountsMs = 60_000;

export interface Room extends Pick<Store, 'usedBytes'>, RoomStore {
  /** Rejects with `storage_full` while the limit is reached; otherwise stores and notes whether the engine had room. */
  storing<Result>(store: () => Promise<Result>): Promise<Result>;
}

export function createRoom(
  engine: Engine,
  maxBytes: number | null,
  monotonicMs = () => performance.now(),
): Room {
  let isOverLimit = false;
  let measuredAtMs = Number.NEGATIVE_INFINITY;
  let refusedAtMs = Number.NEGATIVE_INFINITY;

  const full = (): ServiceError =>
    new ServiceError('storage_full', 'The store has no room for another secret.');

  async function usedBytes(): Promise<number> {
    return (await engine.read<{ bytes: number }>(selectUsedBytes, []))[0]?.bytes ?? 0;
  }

  async function measure(): Promise<void> {
    if (maxBytes === null) return;
    measuredAtMs = monotonicMs();
    isOverLimit = (await usedBytes()) >= maxBytes;
  }

  return {
    usedBytes,
    async assertRoom() {
      await measure();
      if (isOverLimit || monotonicMs() < refusedAtMs + refusalCountsMs) throw full();
    },
    async storing(store) {
      if (monotonicMs() >= measuredAtMs + measuredEachMs) measure().catch(() => {});
      if (isOverLimit) throw full();
      try {
        const stored = await store();
        refusedAtMs = Number.NEGATIVE_INFINITY;
        return stored;
      } catch (error) {
        if (error instanceof ServiceError && error.code === 'storage_full') refusedAtMs = monotonicMs();
        throw error;
      }
    },
  };
}
