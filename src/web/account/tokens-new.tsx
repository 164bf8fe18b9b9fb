/**
 * The form for a new API token.
 *
 * Owns: its fields. Invariant: what was typed and ticked comes back when the form is refused, but for the password.
 */
import type { FC } from 'hono/jsx';
import { type TokenScope, tokenScopes } from '../../core/accounts/accounts.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { controlAttributes, Field } from '../kit/field.tsx';
import { type Frame, PostForm } from '../kit/layout.tsx';
import { TextField, UsernameField } from './account-form.tsx';
import type { FormRefusal } from './form-refusal.ts';
import { TickBox } from './tick-box.tsx';
import { type TypedToken, tokenLifetimesDays } from './token-expiry.ts';

export const scopeTexts: Readonly<Record<TokenScope, { label: MessageKey; hint: MessageKey }>> = {
  create: { label: 'tokens.scopeCreate', hint: 'tokens.scopeCreateHint' },
  manage: { label: 'tokens.scopeManage', hint: 'tokens.scopeManageHint' },
  'read-recent': { label: 'tokens.scopeRecent', hint: 'tokens.scopeRecentHint' },
};

export interface NewTokenProps {
  readonly frame: Frame;
  /** Whose password is asked for. */
  readonly username: string;
  readonly typed: TypedToken;
  readonly refusal: FormRefusal | null;
}

export const NewTokenForm: FC<NewTokenProps> = ({ frame, username, typed, refusal }) => {
  const { say } = frame.words;
  return (
    <PostForm frame={frame} action={frame.href('tokens')} class="sheet">
      <h2 class="large">{say('tokens.newTitle')}</h2>
      <TextField
        name="name"
        label={say('tokens.name')}
        hint={say('tokens.nameHint')}
        type="text"
        autocomplete="off"
        value={typed.name}
        refusal={refusal}
      />
      <fieldset>
        <legend>{say('tokens.scopes')}</legend>
        {tokenScopes.map((scope) => (
          <TickBox
            name={`scope-${scope}`}
            label={say(scopeTexts[scope].label)}
            hint={say(scopeTexts[scope].hint)}
            isTicked={typed.scopes.includes(scope)}
            wrong={refusal?.wrong[`scope-${scope}`] ?? null}
          />
        ))}
      </fieldset>
      <div class="pair">
        <ExpiryField frame={frame} typed={typed} refusal={refusal} />
        <TextField
          name="date"
          label={say('tokens.date')}
          hint={say('tokens.dateHint')}
          type="date"
          autocomplete="off"
          value={typed.date}
          refusal={refusal}
          isOptional
        />
      </div>
      <UsernameField frame={frame} username={username} />
      <TextField
        name="password"
        label={say('account.ownPassword')}
        hint={say('tokens.passwordHint')}
        type="password"
        autocomplete="current-password"
        refusal={refusal}
      />
      <button type="submit">{say('tokens.submit')}</button>
    </PostForm>
  );
};

const ExpiryField: FC<Omit<NewTokenProps, 'username'>> = ({ frame, typed, refusal }) => {
  const { say } = frame.words;
  const texts = { name: 'expiry', label: say('tokens.expiry'), wrong: refusal?.wrong.expiry ?? null };
  return (
    <Field texts={texts}>
      <select {...controlAttributes(texts)} autocomplete="off">
        <option value="" selected={typed.expiry === ''}>
          {say('tokens.expiryForEver')}
        </option>
        {tokenLifetimesDays.map((days) => (
          <option value={days} selected={typed.expiry === String(days)}>
            {say('tokens.expiryDays', { count: days })}
          </option>
        ))}
      </select>
    </Field>
  );
};
