/**
 * Deleting an account.
 *
 * Owns: the form and its POST. Invariants: what happens is said first; it takes the password, counted like a log-in, and
 * a box that was ticked; the page afterwards is nobody's, and the cookie is gone.
 */
import type { SignedIn } from '../../core/accounts/accounts.ts';
import type { AccountService } from '../../core/accounts/service.ts';
import { Sensitive } from '../../core/sensitive.ts';
import type { SessionCookie } from '../cookies.ts';
import { renderPage } from '../kit/layout.tsx';
import { type PageReply, type PageRequest, type PageRoute, pageReply } from '../page.ts';
import { AccountDeletedPage, DeleteAccountPage } from './account-delete-page.tsx';
import { forAccount } from './for-account.ts';
import { type FormRefusal, refuseField } from './form-refusal.ts';
import { countGuess, type GuessLimiter } from './guesses.ts';

export interface DeleteDeps {
  readonly accounts: Pick<AccountService, 'deleteAccount'>;
  readonly limiter: GuessLimiter;
  readonly sessionCookie: SessionCookie;
}

export function createDeletePages(deps: DeleteDeps): PageRoute[] {
  return [
    {
      name: 'deleteAccount',
      get: forAccount((request, signedIn) => showForm(request, signedIn, false, null)),
      post: forAccount(
        (request, signedIn) => deleteAccount(request, signedIn, deps),
        async (request, signedIn, refusal) =>
          showForm(request, signedIn, isConfirmed((await request.form()).text('confirm')), refusal),
      ),
    },
  ];
}

function isConfirmed(box: string): boolean {
  return box === 'yes';
}

function showForm(
  { frame }: PageRequest,
  { caller }: SignedIn,
  isTicked: boolean,
  refusal: FormRefusal | null,
): PageReply {
  const { username } = caller.account;
  const page = <DeleteAccountPage frame={frame} username={username} isTicked={isTicked} refusal={refusal} />;
  return pageReply(refusal?.status ?? 200, renderPage(page));
}

async function deleteAccount(
  request: PageRequest,
  signedIn: SignedIn,
  { accounts, limiter, sessionCookie }: DeleteDeps,
): Promise<PageReply> {
  const { frame, clientPrefix } = request;
  const { say, locale } = frame.words;
  const form = await request.form();
  if (!isConfirmed(form.text('confirm'))) {
    return showForm(request, signedIn, false, refuseField('confirm', say('account.deleteUnconfirmed')));
  }
  const password = new Sensitive(form.text('password'));
  const outcome = await countGuess(limiter, {
    clientPrefix,
    username: signedIn.caller.account.username,
    compute: () => accounts.deleteAccount(signedIn, { password, locale }),
    isWrong: ({ outcome }) => outcome === 'wrong_password',
  });
  if (outcome.outcome === 'wrong_password') {
    return showForm(request, signedIn, true, refuseField('password', say('account.ownPasswordWrong')));
  }
  const nobody = { ...frame, visitor: null, formToken: '' };
  const page = <AccountDeletedPage frame={nobody} burned={outcome.burned} />;
  return { ...pageReply(200, renderPage(page)), cookies: [sessionCookie.clear()] };
}
