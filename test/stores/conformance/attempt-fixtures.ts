/** Guesses, for the checks of every store. */
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import { type AttemptLimits, networkBytes, type Reservation } from '../../../src/core/ports/attempts.ts';

export const limits: AttemptLimits = {
  windowSeconds: 600,
  perClient: 5,
  perNetwork: 10,
  perSecret: 20,
  keptForNewcomers: 5,
  perLife: 100,
};
export const newNetwork = () => randomBytes(networkBytes);
export const newClient = (network = newNetwork()) =>
  new Uint8Array([...network, ...randomBytes(16 - networkBytes)]);

/** The attempt's number; throws when it was not allowed. */
export function reserved(reservation: Reservation): number {
  assert.equal(reservation.outcome, 'reserved');
  return reservation.outcome === 'reserved' ? reservation.attempt : 0;
}

export function waitOf(reservation: Reservation): number {
  assert.equal(reservation.outcome, 'exhausted');
  return reservation.outcome === 'exhausted' ? reservation.retryAfterSeconds : 0;
}

/** How many of `times` concurrent attempts are allowed. */
export async function reserveMany(times: number, reserve: () => Promise<Reservation>): Promise<number> {
  const outcomes = await Promise.all(Array.from({ length: times }, reserve));
  return outcomes.filter((each) => each.outcome === 'reserved').length;
}
