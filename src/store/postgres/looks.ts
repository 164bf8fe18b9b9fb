/**
 * The second look, stored in the record's own row: it replaces the sealed secret and has the same length. Each decision
 * is one UPDATE that checks the whole condition (see claims.ts). An answer removes the token of the claim that left the
 * look. Then no undo restores the secret, so it is never released along with its look (P1). The tag has its own column,
 * so refusing a wrong tag takes the same work as refusing a secret that is gone (P17).
 */
import type { SecretId } from '../../core/keys.ts';
import type { IsAbandoned } from '../../core/ports/claims.ts';
import { type LookStore, lookRow, type StoredLook } from '../../core/ports/looks.ts';
import type { RotationStore } from '../../core/ports/roots.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { type SecretRow, secretColumns, toSecret } from '../record-rows.ts';
import { createBatch, rowsInOrderOf } from './batches.ts';
import { erased } from './claims.ts';
import { type Ending, type Endings, endingColumns } from './endings.ts';
import type { Engine } from './engine.ts';
import { decision, statement } from './statement.ts';

const findLook = statement(`
  SELECT ${endingColumns}, ${secretColumns}, r.look_until,
    CASE WHEN r.look_until > $3 AND ($2::bytea IS NULL OR r.look_tag = $2) THEN r.sealed_secret END AS "sealedSecret"
  FROM mayfly_store.records r WHERE r.secret_id = $1 AND r.state <> 'w'`);

interface LookRow extends Ending, Omit<SecretRow, 'sealedSecret'> {
  readonly sealedSecret: Uint8Array | null;
  readonly look_until: UnixSeconds;
}

const answersLeft = `get_byte(r.sealed_secret, ${lookRow.answersAt})`;
const isLast = `${answersLeft} = 1`;

const takeAnswers = decision(`
  WITH asked AS (SELECT * FROM unnest($3::bytea[], $4::bytea[]) AS asked (secret_id, tag)),
  found AS MATERIALIZED (
    SELECT ${endingColumns}, r.secret_id AS asked_id, asked.tag
    FROM asked JOIN mayfly_store.records r USING (secret_id) ORDER BY r.secret_id FOR UPDATE OF r),
  answered AS (
    UPDATE mayfly_store.records r SET claim_token = NULL,
      sealed_secret = CASE WHEN ${isLast} THEN NULL
        ELSE set_byte(r.sealed_secret, ${lookRow.answersAt}, ${answersLeft} - 1) END,
      look_until = CASE WHEN ${isLast} THEN clock.now ELSE r.look_until END,
      look_tag = CASE WHEN ${isLast} THEN NULL ELSE r.look_tag END
    FROM found, clock
    WHERE r.secret_id = found.secret_id AND r.state = 'r' AND r.look_until > clock.now AND r.look_tag = found.tag
      AND ${answersLeft} > 0
    RETURNING r.secret_id)
  SELECT found.*, answered.secret_id IS NOT NULL AS is_answered FROM found LEFT JOIN answered USING (secret_id)`);

const endLook = decision(`
  UPDATE mayfly_store.records r SET ${erased}, claim_token = NULL FROM clock
  WHERE r.secret_id = $3 AND r.state = 'r' AND r.look_tag = $4 AND r.look_until > clock.now`);

interface Answer {
  readonly secretId: Uint8Array;
  readonly tag: Uint8Array;
  readonly isAbandoned: IsAbandoned;
}

interface AnswerRow extends Ending {
  readonly asked_id: Uint8Array;
  readonly is_answered: boolean;
}

export type PostgresLooks = LookStore & Pick<RotationStore, 'findAnyLook'>;

export function createLookStore(engine: Engine, { believe, believeLocked }: Endings): PostgresLooks {
  const take = createBatch<Answer, AnswerRow | null, AnswerRow>(engine, {
    statement: takeAnswers,
    kind: 'decide',
    idOf: ({ secretId }) => secretId,
    valuesOf: (asks) => [asks.map(({ secretId }) => secretId), asks.map(({ tag }) => tag)],
    answersOf: (rows, asks) => rowsInOrderOf(asks, ({ secretId }) => secretId, rows),
    isAbandoned: ({ isAbandoned }) => isAbandoned(),
  });

  async function find(asked: SecretId, tag: Uint8Array | null): Promise<StoredLook | null> {
    const id = new Uint8Array(asked) as SecretId;
    const [row] = await engine.read<LookRow>(findLook, [id, tag?.slice() ?? null, engine.time.now()]);
    if (row === undefined) return null;
    await believe(row);
    const { sealedSecret, look_until: until } = row;
    return sealedSecret && { ...toSecret(id, { ...row, sealedSecret }), until };
  }

  return {
    findLook: (id, tag) => find(id, tag),
    findAnyLook: (id) => find(id, null),
    async takeAnswer(id, tag, isAbandoned) {
      const row = await take({ secretId: new Uint8Array(id), tag: new Uint8Array(tag), isAbandoned });
      if (row === 'abandoned') return row;
      if (row?.is_answered) return 'answered';
      if (row !== null && row.state !== 'w') await believeLocked(row);
      return 'gone';
    },
    async endLook(id, tag) {
      await engine.decide(endLook, [id.slice(), tag.slice()]);
    },
  };
}
