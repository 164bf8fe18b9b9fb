/**
 * Decides when a secret seen as ended may be reported gone. Two things could bring it back. A failover loses anything
 * not yet durable, so an ending is first proven durable (`Engine.prove`). And a node in doubt about its own claim may
 * undo it by the token in the row (claims.ts), so the token is removed first; then no undo finds it. An undo happens
 * within `undoSeconds`, by store time and by the node's own clock, so an older token is void. A confirmed decision that
 * locked the row has proven its state: what it saw precedes it in the engine's log.
 */
import { ServiceError } from '../../core/errors.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { createBatch, rowsInOrderOf } from './batches.ts';
import type { Engine } from './engine.ts';
import { decision } from './statement.ts';

export const undoSeconds = 7;
/** Two nodes' times may differ by the three seconds of a lease (see time.ts). */
const settledAfterSeconds = undoSeconds + 5;

/** The ending of a record whose state is not 'w'. */
export interface Ending {
  readonly secret_id: Uint8Array;
  readonly state: string;
  readonly ended_at: UnixSeconds | null;
  readonly claim_token: Uint8Array | null;
}

export const endingColumns = 'r.secret_id, r.state, r.ended_at, r.claim_token';

interface Claimed {
  readonly secretId: Uint8Array;
  readonly claimToken: Uint8Array;
}

const settleClaims = decision(`
  WITH asked AS (SELECT * FROM unnest($3::bytea[], $4::bytea[]) AS asked (secret_id, claim_token)),
  found AS MATERIALIZED (
    SELECT r.secret_id, r.state <> 'w' AND (r.claim_token IS NULL OR r.claim_token = asked.claim_token) AS is_ended
    FROM asked JOIN mayfly_store.records r USING (secret_id) ORDER BY r.secret_id FOR UPDATE OF r),
  settled AS (
    UPDATE mayfly_store.records r SET claim_token = NULL FROM found
    WHERE r.secret_id = found.secret_id AND found.is_ended AND r.claim_token IS NOT NULL)
  SELECT secret_id AS asked_id, is_ended FROM found`);

interface SettledRow {
  readonly asked_id: Uint8Array;
  readonly is_ended: boolean;
}

export interface Endings {
  /** While this node undoes a claim, `believe` rejects that claim, so that the node does not block its own undo (P3). */
  undoing(claimToken: Uint8Array, undo: () => Promise<void>): Promise<void>;
  /** Resolves once the ending can no longer be undone or lost; rejects as `unavailable` while it still could be. */
  believe(seen: Ending): Promise<void>;
  /** Does the same for what a confirmed decision saw in a row that it locked. */
  believeLocked(seen: Ending): Promise<void>;
}

export function createEndings(engine: Engine): Endings {
  const settle = createBatch<Claimed, boolean, SettledRow>(engine, {
    statement: settleClaims,
    kind: 'decide',
    idOf: ({ secretId }) => secretId,
    valuesOf: (asks) => [asks.map(({ secretId }) => secretId), asks.map(({ claimToken }) => claimToken)],
    answersOf: (rows, asks) =>
      rowsInOrderOf(asks, ({ secretId }) => secretId, rows).map((row) => row?.is_ended ?? true),
  });

  const undos = new Set<string>();

  async function undoing(claimToken: Uint8Array, undo: () => Promise<void>): Promise<void> {
    const token = claimToken.toHex();
    undos.add(token);
    await undo();
    undos.delete(token);
  }

  async function believeLocked({ secret_id, ended_at, claim_token }: Ending): Promise<void> {
    if (claim_token === null || (ended_at ?? 0) <= engine.time.now() - settledAfterSeconds) return;
    if (undos.has(claim_token.toHex()))
      throw new ServiceError('unavailable', 'A claim of this secret is being undone.');
    const isEnded = await settle({ secretId: secret_id, claimToken: claim_token });
    if (isEnded !== true) throw new ServiceError('unavailable', 'A claim of this secret was undone.');
  }

  return {
    undoing,
    believeLocked,
    async believe(seen) {
      await believeLocked(seen);
      await engine.prove(seen, seen.ended_at ?? 0);
    },
  };
}
