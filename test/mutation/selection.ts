/**
 * Which tests judge a file: those that import it, directly or indirectly, the closest and cheapest first.
 */

import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { Glob } from 'bun';
import { isLeftOut, type Scope, scopes, testPatterns } from './scopes.ts';

/** Seconds that each test takes on unchanged code. */
export type TestTimes = ReadonlyMap<string, number>;

/** Total time for the judges of one mutant, by those times, not counting the closest ones (distance 0 or 1). */
const budgetSeconds = 30;

const filesOf = (root: string, pattern: string): string[] =>
  [...new Glob(pattern).scanSync({ cwd: root })].sort();

export interface ScopedFile {
  readonly path: string;
  readonly scope: Scope;
}

/** @throws Error when a pattern matches nothing */
export function scopedFiles(root: string): ScopedFile[] {
  return scopes.flatMap((scope) =>
    scope.files.flatMap((pattern) => {
      const paths = matched(root, pattern).filter((path) => !/\.(test|d)\.ts$/.test(path));
      return paths.map((path) => ({ path, scope }));
    }),
  );
}

/** Each alternative in braces must match something, like a whole pattern. */
function matched(root: string, pattern: string): string[] {
  const [, before = '', inner, after = ''] = /^(.*?)\{([^}]*)\}(.*)$/.exec(pattern) ?? [];
  if (inner !== undefined)
    return inner.split(',').flatMap((each) => matched(root, `${before}${each}${after}`));
  const paths = filesOf(root, pattern);
  if (paths.length === 0) throw new Error(`${pattern} in test/mutation/scopes.ts matches no file`);
  return paths;
}

export function listJudges(root: string): string[] {
  return testPatterns.flatMap((pattern) => filesOf(root, pattern)).filter((test) => !isLeftOut(test));
}

/** The importers of each file at run time. Threads are started by file name, so any quoted file name counts. */
export function readImporters(root: string): ReadonlyMap<string, readonly string[]> {
  const importers = new Map<string, string[]>();
  for (const path of ['src', 'test', 'sdk'].flatMap((folder) => filesOf(root, `${folder}/**/*.{ts,tsx}`))) {
    const code = readFileSync(join(root, path), 'utf8').replace(/^(im|ex)port type [^;]*;/gm, '');
    for (const [, name = ''] of code.matchAll(/'(\.{1,2}\/[^'\n]+\.tsx?)'/g)) {
      const imported = normalize(join(dirname(path), name));
      importers.set(imported, [...(importers.get(imported) ?? []), path]);
    }
  }
  return importers;
}

/** The tests for a file, in the order in which they should run. */
export function judgesOf(
  { path, scope }: ScopedFile,
  importers: ReadonlyMap<string, readonly string[]>,
  times: TestTimes,
  root: string,
): string[] {
  const distances = distancesFrom(path, importers);
  const beside = new Set(scope.judges.flatMap((pattern) => matched(root, pattern)));
  const distanceOf = (test: string) => (beside.has(test) ? 1 : (distances.get(test) ?? 0));
  const rank = ([test, seconds]: readonly [string, number]) => distanceOf(test) + seconds;
  const reached = [...times].filter(([test]) => beside.has(test) || distances.has(test));
  let secondsLeft = budgetSeconds;
  return reached
    .sort((a, b) => rank(a) - rank(b))
    .filter(([test, seconds]) => {
      if (distanceOf(test) <= 1) return true;
      secondsLeft -= seconds;
      return secondsLeft >= 0;
    })
    .map(([test]) => test);
}

function distancesFrom(path: string, importers: ReadonlyMap<string, readonly string[]>): Map<string, number> {
  const distances = new Map([[path, 0]]);
  // The map grows while it is iterated: a breadth-first search.
  for (const [each, distance] of distances)
    for (const importer of importers.get(each) ?? [])
      if (!distances.has(importer)) distances.set(importer, distance + 1);
  return distances;
}
