/**
 * A forgotten password.
 *
 * Owns: the pages of both steps. Invariant: what a new password loses and leaves is said before the button is pressed, and
 * how to keep it and how to end it.
 */
import type { FC } from 'hono/jsx';
import type { TokenFate } from '../../core/accounts/accounts.ts';
import { type Frame, Page, PostForm } from '../kit/layout.tsx';
import { NewPasswordField, RefusalSummary, TextField, UsernameField } from './account-form.tsx';
import type { FormRefusal } from './form-refusal.ts';
import { RevokeTokensBox } from './revoke-tokens.tsx';

type FrameProps = { readonly frame: Frame };

export interface ForgottenProps extends FrameProps {
  /** As typed. */
  readonly email: string;
  readonly refusal: FormRefusal | null;
}

export const ForgottenPage: FC<ForgottenProps> = ({ frame, email, refusal }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('forgotten.title')}>
      <div class="narrow">
        <h1>{say('forgotten.title')}</h1>
        <p class="lead">{say('forgotten.lead')}</p>
        <RefusalSummary frame={frame} refusal={refusal} isQuestion />
        <PostForm frame={frame} action={frame.href('forgotten')} class="sheet" isSignIn>
          <TextField
            name="email"
            label={say('forgotten.email')}
            type="email"
            autocomplete="username"
            value={email}
            refusal={refusal}
          />
          <button type="submit">{say('forgotten.submit')}</button>
        </PostForm>
      </div>
    </Page>
  );
};

export const ForgottenSentPage: FC<FrameProps> = ({ frame }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('forgotten.sentTitle')}>
      <h1>{say('forgotten.sentTitle')}</h1>
      <p class="lead">{say('forgotten.sentLead')}</p>
      <p>{say('forgotten.sentHint')}</p>
      <p>{say('forgotten.sentEarlier')}</p>
      <p>
        <a href={frame.href('forgotten')}>{say('forgotten.again')}</a>
      </p>
    </Page>
  );
};

export interface ResetProps extends FrameProps {
  readonly ticket: string;
  readonly username: string;
  /** The API token as typed. */
  readonly token: string;
  /** As ticked. */
  readonly tokens: TokenFate;
  readonly refusal: FormRefusal | null;
}

export const ResetPage: FC<ResetProps> = ({ frame, ticket, username, token, tokens, refusal }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('reset.title')}>
      <div class="narrow">
        <h1>{say('reset.title')}</h1>
        <p class="lead">{say('reset.lead')}</p>
        <RefusalSummary frame={frame} refusal={refusal} />
        <section class="note">
          <h2>{say('reset.changesTitle')}</h2>
          <ul>
            <li>{say('reset.changesList')}</li>
            <li>{say('reset.changesSessions')}</li>
            <li>{say('reset.changesLinks')}</li>
            <li>{say('reset.changesTokens')}</li>
          </ul>
        </section>
        <PostForm frame={frame} action={frame.href('reset', ticket)} class="sheet" isSignIn>
          <UsernameField frame={frame} username={username} />
          <NewPasswordField frame={frame} name="password" label={say('password.next')} refusal={refusal} />
          <TextField
            name="token"
            label={say('reset.token')}
            note={say('reset.optional')}
            hint={say('reset.tokenHint')}
            type="text"
            autocomplete="off"
            value={token}
            refusal={refusal}
            isOptional
          />
          <RevokeTokensBox frame={frame} hint={say('reset.revokeHint')} tokens={tokens} />
          <button type="submit">{say('reset.submit')}</button>
        </PostForm>
      </div>
    </Page>
  );
};

export const ResetGonePage: FC<FrameProps> = ({ frame }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('reset.goneTitle')}>
      <h1>{say('reset.goneTitle')}</h1>
      <p class="lead">{say('reset.gone')}</p>
      <p>
        <a class="button" href={frame.href('forgotten')}>
          {say('reset.askAgain')}
        </a>
      </p>
    </Page>
  );
};
