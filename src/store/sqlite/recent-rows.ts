/**
 * Where the newest rows are, in memory: those that may not be in the index yet.
 *
 * Owns: generations of two maps each, from hints to positions. A generation is dropped whole once all of its rows are in
 * the index, which costs nothing an entry. Two ids may share a hint, so a hint may have several positions.
 */

const generationRows = 16_384;

type Positions = Map<number, number | number[]>;

interface Generation {
  /** The highest position in it. */
  upto: number;
  readonly secrets: Positions;
  readonly receipts: Positions;
}

export interface RecentRows {
  add(position: number, secretHint: number, receiptHint: number): void;
  /** Positions of the rows whose id may be the one with this hint, in no order; the caller may add to them. */
  ofSecret(hint: number): number[];
  ofReceipt(hint: number): number[];
  /** Forgets generations of which every row is at `upto` or before. */
  forget(upto: number): void;
}

export function createRecentRows(): RecentRows {
  let generations: Generation[] = [];

  function current(): Generation {
    const last = generations.at(-1);
    if (last !== undefined && last.secrets.size < generationRows) return last;
    const fresh = { upto: 0, secrets: new Map(), receipts: new Map() };
    generations.push(fresh);
    return fresh;
  }

  function find(kind: 'secrets' | 'receipts', hint: number): number[] {
    const found: number[] = [];
    for (const generation of generations) {
      const positions = generation[kind].get(hint);
      if (typeof positions === 'number') found.push(positions);
      else if (positions !== undefined) found.push(...positions);
    }
    return found;
  }

  return {
    add(position, secretHint, receiptHint) {
      const generation = current();
      generation.upto = Math.max(generation.upto, position);
      note(generation.secrets, secretHint, position);
      note(generation.receipts, receiptHint, position);
    },
    ofSecret: (hint) => find('secrets', hint),
    ofReceipt: (hint) => find('receipts', hint),
    forget(upto) {
      if ((generations[0]?.upto ?? Number.POSITIVE_INFINITY) > upto) return;
      generations = generations.filter((generation) => generation.upto > upto);
    },
  };
}

function note(positions: Positions, hint: number, position: number): void {
  const known = positions.get(hint);
  if (known === undefined) positions.set(hint, position);
  else if (![known].flat().includes(position)) positions.set(hint, [known, position].flat());
}
