/** Two clients of one pooler must never mean different statements by a name, so it follows from the text. */
import { createHash } from 'node:crypto';

export interface Statement {
  readonly name: string;
  readonly text: string;
}

/**
 * No other role may create in it, and every statement qualifies its names with it, whatever `search_path` is. Not named
 * like a likely role, because a role's default path begins with the schema of its name.
 */
const schemaName = 'mayfly_store';

export const inSchema = (text: string, schema = schemaName): string =>
  schema === schemaName ? text : text.replaceAll(schemaName, schema);

export function statement(text: string): Statement {
  return { text, name: `mayfly_${createHash('sha256').update(text).digest('hex').slice(0, 16)}` };
}

/**
 * From a decision's first two parameters: this node's store time, and how often it knows the time to have been set.
 * Never earlier than what another node saved; a node that missed a setting uses the time that was set.
 */
const clock = `
  clock AS (
    SELECT CASE WHEN times_set = $2::bigint THEN greatest($1::bigint, seconds) ELSE seconds END AS now
    FROM mayfly_store.store_time WHERE only_row = 1)`;

/** Its text finds its time in `clock.now`, and its own parameters begin at `$3`. It may begin with its own WITH. */
export function decision(text: string): Statement {
  const [, ownTables] = /^\s*WITH\s+(.*)$/s.exec(text) ?? [];
  return statement(ownTables === undefined ? `WITH ${clock}\n${text}` : `WITH ${clock},\n${ownTables}`);
}

/** A caller may wipe its bytes after the call. Not by `slice`: a `Buffer`'s shares its bytes. */
export const copyOf = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes);

/** `null`, which equals nothing, if no text in the database can be this name. */
export const nameOf = (text: string): string | null => (text.includes('\0') ? null : text);
