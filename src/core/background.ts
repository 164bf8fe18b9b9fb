/**
 * Work that outlives the call that began it: mails being handed over, last uses being noted.
 *
 * Owns: its begin and its end. Invariants: it begins only after the turn of the event loop in which it was asked for,
 * so that an answer given in that turn takes the same time with it and without (P17); its failure never fails the call
 * that it followed.
 */
export interface Background {
  begin(work: () => Promise<void>): void;
  /** Resolves when nothing is under way. */
  settled(): Promise<void>;
}

export type InBackground = Background['begin'];

export function createBackground(): Background {
  const underWay = new Set<Promise<void>>();
  return {
    begin(work) {
      const settled = new Promise<void>((turn) => setImmediate(turn))
        .then(work)
        // Nobody is left to be told: what a person must know of it, the work itself reports.
        .catch(() => undefined)
        .finally(() => underWay.delete(settled));
      underWay.add(settled);
    },
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
