import type { SecretStore } from '../../core/ports.ts';
import {
  type Burner,
  type DeliveryState,
  isWaiting,
  type ReceiptRecord,
  type StoredDelivery,
  type StoredReceipt,
} from '../../core/secret.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { lifeOf, type ReceiptRow, receiptOf } from '../record-rows.ts';
import { deliveryAt } from '../store.ts';
import { erased, rootOf } from './claims.ts';
import { type Ending, type Endings, endingColumns } from './endings.ts';
import type { Engine } from './engine.ts';
import type { RootUses } from './roots.ts';
import { decision, statement } from './statement.ts';

interface KeptReceipt extends Ending, ReceiptRow {
  readonly viewed_at: UnixSeconds | null;
  readonly burned_by: Burner | null;
  readonly recent_box: Uint8Array | null;
  readonly memo_box: Uint8Array | null;
  readonly delivery: DeliveryState | null;
  readonly delivery_at: UnixSeconds;
  readonly delivery_stale_at: UnixSeconds | null;
  readonly delivery_note_box: Uint8Array | null;
  readonly delivery_address_box: Uint8Array | null;
}

const receiptColumns = `
  ${endingColumns}, r.receipt_id, r.position, r.owner, r.created_at, r.expires_at, r.receipt_expires_at, r.viewed_at, r.burned_by,
  r.marks, r.share_domain, r.details_box, r.recent_box, r.memo_box,
  r.delivery, r.delivery_at, r.delivery_stale_at, r.delivery_note_box, r.delivery_address_box`;

const findReceipt = statement(`
  SELECT ${receiptColumns}, CASE WHEN r.state = 'w' THEN r.sealed_secret END AS sealed_secret FROM mayfly_store.records r
  WHERE r.receipt_id = $1 AND r.receipt_expires_at > $2 AND ($3::bigint IS NULL OR r.owner IS NULL OR r.owner = $3)`);

const listReceipts = statement(`
  SELECT ${receiptColumns} FROM mayfly_store.records r
  WHERE r.owner = $1 AND r.position < $2 AND r.receipt_expires_at > $3 ORDER BY r.position DESC LIMIT $4`);

/** A cursor is the position of the receipt that it is of. */
const cursorForm = /^[1-9][0-9]{0,15}$/;

function toReceipt(row: KeptReceipt, now: UnixSeconds): ReceiptRecord {
  return {
    ...receiptOf(row),
    viewedAt: row.viewed_at,
    endedAt: row.ended_at,
    burnedBy: row.burned_by,
    recentBox: row.recent_box,
    memoBox: row.memo_box,
    delivery: deliveryAt(deliveryOf(row, isWaiting(lifeOf(row), now)), now),
  };
}

/** The address goes with the secret (P11). */
function deliveryOf(row: KeptReceipt, waits: boolean): StoredDelivery | null {
  if (row.delivery === null) return null;
  return {
    state: row.delivery,
    at: row.delivery_at,
    staleAt: row.delivery_stale_at,
    noteBox: row.delivery_note_box,
    addressBox: waits ? row.delivery_address_box : null,
  };
}

type ReceiptReads = Pick<SecretStore, 'findReceipt' | 'listReceipts'>;

function createReceiptReads(engine: Engine, { believe }: Endings): ReceiptReads {
  const { time } = engine;
  return {
    async findReceipt(id, manager): Promise<StoredReceipt | null> {
      const now = time.earliest();
      const [row] = await engine.read<KeptReceipt & { readonly sealed_secret: Uint8Array | null }>(
        findReceipt,
        [new Uint8Array(id), now, manager ?? null],
      );
      if (row === undefined) return null;
      if (row.state !== 'w') await believe(row);
      const receipt = toReceipt(row, now);
      return {
        ...receipt,
        sealedSecret: isWaiting(receipt, now) ? row.sealed_secret : null,
        creatorBox: null,
      };
    },
    async listReceipts(owner, { limit, after }) {
      if (after !== null && !cursorForm.test(after)) return null;
      const before = after === null ? Number.MAX_SAFE_INTEGER : Number(after);
      const now = time.now();
      const rows = await engine.read<KeptReceipt>(listReceipts, [owner, before, now, limit]);
      await Promise.all(rows.filter(({ state }) => state !== 'w').map(believe));
      return rows.map((row) => ({ ...toReceipt(row, now), cursor: String(row.position) }));
    },
  };
}

const markViewed = decision(`
  UPDATE mayfly_store.records r SET viewed_at = coalesce(r.viewed_at, clock.now) FROM clock
  WHERE r.receipt_id = $3 AND r.state = 'w' AND r.expires_at > clock.now
  RETURNING r.viewed_at`);

/** What has another root by now is left alone. */
const setExpiry = decision(`
  UPDATE mayfly_store.records r SET expires_at = $5, sweep_at = $5, receipt_expires_at = $6, notice_due_at = $7,
    sealed_secret = $8, sealed_version = r.sealed_version + 1
  FROM clock
  WHERE r.receipt_id = $3 AND r.state = 'w' AND r.expires_at > clock.now AND r.expires_at = $4
    AND octet_length(r.sealed_secret) = octet_length($8::bytea) AND ${rootOf('r.sealed_secret')} = ${rootOf('$8::bytea')}
  RETURNING r.secret_id`);

const setMemo = decision(`
  UPDATE mayfly_store.records r SET memo_box = $4 FROM clock
  WHERE r.receipt_id = $3 AND r.receipt_expires_at > clock.now
  RETURNING r.secret_id`);

/** The tokens go, too, so that no undo puts back what a burn of everything has passed. */
const burnAll = decision(`
  WITH looked AS MATERIALIZED (
    SELECT r.position, r.secret_id FROM mayfly_store.records r WHERE r.position > $3 ORDER BY r.position LIMIT $4),
  found AS MATERIALIZED (
    SELECT r.secret_id, r.state, r.expires_at FROM looked JOIN mayfly_store.records r USING (secret_id)
    WHERE r.state = 'w' OR r.sealed_secret IS NOT NULL OR r.claim_token IS NOT NULL
    ORDER BY r.secret_id FOR UPDATE OF r),
  burned AS (
    UPDATE mayfly_store.records r SET state = 'b', ended_at = clock.now, ${erased} FROM found, clock
    WHERE r.secret_id = found.secret_id AND r.state = 'w' AND r.expires_at > $5
    RETURNING r.secret_id),
  ended AS (
    UPDATE mayfly_store.records r SET ${erased}, claim_token = NULL FROM found
    WHERE r.secret_id = found.secret_id AND r.state <> 'w')
  SELECT (SELECT count(*) FROM burned) AS burned, (SELECT count(*) FROM looked) AS looked,
    (SELECT max(position) FROM looked) AS upto`);

interface BurnedRow {
  readonly burned: number;
  readonly looked: number;
  readonly upto: number | null;
}

type ReceiptWrites = Pick<SecretStore, 'markViewed' | 'setExpiry' | 'setMemo' | 'burnAll'>;

function createReceiptWrites(engine: Engine, roots: RootUses): ReceiptWrites {
  return {
    async markViewed(id) {
      const [row] = await engine.decide<Pick<KeptReceipt, 'viewed_at'>>(markViewed, [new Uint8Array(id)]);
      return row?.viewed_at ?? null;
    },
    async setExpiry(id, from, { expiresAt, receiptExpiresAt, noticeDueAt, sealedSecret }) {
      const values = [
        new Uint8Array(id),
        from,
        expiresAt,
        receiptExpiresAt,
        noticeDueAt,
        new Uint8Array(sealedSecret),
      ];
      await roots.note(sealedSecret, expiresAt);
      return (await engine.decide(setExpiry, values)).length === 1;
    },
    async setMemo(id, memoBox) {
      return (
        (
          await engine.decide(setMemo, [
            new Uint8Array(id),
            memoBox === null ? null : new Uint8Array(memoBox),
          ])
        ).length === 1
      );
    },
    async burnAll(after, limit) {
      const values = [Number(after ?? 0), limit, engine.time.earliest()];
      const [row] = await engine.decide<BurnedRow>(burnAll, values);
      const next = row?.looked === limit && row.upto !== null ? String(row.upto) : null;
      return { burned: row?.burned ?? 0, next };
    },
  };
}

export function createReceiptStore(
  engine: Engine,
  { endings, roots }: { readonly endings: Endings; readonly roots: RootUses },
): ReceiptReads & ReceiptWrites {
  return { ...createReceiptReads(engine, endings), ...createReceiptWrites(engine, roots) };
}
