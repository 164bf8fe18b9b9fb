import type { ReceiptStore } from '../../core/ports/receipts.ts';
import { isWaiting, type ReceiptRecord, type StoredDelivery, type StoredReceipt } from '../../core/secret.ts';
import type { UnixSeconds } from '../../core/time.ts';
import type { Burner, DeliveryState } from '../../protocol/vocabulary.ts';
import {
  type LifeRow,
  lifeColumns,
  lifeOf,
  type ReceiptRow,
  receiptColumns,
  receiptOf,
} from '../record-rows.ts';
import { deliveryAt } from '../store.ts';
import { rowsInOrderOf } from './batches.ts';
import { type Ending, type Endings, endingColumns } from './endings.ts';
import type { Engine } from './engine.ts';
import { copyOf, decision, statement } from './statement.ts';

interface KeptReceipt extends Ending, ReceiptRow {
  readonly viewed_at: UnixSeconds | null;
  readonly burned_by: Burner | null;
  readonly memo_box: Uint8Array | null;
  readonly delivery: DeliveryState | null;
  readonly delivery_at: UnixSeconds;
  readonly delivery_stale_at: UnixSeconds | null;
  readonly delivery_note_box: Uint8Array | null;
  readonly delivery_address_box: Uint8Array | null;
}

const columns = `
  ${endingColumns}, ${receiptColumns}, r.viewed_at, r.burned_by, r.memo_box, r.delivery, r.delivery_at, r.delivery_stale_at, r.delivery_note_box, r.delivery_address_box`;

const findReceipt = statement(`
  SELECT ${columns}, CASE WHEN r.state = 'w' THEN r.sealed_secret END AS sealed_secret FROM mayfly_store.records r
  WHERE r.receipt_id = $1 AND r.receipt_expires_at > $2 AND ($3::bigint IS NULL OR r.owner IS NULL OR r.owner = $3)`);

const findLives = statement(`
  SELECT asked_id, ${endingColumns}, ${lifeColumns} FROM unnest($1::bytea[]) AS asked (asked_id)
  JOIN mayfly_store.records r ON r.receipt_id = asked_id WHERE r.receipt_expires_at > $2`);

const listReceipts = statement(`
  SELECT ${columns} FROM mayfly_store.records r
  WHERE r.owner = $1 AND r.position < $2 AND r.receipt_expires_at > $3 AND r.recent_box IS NOT NULL
  ORDER BY r.position DESC LIMIT $4`);

/** A cursor is its receipt's position. */
const cursorForm = /^[1-9][0-9]{0,15}$/;

function toReceipt(row: KeptReceipt, now: UnixSeconds): ReceiptRecord {
  return {
    ...receiptOf(row),
    viewedAt: row.viewed_at,
    endedAt: row.ended_at,
    burnedBy: row.burned_by,
    memoBox: row.memo_box,
    delivery: deliveryAt(deliveryOf(row, isWaiting(lifeOf(row), now)), now),
  };
}

/** The address disappears with the secret (P11). */
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

const markViewed = decision(`
  UPDATE mayfly_store.records r SET viewed_at = coalesce(r.viewed_at, clock.now) FROM clock
  WHERE r.receipt_id = $3 AND r.state = 'w' AND r.expires_at > clock.now
  RETURNING r.viewed_at`);

const setMemo = decision(`
  UPDATE mayfly_store.records r SET memo_box = $4 FROM clock
  WHERE r.receipt_id = $3 AND r.receipt_expires_at > clock.now
  RETURNING r.secret_id`);

export function createReceiptStore(engine: Engine, { believe }: Pick<Endings, 'believe'>): ReceiptStore {
  const { time } = engine;
  const believeAll = (rows: readonly Ending[]) =>
    Promise.all(rows.filter(({ state }) => state !== 'w').map(believe));
  return {
    async findReceipt(id, manager): Promise<StoredReceipt | null> {
      const now = time.earliest();
      const [row] = await engine.read<KeptReceipt & { readonly sealed_secret: Uint8Array | null }>(
        findReceipt,
        [new Uint8Array(id), now, manager ?? null],
      );
      if (row === undefined) return null;
      await believeAll([row]);
      const receipt = toReceipt(row, now);
      return {
        ...receipt,
        sealedSecret: isWaiting(receipt, now) ? row.sealed_secret : null,
        creatorBox: null,
      };
    },
    async findLives(asked) {
      const ids = asked.map(copyOf);
      const rows = await engine.read<Ending & LifeRow & { asked_id: Uint8Array }>(findLives, [
        ids,
        time.earliest(),
      ]);
      await believeAll(rows);
      return rowsInOrderOf(ids, (id) => id, rows).map((row) => row && lifeOf(row));
    },
    async listReceipts(owner, { limit, after }) {
      if (after !== null && !cursorForm.test(after)) return null;
      const before = after === null ? Number.MAX_SAFE_INTEGER : Number(after);
      const now = time.now();
      const rows = await engine.read<KeptReceipt>(listReceipts, [owner, before, now, limit]);
      await believeAll(rows);
      return rows.map((row) => ({ ...toReceipt(row, now), cursor: String(row.position) }));
    },
    async markViewed(id) {
      const [row] = await engine.decide<Pick<KeptReceipt, 'viewed_at'>>(markViewed, [new Uint8Array(id)]);
      return row?.viewed_at ?? null;
    },
    async setMemo(id, memoBox) {
      return (await engine.decide(setMemo, [copyOf(id), memoBox && copyOf(memoBox)])).length === 1;
    },
  };
}
