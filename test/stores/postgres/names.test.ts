/** That nobody else decides what the names in our SQL mean: each names its schema, and each parameter of a call its type. */
import { describe, expect, it } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dir, '../../../src/store/postgres');
const filesIn = (path: string, end: string) =>
  readdirSync(path)
    .filter((name) => name.endsWith(end))
    .map((name) => [name, readFileSync(join(path, name), 'utf8')] as const);

const sources = filesIn(folder, '.ts');
const migrations = filesIn(join(folder, 'migrations'), '.sql').filter(([name]) => /^\d/.test(name));
const made = (what: RegExp) =>
  migrations.flatMap(([, text]) => [...text.matchAll(what)].map(([, name = '']) => name));
const tables = ['migrations', ...made(/^CREATE (?:UNLOGGED )?TABLE mayfly_store\.(\w+)/gm)];
const functions = [...made(/^CREATE FUNCTION mayfly_store\.(\w+)/gm), 'note_moved_\\w+'];

const withoutComments = (text: string) => text.replace(/\/\*.*?\*\/|^\s*(?:\/\/|--).*$/gms, '');
/** A function's body is its own affair once its path is fixed. */
const withoutBodies = (text: string) => text.replace(/AS \$\$.*?\$\$/gs, '');

const tableUse = new RegExp(
  `\\b(?:FROM|JOIN|UPDATE|INTO|USING|TABLE|ON|REFERENCES|SETOF)\\s+(?:ONLY\\s+)?(?:fenced_)?(?:${tables.join('|')})\\b(?!\\.)`,
  'g',
);
const functionUse = new RegExp(`(?<![.\\w])(?:${functions.join('|')})\\(`, 'g');

/** Parameters that are an argument as they are, so that their type is the server's to guess. */
function uncastArguments(text: string): string[] {
  const found: string[] = [];
  const calls: { name: string; at: number }[] = [];
  for (const { 0: token, index } of text.matchAll(/\b[a-z_]+\(|\(|\)|\$\d+(?!\d)(?!::)/g)) {
    if (token.endsWith('(')) calls.push({ name: token.slice(0, -1), at: index });
    else if (token === ')') calls.pop();
    else {
      const call = calls.at(-1);
      const isWhole = /[(,]\s*$/.test(text.slice(0, index)) && /^\$\d+\s*[,)]/.test(text.slice(index));
      const isCall = call !== undefined && !['', 'decision', 'statement'].includes(call.name);
      if (isCall && isWhole) found.push(`${call.name}(… ${token} …)`);
    }
  }
  return found;
}

const faultsOf = (text: string): string[] => {
  const sql = withoutBodies(withoutComments(text));
  return [...(sql.match(tableUse) ?? []), ...(sql.match(functionUse) ?? []), ...uncastArguments(sql)];
};

describe('the names in every statement', () => {
  it('P1: are of the schema that is ours alone, and parameters of a call have their type', () => {
    expect(tables.length).toBeGreaterThan(20);
    expect(functions.length).toBeGreaterThan(10);
    const faults = [...sources, ...migrations].flatMap(([name, text]) =>
      faultsOf(text).map((fault) => `${name}: ${fault}`),
    );
    expect(faults).toEqual([]);
  });

  it('P1: are of that schema in every function, whose path is fixed', () => {
    const texts = [...migrations, ...sources].map(([, text]) => text);
    const open = texts.flatMap((text) =>
      [...text.matchAll(/CREATE (?:OR REPLACE )?FUNCTION .*?\$\$/gs)]
        .map(([head]) => head)
        .filter((head) => !head.includes('SET search_path = pg_catalog, mayfly_store, pg_temp AS $$')),
    );
    expect(open).toEqual([]);
  });

  for (const [what, text] of [
    ['a table', 'SELECT 1 FROM records r'],
    ['a table that is behind the fence', 'LOCK TABLE fenced_records'],
    ['a table that is written', 'INSERT INTO looks (secret_id) SELECT 1'],
    ['a function', 'SELECT lock_account($3::bigint, now)'],
    ['a parameter', 'SELECT mayfly_store.lock_account($3, (SELECT now FROM clock))'],
    ['a later parameter', 'SELECT mayfly_store.hand_ticket(username, $6::bytea, $7, $8::bigint)'],
  ] as const)
    it(`the check above notices ${what} without`, () => {
      expect(faultsOf(text)).toHaveLength(1);
    });
});
