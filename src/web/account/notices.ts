/**
 * Which mails an account wants about its secrets.
 *
 * Owns: the POST of the choice. Invariant: it is the account's own choice, changed by a form that has the boxes and by
 * nothing else.
 */
import type { SignedIn } from '../../core/accounts/accounts.ts';
import type { AccountService } from '../../core/accounts/service.ts';
import { readNoticeKinds } from '../kit/notices.tsx';
import { type PageReply, type PageRequest, type PageRoute, seeOther } from '../page.ts';
import { forAccount } from './for-account.ts';
import type { FormRefusal } from './form-refusal.ts';

export interface NoticeDeps {
  readonly accounts: Pick<AccountService, 'setNotify'>;
}

/** Shows the page that the form stands in again, with what was refused. */
type Redisplay = (request: PageRequest, signedIn: SignedIn, refusal: FormRefusal) => Promise<PageReply>;

export function createNoticePages(deps: NoticeDeps, redisplay: Redisplay): PageRoute[] {
  return [
    {
      name: 'notices',
      get: forAccount(({ frame }) => seeOther(frame.href('account'))),
      post: forAccount((request, signedIn) => choose(request, signedIn, deps), redisplay),
    },
  ];
}

async function choose(
  request: PageRequest,
  signedIn: SignedIn,
  { accounts }: NoticeDeps,
): Promise<PageReply> {
  const kinds = readNoticeKinds(await request.form());
  const account = request.frame.href('account');
  if (kinds === null) return seeOther(account);
  await accounts.setNotify(signedIn, kinds);
  return seeOther(`${account}?done=notices`);
}
