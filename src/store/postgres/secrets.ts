/**
 * Secrets: finding and storing them, and changing their expiry.
 *
 * A read changes nothing that anyone can see (P4), and a look-up runs the same statement no matter what happened to the
 * secret (P17).
 */
import { ServiceError } from '../../core/errors.ts';
import type { SecretId } from '../../core/keys.ts';
import type { ClaimTarget } from '../../core/ports/claims.ts';
import type { MailStore } from '../../core/ports/mail.ts';
import { type RotationStore, rootKidOf } from '../../core/ports/roots.ts';
import type { SecretStore } from '../../core/ports/secrets.ts';
import type { NewRecord, StoredSecret } from '../../core/secret.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { bitsOf } from '../flags.ts';
import { type SecretRow, secretColumns, toSecret } from '../record-rows.ts';
import { createBatch, rowsInOrderOf } from './batches.ts';
import { createClaimStore, type Kept, rootOf } from './claims.ts';
import { createEndings, type Ending, type Endings, endingColumns } from './endings.ts';
import type { Engine, Values } from './engine.ts';
import { createLookStore } from './looks.ts';
import { createReceiptStore } from './receipts.ts';
import { createRootUses, createWrappings, type RootUses } from './roots.ts';
import { recordsColumn } from './server-watch.ts';
import { copyOf, decision, statement } from './statement.ts';

/**
 * Returns a row for each id, found or not. Bytes that are erased, or about to be, are not read. LATERAL, here and in a claim,
 * ensures that even a plan made when the table was small finds each row by the index.
 */
const findSecrets = statement(`
  SELECT found.*, asked.secret_id AS asked_id, found.state IS NOT NULL AS is_there, ${recordsColumn}
  FROM unnest($1::bytea[]) AS asked (secret_id) LEFT JOIN LATERAL (
    SELECT ${endingColumns}, r.sealed_version, r.delivery_address_box, ${secretColumns},
      CASE WHEN r.state = 'w' THEN r.sealed_secret END AS "sealedSecret"
    FROM mayfly_store.records r WHERE r.secret_id = asked.secret_id AND (r.state <> 'w' OR r.expires_at > $2) OFFSET 0) AS found ON true`);

interface FoundRow extends Ending, SecretRow {
  readonly is_there: boolean;
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
      // The earliest time is right for every ask: the claim judges what has expired since.
      valuesOf: (asks) => [asks.map(({ id }) => id), Math.min(...asks.map(({ now }) => now))],
      answersOf: (rows, asks) => rowsInOrderOf(asks, ({ id }) => id, rows),
    },
  );

  async function findSecret(asked: SecretId): Promise<StoredSecret | null> {
    const id = new Uint8Array(asked) as SecretId;
    const row = await find({ id, now: engine.time.earliest() });
    if (row === null || row === 'abandoned' || !row.is_there) return null;
    if (row.state !== 'w') {
      await believe(row);
      return null;
    }
    const found = toSecret(id, row);
    kept.set(found, {
      owner: row.owner,
      sealedSecret: row.sealedSecret,
      sealedVersion: row.sealed_version,
      addressBox: row.delivery_address_box,
    });
    return found;
  }

  return { findSecret, keptOf: (target: ClaimTarget) => kept.get(target) };
}

/**
 * Stores records. Safety rests on the form of the statement. It locks what a record must not outlive, and stores the record
 * only if all of that exists: the floor of the roots (FOR SHARE, so that closing a root waits, and then sees the record), the
 * account (FOR KEY SHARE, so that deleting it waits too), and the reservation's row. That row must not be done yet and must
 * have the seed of the record's keys, so that each seed gets at most one record (P5). Rows are always locked in the same
 * order. A refused record leaves its reservation unchanged.
 * @param gate another condition, beginning with AND
 */
export const withFit = (gate = ''): string => `
  asked AS (
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
    WHERE (asked.owner IS NULL OR owners.id IS NOT NULL) AND (asked.hold_id IS NULL OR reserved.creation_id IS NOT NULL) ${gate}),
  done AS (
    UPDATE mayfly_store.creations SET done_at = clock.now FROM fit, clock WHERE creations.creation_id = fit.hold_id)`;

export const insertFit = `
  INSERT INTO mayfly_store.records (
    secret_id, receipt_id, owner, created_at, expires_at, sweep_at, receipt_expires_at, marks, share_domain, sealed_secret,
    details_box, recent_box, memo_box, notice_due_at, delivery, delivery_at, delivery_stale_at)
  SELECT secret_id, receipt_id, owner, created_at, expires_at, expires_at, receipt_expires_at, marks, share_domain,
    sealed_secret, details_box, recent_box, memo_box, notice_due_at,
    CASE WHEN stale_at IS NOT NULL THEN 'queued' END, CASE WHEN stale_at IS NOT NULL THEN created_at END, stale_at
  FROM fit ORDER BY created_at`;

const putRecords = decision(`WITH ${withFit()} ${insertFit} RETURNING secret_id AS asked_id`);

/** In the order of the columns of `asked`. */
export const recordValues = (records: readonly NewRecord[]): Values => [
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

/** Copies a record whose buffers the caller wipes. `structuredClone` would take a tenth of a creation's time. */
export const copyOfRecord = (record: NewRecord): NewRecord => ({
  ...record,
  secretId: copyOf(record.secretId) as NewRecord['secretId'],
  receiptId: copyOf(record.receiptId) as NewRecord['receiptId'],
  sealedSecret: copyOf(record.sealedSecret),
  detailsBox: copyOfBox(record.detailsBox),
  recentBox: copyOfBox(record.recentBox),
  memoBox: copyOfBox(record.memoBox),
  hold: record.hold === null ? null : structuredClone(record.hold),
});

function createPut(engine: Engine, roots: RootUses): SecretStore['put'] {
  const put = createBatch<NewRecord, boolean, { readonly asked_id: Uint8Array }>(engine, {
    statement: putRecords,
    kind: 'decide',
    // A single statement would store both of two records that share a reservation.
    idOf: ({ hold, secretId }) => hold?.id ?? secretId,
    valuesOf: recordValues,
    answersOf: (rows, records) =>
      rowsInOrderOf(records, ({ secretId }) => secretId, rows).map((row) => row !== null),
    bytesOf: sizeOf,
  });
  return async (given) => {
    const record = copyOfRecord(given);
    await roots.extend(record.sealedSecret, record.expiresAt);
    if ((await put(record)) !== true)
      throw new ServiceError(
        'unavailable',
        'The account, the root or the reservation of the record is gone.',
      );
  };
}

/** Skips a secret that is now under a different root. */
const setExpiry = decision(`
  UPDATE mayfly_store.records r SET expires_at = $5, sweep_at = $5, receipt_expires_at = $6, notice_due_at = $7,
    sealed_secret = $8, sealed_version = r.sealed_version + 1
  FROM clock
  WHERE r.receipt_id = $3 AND r.state = 'w' AND r.expires_at > clock.now AND r.expires_at = $4
    AND octet_length(r.sealed_secret) = octet_length($8::bytea) AND ${rootOf('r.sealed_secret')} = ${rootOf('$8::bytea')}
  RETURNING r.secret_id`);

/** Everything about a secret except its email and its sweep. */
export type PostgresSecrets = Omit<SecretStore, 'now' | 'sweep' | 'scrub' | keyof MailStore> &
  Pick<RotationStore, 'findAnyLook' | 'replaceWrapping'>;

export function createSecretStore(engine: Engine): PostgresSecrets {
  const endings = createEndings(engine);
  const roots = createRootUses(engine);
  const { findSecret, keptOf } = createFinding(engine, endings);
  return {
    put: createPut(engine, roots),
    findSecret,
    async setExpiry(id, from, { expiresAt, receiptExpiresAt, noticeDueAt, sealedSecret }) {
      const values = [copyOf(id), from, expiresAt, receiptExpiresAt, noticeDueAt, copyOf(sealedSecret)];
      await roots.extend(sealedSecret, expiresAt);
      return (await engine.decide(setExpiry, values)).length === 1;
    },
    ...createClaimStore(engine, { endings, roots, keptOf }),
    ...createLookStore(engine, endings),
    ...createReceiptStore(engine, endings),
    replaceWrapping: createWrappings(engine, roots),
  };
}
