import type { StoredSecret } from '../core/secret.ts';
import { noticeKinds } from '../protocol/vocabulary.ts';

/** Bit n represents entry n, so the list may only grow at its end. */
export function maskOf<Entry>(list: readonly Entry[], chosen: readonly Entry[]): number {
  return list.reduce((mask, entry, bit) => (chosen.includes(entry) ? mask | (1 << bit) : mask), 0);
}

export function chosenBy<Entry>(list: readonly Entry[], mask: number): Entry[] {
  return list.filter((_, bit) => (mask & (1 << bit)) !== 0);
}

/** Set at creation and never changed. */
export type RecordFlags = Pick<StoredSecret, 'hasPassphrase' | 'sealed' | 'verify' | 'notify'>;

/** Leave room for one more notice; SQLite still stores the number in one byte. */
const [verifyBit, sealedBit] = [1 << 5, 1 << 6];

/** Bit 0: has a passphrase; bit n + 1: entry n of `noticeKinds`; bit 5: needs a code; bit 6: is end-to-end. */
export const bitsOf = ({ hasPassphrase, sealed, verify, notify }: RecordFlags): number =>
  (hasPassphrase ? 1 : 0) |
  (maskOf(noticeKinds, notify) << 1) |
  (verify ? verifyBit : 0) |
  (sealed ? sealedBit : 0);

export const flagsIn = (bits: number): RecordFlags => ({
  hasPassphrase: (bits & 1) === 1,
  sealed: (bits & sealedBit) !== 0,
  verify: (bits & verifyBit) !== 0,
  notify: chosenBy(noticeKinds, bits >> 1),
});
