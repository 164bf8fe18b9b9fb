/** Codes mailed to the address of a secret's `verify`, one row each. A later code of the same opener is a later row, so the last one counts. */
import { type CodeStore, codeSeconds, type StoredCode } from '../../core/ports/codes.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { codeAt } from '../store.ts';
import { createEndings, type Ending, endingColumns } from './endings.ts';
import type { Engine } from './engine.ts';
import { copyOf, decision, statement } from './statement.ts';

/** Never earlier than the opener's last one: another node's time may be ahead. */
const putCode = decision(`
  WITH found AS MATERIALIZED (
    SELECT ${endingColumns}, r.expires_at FROM mayfly_store.records r WHERE r.secret_id = $3 FOR NO KEY UPDATE),
  stored AS (
    INSERT INTO mayfly_store.codes AS c (secret_id, look_tag, at, code_tag, state)
    SELECT $3, $4, greatest(now, (SELECT max(at) FROM mayfly_store.codes WHERE secret_id = $3 AND look_tag = $4)), $5, 'queued'
    FROM found, clock WHERE state = 'w' AND expires_at > now
    ON CONFLICT (secret_id, look_tag, at) DO UPDATE SET code_tag = excluded.code_tag, state = excluded.state
    RETURNING c.at)
  SELECT found.*, (SELECT at FROM stored) AS stored_at FROM found`);

const findLast = statement(`
  SELECT code_tag FROM mayfly_store.codes WHERE secret_id = $1 AND look_tag = $2 AND at > $3 ORDER BY at DESC LIMIT 1`);

const noteState = decision('UPDATE mayfly_store.codes SET state = $5 WHERE secret_id = $3 AND code_tag = $4');

const listCodes = statement('SELECT at, state FROM mayfly_store.codes WHERE secret_id = $1 ORDER BY at');

interface FoundRow extends Ending {
  readonly stored_at: UnixSeconds | null;
}

export function createCodeStore(engine: Engine): CodeStore {
  const { time } = engine;
  const endings = createEndings(engine);
  return {
    async putCode(id, { lookTag, codeTag }) {
      const [found] = await engine.decide<FoundRow>(putCode, [id, lookTag, codeTag].map(copyOf));
      if (found !== undefined && found.state !== 'w') await endings.believeLocked(found);
      return found?.stored_at ?? null;
    },
    async findCode(id, lookTag) {
      const values = [copyOf(id), copyOf(lookTag), time.now() - codeSeconds];
      const [last] = await engine.read<{ readonly code_tag: Uint8Array }>(findLast, values);
      return last?.code_tag ?? null;
    },
    async setCodeState(id, codeTag, state) {
      await engine.decide(noteState, [copyOf(id), copyOf(codeTag), state]);
    },
    async listCodes(id) {
      const codes = await engine.read<StoredCode>(listCodes, [copyOf(id)]);
      return codes.map((code) => codeAt(code, time.now()));
    },
  };
}
