/** The mutants that a run draws from, and those among them that break no promise. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { API } from 'typescript/unstable/async';
import { createDice } from '../support/run-seed.ts';
import { type Equivalent, equivalents } from './equivalents.ts';
import { applied, linesOf, type Mutant, mutantsOf } from './mutants.ts';
import { scopes } from './scopes.ts';
import { type ScopedFile, scopedFiles } from './selection.ts';

const root = resolve(import.meta.dir, '../..');

export interface Candidate extends ScopedFile {
  readonly mutant: Mutant;
}

/** Source texts as first read: the checkout may change during the run. */
const texts = new Map<string, string>();

export function textOf(path: string): string {
  const text = texts.get(path) ?? readFileSync(join(root, path), 'utf8');
  texts.set(path, text);
  return text;
}

/** Every mutant of every scope. */
export async function allCandidates(): Promise<Candidate[]> {
  const api = new API({ cwd: root });
  try {
    const snapshot = await api.updateSnapshot({ openProjects: [join(root, 'tsconfig.json')] });
    const program = snapshot.getProjects()[0]?.program;
    const candidates: Candidate[] = [];
    for (const file of scopedFiles(root)) {
      const source = await program?.getSourceFile(join(root, file.path));
      if (source?.text !== textOf(file.path)) throw new Error(`${file.path} is not part of the project`);
      for (const mutant of mutantsOf(file.path, source)) candidates.push({ ...file, mutant });
    }
    return candidates;
  } finally {
    await api.close();
  }
}

function loads({ path, mutant }: Candidate): boolean {
  try {
    new Bun.Transpiler({ loader: 'ts' }).transformSync(applied(textOf(path), mutant));
    return true;
  } catch {
    return false;
  }
}

/** Draws the same number from each scope, as far as it has that many. */
export function draw(candidates: readonly Candidate[], count: number, seed: number): Candidate[] {
  const dice = createDice(seed);
  const drawn: Candidate[] = [];
  const left = scopes.map(({ name }) => candidates.filter(({ scope }) => scope.name === name));
  while (drawn.length < count && left.some((each) => each.length > 0)) {
    for (const each of left) {
      const [candidate] = each.splice(dice(Math.max(1, each.length)), 1);
      if (candidate !== undefined && drawn.length < count && loads(candidate)) drawn.push(candidate);
    }
  }
  return drawn;
}

export const isEntryOf =
  ({ path, mutant }: Candidate) =>
  (entry: Equivalent): boolean => {
    if (entry.path !== path) return false;
    const { before, after } = linesOf(textOf(path), mutant);
    return entry.before === before && entry.after.includes(after);
  };

/** Entries of the list of equivalents that no mutant makes any more. */
export function staleEntries(candidates: readonly Candidate[]): string[] {
  return equivalents.flatMap((entry) =>
    entry.after
      .filter((after) => !candidates.some((each) => isEntryOf(each)({ ...entry, after: [after] })))
      .map((after) => `${entry.path}: ${after}`),
  );
}
