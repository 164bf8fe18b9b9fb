/**
 * Deleting an account. The page first lists the consequences; deleting requires a ticked box and the password, with guesses counted like
 * log-ins. The next page is rendered as logged out and clears the cookie.
 */
import type { FC } from 'hono/jsx';
import { Sensitive } from '../../core/sensitive.ts';
import {
  type AccountRequest,
  type FormRefusal,
  forAccount,
  formReply,
  refuseField,
  TickBox,
} from '../kit/form-page.tsx';
import { type Frame, PostForm } from '../kit/layout.tsx';
import { ConfirmRow, MessagePage } from '../kit/message-page.tsx';
import { type PageReply, type PageRoute, pageReply } from '../kit/page.ts';
import { type AccountPageDeps, countOwnGuess, OwnPassword } from './form.tsx';
import { type AccountHead, AccountPage, headFor } from './sections.tsx';

export function createDeletePages(deps: AccountPageDeps): PageRoute[] {
  return [
    {
      name: 'deleteAccount',
      get: forAccount(deps, showForm),
      post: forAccount(deps, deleteAccount, showForm),
    },
  ];
}

const DeleteAccountPage: FC<AccountHead & { isTicked: boolean }> = ({ isTicked, ...head }) => {
  const { frame, refusal } = head;
  const { say, href } = frame;
  return (
    <AccountPage {...head} section="account" isBelow title={say('account.deleteTitle')} scripts={['account']}>
      <WhatHappens frame={frame} />
      <PostForm frame={frame} action={href('deleteAccount')} class="sheet">
        <OwnPassword {...{ frame, refusal }} name="password" label={say('account.ownPassword')} />
        <div class="field">
          <TickBox
            name="confirm"
            label={say('account.deleteConfirm')}
            isTicked={isTicked}
            wrong={refusal?.wrong.confirm ?? null}
          />
        </div>
        <ConfirmRow
          submit={say('account.deleteSubmit')}
          keep={[href('account'), say('account.deleteKeep')]}
        />
      </PostForm>
    </AccountPage>
  );
};

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

async function isConfirmed({ form }: AccountRequest): Promise<boolean> {
  return (await form()).text('confirm') === 'yes';
}

async function showForm(
  request: AccountRequest,
  deps: AccountPageDeps,
  refusal: FormRefusal | null = null,
): Promise<PageReply> {
  const isTicked = refusal !== null && (await isConfirmed(request));
  const head = await headFor(request, deps, refusal);
  return formReply(<DeleteAccountPage {...head} isTicked={isTicked} />, refusal);
}

async function deleteAccount(request: AccountRequest, deps: AccountPageDeps): Promise<PageReply> {
  const { frame, signedIn } = request;
  const { say, locale } = frame.messages;
  if (!(await isConfirmed(request)))
    return showForm(request, deps, refuseField('confirm', say('account.deleteUnconfirmed')));
  const password = new Sensitive((await request.form()).text('password'));
  const outcome = await countOwnGuess(request, deps, () =>
    deps.accounts.deleteAccount(signedIn, { password, locale }),
  );
  if (outcome.outcome === 'wrong_password')
    return showForm(request, deps, refuseField('password', say('account.ownPasswordWrong')));
  const signedOut = { ...frame, visitor: null, formToken: '' };
  const page = <AccountDeletedPage frame={signedOut} burned={outcome.burned} />;
  return { ...pageReply(200, page), cookies: [deps.sessionCookie.clear()] };
}
