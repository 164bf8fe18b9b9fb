/** How much is measured: a short run shows the direction, a whole one is for the record. */
import type { LoadSize } from './load.ts';
import type { MemorySize } from './memory.ts';
import type { RouterSize } from './router.ts';
import type { StoreSize } from './store-runs.ts';
import type { TailSize } from './tail.ts';
import { quickUniform, type UniformSize, wholeUniform } from './uniform.ts';

export interface Sizes {
  readonly load: LoadSize;
  readonly router: RouterSize;
  /** Of each page in a browser. */
  readonly pageVisits: number;
  /** Of each walk on a slow phone. */
  readonly phoneRuns: number;
  readonly memory: MemorySize;
  readonly starts: number;
  /** Taken once; in a comparison, so many times of each. */
  readonly store: StoreSize & { readonly runs: number };
  readonly uniform: UniformSize;
  /** Of the largest bodies, at least. */
  readonly bodyRounds: number;
  readonly tail: TailSize;
}

const connections = 48;

/** Whether memory grows shows only over so many. */
export const longRequests = 1_000_000;

const quick: Sizes = {
  load: { connections, rounds: 5, tripsPerRound: 3_000, passphraseTrips: 8 },
  router: { connections, rounds: 3, requests: 4_000 },
  pageVisits: 3,
  phoneRuns: 3,
  memory: { connections, slices: 4, requests: 40_000 },
  starts: 5,
  store: { liveSecrets: 100_000, seconds: 1, runs: 1 },
  uniform: quickUniform,
  bodyRounds: 3,
  tail: { liveSecrets: 60_000, rounds: 3, trips: 2_000, largeCreates: 200, calmSeconds: 15 },
};

const whole: Sizes = {
  load: { connections, rounds: 9, tripsPerRound: 12_000, passphraseTrips: 24 },
  router: { connections, rounds: 9, requests: 8_000 },
  pageVisits: 11,
  phoneRuns: 9,
  memory: { connections, slices: 10, requests: 100_000 },
  starts: 11,
  store: { liveSecrets: 1_000_000, seconds: 3, runs: 3 },
  uniform: wholeUniform,
  bodyRounds: 9,
  tail: { liveSecrets: 1_000_000, rounds: 7, trips: 8_000, largeCreates: 1_000, calmSeconds: 60 },
};

export function sizesOf({ isQuick, isLong }: { isQuick: boolean; isLong: boolean }): Sizes {
  const sizes = isQuick ? quick : whole;
  return isLong ? { ...sizes, memory: { connections, slices: 20, requests: longRequests } } : sizes;
}
