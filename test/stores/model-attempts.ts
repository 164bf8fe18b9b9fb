/** What the model of the stores knows of guesses, in the simplest words (P14). */
import { type AttemptLimits, type Lock, networkBytes } from '../../src/core/ports/attempts.ts';

export interface ModelAttempt {
  readonly number: number;
  readonly client: number;
  readonly at: number;
}

export const limits: AttemptLimits = {
  windowSeconds: 100,
  perClient: 2,
  perNetwork: 3,
  perSecret: 5,
  keptForNewcomers: 2,
  perLife: 8,
};

/** The first two are in one network. */
const networks = [1, 1, 2, 3];
export const clients = networks.map((network, n) =>
  new Uint8Array(16).fill(n).fill(network, 0, networkBytes),
);

const inWindow = (attempts: readonly ModelAttempt[], now: number) =>
  attempts.filter(({ at }) => at > now - limits.windowSeconds);

/** How many more guesses this client may make, one after the other. */
export function roomFor(attempts: readonly ModelAttempt[], client: number, now: number): number {
  const counted = inWindow(attempts, now);
  const ofClient = counted.filter((each) => each.client === client);
  const ofNetwork = counted.filter((each) => networks[each.client] === networks[client]);
  const within = (places: number) =>
    Math.min(
      limits.perClient - ofClient.length,
      limits.perNetwork - ofNetwork.length,
      places - counted.length,
      limits.perLife - attempts.length,
    );
  const unkept = within(limits.perSecret - limits.keptForNewcomers);
  const isNewcomer = ofNetwork.length === 0 && within(limits.perSecret) > 0;
  return isNewcomer ? Math.max(1, unkept) : unkept;
}

export function lockOf(attempts: readonly ModelAttempt[], now: number): Lock | null {
  if (attempts.length >= limits.perLife) return { until: null };
  const leaving = inWindow(attempts, now).at(-limits.perSecret);
  return leaving === undefined ? null : { until: leaving.at + limits.windowSeconds };
}
