import type { MemoRefusal } from './outcomes.ts';

/** In code points. */
const maxMemoCharacters = 500;

export function checkMemo(memo: string): MemoRefusal | null {
  if (!memo.isWellFormed()) return { outcome: 'ill_formed', field: 'memo' };
  return isTooLong(memo) ? { outcome: 'memo_too_long', maxCharacters: maxMemoCharacters } : null;
}

/** A code point is one or two UTF-16 units, so most memos need no counting. */
function isTooLong(memo: string): boolean {
  if (memo.length <= maxMemoCharacters) return false;
  return memo.length > 2 * maxMemoCharacters || [...memo].length > maxMemoCharacters;
}
