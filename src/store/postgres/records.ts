/**
 * The finding of secrets, and with it the whole of what a record's row decides but its mail.
 *
 * A read changes nothing that anybody is told (P4), and a look-up runs the same statement whatever became of the secret (P17).
 */
import type { SecretId } from '../../core/keys.ts';
import type { ClaimTarget, SecretStore } from '../../core/ports.ts';
import type { StoredSecret } from '../../core/secret.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { type SecretRow, toSecret } from '../record-rows.ts';
import { createBatch } from './batches.ts';
import { createClaimStore, type Kept } from './claims.ts';
import { createEndings, type Ending, type Endings, endingColumns } from './endings.ts';
import type { Engine } from './engine.ts';
import { createLookStore, type PostgresLooks } from './looks.ts';
import { createPut } from './put.ts';
import { createReceiptStore } from './receipts.ts';
import { createRootUses } from './roots.ts';
import { rowsInOrderOf, secretColumns } from './secret-rows.ts';
import { recordsColumn } from './server-watch.ts';
import { statement } from './statement.ts';

/**
 * A row for each that is asked for, also where there is none. What is erased, and what is about to be, is not read. LATERAL, here and
 * in a claim: each row is looked up by the index also by a plan that
 * was made when the table was small.
 */
const findSecrets = statement(`
  SELECT found.*, asked.secret_id AS asked_id, found.state IS NOT NULL AS is_there, ${recordsColumn}
  FROM unnest($1::bytea[]) AS asked (secret_id) LEFT JOIN LATERAL (
    SELECT ${endingColumns}, r.sealed_version, r.delivery_address_box, ${secretColumns},
      CASE WHEN r.state = 'w' THEN r.sealed_secret END AS sealed_secret
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
      // The earliest of several moments is right for each: what has expired since is judged by the claim.
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
      sealedSecret: row.sealed_secret,
      sealedVersion: row.sealed_version,
      addressBox: row.delivery_address_box,
    });
    return found;
  }

  return { findSecret, keptOf: (target: ClaimTarget) => kept.get(target) };
}

/** All of a record but its mail, and its sweep. */
export type PostgresRecords = Omit<
  SecretStore,
  'now' | 'queueDelivery' | 'setDelivery' | 'takeDueNotices' | 'sweep' | 'scrub'
> &
  PostgresLooks;

export function createRecordStore(engine: Engine): PostgresRecords {
  const endings = createEndings(engine);
  const roots = createRootUses(engine);
  const { findSecret, keptOf } = createFinding(engine, endings);
  return {
    put: createPut(engine, roots),
    findSecret,
    ...createClaimStore(engine, { endings, roots, keptOf }),
    ...createLookStore(engine, { endings, roots }),
    ...createReceiptStore(engine, { endings, roots }),
  };
}
