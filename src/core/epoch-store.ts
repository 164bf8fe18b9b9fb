/**
 * Epochs: UTC days on which secrets expire. The outer layer of a secret needs the key of its epoch besides the root, and the key is
 * destroyed after the day. So what an engine still keeps of erased bytes opens to nobody, whatever else they have (P10).
 */
import { epochIn } from '../crypto/envelope.ts';
import type { Epoch } from '../crypto/keyring.ts';
import type { UnixSeconds } from './time.ts';

export { type Epoch, epochIn };

const daySeconds = 86_400;
const lastEpoch = 2 ** 16 - 1;

/** What expires by the end of day `n` is of epoch `n`, as long as days have numbers of two bytes: until the year 2149. */
export const epochOf = (expiresAt: UnixSeconds): number =>
  Math.min(Math.floor(expiresAt / daySeconds), lastEpoch);

/** `SecretStore.sweep` destroys the keys of the days that are over by every clock; `test/stores/conformance/epochs.ts` has the checks. */
export interface EpochStore {
  /**
   * To seal what expires then: durable before it resolves, and the same whoever asks. A later epoch where the key of that day was
   * destroyed already, because somebody has set the time back: an epoch never has a second key.
   */
  epochFor(expiresAt: UnixSeconds): Promise<Epoch>;
  /** `null`: destroyed, or never made. */
  findEpochKey(epoch: number): Promise<Uint8Array | null>;
}

/** The key that the outer layer of a row needs; `null` where it needs none, and where it is gone. */
export async function epochKeyOf(
  store: Pick<EpochStore, 'findEpochKey'>,
  row: Uint8Array,
): Promise<Uint8Array | null> {
  const epoch = epochIn(row);
  return epoch === null ? null : store.findEpochKey(epoch);
}
