/**
 * Epochs: the UTC days on which secrets expire. A secret's outer layer needs the key of its epoch as well as the root, and that key is
 * destroyed after the day, so erased bytes left in an engine's data files no longer open, even with the link and the root (P10).
 */
import { epochIn } from '../../crypto/envelope.ts';
import type { Epoch } from '../../crypto/keyring.ts';
import type { UnixSeconds } from '../time.ts';

export { type Epoch, epochIn };

const daySeconds = 86_400;
const lastEpoch = 2 ** 16 - 1;

/** Epoch `n` covers what expires by the end of day `n`. Day numbers take two bytes, enough until the year 2149. */
export const epochOf = (expiresAt: UnixSeconds): number =>
  Math.min(Math.floor(expiresAt / daySeconds), lastEpoch);

/** `SecretStore.sweep` destroys keys of days that are over by every clock. `test/stores/conformance/epochs.ts` checks these promises. */
export interface EpochStore {
  /**
   * Returns the key that seals what expires at that time. The key is durable before the call resolves, and the same for every caller. An
   * epoch never gets a second key: if the time was set back and that day's key is already destroyed, returns a later epoch's key.
   */
  epochFor(expiresAt: UnixSeconds): Promise<Epoch>;
  /** Returns `null` if the key was destroyed or never made. */
  findEpochKey(epoch: number): Promise<Uint8Array | null>;
}

/** Returns the key that a row's outer layer needs; `null` if it needs none or the key is destroyed. */
export function epochKeyOf(
  store: Pick<EpochStore, 'findEpochKey'>,
  row: Uint8Array,
): Promise<Uint8Array | null> | null {
  const epoch = epochIn(row);
  return epoch === null ? null : store.findEpochKey(epoch);
}
