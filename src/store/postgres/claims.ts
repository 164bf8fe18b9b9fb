/**
 * Claims and burns. Safety rests on the form of the statements. Each locks its rows in the order of their ids, so that
 * concurrent statements never deadlock. Then one UPDATE checks the whole condition, sets the state and erases the
 * secret (P1, P6, P7). Any other decision about the row waits for the lock, and then its own condition fails. A claim
 * updates no index, because none covers a column that it changes. No decision is reported before the engine has
 * confirmed it (P2).
 *
 * A claim leaves its own token in the row. If its confirmation is in doubt, this node has released nothing and alone
 * knows the token. It may restore what was erased from its earlier read (P3), by one UPDATE within `undoSeconds`,
 * unless someone has been answered since (endings.ts), an answer to its look was requested, or the erased bytes differ
 * from those read. The undo takes the same locks as a put, so nothing comes back under a closed root or for a deleted
 * account.
 */

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../core/errors.ts';
import type {
  BurnDecision,
  ClaimOutcome,
  ClaimStore,
  ClaimTarget,
  IsAbandoned,
} from '../../core/ports/claims.ts';
import { lookRow, type NewLook } from '../../core/ports/looks.ts';
import { rootKidOf } from '../../core/ports/roots.ts';
import type { StoredSecret } from '../../core/secret.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { lookSeconds } from '../../protocol/limits.ts';
import type { Burner } from '../../protocol/vocabulary.ts';
import { createBatch, rowsInOrderOf } from './batches.ts';
import { type Ending, type Endings, endingColumns, undoSeconds } from './endings.ts';
import type { Engine } from './engine.ts';
import { NotExecutedError } from './faults.ts';
import type { RootUses } from './roots.ts';
import { decision, type Statement } from './statement.ts';
import { requestWaits } from './waits.ts';

const lookVersion = `'\\x${lookRow.version.toString(16).padStart(2, '0')}'::bytea`;
const versionOf = (bytes: string): string => `substr(${bytes}, 1, 1)`;
export const rootOf = (bytes: string): string => `substr(${bytes}, 2, 2)`;

/** What an UPDATE sets; the caller adds the condition. */
export const erased = 'sealed_secret = NULL, delivery_address_box = NULL, look_until = NULL, look_tag = NULL';

/** A look fits only if, by store time, it ends early enough, and if no later root has re-wrapped the secret. */
const lookFits = `
  found.look IS NULL OR (octet_length(found.look) = octet_length(r.sealed_secret) AND ${versionOf('found.look')} = ${lookVersion}
    AND ${rootOf('found.look')} >= ${rootOf('r.sealed_secret')}
    AND found.new_until <= least(r.expires_at, clock.now + ${lookSeconds}))`;

const claimRecords = decision(`
  WITH asked AS (
    SELECT * FROM unnest($3::bytea[], $4::integer[], $5::bytea[], $6::bytea[], $7::bigint[])
      AS asked (secret_id, found_version, new_token, look, new_until)),
  found AS MATERIALIZED (
    SELECT locked.*, asked.found_version, asked.new_token, asked.look, asked.new_until,
      locked.state = 'w' AND locked.expires_at > clock.now AND locked.row_version = asked.found_version AS waits
    FROM clock CROSS JOIN (SELECT * FROM asked ORDER BY secret_id) AS asked CROSS JOIN LATERAL (
      SELECT ${endingColumns}, r.expires_at, r.row_version FROM mayfly_store.records r
      WHERE r.secret_id = asked.secret_id FOR UPDATE) AS locked),
  taken AS (
    UPDATE mayfly_store.records r SET state = 'r', ended_at = clock.now, claim_token = found.new_token,
      sealed_secret = found.look, look_until = found.new_until,
      look_tag = substr(found.look, ${lookRow.tagAt + 1}, ${lookRow.tagBytes}), delivery_address_box = NULL
    FROM found, clock
    WHERE found.state = 'w' AND r.secret_id = found.secret_id
      AND r.row_version = found.found_version AND r.state = 'w' AND r.expires_at > clock.now AND (${lookFits})
    RETURNING r.secret_id, r.look_until),
  noted AS (INSERT INTO mayfly_store.looks (secret_id, until) SELECT secret_id, look_until FROM taken WHERE look_until IS NOT NULL)
  SELECT found.secret_id AS asked_id, found.secret_id, state, ended_at, claim_token, waits, taken.secret_id IS NOT NULL AS is_won
  FROM found LEFT JOIN taken USING (secret_id)`);

const undoClaims = decision(`
  WITH asked AS (
    SELECT * FROM unnest($3::bytea[], $4::bytea[], $5::bytea[], $6::integer[], $7::bytea[], $8::integer[], $9::bigint[])
      AS asked (secret_id, own_token, was, version, address_box, kid, its_owner)),
  open_roots AS MATERIALIZED (SELECT kid FROM mayfly_store.root_floor WHERE only_row = 1 FOR SHARE),
  owners AS MATERIALIZED (SELECT id FROM mayfly_store.accounts WHERE id = ANY ($9::bigint[]) ORDER BY id FOR KEY SHARE),
  found AS MATERIALIZED (
    SELECT r.secret_id, asked.own_token, asked.was, asked.version, asked.address_box
    FROM asked JOIN mayfly_store.records r USING (secret_id)
    WHERE asked.kid >= (SELECT kid FROM open_roots) AND (asked.its_owner IS NULL OR asked.its_owner IN (SELECT id FROM owners))
    ORDER BY r.secret_id FOR UPDATE OF r)
  UPDATE mayfly_store.records r SET state = 'w', ended_at = NULL, claim_token = NULL, sealed_secret = found.was,
    look_until = NULL, look_tag = NULL, sweep_at = r.expires_at, delivery_address_box = found.address_box
  FROM found, clock
  WHERE r.secret_id = found.secret_id AND r.claim_token = found.own_token AND r.state = 'r'
    AND r.sealed_version = found.version AND r.ended_at > clock.now - ${undoSeconds}
  RETURNING r.secret_id AS asked_id`);

const burnedBy = (burner: Burner): string =>
  `UPDATE mayfly_store.records r SET state = 'b', ended_at = clock.now, burned_by = '${burner}', ${erased}`;

/** A burn by the creator also ends any look. */
const burnRecords = decision(`
  WITH asked AS (SELECT * FROM unnest($3::bytea[], $4::integer[]) AS asked (receipt_id, row_version)),
  found AS MATERIALIZED (
    SELECT ${endingColumns}, r.receipt_id AS asked_id, r.state = 'r' AND r.sealed_secret IS NOT NULL AS has_look
    FROM asked JOIN mayfly_store.records r USING (receipt_id) ORDER BY r.secret_id FOR UPDATE OF r),
  burned AS (
    ${burnedBy('creator')} FROM found, clock
    WHERE r.secret_id = found.secret_id AND r.state = 'w' AND r.expires_at > clock.now
    RETURNING r.secret_id, r.ended_at),
  look_ended AS (
    UPDATE mayfly_store.records r SET ${erased} FROM found WHERE r.secret_id = found.secret_id AND found.has_look)
  SELECT found.*, burned.ended_at AS burned_at FROM found LEFT JOIN burned USING (secret_id)`);

const burnFoundRecords = decision(`
  WITH asked AS (SELECT * FROM unnest($3::bytea[], $4::integer[]) AS asked (secret_id, row_version)),
  found AS MATERIALIZED (
    SELECT ${endingColumns}, r.secret_id AS asked_id, asked.row_version
    FROM asked JOIN mayfly_store.records r USING (secret_id) ORDER BY r.secret_id FOR UPDATE OF r),
  burned AS (
    ${burnedBy('recipient')} FROM found, clock
    WHERE r.secret_id = found.secret_id AND r.row_version = found.row_version AND r.state = 'w' AND r.expires_at > clock.now
    RETURNING r.secret_id, r.ended_at)
  SELECT found.*, burned.ended_at AS burned_at FROM found LEFT JOIN burned USING (secret_id)`);

/** Also removes claim tokens, so that no undo restores a secret that this walk has already passed. */
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

export interface Kept extends Pick<StoredSecret, 'owner' | 'sealedSecret'> {
  readonly sealedVersion: number;
  readonly addressBox: Uint8Array | null;
}

interface Claim extends Pick<ClaimTarget, 'secretId' | 'rowVersion'> {
  readonly claimToken: Uint8Array;
  readonly look: NewLook | null;
  readonly isAbandoned: IsAbandoned;
}

interface ClaimRow extends Ending {
  readonly asked_id: Uint8Array;
  readonly waits: boolean;
  readonly is_won: boolean;
}

interface Undo extends Pick<Claim, 'secretId' | 'claimToken'> {
  readonly kept: Kept;
}

function createClaimBatches(engine: Engine) {
  const claim = createBatch<Claim, ClaimRow | null, ClaimRow>(engine, {
    statement: claimRecords,
    kind: 'decide',
    idOf: ({ secretId }) => secretId,
    valuesOf: (asks) => [
      asks.map(({ secretId }) => secretId),
      asks.map(({ rowVersion }) => rowVersion),
      asks.map(({ claimToken }) => claimToken),
      asks.map(({ look }) => look?.sealedLook ?? null),
      asks.map(({ look }) => look?.until ?? null),
    ],
    answersOf: (rows, asks) => rowsInOrderOf(asks, ({ secretId }) => secretId, rows),
    isAbandoned: ({ isAbandoned }) => isAbandoned(),
    bytesOf: ({ look }) => 2 * (look?.sealedLook.length ?? 0),
  });
  const undo = createBatch<Undo, boolean, Pick<ClaimRow, 'asked_id'>>(engine, {
    statement: undoClaims,
    kind: 'decide',
    idOf: ({ secretId }) => secretId,
    valuesOf: (asks) => [
      asks.map(({ secretId }) => secretId),
      asks.map(({ claimToken }) => claimToken),
      asks.map(({ kept }) => kept.sealedSecret),
      asks.map(({ kept }) => kept.sealedVersion),
      asks.map(({ kept }) => kept.addressBox),
      asks.map(({ kept }) => rootKidOf(kept.sealedSecret) ?? 0),
      asks.map(({ kept }) => kept.owner),
    ],
    answersOf: (rows, asks) =>
      rowsInOrderOf(asks, ({ secretId }) => secretId, rows).map((row) => row !== null),
    bytesOf: ({ kept }) => 2 * kept.sealedSecret.length,
  });
  return { claim, undo };
}

const betweenTriesMs = 1_000;
/** The claim may still be running on the server, so the undo gives up only after this many confirmed misses. */
const missesToEnd = 3;

/** Retries for `undoSeconds`, until the undo is confirmed or the claim is known not to have happened. */
async function putBack(undo: (ask: Undo) => Promise<boolean | 'abandoned'>, ask: Undo): Promise<void> {
  const endsAt = performance.now() + undoSeconds * 1_000;
  for (let misses = 0; misses < missesToEnd; ) {
    const isUndone = await undo(ask).catch(() => null);
    if (isUndone === true) return;
    if (isUndone === false) misses += 1;
    if (performance.now() + betweenTriesMs > endsAt) return;
    await sleep(betweenTriesMs, undefined, { ref: false });
  }
}

interface BurnRow extends Ending {
  readonly asked_id: Uint8Array;
  readonly burned_at: UnixSeconds | null;
}

interface Burn {
  /** The receipt's id, or the secret's. */
  readonly id: Uint8Array;
  readonly rowVersion: number | null;
  readonly isAbandoned: IsAbandoned;
}

const burnBatch = (engine: Engine, statement: Statement) =>
  createBatch<Burn, BurnRow | null, BurnRow>(engine, {
    statement,
    kind: 'decide',
    idOf: ({ id }) => id,
    valuesOf: (asks) => [asks.map(({ id }) => id), asks.map(({ rowVersion }) => rowVersion)],
    answersOf: (rows, asks) => rowsInOrderOf(asks, ({ id }) => id, rows),
    isAbandoned: ({ isAbandoned }) => isAbandoned(),
  });

/** The use of a root is recorded only if it is later: the secret's own already is, and a look under an earlier one is refused. */
const isOfLaterRoot = ({ sealedLook }: NewLook, kept: Kept | undefined): boolean =>
  kept === undefined || (rootKidOf(sealedLook) ?? 0) > (rootKidOf(kept.sealedSecret) ?? 0);

interface ClaimParts {
  readonly endings: Pick<Endings, 'undoing' | 'believeLocked'>;
  readonly roots: RootUses;
  keptOf(target: ClaimTarget): Kept | undefined;
}

export function createClaimStore(
  engine: Engine,
  { endings: { undoing, believeLocked }, roots, keptOf }: ClaimParts,
): ClaimStore {
  const { claim, undo } = createClaimBatches(engine);
  const burn = burnBatch(engine, burnRecords);
  const burnFound = burnBatch(engine, burnFoundRecords);

  async function claimOrPutBack(ask: Claim, kept: Kept | undefined): Promise<ClaimRow | null | 'abandoned'> {
    try {
      return await claim(ask);
    } catch (fault) {
      if (kept !== undefined && !(fault instanceof NotExecutedError))
        void requestWaits.apart(() => undoing(ask.claimToken, () => putBack(undo, { ...ask, kept })));
      throw fault;
    }
  }

  async function outcomeOf(row: BurnRow | null | 'abandoned'): Promise<BurnDecision> {
    if (row === null || row === 'abandoned') return row;
    if (row.burned_at === null && row.state !== 'w') await believeLocked(row);
    return row.burned_at;
  }

  return {
    async claim(target, isAbandoned, look = null): Promise<ClaimOutcome> {
      const ask = {
        secretId: new Uint8Array(target.secretId) as ClaimTarget['secretId'],
        rowVersion: target.rowVersion,
        claimToken: new Uint8Array(randomBytes(16)),
        look: look === null ? null : { ...look, sealedLook: new Uint8Array(look.sealedLook) },
        isAbandoned,
      };
      const kept = keptOf(target);
      if (ask.look !== null && isOfLaterRoot(ask.look, kept))
        await roots.extend(ask.look.sealedLook, ask.look.until);
      const row = await claimOrPutBack(ask, kept);
      if (row === 'abandoned') return row;
      if (row?.is_won) return 'won';
      if (row?.waits) throw new ServiceError('unavailable', 'The look does not fit the secret any more.');
      if (row !== null && row.state !== 'w') await believeLocked(row);
      return 'gone';
    },
    burn: async (id, isAbandoned) =>
      outcomeOf(await burn({ id: new Uint8Array(id), rowVersion: null, isAbandoned })),
    burnFound: async ({ secretId, rowVersion }, isAbandoned) =>
      outcomeOf(await burnFound({ id: new Uint8Array(secretId), rowVersion, isAbandoned })),
    async burnAll(after, limit) {
      const values = [Number(after ?? 0), limit, engine.time.earliest()];
      const [row] = await engine.decide<BurnedRow>(burnAll, values);
      const next = row?.looked === limit && row.upto !== null ? String(row.upto) : null;
      return { burned: row?.burned ?? 0, next };
    },
  };
}
