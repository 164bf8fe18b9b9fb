/**
 * Signing up.
 *
 * Owns: the pages of both steps and of every way they end. Invariant: none says whether an address has an account, but to
 * whoever holds the link of a mail to it.
 */
import type { FC } from 'hono/jsx';
import { type Frame, Page, PostForm } from '../kit/layout.tsx';
import { NewPasswordField, RefusalSummary, TextField, UsernameField } from './account-form.tsx';
import type { FormRefusal } from './form-refusal.ts';

type FrameProps = { readonly frame: Frame };

export interface SignUpProps extends FrameProps {
  /** As typed. */
  readonly email: string;
  readonly refusal: FormRefusal | null;
}

export const SignUpPage: FC<SignUpProps> = ({ frame, email, refusal }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('signUp.title')}>
      <div class="narrow">
        <h1>{say('signUp.title')}</h1>
        <p class="lead">{say('signUp.lead')}</p>
        <RefusalSummary frame={frame} refusal={refusal} isQuestion />
        <PostForm frame={frame} action={frame.href('signUp')} class="sheet" isSignIn>
          <TextField
            name="email"
            label={say('signUp.email')}
            hint={say('signUp.emailHint')}
            type="email"
            autocomplete="email"
            value={email}
            refusal={refusal}
          />
          <button type="submit">{say('signUp.submit')}</button>
        </PostForm>
        <p>
          <a href={frame.href('logIn')}>{say('signUp.logIn')}</a>
        </p>
      </div>
    </Page>
  );
};

export const SignUpSentPage: FC<FrameProps> = ({ frame }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('signUp.sentTitle')}>
      <h1>{say('signUp.sentTitle')}</h1>
      <p class="lead">{say('signUp.sentLead')}</p>
      <p>{say('signUp.sentHint')}</p>
      <p>{say('signUp.sentEarlier')}</p>
      <p>
        <a href={frame.href('signUp')}>{say('signUp.again')}</a>
      </p>
    </Page>
  );
};

export const SignUpClosedPage: FC<FrameProps> = ({ frame }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('signUp.closedTitle')}>
      <h1>{say('signUp.closedTitle')}</h1>
      <p class="lead">{say('signUp.closed')}</p>
      <p>
        <a href={frame.href('logIn')}>{say('signUp.logIn')}</a>
      </p>
    </Page>
  );
};

export interface ChoosePasswordProps extends FrameProps {
  readonly ticket: string;
  readonly username: string;
  readonly refusal: FormRefusal | null;
}

export const ChoosePasswordPage: FC<ChoosePasswordProps> = ({ frame, ticket, username, refusal }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('signUp.chooseTitle')}>
      <div class="narrow">
        <h1>{say('signUp.chooseTitle')}</h1>
        <p class="lead">{say('signUp.chooseLead')}</p>
        <RefusalSummary frame={frame} refusal={refusal} />
        <PostForm frame={frame} action={frame.href('completeSignUp', ticket)} class="sheet" isSignIn>
          <UsernameField frame={frame} username={username} />
          <NewPasswordField frame={frame} name="password" label={say('password.choose')} refusal={refusal} />
          <button type="submit">{say('signUp.finish')}</button>
        </PostForm>
      </div>
    </Page>
  );
};

export const SignUpGonePage: FC<FrameProps> = ({ frame }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('signUp.goneTitle')}>
      <h1>{say('signUp.goneTitle')}</h1>
      <p class="lead">{say('signUp.gone')}</p>
      <div class="row">
        <a class="button" href={frame.href('signUp')}>
          {say('signUp.askAgain')}
        </a>
        <a class="button quiet" href={frame.href('logIn')}>
          {say('logIn.title')}
        </a>
      </div>
    </Page>
  );
};

export const SignUpExistsPage: FC<FrameProps> = ({ frame }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('signUp.existsTitle')}>
      <h1>{say('signUp.existsTitle')}</h1>
      <p class="lead">{say('signUp.exists')}</p>
      <div class="row">
        <a class="button" href={frame.href('logIn')}>
          {say('logIn.title')}
        </a>
        <a class="button quiet" href={frame.href('forgotten')}>
          {say('logIn.forgotten')}
        </a>
      </div>
    </Page>
  );
};
