/** `npm test -- --long` sets it. */
export const isLongRun = process.env.MAYFLY_LONG === '1';

/** How often a test repeats its work. Every test runs in both kinds of run; only the numbers differ. */
export function count<T = number>({ usual, long }: { readonly usual: T; readonly long: T }): T {
  return isLongRun ? long : usual;
}

/** The time limit of a repeating test: an hour in the long run, whatever the machine. */
export function limitMs(usual: number): number {
  return count({ usual, long: 3_600_000 });
}
