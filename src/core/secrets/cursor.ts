/**
 * The cursor of a recent list. The store's own cursor may count over all accounts and so tell how many secrets others
 * make: sealed under the account's data key it tells nothing, and works for this account alone (P16).
 */
import { openBox, sealBox } from '../../crypto/box.ts';
import { utf8 } from '../../crypto/bytes.ts';
import type { RandomBytes } from '../../crypto/random.ts';
import type { AccountCaller } from '../account.ts';

const label = 'cursor';
/** As long as every sealed cursor is in base64url: nothing longer is decoded. */
const cursorLength = 150;

function boxOf(caller: AccountCaller) {
  return { label, keyMaterial: caller.dataKey.expose(), binding: utf8(String(caller.account.id)) } as const;
}

export function sealCursor(caller: AccountCaller, stored: string, random: RandomBytes): string {
  const box = sealBox({ ...boxOf(caller), content: utf8(stored), random });
  return Buffer.from(box).toString('base64url');
}

/** The store's cursor; `null` for anything that was not sealed for this account. */
export function openCursor(caller: AccountCaller, cursor: string): string | null {
  if (cursor.length !== cursorLength) return null;
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.toString('base64url') !== cursor) return null;
  const content = openBox(bytes, boxOf(caller));
  return content === null ? null : Buffer.from(content).toString('latin1');
}
