/**
 * What the forms of accounts are made of.
 *
 * Owns: a text field, the summary of what was refused and the note of what was done. Invariants: every refusal stands
 * beside its field and in the summary, which leads to it; a password is never put into a page.
 */
import type { FC, PropsWithChildren } from 'hono/jsx';
import { passwordLength } from '../../core/accounts/passwords.ts';
import { controlAttributes, Field } from '../kit/field.tsx';
import type { Frame } from '../kit/layout.tsx';
import type { FormRefusal } from './form-refusal.ts';

export interface TextFieldProps {
  readonly name: string;
  readonly label: string;
  readonly note?: string;
  readonly hint?: string;
  readonly refusal: FormRefusal | null;
  readonly type: 'email' | 'text' | 'password' | 'date';
  readonly autocomplete: 'username' | 'email' | 'current-password' | 'new-password' | 'off';
  readonly value?: string;
  readonly isOptional?: boolean;
}

export const TextField: FC<TextFieldProps> = ({
  refusal,
  type,
  autocomplete,
  value,
  isOptional,
  ...given
}) => {
  const texts = { ...given, wrong: refusal?.wrong[given.name] ?? null };
  return (
    <Field texts={texts}>
      <input
        {...controlAttributes(texts)}
        type={type}
        autocomplete={autocomplete}
        autocapitalize="off"
        spellcheck={false}
        required={isOptional !== true}
        value={value}
      />
    </Field>
  );
};

/** A password that is chosen, with its rules said before they are hit. */
export const NewPasswordField: FC<{
  frame: Frame;
  name: string;
  label: string;
  refusal: FormRefusal | null;
}> = ({ frame, ...field }) => (
  <TextField
    {...field}
    type="password"
    autocomplete="new-password"
    hint={frame.words.say('password.rules', { count: passwordLength.min })}
  />
);

/** Whose password it is: shown to the person, and found by password managers. */
export const UsernameField: FC<{ frame: Frame; username: string }> = ({ frame, username }) => (
  <div class="field">
    <label for="username">{frame.words.say('password.username')}</label>
    <input id="username" type="email" autocomplete="username" value={username} readonly />
  </div>
);

export interface RefusalSummaryProps {
  readonly frame: Frame;
  readonly refusal: FormRefusal | null;
  /** Whether the form would have changed nothing anyway, so that there is no need to say so. */
  readonly isQuestion?: boolean;
}

/** At the head of a form that comes back. */
export const RefusalSummary: FC<RefusalSummaryProps> = ({ frame, refusal, isQuestion = false }) =>
  refusal === null ? null : (
    <div class="note alert" role="alert">
      {refusal.message === null ? null : <p>{refusal.message}</p>}
      {Object.entries(refusal.wrong).map(([name, message]) => (
        <p>
          <a href={`#${name}`}>{message}</a>
        </p>
      ))}
      {isQuestion ? null : <p>{frame.words.say('account.refused')}</p>}
    </div>
  );

/** What has just been done; `also` is a paragraph of its own. */
export const DoneNote: FC<PropsWithChildren<{ also?: string | null }>> = ({ children, also = null }) => (
  <div class="note" role="status">
    <p>{children}</p>
    {also === null ? null : <p>{also}</p>}
  </div>
);

/** The way back to the account. */
export const BackToAccount: FC<{ frame: Frame }> = ({ frame }) => (
  <p>
    <a href={frame.href('account')}>{frame.words.say('account.back')}</a>
  </p>
);
