/**
 * Mutants that break no promise: no test can or should notice them. Matched by the text of the line, not its number; the
 * run reports entries that no longer match any mutant.
 */
import entries from './equivalents.json' with { type: 'json' };

export interface Equivalent {
  readonly path: string;
  /** The line without indentation: the original, and what mutants turn it into (`after`). */
  readonly before: string;
  readonly after: readonly string[];
  readonly why: string;
}

export const equivalents: readonly Equivalent[] = entries;
