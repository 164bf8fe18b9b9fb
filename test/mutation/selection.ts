/**
 * Which tests judge a file: those that import it, directly or indirectly, the closest and cheapest first.
 */

import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { Glob } from 'bun';
import { isLeftOut, type Scope, scopes, testPatterns } from './scopes.ts';

/** Seconds of a file of tests on unchanged code, measured beside others (`test/timings.json`); the slow ones are listed there. */
export type SecondsOf = (test: string) => number;
const usualSeconds = 0.5;

export function readSeconds(root: string): SecondsOf {
  const { files } = JSON.parse(readFileSync(join(root, 'test/timings.json'), 'utf8'));
  return (test) => (test in files ? files[test] / 1_000 : usualSeconds);
}

/** For the judges of a file that its scope does not name. Those that would take longer do not run. */
const budgetSeconds = 30;

/** A file of tests. */
export interface Judge {
  readonly test: string;
  /** 0 for those that the scope names; for others, how many imports they are from the code. */
  readonly distance: number;
  readonly seconds: number;
}

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

export function judgesOf(
  { path, scope }: ScopedFile,
  importers: ReadonlyMap<string, readonly string[]>,
  secondsOf: SecondsOf,
  root: string,
): Judge[] {
  const named = new Set(patternsFor(scope, path).flatMap((pattern) => matched(root, pattern)));
  const distances = scope.isClosed === true ? new Map<string, number>() : distancesFrom(path, importers);
  let secondsLeft = budgetSeconds;
  const others = listJudges(root)
    .filter((test) => distances.has(test) && !named.has(test))
    .map((test) => ({ test, distance: distances.get(test) ?? 0, seconds: secondsOf(test) }))
    .sort((a, b) => a.distance + a.seconds - b.distance - b.seconds)
    .filter(({ seconds }) => {
      if (seconds > secondsLeft) return false;
      secondsLeft -= seconds;
      return true;
    });
  // The first that is named is measured first: most mutants meet it, and then need no other.
  const first = [...named].map((test, n) => ({ test, distance: 0, seconds: n === 0 ? 0 : secondsOf(test) }));
  return [...first, ...others];
}

function patternsFor({ judges }: Scope, path: string): readonly string[] {
  return judges.flatMap(({ of, tests }) => (of === undefined || of.test(path) ? tests : []));
}

function distancesFrom(path: string, importers: ReadonlyMap<string, readonly string[]>): Map<string, number> {
  const distances = new Map([[path, 0]]);
  // The map grows while it is iterated: a breadth-first search.
  for (const [each, distance] of distances)
    for (const importer of importers.get(each) ?? [])
      if (!distances.has(importer)) distances.set(importer, distance + 1);
  return distances;
}
