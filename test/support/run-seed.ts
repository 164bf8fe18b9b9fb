/**
 * The printed seed of a run, and the choices that follow from it. `MAYFLY_SEED` repeats every choice, but not the kernel's
 * scheduling.
 */

/** A generator of 32 random bits from a seed (mulberry32). */
function seededWords(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

/** Doubles in [0, 1). */
export function seededFractions(seed: number): () => number {
  const word = seededWords(seed);
  return () => word() / 4_294_967_296;
}

/** Whole numbers from 0 to `sides` - 1. */
export function createDice(seed: number): (sides: number) => number {
  const word = seededWords(seed);
  return (sides) => word() % sides;
}

/** The seed of a run: `MAYFLY_SEED` or a fresh one; printed, so that the run can be repeated. */
export function announceSeed(what: string): number {
  const seed = Number(process.env.MAYFLY_SEED ?? Math.floor(Math.random() * 4_294_967_296));
  console.log(`${what}: MAYFLY_SEED=${seed}`);
  return seed;
}
