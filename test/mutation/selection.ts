/**
 * Which tests judge a file: those that import it, directly or indirectly, the closest and cheapest first.
 */

import { readFileSync } from 'node:fs';
import { basename, dirname, join, normalize, resolve } from 'node:path';
import { Glob } from 'bun';
import { isLeftOut, type Scope, scopes, subjects, testPatterns } from './scopes.ts';

/** Judges that are run together, up to the first that fails. */
export interface JudgeGroup {
  readonly files: readonly string[];
  /** A pattern: of these files only the tests that it matches. */
  readonly names?: string;
  /** About what they take on unchanged code. */
  readonly seconds: number;
}

/** Seconds of a file of tests on unchanged code, measured beside others (`test/timings.json`); the slow ones are listed there. */
export type SecondsOf = (test: string) => number;
const usualSeconds = 0.5;

export function readSeconds(root: string): SecondsOf {
  const { files } = JSON.parse(readFileSync(join(root, 'test/timings.json'), 'utf8'));
  return (test) => (test in files ? files[test] / 1_000 : usualSeconds);
}

/** Of the judges that run before the rest: a mutant that loops is caught right after these. */
const firstSeconds = 3;
/** For the judges of one mutant that its scope does not name. Those that would take longer do not run. */
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
  secondsOf: SecondsOf,
  root: string,
): JudgeGroup[] {
  const distances = distancesFrom(path, importers);
  const beside = new Set(patternsFor(scope, path).flatMap((pattern) => matched(root, pattern)));
  const rankOf = (test: string) => (beside.has(test) ? 1 : (distances.get(test) ?? 0)) + secondsOf(test);
  const named = scope.conformance === undefined ? [] : [namedGroup(scope.conformance, path, secondsOf)];
  const known = new Set([...beside, ...listJudges(root).filter((test) => distances.has(test))]);
  let secondsLeft = budgetSeconds;
  const judges = [...known]
    .filter((test) => test !== scope.conformance)
    .sort((a, b) => rankOf(a) - rankOf(b))
    .map((test) => ({ files: [test], seconds: secondsOf(test) }))
    .filter(({ files: [test = ''], seconds }) => {
      if (beside.has(test)) return true;
      if (seconds > secondsLeft) return false;
      secondsLeft -= seconds;
      return true;
    });
  const isClose = ([test = '']: readonly string[]) => beside.has(test) || distances.get(test) === 1;
  // Where there are checks of the file's subject, only the closest come before them.
  let first = named.length === 0 || isClose(judges[0]?.files ?? []) ? 1 : 0;
  while (
    first < judges.length &&
    total(judges.slice(0, first + 1)) <= firstSeconds &&
    (named.length === 0 || isClose(judges[first]?.files ?? []))
  )
    first += 1;
  return [together(judges.slice(0, first)), ...named, together(judges.slice(first))].filter(
    ({ files }) => files.length > 0,
  );
}

const total = (groups: readonly JudgeGroup[]) => groups.reduce((sum, { seconds }) => sum + seconds, 0);

const together = (groups: readonly JudgeGroup[]): JudgeGroup => ({
  files: groups.flatMap(({ files }) => files),
  seconds: total(groups),
});

function patternsFor({ judges }: Scope, path: string): readonly string[] {
  return judges.flatMap(({ of, tests }) => (of === undefined || of.test(path) ? tests : []));
}

export const asPattern = (name: string): string => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** The names of the conformance checks, by their file. */
const conformance = new Map<string, string[]>();
for (const file of filesOf(resolve(import.meta.dir, '../stores/conformance'), '*.ts')) {
  const exported: Readonly<Record<string, unknown>> = await import(`../stores/conformance/${file}`);
  const checks = Object.entries(exported).flatMap(([name, value]) => (name.endsWith('Checks') ? value : []));
  conformance.set(
    basename(file, '.ts'),
    (checks as { readonly name: string }[]).map(({ name }) => name),
  );
}

/** Of a store's conformance the checks of the file's subject: all of them take minutes. */
function namedGroup(file: string, path: string, secondsOf: SecondsOf): JudgeGroup {
  const subject = basename(path, '.ts');
  const own = subjects[subject] ?? (conformance.has(subject) ? [subject] : (subjects.others ?? []));
  const names = own.flatMap((each) => conformance.get(each) ?? []);
  const share = names.length / [...conformance.values()].flat().length;
  return {
    files: [file],
    names: names.map(asPattern).join('|'),
    seconds: share * secondsOf(file),
  };
}

function distancesFrom(path: string, importers: ReadonlyMap<string, readonly string[]>): Map<string, number> {
  const distances = new Map([[path, 0]]);
  // The map grows while it is iterated: a breadth-first search.
  for (const [each, distance] of distances)
    for (const importer of importers.get(each) ?? [])
      if (!distances.has(importer)) distances.set(importer, distance + 1);
  return distances;
}
