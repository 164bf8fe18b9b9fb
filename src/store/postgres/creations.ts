/**
 * Creations that may be repeated, as rows.
 *
 * The form of the statements is the safety argument. A reservation is one INSERT that gives way to a row that lives, so of two at once
 * one is made. A take-over is one UPDATE that names the seed it replaces and the time it was given. A record is stored by the statement
 * that sets `done_at` where it is NULL and the seed is the one that its keys come from (see records.ts), so each seed has one record at
 * most. Whoever is told that a creation is done is told so only of one that is durable.
 *
 * A row goes with its token by the foreign key, however the token goes; a reservation locks the token's row, so that none outlives it.
 */
import {
  type CreationId,
  type CreationStore,
  creationSeconds,
  type StoredCreation,
  takeOverSeconds,
} from '../../core/creation-store.ts';
import { ServiceError } from '../../core/errors.ts';
import type { UnixSeconds } from '../../core/time.ts';
import type { Engine } from './engine.ts';
import { decision, statement } from './statement.ts';

const selectCreation = statement(`
  SELECT seed, body_mac, done_at, mismatches, reserved_at FROM creations WHERE creation_id = $1 AND ends_at > $2`);

const reserve = decision(`
  WITH token AS MATERIALIZED (SELECT token_id FROM tokens WHERE token_id = $4 FOR KEY SHARE),
  reserved AS (
    INSERT INTO creations AS c (creation_id, token_id, seed, body_mac, reserved_at, ends_at)
    SELECT $3, token_id, $5, $6, now, now + ${creationSeconds} FROM token, clock
    ON CONFLICT (creation_id) DO UPDATE SET token_id = excluded.token_id, seed = excluded.seed, body_mac = excluded.body_mac,
      done_at = NULL, mismatches = 0, reserved_at = excluded.reserved_at, ends_at = excluded.ends_at
    WHERE c.ends_at <= excluded.reserved_at
    RETURNING 1)
  SELECT EXISTS (SELECT FROM token) AS has_token, EXISTS (SELECT FROM reserved) AS is_reserved`);

const takeOver = decision(`
  UPDATE creations SET seed = $5, body_mac = $6, reserved_at = now, ends_at = now + ${creationSeconds} FROM clock
  WHERE creation_id = $3 AND seed = $4 AND done_at IS NULL AND reserved_at <= now - ${takeOverSeconds}
  RETURNING 1`);

const release = decision('DELETE FROM creations WHERE creation_id = $3 AND seed = $4 AND done_at IS NULL');

const count = decision('UPDATE creations SET mismatches = mismatches + 1 WHERE creation_id = $3');

interface CreationRow {
  seed: Uint8Array;
  body_mac: Uint8Array;
  done_at: UnixSeconds | null;
  mismatches: number;
  reserved_at: UnixSeconds;
}

const toStored = (row: CreationRow): StoredCreation => ({
  wrappedSeed: row.seed,
  bodyMac: row.body_mac,
  isDone: row.done_at !== null,
  reservedAt: row.reserved_at,
  mismatches: row.mismatches,
});

/** A row that was in the way of a reservation may have ended or been released by the time that it is read. */
const maxTries = 10;

export function createCreationStore(engine: Engine): CreationStore {
  async function find(id: CreationId): Promise<StoredCreation | null> {
    const [row] = await engine.read<CreationRow>(selectCreation, [id, engine.time.now()]);
    if (row === undefined) return null;
    if (row.done_at !== null) await engine.prove(row.done_at);
    return toStored(row);
  }

  return {
    findCreation: (id) => find(new Uint8Array(id) as CreationId),
    async reserveCreation(creation) {
      const { id, tokenId, wrappedSeed, bodyMac } = structuredClone(creation);
      for (let tries = 0; tries < maxTries; tries += 1) {
        const [told] = await engine.decide<{ has_token: boolean; is_reserved: boolean }>(reserve, [
          id,
          tokenId,
          wrappedSeed,
          bodyMac,
        ]);
        if (told?.is_reserved) return 'reserved';
        if (!told?.has_token)
          throw new ServiceError('unavailable', 'The token of the creation is not there.');
        const known = await find(id);
        if (known !== null) return known;
      }
      throw new ServiceError('unavailable', 'The creation changed each time it was looked at.');
    },
    async takeOverCreation({ id, wrappedSeed: from }, { wrappedSeed, bodyMac }) {
      const values = [id, from, wrappedSeed, bodyMac].map((bytes) => bytes.slice());
      return (await engine.decide(takeOver, values)).length === 1;
    },
    async releaseCreation({ id, wrappedSeed }) {
      await engine.decide(release, [id.slice(), wrappedSeed.slice()]);
    },
    async countMismatch(id) {
      await engine.decide(count, [id.slice()]);
    },
  };
}
