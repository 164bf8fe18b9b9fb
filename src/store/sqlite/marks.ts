/**
 * The column `marks` of a record: what is known of it at creation and never changes.
 *
 * Owns: its bits. Bit 0: it has a passphrase; bit n + 1: entry n of `noticeKinds`.
 */
import { type NoticeKind, noticeKinds } from '../../core/accounts/accounts.ts';
import { chosenBy, maskOf } from './bit-masks.ts';

export interface Marks {
  readonly hasPassphrase: boolean;
  readonly notify: readonly NoticeKind[];
}

export const bitsOf = ({ hasPassphrase, notify }: Marks): number =>
  (hasPassphrase ? 1 : 0) | (maskOf(noticeKinds, notify) << 1);

export const marksIn = (bits: number): Marks => ({
  hasPassphrase: (bits & 1) === 1,
  notify: chosenBy(noticeKinds, bits >> 1),
});
