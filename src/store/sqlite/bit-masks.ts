/**
 * Choices from a closed list as bits of one number, and the column `marks` of a record, which holds such bits.
 *
 * Bit n stands for entry n. Invariant: what is read back is in the order of the list, none twice; so a list may grow at
 * its end, and nowhere else.
 */
import { type NoticeKind, noticeKinds } from '../../core/accounts/accounts.ts';

export function maskOf<Entry>(list: readonly Entry[], chosen: readonly Entry[]): number {
  return list.reduce((mask, entry, bit) => (chosen.includes(entry) ? mask | (1 << bit) : mask), 0);
}

export function chosenBy<Entry>(list: readonly Entry[], mask: number): Entry[] {
  return list.filter((_, bit) => (mask & (1 << bit)) !== 0);
}

/** What is known of a record at its creation and never changes. */
export interface Marks {
  readonly hasPassphrase: boolean;
  readonly notify: readonly NoticeKind[];
}

/** Bit 0: it has a passphrase; bit n + 1: entry n of `noticeKinds`. */
export const bitsOf = ({ hasPassphrase, notify }: Marks): number =>
  (hasPassphrase ? 1 : 0) | (maskOf(noticeKinds, notify) << 1);

export const marksIn = (bits: number): Marks => ({
  hasPassphrase: (bits & 1) === 1,
  notify: chosenBy(noticeKinds, bits >> 1),
});
