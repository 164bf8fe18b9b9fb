/**
 * The end of an account.
 *
 * Owns: the page that asks and the page that says it is done. Invariant: all that happens is said before it does.
 */
import type { FC } from 'hono/jsx';
import { type Frame, Page, PostForm } from '../kit/layout.tsx';
import { RefusalSummary, TextField, UsernameField } from './account-form.tsx';
import type { FormRefusal } from './form-refusal.ts';
import { TickBox } from './tick-box.tsx';

export interface DeleteAccountProps {
  readonly frame: Frame;
  readonly username: string;
  readonly isTicked: boolean;
  readonly refusal: FormRefusal | null;
}

export const DeleteAccountPage: FC<DeleteAccountProps> = ({ frame, username, isTicked, refusal }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('account.deleteTitle')}>
      <div class="narrow">
        <h1>{say('account.deleteTitle')}</h1>
        <RefusalSummary frame={frame} refusal={refusal} />
        <p class="lead">{say('account.deleteLead')}</p>
        <ul>
          <li>{say('account.deleteSecrets')}</li>
          <li>{say('account.deleteTokens')}</li>
          <li>{say('account.deleteReceipts')}</li>
          <li>{say('account.deleteMail')}</li>
        </ul>
        <PostForm frame={frame} action={frame.href('deleteAccount')} class="sheet">
          <UsernameField frame={frame} username={username} />
          <TextField
            name="password"
            label={say('account.ownPassword')}
            type="password"
            autocomplete="current-password"
            refusal={refusal}
          />
          <div class="field">
            <TickBox
              name="confirm"
              label={say('account.deleteConfirm')}
              isTicked={isTicked}
              wrong={refusal?.wrong.confirm ?? null}
            />
          </div>
          <div class="row">
            <button class="alarm" type="submit">
              {say('account.deleteSubmit')}
            </button>
            <a class="button quiet" href={frame.href('account')}>
              {say('account.deleteKeep')}
            </a>
          </div>
        </PostForm>
      </div>
    </Page>
  );
};

export const AccountDeletedPage: FC<{ frame: Frame; burned: number }> = ({ frame, burned }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('account.deletedTitle')}>
      <h1>{say('account.deletedTitle')}</h1>
      <p class="lead">
        {burned === 0 ? say('account.deletedNone') : say('account.deletedBurned', { count: burned })}
      </p>
      <p>{say('account.deletedRest')}</p>
      <p>
        <a href={frame.href('home')}>{say('error.home')}</a>
      </p>
    </Page>
  );
};
