/**
 * The recent list: an account's own receipts, page by page.
 *
 * Owns: the cursor, and how far one call looks. Invariant: a later page never repeats or skips what existed at the first
 * one, and a list shows no secret key (P16).
 */
import type { AccountCaller } from './accounts.ts';
import type { ReceiptView, RecentInput, RecentOutcome } from './outcomes.ts';
import { listedView, type ReceiptDeps } from './receipts.ts';
import { type ReceiptState, receiptStateAt } from './secret.ts';

const cursorForm = /^[1-9][0-9]{0,15}$/;
/** How many records one call looks at for those in the states asked for, and how many of them at a time. */
const scanMax = 1_000;
const scanPage = 200;

/** The account's own live receipts, newest created first; those of an earlier data key are left out. */
export async function recent(
  deps: ReceiptDeps,
  input: RecentInput,
  caller: AccountCaller,
): Promise<RecentOutcome> {
  const before = input.cursor === undefined ? undefined : parseCursor(input.cursor);
  if (before === null) return { outcome: 'invalid_cursor' };
  if (input.states !== undefined) return recentIn(deps, input.states, input.limit, before, caller);
  const { records, next } = await pageOf(deps, caller, input.limit, before);
  const now = deps.store.now();
  return {
    outcome: 'listed',
    receipts: records.flatMap((stored) => listedView(caller, stored, now)),
    nextCursor: next === undefined ? null : toCursor(next),
  };
}

/**
 * Those in some states: looks on, page by page, until `limit` are found or `scanMax` were looked at, and continues at
 * the next call where it stopped. So a page can be short, or empty, with more to come; nothing is skipped.
 */
async function recentIn(
  deps: ReceiptDeps,
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
      return { outcome: 'listed', receipts, nextCursor: isLast ? null : toCursor(stored.position) };
    }
    if (next === undefined) return { outcome: 'listed', receipts, nextCursor: null };
    before = next;
  }
  return { outcome: 'listed', receipts, nextCursor: before === undefined ? null : toCursor(before) };
}

/** Records of the account before a position; `next` is the position to go on from, if there are more. */
async function pageOf(deps: ReceiptDeps, caller: AccountCaller, limit: number, before: number | undefined) {
  const page = before === undefined ? { limit: limit + 1 } : { limit: limit + 1, beforePosition: before };
  const found = await deps.store.listReceipts(caller.account.id, page);
  const records = found.slice(0, limit);
  return { records, next: found.length > limit ? records.at(-1)?.position : undefined };
}

/** Opaque to callers, so that its content may change. */
function toCursor(position: number): string {
  return Buffer.from(String(position)).toString('base64url');
}

function parseCursor(cursor: string): number | null {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  if (!cursorForm.test(text) || toCursor(Number(text)) !== cursor) return null;
  return Number(text);
}
