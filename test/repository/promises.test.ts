/** The promises and their numbers: each is defined once, and proven where the list says. */
import { describe, expect, it } from 'bun:test';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dir, '..', '..');
const list = readFileSync(join(root, 'docs', 'promises.md'), 'utf8');

interface Listed {
  readonly id: string;
  readonly tests: readonly string[];
}

/** Each paragraph that begins with a number, and the files it names. */
function listed(text: string): Listed[] {
  return text.split('\n\n').flatMap((paragraph) => {
    const id = /^\*\*(P\d+) · /.exec(paragraph)?.[1];
    const tests = Array.from(paragraph.matchAll(/`((?:src|test)\/[^`]+)`/g), ([, path = '']) => path);
    return id === undefined ? [] : [{ id, tests }];
  });
}

const texts = new Set(['.ts', '.tsx', '.mjs', '.md', '.sql', '.css']);

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder)).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(join(root, path)).isDirectory()) return filesBelow(path);
    return texts.has(name.slice(name.lastIndexOf('.'))) ? [path] : [];
  });
}

function treeFiles(): string[] {
  const atTop = readdirSync(root).filter((name) => name.endsWith('.md'));
  return [...['src', 'sdk', 'test', 'bench', 'scripts', 'docs', 'deploy'].flatMap(filesBelow), ...atTop];
}

/** `P` and one or two digits, as a word of its own: `(P4)`, `P4:`, never `P4x` or `EXP4`. */
const citation = /(?<![\w$-])P(?:[1-9]\d?)(?![\w$-])/g;

function citedIn(text: string): string[] {
  return Array.from(text.matchAll(citation), ([id]) => id);
}

const promises = listed(list);
const defined = promises.map(({ id }) => id);

describe('the promises', () => {
  it('are numbered from P1 without a gap, each once', () => {
    expect(defined).toEqual(Array.from({ length: defined.length }, (_, at) => `P${at + 1}`));
    expect(defined.length).toBeGreaterThanOrEqual(27);
  });

  it('are the only numbers that the tree cites', () => {
    const unknown = treeFiles().flatMap((path) =>
      citedIn(readFileSync(join(root, path), 'utf8'))
        .filter((id) => !defined.includes(id))
        .map((id) => `${path}: ${id}`),
    );
    expect(unknown).toEqual([]);
  });

  for (const { id, tests } of promises) {
    it(`${id} names the tests that prove it, and they name it`, () => {
      expect(tests.length).toBeGreaterThan(0);
      for (const path of tests) {
        const names = existsSync(join(root, path)) && citedIn(readFileSync(join(root, path), 'utf8'));
        expect([path, names !== false && names.includes(id)]).toEqual([path, true]);
      }
    });
  }

  it('are cited by README and SECURITY with the same numbers', () => {
    for (const path of ['README.md', 'SECURITY.md']) {
      const section = /## What (?:it|Mayfly) promises\n([\s\S]*?)\n## /.exec(
        readFileSync(join(root, path), 'utf8'),
      );
      const points = (section?.[1] ?? '').split('\n').filter((line) => /^(?:- |\d+\. )/.test(line));
      expect([path, points.length > 0]).toEqual([path, true]);
      for (const point of points) expect([path, point]).toEqual([path, expect.stringMatching(/^- \*\*P\d/)]);
    }
  });

  it('self-test: a number that is not defined, and one that only looks like one, are told apart', () => {
    expect(citedIn(`see P4, (${'P'}99); EXP4 P4x -P4 P0 'P27'`)).toEqual(['P4', `${'P'}99`, 'P27']);
    expect(listed('**P1 · One.** Text.\n`src/a.ts`\n\nNo number.')).toEqual([
      { id: 'P1', tests: ['src/a.ts'] },
    ]);
  });
});
