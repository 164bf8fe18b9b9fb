/**
 * The form that changes a password.
 *
 * Owns: its fields. Invariant: no password is ever put into the page.
 */
import type { FC } from 'hono/jsx';
import type { TokenFate } from '../../core/accounts/accounts.ts';
import { type Frame, Page, PostForm } from '../kit/layout.tsx';
import {
  BackToAccount,
  NewPasswordField,
  RefusalSummary,
  TextField,
  UsernameField,
} from './account-form.tsx';
import type { FormRefusal } from './form-refusal.ts';
import { RevokeTokensBox } from './revoke-tokens.tsx';

export interface PasswordProps {
  readonly frame: Frame;
  readonly username: string;
  /** As ticked. */
  readonly tokens: TokenFate;
  readonly refusal: FormRefusal | null;
}

export const PasswordPage: FC<PasswordProps> = ({ frame, username, tokens, refusal }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('password.title')}>
      <div class="narrow">
        <h1>{say('password.title')}</h1>
        <p class="lead">{say('password.lead')}</p>
        <RefusalSummary frame={frame} refusal={refusal} />
        <PostForm frame={frame} action={frame.href('password')} class="sheet">
          <UsernameField frame={frame} username={username} />
          <TextField
            name="current"
            label={say('password.current')}
            type="password"
            autocomplete="current-password"
            refusal={refusal}
          />
          <NewPasswordField frame={frame} name="next" label={say('password.next')} refusal={refusal} />
          <RevokeTokensBox frame={frame} hint={say('password.revokeHint')} tokens={tokens} />
          <button type="submit">{say('password.submit')}</button>
        </PostForm>
        <BackToAccount frame={frame} />
      </div>
    </Page>
  );
};
