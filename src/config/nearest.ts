/** Optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours. */
function distance(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : replaced;
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[to.length] ?? 0;
}

/** Returns the word for "Did you mean …?", or `null` if every known word is more edits away than a third of the word's length. */
export function nearestWord(word: string, known: readonly string[]): string | null {
  // No known word is this long; the limit keeps comparisons cheap.
  if (word.length > 60) return null;
  const ranked = known
    .map((candidate) => ({ candidate, edits: distance(word, candidate) }))
    .sort((a, b) => a.edits - b.edits);
  const best = ranked[0];
  if (best === undefined) return null;
  return best.edits <= Math.max(1, Math.floor(word.length / 3)) ? best.candidate : null;
}
