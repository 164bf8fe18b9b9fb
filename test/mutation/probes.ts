/**
 * Finds out which tests execute which mutant's code. A probe before each mutant's statement marks its byte of a file in memory, which
 * all processes and threads of a test share. A piece of SQL is marked by a comment in it, when the statement runs.
 */
import { join } from 'node:path';
import type { Candidate } from './candidates.ts';

export const marksFile = '.probes/marks';
export const testsFile = '.probes/tests';
export const hooksFile = 'test/mutation/probe-hooks.ts';

/** A mark of what a test has executed. */
type Mark = number;

export interface Probes {
  /** The mutants' files with their probes, by path. */
  readonly texts: ReadonlyMap<string, string>;
  readonly count: number;
  /** The marks of a mutant: the exact ones, and others in case that no test leaves those. */
  marksOf(candidate: Candidate): readonly (readonly Mark[])[];
}

const isSql = ({ mutant }: Candidate): boolean => mutant.kind.startsWith('SQL');
const siteKeys = ({ path, mutant }: Candidate): string[] =>
  mutant.sites.map(({ start }) => `${path}:${start}`);
const sqlKey = ({ path, mutant }: Candidate): string => `${path}:SQL:${mutant.start}`;

/** @param folder where the code with the probes will run */
export function placeProbes(
  candidates: readonly Candidate[],
  textOf: (path: string) => string,
  folder: string,
): Probes {
  const marks = new Map<string, Mark>();
  const pieces = new Map<string, { at: number; text: string }[]>();
  const memory = JSON.stringify(join(folder, marksFile));
  const probeOf = (mark: Mark) =>
    `(globalThis.mayflyProbes??=globalThis.Bun?.mmap(${memory})??{})[${mark}]=1`;
  function insert(path: string, ...added: { at: number; text: string }[]): void {
    pieces.set(path, [...(pieces.get(path) ?? []), ...added]);
  }
  function once(key: string, place: (mark: Mark) => void): void {
    if (marks.has(key)) return;
    marks.set(key, marks.size);
    place(marks.size - 1);
  }
  for (const candidate of candidates) {
    const { path, mutant } = candidate;
    for (const [n, { start, end, form }] of mutant.sites.entries())
      once(siteKeys(candidate)[n] ?? '', (mark) => {
        const [before = '', after = ''] = {
          'statement in a list': [`${probeOf(mark)};`, ''],
          'lone statement': [`{${probeOf(mark)};`, '}'],
          expression: [`(${probeOf(mark)},`, ')'],
        }[form];
        insert(path, { at: start, text: before }, { at: end, text: after });
      });
    if (isSql(candidate))
      once(sqlKey(candidate), (mark) => insert(path, { at: mutant.start, text: `/*${mark}*/` }));
  }
  const withProbes = ([path, added]: [string, { at: number; text: string }[]]): [string, string] => {
    const fromTheEnd = added.sort((a, b) => b.at - a.at);
    return [
      path,
      fromTheEnd.reduce(
        (text, piece) => text.slice(0, piece.at) + piece.text + text.slice(piece.at),
        textOf(path),
      ),
    ];
  };
  return {
    texts: new Map([...pieces].map(withProbes)),
    count: marks.size,
    marksOf: (candidate) =>
      [...(isSql(candidate) ? [[sqlKey(candidate)]] : []), siteKeys(candidate)].map((keys) =>
        keys.flatMap((key) => marks.get(key) ?? []),
      ),
  };
}
