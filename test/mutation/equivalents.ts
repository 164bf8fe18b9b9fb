/**
 * Mutants that change nothing which a promise says: no test can or should notice them. Found by their lines, not by
 * their numbers; an entry that no mutant matches any more is reported by the run.
 */
import entries from './equivalents.json' with { type: 'json' };

export interface Equivalent {
  readonly path: string;
  /** The line without its indentation, as it is and what mutants make of it. */
  readonly before: string;
  readonly after: readonly string[];
  readonly why: string;
}

export const equivalents: readonly Equivalent[] = entries;
