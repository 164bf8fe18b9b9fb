/**
 * Which mails about a secret a form asks for.
 *
 * Owns: the fields' names and their reading. Invariant: a box that is not ticked is not sent, so only a form that says
 * that it has the boxes can say that none is ticked.
 */
import { type NoticeKind, noticeKinds } from '../core/accounts/accounts.ts';
import type { Form } from './kit/form.ts';

/** The field that says that the form has the boxes. */
export const noticeMark = { name: 'notify', value: 'chosen' } as const;

export function noticeField(kind: NoticeKind): string {
  return `${noticeMark.name}-${kind}`;
}

/** `null`: the form has no such boxes. */
export function readNoticeKinds(form: Form): readonly NoticeKind[] | null {
  if (form.text(noticeMark.name) !== noticeMark.value) return null;
  return noticeKinds.filter((kind) => form.text(noticeField(kind)) !== '');
}
