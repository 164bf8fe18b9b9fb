/** An account's row, which both stores keep alike, as the core knows it. */
import { type Account, type AccountId, noticeKinds } from '../core/account.ts';
import type { PlanName } from '../core/plans.ts';
import type { UnixSeconds } from '../core/time.ts';
import { chosenBy } from './marks.ts';

export interface AccountRow {
  id: AccountId;
  username: string;
  plan: PlanName;
  locale: string | null;
  notify: number;
  account_created_at: UnixSeconds;
  locked_at: UnixSeconds | null;
}

/** Of `accounts a`. */
export const accountColumns =
  'a.id, a.username, a.plan, a.locale, a.notify, a.created_at AS account_created_at, a.locked_at';

export function accountOf(row: AccountRow): Account {
  const { id, username, plan, locale, account_created_at: createdAt, locked_at: lockedAt } = row;
  return { id, username, plan, locale, notify: chosenBy(noticeKinds, row.notify), createdAt, lockedAt };
}
