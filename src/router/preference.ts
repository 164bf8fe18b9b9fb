/**
 * Where a request goes that belongs to no region yet.
 *
 * Owns: the order in which regions are tried. Invariant: only regions that are well; a region whose weight is 0, or that
 * has none beside others that do, gets no new secret.
 */
import { type RandomBytes, randomBelow } from '../crypto/random.ts';
import type { RouterRegion } from './fleet.ts';

export interface Preference {
  /** By label; `null`: the operator's order decides. */
  readonly weights: Readonly<Record<string, number>> | null;
  readonly random: RandomBytes;
}

/** The regions to try, the preferred first. @param well those that are well, in the operator's order */
export function byPreference(
  well: readonly RouterRegion[],
  { weights, random }: Preference,
): readonly RouterRegion[] {
  if (weights === null) return well;
  const weightOf = ({ label }: RouterRegion) => weights[label] ?? 0;
  const left = well.filter((region) => weightOf(region) > 0);
  const drawn: RouterRegion[] = [];
  while (left.length > 0) {
    let draw = randomBelow(
      left.reduce((sum, region) => sum + weightOf(region), 0),
      random,
    );
    const at = left.findIndex((region) => {
      draw -= weightOf(region);
      return draw < 0;
    });
    drawn.push(...left.splice(at, 1));
  }
  return drawn;
}
