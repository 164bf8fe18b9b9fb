/**
 * "Did you mean …?": the closest of the words we know.
 *
 * Owns: the comparison. Invariant: a suggestion is at most a third of the word away, so a stranger's word gets none.
 */

/** Edits (insert, delete, replace) from one word to another: Levenshtein's distance, one row at a time. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

/** The nearest word, or `null` when none is near. */
export function nearestWord(word: string, known: readonly string[]): string | null {
  // Longer than any word we know: nothing is near, and the comparison stays cheap.
  if (word.length > 60) return null;
  const ranked = known
    .map((candidate) => ({ candidate, edits: distance(word, candidate) }))
    .sort((a, b) => a.edits - b.edits);
  const best = ranked[0];
  if (best === undefined) return null;
  return best.edits <= Math.max(1, Math.floor(word.length / 3)) ? best.candidate : null;
}
