/**
 * The recent list: an account's own receipts, page by page.
 *
 * Owns: how far one call looks. Invariant: a later page never repeats or skips what existed at the first
 * one, and a list shows no secret key (P16).
 */

import type { AccountCaller } from '../accounts/accounts.ts';
import type { Core } from '../core.ts';
import { openCursor, sealCursor } from './cursor.ts';
import type { ReceiptView, RecentInput, RecentOutcome } from './outcomes.ts';
import { listedView } from './receipts.ts';
import { type ReceiptState, receiptStateAt } from './secret.ts';

/** How many records one call looks at for those in the states asked for, and how many of them at a time. */
const scanMax = 1_000;
const scanPage = 200;

/** The account's own live receipts, newest created first; those of an earlier data key are left out. */
export async function recent(deps: Core, input: RecentInput, caller: AccountCaller): Promise<RecentOutcome> {
  const before = input.cursor === null ? undefined : openCursor(caller, input.cursor);
  if (before === null) return { outcome: 'invalid_cursor' };
  if (input.states !== null) return recentIn(deps, input.states, input.limit, before, caller);
  const { records, next } = await pageOf(deps, caller, input.limit, before);
  const now = deps.store.now();
  return {
    outcome: 'listed',
    receipts: records.flatMap((stored) => listedView(caller, stored, now)),
    nextCursor: next === undefined ? null : sealCursor(caller, next, deps.random),
  };
}

/**
 * Those in some states: looks on, page by page, until `limit` are found or `scanMax` were looked at, and continues at
 * the next call where it stopped. So a page can be short, or empty, with more to come; nothing is skipped.
 */
async function recentIn(
  deps: Core,
  states: readonly ReceiptState[],
  limit: number,
  from: number | undefined,
  caller: AccountCaller,
): Promise<RecentOutcome> {
  const receipts: ReceiptView[] = [];
  let before = from;
  for (let seen = 0; seen < scanMax; seen += scanPage) {
    const { records, next } = await pageOf(deps, caller, scanPage, before);
    const now = deps.store.now();
    for (const stored of records) {
      if (states.includes(receiptStateAt(stored, now))) receipts.push(...listedView(caller, stored, now));
      if (receipts.length < limit) continue;
      const isLast = stored === records.at(-1) && next === undefined;
      return {
        outcome: 'listed',
        receipts,
        nextCursor: isLast ? null : sealCursor(caller, stored.position, deps.random),
      };
    }
    if (next === undefined) return { outcome: 'listed', receipts, nextCursor: null };
    before = next;
  }
  const nextCursor = before === undefined ? null : sealCursor(caller, before, deps.random);
  return { outcome: 'listed', receipts, nextCursor };
}

/** Records of the account before a position; `next` is the position to go on from, if there are more. */
async function pageOf(deps: Core, caller: AccountCaller, limit: number, before: number | undefined) {
  const page = before === undefined ? { limit: limit + 1 } : { limit: limit + 1, beforePosition: before };
  const found = await deps.store.listReceipts(caller.account.id, page);
  const records = found.slice(0, limit);
  return { records, next: found.length > limit ? records.at(-1)?.position : undefined };
}
