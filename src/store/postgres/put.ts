/**
 * Storing records.
 *
 * The form of the statement is the safety argument. It locks what a record must not outlive, and then stores it only if that is there:
 * the floor of the roots (FOR SHARE: who closes a root waits for it, and then meets the record), the account (FOR KEY SHARE: so does
 * who deletes it), and the reservation, of which the row is locked and not done yet, under the seed that the record's keys come from: so
 * each seed has one record at most (P5). All are locked in one order. A record that is refused leaves its reservation as it was.
 */
import { ServiceError } from '../../core/errors.ts';
import type { SecretStore } from '../../core/ports.ts';
import { rootKidOf } from '../../core/root-store.ts';
import type { NewRecord } from '../../core/secret.ts';
import { bitsOf } from '../marks.ts';
import { createBatch } from './batches.ts';
import type { Engine, Values } from './engine.ts';
import type { RootUses } from './roots.ts';
import { rowsInOrderOf } from './secret-rows.ts';
import { copyOf, decision } from './statement.ts';

const putRecords = decision(`
  WITH asked AS (
    SELECT * FROM unnest($3::bytea[], $4::bytea[], $5::integer[], $6::bigint[], $7::bytea[], $8::bytea[], $9::bigint[], $10::bigint[],
        $11::bigint[], $12::integer[], $13::text[], $14::bytea[], $15::bytea[], $16::bytea[], $17::bytea[], $18::bigint[], $19::bigint[])
      AS asked (secret_id, receipt_id, kid, owner, hold_id, hold_seed, created_at, expires_at,
        receipt_expires_at, marks, share_domain, sealed_secret, details_box, recent_box, memo_box, stale_at, notice_due_at)),
  open_roots AS MATERIALIZED (SELECT kid FROM mayfly_store.root_floor WHERE only_row = 1 FOR SHARE),
  owners AS MATERIALIZED (SELECT id FROM mayfly_store.accounts WHERE id = ANY ($6::bigint[]) ORDER BY id FOR KEY SHARE),
  reserved AS MATERIALIZED (
    SELECT creation_id, seed FROM mayfly_store.creations
    WHERE (SELECT count(*) FROM owners) >= 0 AND creation_id = ANY ($7::bytea[]) AND done_at IS NULL
    ORDER BY creation_id FOR NO KEY UPDATE),
  fit AS MATERIALIZED (
    SELECT asked.* FROM asked JOIN open_roots ON asked.kid >= open_roots.kid
      LEFT JOIN owners ON owners.id = asked.owner
      LEFT JOIN reserved ON reserved.creation_id = asked.hold_id AND reserved.seed = asked.hold_seed
    WHERE (asked.owner IS NULL OR owners.id IS NOT NULL) AND (asked.hold_id IS NULL OR reserved.creation_id IS NOT NULL)),
  done AS (
    UPDATE mayfly_store.creations SET done_at = clock.now FROM fit, clock WHERE creations.creation_id = fit.hold_id)
  INSERT INTO mayfly_store.records (
    secret_id, receipt_id, owner, created_at, expires_at, sweep_at, receipt_expires_at, marks, share_domain, sealed_secret,
    details_box, recent_box, memo_box, notice_due_at, delivery, delivery_at, delivery_stale_at)
  SELECT secret_id, receipt_id, owner, created_at, expires_at, expires_at, receipt_expires_at, marks, share_domain,
    sealed_secret, details_box, recent_box, memo_box, notice_due_at,
    CASE WHEN stale_at IS NOT NULL THEN 'queued' END, CASE WHEN stale_at IS NOT NULL THEN created_at END, stale_at
  FROM fit ORDER BY created_at
  RETURNING secret_id AS asked_id`);

/** In the order of the columns of `asked`. */
const valuesOf = (records: readonly NewRecord[]): Values => [
  records.map(({ secretId }) => secretId),
  records.map(({ receiptId }) => receiptId),
  records.map(({ sealedSecret }) => rootKidOf(sealedSecret) ?? 0),
  records.map(({ owner }) => owner),
  records.map(({ hold }) => hold?.id ?? null),
  records.map(({ hold }) => hold?.wrappedSeed ?? null),
  records.map(({ createdAt }) => createdAt),
  records.map(({ expiresAt }) => expiresAt),
  records.map(({ receiptExpiresAt }) => receiptExpiresAt),
  records.map(bitsOf),
  records.map(({ shareDomain }) => shareDomain),
  records.map(({ sealedSecret }) => sealedSecret),
  records.map(({ detailsBox }) => detailsBox),
  records.map(({ recentBox }) => recentBox),
  records.map(({ memoBox }) => memoBox),
  records.map(({ deliveryStaleAt }) => deliveryStaleAt),
  records.map(({ noticeDueAt }) => noticeDueAt),
];

const sizeOf = ({ sealedSecret, detailsBox, recentBox, memoBox }: NewRecord): number =>
  [sealedSecret, detailsBox, recentBox, memoBox].reduce((sum, bytes) => sum + 2 * (bytes?.length ?? 0), 0);

const copyOfBox = (box: Uint8Array | null): Uint8Array | null => (box === null ? null : copyOf(box));

/** Its buffers are the caller's, who wipes them. Field by field: `structuredClone` takes a tenth of a creation's time. */
const copyOfRecord = (record: NewRecord): NewRecord => ({
  ...record,
  secretId: copyOf(record.secretId) as NewRecord['secretId'],
  receiptId: copyOf(record.receiptId) as NewRecord['receiptId'],
  sealedSecret: copyOf(record.sealedSecret),
  detailsBox: copyOfBox(record.detailsBox),
  recentBox: copyOfBox(record.recentBox),
  memoBox: copyOfBox(record.memoBox),
  hold: record.hold === null ? null : structuredClone(record.hold),
});

export function createPut(engine: Engine, roots: RootUses): SecretStore['put'] {
  const put = createBatch<NewRecord, boolean, { readonly asked_id: Uint8Array }>(engine, {
    statement: putRecords,
    kind: 'decide',
    // Of two for one reservation in one statement both would be stored.
    idOf: ({ hold, secretId }) => hold?.id ?? secretId,
    valuesOf,
    answersOf: (rows, records) =>
      rowsInOrderOf(records, ({ secretId }) => secretId, rows).map((row) => row !== null),
    bytesOf: sizeOf,
  });
  return async (given) => {
    const record = copyOfRecord(given);
    await roots.note(record.sealedSecret, record.expiresAt);
    if ((await put(record)) !== true)
      throw new ServiceError(
        'unavailable',
        'The account, the root or the reservation of the record is gone.',
      );
  };
}
