/**
 * The log-in.
 *
 * Owns: its form. Invariant: the address comes back when the log-in is refused, the password does not.
 */
import type { FC } from 'hono/jsx';
import { type Frame, Page, PostForm } from '../kit/layout.tsx';
import { DoneNote, RefusalSummary, TextField } from './account-form.tsx';
import type { FormRefusal } from './form-refusal.ts';

export interface LogInProps {
  readonly frame: Frame;
  /** As typed. */
  readonly email: string;
  readonly refusal: FormRefusal | null;
  readonly isAfterLogOut: boolean;
}

export const LogInPage: FC<LogInProps> = ({ frame, email, refusal, isAfterLogOut }) => {
  const { words, href, signUpIsOpen } = frame;
  const { say } = words;
  return (
    <Page frame={frame} title={say('logIn.title')}>
      <div class="narrow">
        <h1>{say('logIn.title')}</h1>
        {isAfterLogOut ? <DoneNote>{say('logIn.loggedOut')}</DoneNote> : null}
        <RefusalSummary frame={frame} refusal={refusal} isQuestion />
        <PostForm frame={frame} action={href('logIn')} class="sheet" isSignIn>
          <TextField
            name="email"
            label={say('logIn.email')}
            type="email"
            autocomplete="username"
            value={email}
            refusal={refusal}
          />
          <TextField
            name="password"
            label={say('logIn.password')}
            type="password"
            autocomplete="current-password"
            refusal={refusal}
          />
          <button type="submit">{say('logIn.submit')}</button>
        </PostForm>
        <p>
          {say('logIn.forgottenHint')} <a href={href('forgotten')}>{say('logIn.forgotten')}</a>
        </p>
        {signUpIsOpen ? (
          <p>
            {say('logIn.signUpHint')} <a href={href('signUp')}>{say('logIn.signUp')}</a>
          </p>
        ) : null}
      </div>
    </Page>
  );
};
