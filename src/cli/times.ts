/** Times and durations as the commands print them. */

/** Seconds since 1970 as people and programs both read them: ISO 8601, to the second. */
export function timeOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

function count(amount: number, unit: string): string {
  return `${amount} ${unit}${amount === 1 ? '' : 's'}`;
}

/** `6 days 23 hours`: whole units, the largest one that fits and the one below it. */
export function durationWords(seconds: number): string {
  const at = units.findIndex(([, size]) => seconds >= size);
  const [largest, next] = at === -1 ? units.slice(-1) : units.slice(at);
  if (largest === undefined) return '';
  const words = count(Math.floor(seconds / largest[1]), largest[0]);
  const below = next === undefined ? 0 : Math.floor((seconds % largest[1]) / next[1]);
  return next === undefined || below === 0 ? words : `${words} ${count(below, next[0])}`;
}
