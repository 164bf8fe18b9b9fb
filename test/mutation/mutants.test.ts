/** The mutants made: every kind, and none in code that does not exist at run time. */
import { describe, expect, it } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { API } from 'typescript/unstable/async';
import { allCandidates, type Candidate, staleEntries } from './candidates.ts';
import { applied, linesOf, type Mutant, mutantsOf } from './mutants.ts';
import { placeProbes } from './probes.ts';
import { scopes } from './scopes.ts';
import { judgesOf, readImporters, scopedFiles } from './selection.ts';

const root = resolve(import.meta.dir, '../..');

async function mutantsIn(text: string): Promise<Mutant[]> {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-'));
  writeFileSync(
    join(folder, 'tsconfig.json'),
    '{ "compilerOptions": { "noEmit": true }, "files": ["x.ts"] }',
  );
  writeFileSync(join(folder, 'x.ts'), text);
  const api = new API({ cwd: root });
  try {
    const snapshot = await api.updateSnapshot({ openProjects: [join(folder, 'tsconfig.json')] });
    const source = await snapshot.getProjects()[0]?.program.getSourceFile(join(folder, 'x.ts'));
    if (source === undefined) throw new Error('the sample was not read');
    return mutantsOf('x.ts', source);
  } finally {
    await api.close();
    rmSync(folder, { recursive: true });
  }
}

/** The text as changed by each of its mutants. */
const mutated = async (text: string): Promise<string[]> =>
  (await mutantsIn(text)).map((mutant) => applied(text, mutant));

describe('the mutants of a text', () => {
  it.each([
    ['x = a < b;', ['x = a <= b;', ';']],
    ['x = a === b && c;', ['x = a !== b && c;', 'x = a === b || c;', ';']],
    ['const x = a ?? b;', ['const x = a;']],
    ['const x = 10;', ['const x = 11;', 'const x = 9;']],
    ['const x = 1_000;', ['const x = 2000;', 'const x = 500;']],
    ['if (!a) b();', [';', 'if (a) b();', 'if (!a) ;']],
    ['if (a) b();', [';', 'if (!(a)) b();', 'if (a) ;']],
    ['const x = a ? b : c;', ['const x = !(a) ? b : c;']],
    ['await key.fill(0);', [';', 'key.fill(0);', 'await key.fill(1);']],
    ['const f = () => g(x);', ['const f = () => null;']],
    ['function f() { return x; }', ['function f() { return null; }']],
    ['const x = Math.max(a, b);', ['const x = Math.min(a, b);']],
    ['const x = -a;', ['const x = a;']],
    ['throw x;', [';']],
    ['const x = list[n] ?? 0;', []],
    ['const x = list[n] ?? other;', ['const x = list[n];']],
    ['const [a = 0, b = f(0)] = list;', ['const [a = 0, b = f(1)] = list;']],
  ])('%s', async (text, wanted) => {
    expect((await mutated(text)).sort()).toEqual([...wanted].sort());
  });

  it('are of SQL where there is SQL: each comparison, and each term as if it were always true', async () => {
    const text = "const q = 'UPDATE t SET b = zeroblob(length(b)) WHERE id = ?1 AND n < ?2 LIMIT 1';";
    const wanted = [
      'SET b = b WHERE id = ?1 AND n < ?2 LIMIT',
      'WHERE ?1 IS ?1 AND n < ?2 LIMIT',
      'WHERE id <> ?1 AND n < ?2 LIMIT',
      'WHERE id = ?1 AND ?2 IS ?2 LIMIT',
      'WHERE id = ?1 AND n <= ?2 LIMIT',
    ];
    const made = await mutated(text);
    expect(made).toHaveLength(wanted.length);
    for (const each of wanted) expect(made.filter((one) => one.includes(each))).toHaveLength(1);
  });

  it('leave alone what is gone at run time, and what is in a comment', async () => {
    const text = [
      "import { a } from './a.ts';",
      'type T = 1 | 2;',
      'interface I { readonly n: 3 }',
      '// if (a < b) c();',
      'const x = y as { n: 4 };',
      "const words = 'a < b and c = d';",
    ];
    expect(await mutated(text.join('\n'))).toEqual([]);
  });

  it('are named by the line that they change', () => {
    const mutant = { path: 'x.ts', start: 9, end: 10, replacement: '-', kind: 'operator', sites: [] };
    expect(linesOf('a;\n  b = + c;', mutant)).toEqual({ number: 2, before: 'b = + c;', after: 'b = - c;' });
  });
});

describe('the probes', () => {
  it.each([
    ['x = a < b;', '<0>x = a < b;'],
    ['if (a) b(); else if (!c) d();', '<0>if (a) {<1>b();} else {<2>if (!c) {<3>d();}}'],
    ['const f = (n = 1) => g(n);', 'const f = (n = 1) => (<0>g(n));'],
    ['function f() { return () => { g(); }; }', 'function f() { <0>return () => { <1>g(); }; }'],
    ['const n = 1; const f = () => n; g(n);', 'const n = 1; const f = () => (<0>n); <1>g(n);'],
    ["const q = 'DELETE FROM t WHERE a = 1';", "<0>const q = 'DELETE FROM t WHERE /*1*/a /*2*/= 1';"],
  ])('mark when a mutant of %s runs', async (text, wanted) => {
    const candidates = (await mutantsIn(text)).map((mutant) => ({ path: 'x.ts', scope: scopes[0], mutant }));
    const { texts } = placeProbes(candidates as Candidate[], () => text, '/tmp');
    const marked = texts.get('x.ts')?.replaceAll(/\(globalThis.*?\[(\d+)\]=1[;,]/g, '<$1>');
    expect(marked).toBe(wanted);
  });
});

describe('the scopes', () => {
  it('name files that exist, each judged by some test', () => {
    const importers = readImporters(root);
    const unjudged = scopedFiles(root).filter(
      (file) => judgesOf(file, importers, () => 0, root).length === 0,
    );
    expect(unjudged.map(({ path }) => path)).toEqual([]);
  });
});

describe('the mutants that break no promise', () => {
  it('are still made, each of the line that its entry names', async () => {
    expect(staleEntries(await allCandidates())).toEqual([]);
  });
});
