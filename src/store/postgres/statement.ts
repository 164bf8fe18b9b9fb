/** A statement by a name that follows from its text, so that two clients of one pooler never mean different ones by it. */
import { createHash } from 'node:crypto';

export interface Statement {
  readonly name: string;
  readonly text: string;
}

/**
 * Mayfly's own schema: no other role may create in it, and every statement qualifies its names with it, whatever `search_path` is. Not
 * named like a likely role, because a role's default path begins with the schema of its own name.
 */
const schemaName = 'mayfly_store';

export const inSchema = (text: string, schema = schemaName): string =>
  schema === schemaName ? text : text.replaceAll(schemaName, schema);

export function statement(text: string): Statement {
  return { text, name: `mayfly_${createHash('sha256').update(text).digest('hex').slice(0, 16)}` };
}

/**
 * Out of the first two parameters of a decision: this node's store time, and how often it knows the time to have been set. Never
 * behind what another node has kept; a node that missed a setting is judged by what was set.
 */
const clock = `
  clock AS (
    SELECT CASE WHEN times_set = $2::bigint THEN greatest($1::bigint, seconds) ELSE seconds END AS now
    FROM mayfly_store.store_time WHERE only_row = 1)`;

/**
 * A statement that decides: its text finds the time that it decides by in `clock.now`, and its own parameters begin at `$3`. It may
 * begin with a WITH of its own.
 */
export function decision(text: string): Statement {
  const [, ownTables] = /^\s*WITH\s+(.*)$/s.exec(text) ?? [];
  return statement(ownTables === undefined ? `WITH ${clock}\n${text}` : `WITH ${clock},\n${ownTables}`);
}

/** What a caller gives may be wiped as soon as the call has returned. Not by `slice`: that of a `Buffer` shares its bytes. */
export const copyOf = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes);

/** A name to look for: `null`, which nothing equals, for one that no text in the database can be. */
export const nameOf = (text: string): string | null => (text.includes('\0') ? null : text);
