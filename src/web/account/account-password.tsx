/**
 * Changing a password.
 *
 * Owns: the form and its POST. Invariants: the current password is asked for and counted like a log-in, so an open browser
 * is not enough and guesses are bounded; neither password comes back.
 */
import type { SignedIn } from '../../core/accounts/accounts.ts';
import type { ChangePasswordOutcome } from '../../core/accounts/passwords.ts';
import type { AccountService } from '../../core/accounts/service.ts';
import { Sensitive } from '../../core/sensitive.ts';
import { renderPage } from '../kit/layout.tsx';
import type { Words } from '../kit/words.ts';
import { type PageReply, type PageRequest, type PageRoute, pageReply, seeOther } from '../page.ts';
import { PasswordPage } from './account-password-page.tsx';
import { forAccount } from './for-account.ts';
import { type FormRefusal, refusalOfPassword, refuseField } from './form-refusal.ts';
import { countGuess, type GuessLimiter } from './guesses.ts';
import { readTokenFate } from './revoke-tokens.tsx';

export interface PasswordDeps {
  readonly accounts: Pick<AccountService, 'changePassword'>;
  readonly limiter: GuessLimiter;
}

export function createPasswordPages(deps: PasswordDeps): PageRoute[] {
  return [
    {
      name: 'password',
      get: forAccount((request, signedIn) => showForm(request, signedIn, null)),
      post: forAccount((request, signedIn) => change(request, signedIn, deps), showForm),
    },
  ];
}

async function showForm(
  { frame, form }: PageRequest,
  { caller }: SignedIn,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const { username } = caller.account;
  const tokens = refusal === null ? 'keep' : readTokenFate(await form());
  const page = <PasswordPage {...{ frame, username, tokens, refusal }} />;
  return pageReply(refusal?.status ?? 200, renderPage(page));
}

async function change(request: PageRequest, signedIn: SignedIn, deps: PasswordDeps): Promise<PageReply> {
  const { frame, clientPrefix } = request;
  const form = await request.form();
  const current = new Sensitive(form.text('current'));
  const next = new Sensitive(form.text('next'));
  const tokens = readTokenFate(form);
  const { locale } = frame.words;
  const outcome = await countGuess(deps.limiter, {
    clientPrefix,
    username: signedIn.caller.account.username,
    compute: () => deps.accounts.changePassword(signedIn, { current, next, tokens, locale }),
    isWrong: ({ outcome }) => outcome === 'wrong_password',
  });
  if (outcome.outcome !== 'changed') return showForm(request, signedIn, refusalOf(outcome, frame.words));
  const done = tokens === 'revoke' ? 'password-tokens' : 'password';
  return seeOther(`${frame.href('account')}?done=${done}`);
}

function refusalOf(
  refused: Exclude<ChangePasswordOutcome, { outcome: 'changed' }>,
  words: Words,
): FormRefusal {
  return refused.outcome === 'wrong_password'
    ? refuseField('current', words.say('password.wrong'))
    : refusalOfPassword(refused, 'next', words);
}
