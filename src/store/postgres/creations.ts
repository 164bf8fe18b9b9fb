/**
 * Repeatable creations. Safety rests on the form of the statements. A reservation is one INSERT that gives way to a live row, so
 * of two concurrent ones only one succeeds. A take-over is one UPDATE that checks the seed it replaces and that seed's age. The
 * statement that stores a record sets `done_at` if it is NULL and the seed belongs to the record's keys (see secrets.ts), so each
 * seed gets at most one record. A creation is reported done only once this change is durable.
 *
 * A reservation locks its token's row, so that it cannot outlive the token. Tokens are locked before creations, both in the order
 * of their ids.
 */

import { ServiceError } from '../../core/errors.ts';
import {
  type CreationStore,
  creationSeconds,
  type IdempotentCreation,
  type NewIdempotentCreation,
  takeOverSeconds,
} from '../../core/ports/creations.ts';
import type { CreationId } from '../../core/secret.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { createBatch, rowsInOrderOf } from './batches.ts';
import type { Engine } from './engine.ts';
import { copyOf, decision, statement } from './statement.ts';

const selectCreations = statement(`
  SELECT creation_id AS asked_id, seed AS "wrappedSeed", body_mac AS "bodyMac", done_at, mismatches, reserved_at AS "reservedAt"
  FROM unnest($1::bytea[]) AS asked (creation_id) JOIN mayfly_store.creations USING (creation_id) WHERE ends_at > $2`);

const reserveCreations = decision(`
  WITH asked AS (
    SELECT * FROM unnest($3::bytea[], $4::bigint[], $5::bytea[], $6::bytea[]) AS asked (creation_id, token_id, seed, body_mac)),
  held AS MATERIALIZED (
    SELECT token_id FROM mayfly_store.tokens WHERE token_id = ANY ($4::bigint[]) ORDER BY token_id FOR KEY SHARE),
  reserved AS (
    INSERT INTO mayfly_store.creations AS c (creation_id, token_id, seed, body_mac, reserved_at, ends_at)
    SELECT creation_id, token_id, seed, body_mac, now, now + ${creationSeconds} FROM asked JOIN held USING (token_id), clock
    ORDER BY creation_id
    ON CONFLICT (creation_id) DO UPDATE SET token_id = excluded.token_id, seed = excluded.seed, body_mac = excluded.body_mac,
      done_at = NULL, mismatches = 0, reserved_at = excluded.reserved_at, ends_at = excluded.ends_at
    WHERE c.ends_at <= excluded.reserved_at
    RETURNING creation_id)
  SELECT asked.creation_id AS asked_id, reserved.creation_id IS NOT NULL AS is_reserved
  FROM asked JOIN held USING (token_id) LEFT JOIN reserved USING (creation_id)`);

const takeOver = decision(`
  UPDATE mayfly_store.creations SET seed = $5, body_mac = $6, reserved_at = now, ends_at = now + ${creationSeconds} FROM clock
  WHERE creation_id = $3 AND seed = $4 AND done_at IS NULL AND reserved_at <= now - ${takeOverSeconds}
  RETURNING 1`);

const release = decision(
  'DELETE FROM mayfly_store.creations WHERE creation_id = $3 AND seed = $4 AND done_at IS NULL',
);

const count = decision(
  'UPDATE mayfly_store.creations SET mismatches = mismatches + 1 WHERE creation_id = $3',
);

interface CreationRow extends Omit<IdempotentCreation, 'isDone'> {
  readonly asked_id: Uint8Array;
  readonly done_at: UnixSeconds | null;
}

/** A conflicting row may have ended or been released by the time it is read. */
const maxTries = 10;

interface ReservedRow {
  asked_id: Uint8Array;
  is_reserved: boolean;
}

function createBatches(engine: Engine) {
  const find = createBatch<CreationId, CreationRow | null, CreationRow>(engine, {
    statement: selectCreations,
    kind: 'read',
    idOf: (id) => id,
    valuesOf: (ids) => [ids, engine.time.now()],
    answersOf: (rows, ids) => rowsInOrderOf(ids, (id) => id, rows),
  });
  const reserve = createBatch<NewIdempotentCreation, ReservedRow | null, ReservedRow>(engine, {
    statement: reserveCreations,
    kind: 'decide',
    idOf: ({ id }) => id,
    valuesOf: (asks) => [
      asks.map(({ id }) => id),
      asks.map(({ tokenId }) => tokenId),
      asks.map(({ wrappedSeed }) => wrappedSeed),
      asks.map(({ bodyMac }) => bodyMac),
    ],
    answersOf: (rows, asks) => rowsInOrderOf(asks, ({ id }) => id, rows),
  });
  return { find, reserve };
}

export function createCreationStore(engine: Engine): CreationStore {
  const batches = createBatches(engine);

  async function find(id: CreationId): Promise<IdempotentCreation | null> {
    const row = await batches.find(id);
    if (row === null || row === 'abandoned') return null;
    if (row.done_at !== null) await engine.prove(row, row.done_at);
    const { asked_id: _, done_at: doneAt, ...known } = row;
    return { ...known, isDone: doneAt !== null };
  }

  return {
    findCreation: (id) => find(copyOf(id) as CreationId),
    async reserveCreation(given) {
      const creation = structuredClone(given);
      for (let tries = 0; tries < maxTries; tries += 1) {
        const reserved = await batches.reserve(creation);
        if (reserved === null || reserved === 'abandoned')
          throw new ServiceError('unavailable', 'The token of the creation is not there.');
        if (reserved.is_reserved) return 'reserved';
        const known = await find(creation.id);
        if (known !== null) return known;
      }
      throw new ServiceError('unavailable', 'The creation changed each time it was looked at.');
    },
    async takeOverCreation({ id, wrappedSeed: from }, { wrappedSeed, bodyMac }) {
      const values = [id, from, wrappedSeed, bodyMac].map(copyOf);
      return (await engine.decide(takeOver, values)).length === 1;
    },
    async releaseCreation({ id, wrappedSeed }) {
      await engine.decide(release, [copyOf(id), copyOf(wrappedSeed)]);
    },
    async countMismatch(id) {
      await engine.decide(count, [copyOf(id)]);
    },
  };
}
