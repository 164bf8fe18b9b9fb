/**
 * Deleting an account. The page first lists the consequences; deleting requires a ticked box and the password, with guesses counted like
 * log-ins. The next page is rendered as logged out and clears the cookie.
 */
import type { FC } from 'hono/jsx';
import type { SignedIn } from '../../core/account.ts';
import { Sensitive } from '../../core/sensitive.ts';
import { type FormRefusal, forAccount, formReply, refuseField, TickBox } from '../kit/form-page.tsx';
import { type Frame, PostForm } from '../kit/layout.tsx';
import { ConfirmRow, MessagePage } from '../kit/message-page.tsx';
import { type PageReply, type PageRequest, type PageRoute, pageReply } from '../kit/page.ts';
import { type AccountPageDeps, countGuess, OwnPassword } from './form.tsx';
import { AccountPage, mayHaveDomains } from './sections.tsx';

export function createDeletePages(deps: AccountPageDeps): PageRoute[] {
  return [
    {
      name: 'deleteAccount',
      get: forAccount((request, signedIn) =>
        showForm(request, signedIn, deps, { isTicked: false, refusal: null }),
      ),
      post: forAccount(
        (request, signedIn) => deleteAccount(request, signedIn, deps),
        async (request, signedIn, refusal) => {
          const isTicked = isConfirmed((await request.form()).text('confirm'));
          return showForm(request, signedIn, deps, { isTicked, refusal });
        },
      ),
    },
  ];
}

interface Attempt {
  readonly isTicked: boolean;
  readonly refusal: FormRefusal | null;
}

interface DeleteAccountProps extends Attempt {
  readonly frame: Frame;
  readonly username: string;
  readonly hasDomains: boolean;
}

const DeleteAccountPage: FC<DeleteAccountProps> = ({ frame, username, hasDomains, isTicked, refusal }) => (
  <AccountPage
    {...{ frame, hasDomains, refusal }}
    section="account"
    isBelow
    title={frame.say('account.deleteTitle')}
    scripts={['account']}
  >
    <WhatHappens frame={frame} />
    <PostForm frame={frame} action={frame.href('deleteAccount')} class="sheet">
      <OwnPassword
        {...{ frame, username, refusal }}
        name="password"
        label={frame.say('account.ownPassword')}
      />
      <div class="field">
        <TickBox
          name="confirm"
          label={frame.say('account.deleteConfirm')}
          isTicked={isTicked}
          wrong={refusal?.wrong.confirm ?? null}
        />
      </div>
      <ConfirmRow
        submit={frame.say('account.deleteSubmit')}
        keep={[frame.href('account'), frame.say('account.deleteKeep')]}
      />
    </PostForm>
  </AccountPage>
);

const WhatHappens: FC<{ frame: Frame }> = ({ frame: { say } }) => (
  <>
    <p class="lead">{say('account.deleteLead')}</p>
    <ul>
      <li>{say('account.deleteSecrets')}</li>
      <li>{say('account.deleteTokens')}</li>
      <li>{say('account.deleteReceipts')}</li>
      <li>{say('account.deleteMail')}</li>
    </ul>
  </>
);

const AccountDeletedPage: FC<{ frame: Frame; burned: number }> = ({ frame, burned }) => (
  <MessagePage
    frame={frame}
    title={frame.say('account.deletedTitle')}
    lead={
      burned === 0 ? frame.say('account.deletedNone') : frame.say('account.deletedBurned', { count: burned })
    }
    also={[frame.say('account.deletedRest')]}
    link={[frame.href('home'), frame.say('error.home')]}
  />
);

function isConfirmed(box: string): boolean {
  return box === 'yes';
}

async function showForm(
  { frame }: PageRequest,
  { caller }: SignedIn,
  { domains }: AccountPageDeps,
  attempt: Attempt,
): Promise<PageReply> {
  const { username } = caller.account;
  const hasDomains = await mayHaveDomains(domains, caller);
  const page = <DeleteAccountPage {...{ frame, username, hasDomains }} {...attempt} />;
  return formReply(page, attempt.refusal);
}

async function deleteAccount(
  request: PageRequest,
  signedIn: SignedIn,
  deps: AccountPageDeps,
): Promise<PageReply> {
  const { accounts, limiter, sessionCookie } = deps;
  const { frame, clientPrefix } = request;
  const { say, locale } = frame.messages;
  const form = await request.form();
  if (!isConfirmed(form.text('confirm'))) {
    const refusal = refuseField('confirm', say('account.deleteUnconfirmed'));
    return showForm(request, signedIn, deps, { isTicked: false, refusal });
  }
  const password = new Sensitive(form.text('password'));
  const outcome = await countGuess(limiter, {
    clientPrefix,
    username: signedIn.caller.account.username,
    compute: () => accounts.deleteAccount(signedIn, { password, locale }),
    isWrong: ({ outcome }) => outcome === 'wrong_password',
  });
  if (outcome.outcome === 'wrong_password') {
    const refusal = refuseField('password', say('account.ownPasswordWrong'));
    return showForm(request, signedIn, deps, { isTicked: true, refusal });
  }
  const signedOut = { ...frame, visitor: null, formToken: '' };
  const page = <AccountDeletedPage frame={signedOut} burned={outcome.burned} />;
  return { ...pageReply(200, page), cookies: [sessionCookie.clear()] };
}
