/**
 * The two dialects of an API version: as documented, and as the existing service answers.
 *
 * Owns: the form of a version's table of differences, and reading one side of it.
 */
export type DialectName = 'documented' | 'upstream';

export interface Row<T> {
  /** Why the two differ: what the existing service does, or which clients depend on it. */
  readonly evidence: string;
  readonly documented: T;
  readonly upstream: T;
}

/** Gives both sides of a row one type. */
export function row<T>(evidence: string, documented: T, upstream: T): Row<T> {
  return { evidence, documented, upstream };
}

type Table = Readonly<Record<string, Row<unknown>>>;

/** One side of a table. */
export type SideOf<Differences extends Table> = {
  readonly [Name in keyof Differences]: Differences[Name]['documented'];
};

export function sideOf<Differences extends Table>(
  differences: Differences,
  dialect: DialectName,
): SideOf<Differences> {
  const side = Object.entries(differences).map(([name, difference]) => [name, difference[dialect]]);
  // What `fromEntries` cannot say: each name keeps the type of its own row.
  return Object.fromEntries(side) as SideOf<Differences>;
}
