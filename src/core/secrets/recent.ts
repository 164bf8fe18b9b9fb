/**
 * The recent list: an account's own receipts, page by page. A later page never repeats or skips a receipt that existed at
 * the first one, and a list shows no secret key (P16).
 */

import { openBox, sealBox } from '../../crypto/box.ts';
import { utf8 } from '../../crypto/bytes.ts';
import type { RandomBytes } from '../../crypto/random.ts';
import { fromBase64Url, toBase64Url } from '../../protocol/base64url.ts';
import type { AccountCaller } from '../account.ts';
import type { Core } from '../ports/core.ts';
import { receiptStateAt } from '../secret.ts';
import { locksOf } from './attempts.ts';
import type { ReceiptView, RecentInput, RecentOutcome } from './outcomes.ts';
import { listedView } from './receipts.ts';

/** How many records one call scans for the requested states: in total, and at a time. */
const scanMax = 1_000;
const scanPage = 200;
/** How far creation times can be out of the list's order. */
const disorderSeconds = 3_600;
const invalidCursor: RecentOutcome = { outcome: 'invalid_cursor' };

/** Lists the account's live receipts, newest first, without those sealed under an earlier data key. */
export async function recent(deps: Core, input: RecentInput, caller: AccountCaller): Promise<RecentOutcome> {
  const after = input.cursor === null ? null : openCursor(caller, input.cursor);
  if (input.cursor !== null && after === null) return invalidCursor;
  if (input.states !== null || input.createdAt != null) return recentAmong(deps, input, after, caller);
  const page = await pageOf(deps, caller, input.limit, after);
  if (page === null) return invalidCursor;
  const now = deps.store.now();
  const locks = await locksOf(deps.store, page.records);
  return {
    outcome: 'listed',
    receipts: page.records.flatMap((stored) => listedView(caller, stored, now, locks)),
    nextCursor: page.next === null ? null : sealCursor(caller, page.next, deps.random),
  };
}

/** Scans until it finds `limit` receipts or has scanned `scanMax`. A page can be short or empty although more follow; none are skipped. */
async function recentAmong(
  deps: Core,
  { states, createdAt = null, limit }: RecentInput,
  from: string | null,
  caller: AccountCaller,
): Promise<RecentOutcome> {
  const receipts: ReceiptView[] = [];
  let after = from;
  for (let seen = 0; seen < scanMax; seen += scanPage) {
    const page = await pageOf(deps, caller, scanPage, after);
    if (page === null) return invalidCursor;
    const { records, next } = page;
    const now = deps.store.now();
    const locks = await locksOf(deps.store, records);
    for (const stored of records) {
      const isAsked = createdAt === null || stored.createdAt === createdAt;
      if (isAsked && (states === null || states.includes(receiptStateAt(stored, now))))
        receipts.push(...listedView(caller, stored, now, locks));
      if (receipts.length < limit) continue;
      const isLast = stored === records.at(-1) && next === null;
      return {
        outcome: 'listed',
        receipts,
        nextCursor: isLast ? null : sealCursor(caller, stored.cursor, deps.random),
      };
    }
    const isPast = createdAt !== null && (records.at(-1)?.createdAt ?? 0) < createdAt - disorderSeconds;
    if (next === null || isPast) return { outcome: 'listed', receipts, nextCursor: null };
    after = next;
  }
  const nextCursor = after === null ? null : sealCursor(caller, after, deps.random);
  return { outcome: 'listed', receipts, nextCursor };
}

/** Reads a page; `next` is the store's cursor for the next page, if there is one. Returns `null` if the store does not know `after`. */
async function pageOf(deps: Core, caller: AccountCaller, limit: number, after: string | null) {
  const found = await deps.store.listReceipts(caller.account.id, { limit: limit + 1, after });
  if (found === null) return null;
  const records = found.slice(0, limit);
  return { records, next: found.length > limit ? (records.at(-1)?.cursor ?? null) : null };
}

/**
 * The store's cursor may count across all accounts and so reveal how many secrets others make. Callers get it sealed under the
 * account's data key: it reveals nothing and works for this account alone (P16).
 */
const label = 'cursor';
/** The length of every sealed cursor in base64url; nothing longer is decoded. */
const cursorLength = 150;

function boxOf(caller: AccountCaller) {
  return { label, keyMaterial: caller.dataKey.expose(), binding: utf8(String(caller.account.id)) } as const;
}

function sealCursor(caller: AccountCaller, stored: string, random: RandomBytes): string {
  return toBase64Url(sealBox({ ...boxOf(caller), content: utf8(stored), random }));
}

/** Returns the store's cursor, or `null` for any text that was not sealed for this account. */
export function openCursor(caller: AccountCaller, cursor: string): string | null {
  if (cursor.length !== cursorLength) return null;
  const bytes = fromBase64Url(cursor);
  if (bytes === null) return null;
  const content = openBox(bytes, boxOf(caller));
  return content === null ? null : Buffer.from(content).toString('latin1');
}
