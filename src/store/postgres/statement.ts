/** Two clients of one pooler must never use one name for different statements, so the name is derived from the text. */
import { createHash } from 'node:crypto';

export interface Statement {
  readonly name: string;
  readonly text: string;
}

/**
 * No other role may create anything in this schema, and every statement qualifies its names with it, regardless of
 * `search_path`. No role is likely to have this name: a role's default path begins with the schema of the same name.
 */
const schemaName = 'mayfly_store';

export const inSchema = (text: string, schema = schemaName): string =>
  schema === schemaName ? text : text.replaceAll(schemaName, schema);

export function statement(text: string): Statement {
  return { text, name: `mayfly_${createHash('sha256').update(text).digest('hex').slice(0, 16)}` };
}

/**
 * A decision's time, from its first two parameters: this node's store time, and how many time changes it has seen.
 * Never earlier than a time saved by another node; a node that missed a change uses the time that was set.
 */
const clock = `
  clock AS (
    SELECT CASE WHEN times_set = $2::bigint THEN greatest($1::bigint, seconds) ELSE seconds END AS now
    FROM mayfly_store.store_time WHERE only_row = 1)`;

/** The text reads the time from `clock.now`, numbers its own parameters from `$3`, and may begin with WITH. */
export function decision(text: string): Statement {
  const [, ownTables] = /^\s*WITH\s+(.*)$/s.exec(text) ?? [];
  return statement(ownTables === undefined ? `WITH ${clock}\n${text}` : `WITH ${clock},\n${ownTables}`);
}

/** Copies bytes that a caller may wipe after the call. A `Buffer`'s `slice` would share them. */
export const copyOf = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes);

/** Returns `null`, which equals nothing, for a name that the database could not store. */
export const nameOf = (text: string): string | null => (text.includes('\0') ? null : text);
