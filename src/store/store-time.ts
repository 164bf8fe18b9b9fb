/**
 * Store time: the clock by which expiry is judged.
 *
 * Owns: the rule "store time never steps back" (P8): the highest time this store has ever used is a floor, so a wall
 * clock that is set back cannot revive a secret. A durable store also persists the floor and raises it to what it reads.
 */
import type { Clock, UnixSeconds } from '../domain/time.ts';

export interface StoreTime {
  now(): UnixSeconds;
  /** Store time is at least `seconds` from now on. */
  raiseTo(seconds: UnixSeconds): void;
}

export function createStoreTime(clock: Clock): StoreTime {
  let floor: UnixSeconds = 0;
  const raiseTo = (seconds: UnixSeconds): void => {
    if (seconds > floor) floor = seconds;
  };
  return {
    now() {
      raiseTo(clock());
      return floor;
    },
    raiseTo,
  };
}
