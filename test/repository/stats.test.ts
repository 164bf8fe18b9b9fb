/** What the script that counts the product counts, on small made-up trees. */
import { describe, expect, it } from 'bun:test';
import { circlesIn, commentLines, folderGraph, importsOf, partOf, smallFiles } from '../../scripts/stats.mjs';

const graphOf = (edges: Readonly<Record<string, readonly string[]>>) => new Map(Object.entries(edges));

describe('the counts of the product', () => {
  it('find imports of every form, only of known files and each once', () => {
    const texts: Readonly<Record<string, string>> = {
      'src/a.ts': [
        "import { x } from './b.ts';",
        "import type { Y } from './deep/c.ts';",
        "import './b.ts';",
        "const later = await import('./deep/c.ts');",
        "import { readFile } from 'node:fs';",
        "import './a.ts';",
      ].join('\n'),
      'src/b.ts': "import style from '../assets/none.css' with { type: 'text' };",
      'src/deep/c.ts': "export * from '../b.ts';",
    };
    const found = importsOf(Object.keys(texts), (path) => texts[path]);
    expect([...found]).toEqual([
      ['src/a.ts', ['src/b.ts', 'src/deep/c.ts']],
      ['src/b.ts', []],
      ['src/deep/c.ts', ['src/b.ts']],
    ]);
  });

  it('find circles of two and of more, and none in a tree or a diamond', () => {
    const graph = graphOf({ a: ['b'], b: ['c', 'd'], c: ['a'], d: ['e'], e: ['d'], f: ['a', 'd'], g: [] });
    expect(circlesIn(graph)).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e'],
    ]);
    expect(circlesIn(graphOf({ a: ['b', 'c'], b: ['d'], c: ['d'], d: [] }))).toEqual([]);
  });

  it('find circles of folders even if no file is in one', () => {
    const files = graphOf({ 'x/1.ts': ['y/1.ts'], 'y/2.ts': ['x/2.ts'], 'y/1.ts': ['y/2.ts'], 'x/2.ts': [] });
    expect(circlesIn(files)).toEqual([]);
    expect(circlesIn(folderGraph(files))).toEqual([['x', 'y']]);
  });

  it('find small files with one importer, unless that one gathers many', () => {
    const commands = Array.from({ length: 6 }, (_, n) => `src/cli/${n}.ts`);
    const graph = new Map([
      ['src/cli/run.ts', commands],
      ['src/a.ts', ['src/b.ts', 'src/c.ts']],
      ['src/d.ts', ['src/c.ts', 'src/long.ts']],
      ...['src/b.ts', 'src/c.ts', 'src/long.ts', ...commands].map((path) => [path, []] as [string, string[]]),
    ]);
    const linesOf = (path: string) => (path === 'src/long.ts' ? 100 : 99);
    expect(smallFiles(graph, linesOf)).toEqual([['src/b.ts', 'src/a.ts']]);
  });

  it('put each file into one part', () => {
    const paths = [
      'src/app.ts',
      'src/api/x.ts',
      'src/store/sqlite/x.ts',
      'src/store/sqlite/moving.ts',
      'sdk/x.ts',
    ];
    expect(paths.map(partOf)).toEqual(['start', 'server', 'server', 'move', 'sdk']);
    expect([partOf('test/x.ts'), partOf('node:fs')]).toEqual([undefined, undefined]);
  });

  it('count the lines that hold only a comment', () => {
    const text = [
      '/** One. */',
      '/**',
      ' * Two.',
      ' */',
      'const a = 1; // not this',
      '// three',
      '{/* four */}',
      '',
    ];
    expect(commentLines(text.join('\n'))).toBe(6);
  });
});
