/**
 * Secrets: their storing and finding, and with them the whole of what a record's row decides but its mail.
 *
 * A read changes nothing that anybody is told (P4), and a look-up runs the same statement whatever became of the secret (P17).
 */
import type { SecretId } from '../../core/keys.ts';
import type { ClaimTarget, SecretStore } from '../../core/ports.ts';
import type { NewRecord, StoredSecret } from '../../core/secret.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { bitsOf } from '../marks.ts';
import { createBatch } from './batches.ts';
import { createClaimStore, type Kept } from './claims.ts';
import { createEndings, type Ending, type Endings, endingColumns } from './endings.ts';
import type { Engine } from './engine.ts';
import { createLookStore, type PostgresLooks } from './looks.ts';
import { createReceiptStore } from './receipts.ts';
import { rowsInOrderOf, type SecretRow, secretColumns, toSecret } from './secret-rows.ts';
import { decision, statement } from './statement.ts';

const insertRecords = decision(`
  INSERT INTO records (secret_id, receipt_id, owner, created_at, expires_at, receipt_expires_at, sweep_at, marks, share_domain,
    sealed_secret, details_box, recent_box, memo_box, delivery, delivery_at, delivery_stale_at, notice_due_at)
  VALUES ($3, $4, $5, $6, $7, $8, $7, $9, $10, $11, $12, $13, $14, CASE WHEN $15::bigint IS NOT NULL THEN 'queued' END, $6, $15, $16)`);

/** What is erased, and what is about to be, is not read. */
const findSecrets = statement(`
  WITH asked AS (SELECT secret_id, $2::bigint AS now FROM unnest($1::bytea[]) AS asked (secret_id))
  SELECT r.secret_id AS asked_id, ${endingColumns}, r.sealed_version, r.delivery_address_box, ${secretColumns},
    CASE WHEN r.state = 'w' THEN r.sealed_secret END AS sealed_secret
  FROM asked JOIN records r USING (secret_id) WHERE r.state <> 'w' OR r.expires_at > asked.now`);

interface FoundRow extends Ending, SecretRow {
  readonly asked_id: Uint8Array;
  readonly sealed_version: number;
  readonly delivery_address_box: Uint8Array | null;
}

function createFinding(engine: Engine, { believe }: Endings) {
  const kept = new WeakMap<ClaimTarget, Kept>();
  const find = createBatch<{ readonly id: SecretId; readonly now: UnixSeconds }, FoundRow | null, FoundRow>(
    engine,
    {
      statement: findSecrets,
      kind: 'read',
      idOf: ({ id }) => id,
      // The earliest of several moments is right for each: what has expired since is judged by the claim.
      valuesOf: (asks) => [asks.map(({ id }) => id), Math.min(...asks.map(({ now }) => now))],
      answersOf: (rows, asks) =>
        rowsInOrderOf(
          asks.map(({ id }) => id),
          rows,
        ),
    },
  );

  async function findSecret(asked: SecretId): Promise<StoredSecret | null> {
    const id = asked.slice() as SecretId;
    const row = await find({ id, now: engine.time.earliest() });
    if (row === null || row === 'abandoned') return null;
    if (row.state !== 'w') {
      await believe(row);
      return null;
    }
    const found = toSecret(id, row);
    kept.set(found, {
      sealedSecret: row.sealed_secret,
      sealedVersion: row.sealed_version,
      addressBox: row.delivery_address_box,
    });
    return found;
  }

  return { findSecret, keptOf: (target: ClaimTarget) => kept.get(target) };
}

function createPut(engine: Engine): SecretStore['put'] {
  const valuesOf = (record: NewRecord) => [
    record.secretId.slice(),
    record.receiptId.slice(),
    record.owner,
    record.createdAt,
    record.expiresAt,
    record.receiptExpiresAt,
    bitsOf(record),
    record.shareDomain,
    record.sealedSecret.slice(),
    record.detailsBox?.slice() ?? null,
    record.recentBox?.slice() ?? null,
    record.memoBox?.slice() ?? null,
    record.deliveryStaleAt,
    record.noticeDueAt,
  ];
  return async (record) => void (await engine.decide(insertRecords, valuesOf(record)));
}

/** All of a record but its mail, and its sweep. */
export type PostgresRecords = Omit<
  SecretStore,
  'now' | 'queueDelivery' | 'setDelivery' | 'takeDueNotices' | 'sweep' | 'scrub'
> &
  PostgresLooks;

export function createRecordStore(engine: Engine): PostgresRecords {
  const endings = createEndings(engine);
  const { findSecret, keptOf } = createFinding(engine, endings);
  return {
    put: createPut(engine),
    findSecret,
    ...createClaimStore(engine, endings, keptOf),
    ...createLookStore(engine, endings),
    ...createReceiptStore(engine, endings),
  };
}
