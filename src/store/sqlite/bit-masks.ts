/**
 * Choices from a closed list as bits of one number.
 *
 * Owns: the form: bit n stands for entry n. Invariant: what is read back is in the order of the list, none twice; so a list
 * may grow at its end, and nowhere else.
 */

export function maskOf<Entry>(list: readonly Entry[], chosen: readonly Entry[]): number {
  return list.reduce((mask, entry, bit) => (chosen.includes(entry) ? mask | (1 << bit) : mask), 0);
}

export function chosenBy<Entry>(list: readonly Entry[], mask: number): Entry[] {
  return list.filter((_, bit) => (mask & (1 << bit)) !== 0);
}
