/**
 * The seed of a run, printed, and the choices that follow from it.
 *
 * Owns: how fault tests draw. Invariant: `MAYFLY_SEED` repeats every choice of a run (what the kernel makes of them is its
 * own affair).
 */

/** A generator of doubles in [0, 1) from a 32-bit seed (mulberry32), so that a failing run can be run again. */
export function seededFractions(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The seed of a run: `MAYFLY_SEED`, or a fresh one; printed, so that it can be given again. */
export function announceSeed(what: string): number {
  const seed = Number(process.env.MAYFLY_SEED ?? Math.floor(Math.random() * 4_294_967_296));
  console.log(`${what}: MAYFLY_SEED=${seed}`);
  return seed;
}
