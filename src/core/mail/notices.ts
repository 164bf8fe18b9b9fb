/**
 * Notices: what an account asked to be told about its secrets.
 *
 * Owns: which notices a new secret gets, when one is due, and mailing it behind what happened. Invariant: a notice never
 * delays or fails what it tells of, goes to the account's own address alone, and names neither key nor recipient (P18);
 * an account that is gone gets none.
 */

import { type AccountId, type Caller, type NoticeKind, noticeKinds } from '../accounts/accounts.ts';
import type { Core } from '../core.ts';
import type { DueNotice } from '../ports.ts';
import { Sensitive } from '../sensitive.ts';
import type { UnixSeconds } from '../time.ts';
import type { AccountMail } from './mailer.ts';

/** What a notice takes. */
export type NoticeCore = Pick<
  Core,
  'mailer' | 'mailFaceOf' | 'mailLocaleOf' | 'links' | 'events' | 'inBackground'
> & { readonly store: Pick<Core['store'], 'takeDueNotices' | 'findAccountById'> };

const daySeconds = 86_400;
/** A notice tells a day ahead, or a quarter of a lifetime that is shorter than four days. */
const leadShare = 4;
/** Notices taken in one run: what a run takes is lost if the process dies before the mails are handed over. */
const noticesPerRun = 200;

/** What a new secret's account is told: as asked, else as the account has it. Nobody tells somebody anonymous. */
export function noticesFor(asked: readonly NoticeKind[] | null, caller: Caller): readonly NoticeKind[] {
  if (caller.kind === 'anonymous') return [];
  const wanted = asked ?? caller.account.notify;
  return noticeKinds.filter((kind) => wanted.includes(kind));
}

/** When to tell that a secret is about to expire; `null`: never, also for a lifetime too short to be told in. */
export function noticeDueAt(
  notify: readonly NoticeKind[],
  { createdAt, expiresAt }: { readonly createdAt: UnixSeconds; readonly expiresAt: UnixSeconds },
): UnixSeconds | null {
  const leadSeconds = Math.min(daySeconds, Math.floor((expiresAt - createdAt) / leadShare));
  return notify.includes('expiring') && leadSeconds >= 1 ? expiresAt - leadSeconds : null;
}

/** The secret that a notice is about. */
interface Subject {
  readonly owner: AccountId | null;
  readonly createdAt: UnixSeconds;
  readonly shareDomain: string;
  readonly notify: readonly NoticeKind[];
}

type Happening = Exclude<NoticeKind, 'expiring'>;

/** Tells the secret's account, if it wanted to know, behind the answer at hand. */
export function tell(deps: NoticeCore, what: Happening, secret: Subject, at: UnixSeconds): void {
  const { owner, notify } = secret;
  if (owner === null || !notify.includes(what)) return;
  mailAfter(deps, `secret_${what}`, { ...secret, owner }, at);
}

/** Begins to mail what is due; how many. The mails are handed over in the background. */
export async function sendDueNotices(deps: NoticeCore): Promise<number> {
  const due = await deps.store.takeDueNotices(noticesPerRun);
  for (const notice of due) mailAfter(deps, 'secret_expiring', notice, notice.expiresAt);
  return due.length;
}

type NoticeMail = Extract<AccountMail, { face: unknown }>;

function mailAfter(
  deps: NoticeCore,
  kind: NoticeMail['kind'],
  { owner, createdAt, shareDomain }: Omit<DueNotice, 'expiresAt'>,
  at: UnixSeconds,
): void {
  const { store, mailer, mailFaceOf, mailLocaleOf, links, events, inBackground } = deps;
  inBackground(async () => {
    const account = await store.findAccountById(owner);
    if (account === null) return;
    const face = await mailFaceOf(shareDomain);
    const to = new Sensitive(account.username);
    const locale = mailLocaleOf(account.locale);
    const { recentUrl } = links;
    const { state } = await mailer.sendAccountMail({ kind, to, locale, createdAt, at, recentUrl, face });
    events({ event: 'account_mail_ended', kind, state });
  });
}
