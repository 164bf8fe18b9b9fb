/**
 * Memos: a label of the creator's own beside a secret, for the creator alone.
 *
 * Owns: what a memo may be, and its change. Invariant: it is kept only sealed under the metadata key, lives as long as the
 * receipt, whatever becomes of the secret, and changes nothing else of the record.
 */

import type { Caller } from '../accounts/accounts.ts';
import type { Core } from '../core.ts';
import type { MemoInput, MemoOutcome, MemoRefusal } from './outcomes.ts';
import { findManaged, sealMemo, viewOf } from './receipts.ts';

/** In code points. */
export const maxMemoCharacters = 500;

/** Why this cannot be kept as a memo; `null` when it can. */
export function checkMemo(memo: string): MemoRefusal | null {
  if (!memo.isWellFormed()) return { outcome: 'ill_formed', field: 'memo' };
  return isTooLong(memo) ? { outcome: 'memo_too_long', maxCharacters: maxMemoCharacters } : null;
}

/** A code point is one UTF-16 unit or two, so that most need not be counted. */
function isTooLong(memo: string): boolean {
  if (memo.length <= maxMemoCharacters) return false;
  return memo.length > 2 * maxMemoCharacters || [...memo].length > maxMemoCharacters;
}

export async function setMemo(deps: Core, input: MemoInput, caller: Caller): Promise<MemoOutcome> {
  const memo = input.memo?.expose() ?? '';
  const refusal = checkMemo(memo);
  if (refusal !== null) return refusal;
  const managed = await findManaged(deps, input, caller);
  if (managed === null) return { outcome: 'unknown' };
  const { metadataKey, stored } = managed;
  const memoBox = sealMemo(deps.random, stored.receiptId, metadataKey, memo);
  if (!(await deps.store.setMemo(stored.receiptId, memoBox))) return { outcome: 'unknown' };
  return {
    outcome: 'found',
    receipt: await viewOf(deps, { metadataKey, stored: { ...stored, memoBox } }, caller),
  };
}
