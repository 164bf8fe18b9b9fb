/**
 * The cursor of a recent list: where the next page begins, sealed.
 *
 * Owns: its form. Positions are counted over the whole store, so that a plain one would tell how many secrets others
 * make; sealed under the account's data key it tells nothing and works for this account alone (P16). Invariant: whatever
 * is not a cursor that was sealed for this account is `null`.
 */
import { openBox, sealBox } from '../../crypto/box.ts';
import { utf8 } from '../../crypto/bytes.ts';
import type { RandomBytes } from '../../crypto/random.ts';
import type { AccountCaller } from '../accounts/accounts.ts';

const label = 'cursor';
/** As long as every sealed position is in base64url: nothing longer is decoded. */
const cursorLength = 150;
const positionForm = /^[1-9][0-9]{0,15}$/;

function boxOf(caller: AccountCaller) {
  return { label, keyMaterial: caller.dataKey.expose(), binding: utf8(String(caller.account.id)) } as const;
}

export function sealCursor(caller: AccountCaller, position: number, random: RandomBytes): string {
  const box = sealBox({ ...boxOf(caller), content: utf8(String(position)), random });
  return Buffer.from(box).toString('base64url');
}

/** The position, or `null`. */
export function openCursor(caller: AccountCaller, cursor: string): number | null {
  if (cursor.length !== cursorLength) return null;
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.toString('base64url') !== cursor) return null;
  const content = openBox(bytes, boxOf(caller));
  const text = content === null ? '' : Buffer.from(content).toString('latin1');
  return positionForm.test(text) ? Number(text) : null;
}
