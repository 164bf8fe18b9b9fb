/** The notices that are due of records in memory. */
import type { AccountId } from '../../../src/core/account.ts';
import type { DueNotice } from '../../../src/core/ports/mail.ts';
import { isWaiting, type NewRecord, type StoredState } from '../../../src/core/secret.ts';
import type { UnixSeconds } from '../../../src/core/time.ts';

/** Whether the account exists now. */
export type IsAccount = (id: AccountId) => boolean;

interface NoticedRecord extends Pick<NewRecord, 'owner' | 'createdAt' | 'expiresAt' | 'shareDomain'> {
  readonly position: number;
  readonly state: StoredState;
  noticeDueAt: UnixSeconds | null;
}

/** Notices of waiting secrets are given out; those of gone secrets, or without an account, are only forgotten. */
export function takeDueNotices(
  records: readonly NoticedRecord[],
  isAccount: IsAccount,
  limit: number,
  now: UnixSeconds,
): DueNotice[] {
  const dueAtOf = (record: NoticedRecord): number => record.noticeDueAt ?? Number.POSITIVE_INFINITY;
  const due = records.filter((record) => dueAtOf(record) <= now);
  const taken: DueNotice[] = [];
  for (const record of due.sort((a, b) => dueAtOf(a) - dueAtOf(b) || a.position - b.position)) {
    const { owner, createdAt, expiresAt, shareDomain } = record;
    const isWanted = isWaiting(record, now) && owner !== null && isAccount(owner);
    if (isWanted && taken.length >= limit) continue;
    record.noticeDueAt = null;
    if (isWanted) taken.push({ owner, createdAt, expiresAt, shareDomain });
  }
  return taken;
}
