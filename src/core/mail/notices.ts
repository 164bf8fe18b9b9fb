/**
 * Notices: emails that inform a secret's creator that it was read, was burned, or is about to expire unread, or an asker that an answer
 * came. A notice never delays the event or makes it fail, goes only to the account's own address, and names neither key nor recipient (P18).
 */

import { type NoticeKind, noticeKinds } from '../../protocol/vocabulary.ts';
import type { Caller } from '../account.ts';
import type { AccountMail } from '../mailer.ts';
import type { Core } from '../ports/core.ts';
import type { DueNotice } from '../ports/mail.ts';
import type { StoredRequest } from '../request.ts';
import type { StoredSecret } from '../secret.ts';
import { Sensitive } from '../sensitive.ts';
import type { UnixSeconds } from '../time.ts';

export type NoticeCore = Pick<
  Core,
  'mailer' | 'mailBrandOf' | 'mailLocaleOf' | 'links' | 'events' | 'inBackground'
> & { readonly store: Pick<Core['store'], 'takeDueNotices' | 'takeRequestNotice' | 'findAccountById'> };

const daySeconds = 86_400;
/** The notice is due before expiry: by a day or, if the lifetime is under four days, by a quarter of the lifetime. */
const leadShare = 4;
/** Limits the loss: if the process dies before it sends a run's notices, they are never sent. */
const noticesPerRun = 200;

/** Returns the requested notices or, if `asked` is `null`, the account's default; none for anonymous callers. */
export function noticesFor(asked: readonly NoticeKind[] | null, caller: Caller): readonly NoticeKind[] {
  if (caller.kind === 'anonymous') return [];
  const wanted = asked ?? caller.account.notify;
  return noticeKinds.filter((kind) => wanted.includes(kind));
}

/** Returns when the expiry notice is due, or `null` if it is not wanted or the lifetime is too short. */
export function noticeDueAt(
  notify: readonly NoticeKind[],
  { createdAt, expiresAt }: { readonly createdAt: UnixSeconds; readonly expiresAt: UnixSeconds },
): UnixSeconds | null {
  const leadSeconds = Math.min(daySeconds, Math.floor((expiresAt - createdAt) / leadShare));
  return notify.includes('expiring') && leadSeconds >= 1 ? expiresAt - leadSeconds : null;
}

type Subject = Pick<StoredSecret, 'owner' | 'createdAt' | 'shareDomain' | 'notify'>;

type Happening = Exclude<NoticeKind, 'expiring'>;

export function sendNotice(deps: NoticeCore, what: Happening, secret: Subject, at: UnixSeconds): void {
  const { owner, notify } = secret;
  if (owner === null || !notify.includes(what)) return;
  mailAfter(deps, `secret_${what}`, { ...secret, owner }, at);
}

/** Informs the asker, at most once an hour for a request. The mail has no link: only the asker has the one that opens the answer. */
export function sendAnswerNotice(deps: NoticeCore, request: StoredRequest, at: UnixSeconds): void {
  const { id, owner, notify } = request;
  if (owner === null || !notify) return;
  const mayMail = () => deps.store.takeRequestNotice(id);
  mailAfter(deps, 'request_answered', { ...request, owner }, at, mayMail);
}

/** Sends due notices in the background; returns how many. */
export async function sendDueNotices(deps: NoticeCore): Promise<number> {
  const due = await deps.store.takeDueNotices(noticesPerRun);
  for (const notice of due) mailAfter(deps, 'secret_expiring', notice, notice.expiresAt);
  return due.length;
}

type NoticeMail = Extract<AccountMail, { at: unknown }>;

function mailAfter(
  deps: NoticeCore,
  kind: NoticeMail['kind'],
  { owner, createdAt, shareDomain }: Omit<DueNotice, 'expiresAt'>,
  at: UnixSeconds,
  mayMail: () => Promise<boolean> = async () => true,
): void {
  const { store, mailer, mailBrandOf, mailLocaleOf, links, events, inBackground } = deps;
  inBackground(async () => {
    if (!(await mayMail())) return;
    const account = await store.findAccountById(owner);
    if (account === null) return;
    const brand = await mailBrandOf(shareDomain);
    const to = new Sensitive(account.username);
    const locale = mailLocaleOf(account.locale);
    const recentUrl = `${links.recentUrl}?at=${createdAt}`;
    const { state } = await mailer.sendAccountMail({ kind, to, locale, createdAt, at, recentUrl, brand });
    events({ event: 'account_mail_ended', kind, state });
  });
}
