/** Codes mailed to the address of a secret's `verify`, one row each. A later code of the same opener is a later row, so the last one counts. */
import type { Database } from 'bun:sqlite';
import { type CodeStore, codeSeconds, type StoredCode } from '../../core/ports/codes.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { codeAt } from '../store.ts';
import type { Deciding } from './decisions.ts';
import { locateSecret, type Parts, type Read } from './parts.ts';

/** Never earlier than the opener's last one: one moved from PostgreSQL may be ahead. */
const insertCode = `
  INSERT OR REPLACE INTO codes (secret_id, look_tag, at, code_tag, state)
  SELECT secret_id, ?4, max(?1, ifnull((SELECT max(at) FROM codes WHERE secret_id = ?3 AND look_tag = ?4), 0)), ?5, 'queued'
  FROM records WHERE position = ?2 AND secret_id = ?3 AND state = 'w' AND expires_at > ?1
  RETURNING at`;

const selectLast = `
  SELECT code_tag FROM codes WHERE secret_id = ?1 AND look_tag = ?2 AND at > ?3 ORDER BY at DESC LIMIT 1`;

/** At a record's deletion. */
export const deleteCodesAt =
  'DELETE FROM codes WHERE secret_id = (SELECT secret_id FROM records WHERE position = ?1)';

export function createCodeWrites(db: Database): Deciding<'putCode' | 'setCodeState'> {
  const insert = db.query<{ at: UnixSeconds }, [number, number, Uint8Array, Uint8Array, Uint8Array]>(
    insertCode,
  );
  const note = db.query('UPDATE codes SET state = ?3 WHERE secret_id = ?1 AND code_tag = ?2');
  return {
    putCode: (now, { position, id }, { lookTag, codeTag }) =>
      insert.get(now, position, id, lookTag, codeTag)?.at ?? null,
    setCodeState: (_now, id, codeTag, state) => void note.run(id, codeTag, state),
  };
}

export function codeStore(parts: Parts): Read<CodeStore> {
  const { db, queue, reader, time } = parts;
  const last = db.query<{ code_tag: Uint8Array }, [Uint8Array, Uint8Array, number]>(selectLast);
  const all = db.query<StoredCode, [Uint8Array]>(
    'SELECT at, state FROM codes WHERE secret_id = ?1 ORDER BY at',
  );
  const locate = locateSecret(parts);
  return {
    async putCode(id, code) {
      const kept = structuredClone(code);
      const at = await locate(id);
      return at === null ? null : queue.decide('putCode', at, kept);
    },
    findCode(asked, lookTag) {
      const tag = lookTag.slice();
      return reader.lookUp(asked, (id) => last.get(id, tag, time.now() - codeSeconds)?.code_tag ?? null);
    },
    listCodes: (asked) => reader.lookUp(asked, (id) => all.all(id).map((each) => codeAt(each, time.now()))),
  };
}
