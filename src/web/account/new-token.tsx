/** The form for a new API token, and the page that shows the token, once. */
import type { FC } from 'hono/jsx';
import { type TokenScope, tokenScopes } from '../../core/accounts/accounts.ts';
import type { NewTokenOutcome } from '../../core/accounts/tokens.ts';
import type { UnixSeconds } from '../../core/time.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { controlAttributes, Field } from '../kit/field.tsx';
import type { Form } from '../kit/form.ts';
import { type FormRefusal, TextField, TickBox } from '../kit/form-page.tsx';
import { type Frame, Page, PostForm } from '../kit/layout.tsx';
import { CopyButton, CopyStatus } from '../kit/parts.tsx';
import { OwnPassword } from './form.tsx';

export interface TypedToken {
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  /** In days; `''` for ever. */
  readonly expiry: string;
  /** `2030-12-31`, or `''`. */
  readonly date: string;
}

const tokenLifetimesDays = [30, 90, 365] as const;

const daySeconds = 86_400;

export function typedToken(form: Form): TypedToken {
  return {
    name: form.text('name'),
    scopes: tokenScopes.filter((scope) => form.text(`scope-${scope}`) === 'yes'),
    expiry: form.text('expiry'),
    date: form.text('date'),
  };
}

export const untouchedToken: TypedToken = { name: '', scopes: tokenScopes, expiry: '', date: '' };

type TokenExpiry =
  | { readonly outcome: 'valid'; readonly expiresAt: UnixSeconds | null }
  | { readonly outcome: 'invalid_choice' }
  | { readonly outcome: 'invalid_date' };

/**
 * A date counts above a choice. Anything that is neither is refused, so no token works longer than its maker meant.
 */
export function parseTokenExpiry(
  { expiry, date }: Pick<TypedToken, 'expiry' | 'date'>,
  now: UnixSeconds,
): TokenExpiry {
  if (date.trim() !== '') return untilEndOf(date.trim(), now);
  if (expiry === '') return { outcome: 'valid', expiresAt: null };
  const days = tokenLifetimesDays.find((choice) => String(choice) === expiry);
  if (days === undefined) return { outcome: 'invalid_choice' };
  return { outcome: 'valid', expiresAt: now + days * daySeconds };
}

/** The first second after that day in UTC. */
function untilEndOf(date: string, now: UnixSeconds): TokenExpiry {
  const beginMs = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN;
  // Some engines turn a day that the month does not have into one of the next month.
  if (Number.isNaN(beginMs) || !new Date(beginMs).toISOString().startsWith(date)) {
    return { outcome: 'invalid_date' };
  }
  const expiresAt = beginMs / 1_000 + daySeconds;
  return expiresAt > now ? { outcome: 'valid', expiresAt } : { outcome: 'invalid_date' };
}

export const scopeTexts: Readonly<Record<TokenScope, { label: MessageKey; hint: MessageKey }>> = {
  create: { label: 'tokens.scopeCreate', hint: 'tokens.scopeCreateHint' },
  manage: { label: 'tokens.scopeManage', hint: 'tokens.scopeManageHint' },
  'read-recent': { label: 'tokens.scopeRecent', hint: 'tokens.scopeRecentHint' },
};

interface NewTokenProps {
  readonly frame: Frame;
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
      <OwnPassword
        {...{ frame, username, refusal }}
        name="password"
        label={say('account.ownPassword')}
        hint={say('tokens.passwordHint')}
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

interface TokenReadyProps {
  readonly frame: Frame;
  readonly made: Extract<NewTokenOutcome, { outcome: 'created' }>;
  readonly username: string;
  readonly baseUrl: string;
}

export const TokenReadyPage: FC<TokenReadyProps> = ({ frame, made, username, baseUrl }) => {
  const { say } = frame.words;
  const path = made.stored.scopes.includes('read-recent') ? '/api/v2/private/recent' : '/api/v2/authcheck';
  return (
    <Page frame={frame} title={say('tokens.readyTitle')} scripts={['copy']}>
      <h1>{say('tokens.readyTitle')}</h1>
      <p class="lead">{say('tokens.readyLead')}</p>
      <div class="sheet">
        <div class="field">
          <label for="token">{say('tokens.readyLabel')}</label>
          <textarea id="token" class="link code" readonly rows={2} spellcheck={false} autocomplete="off">
            {`\n${made.token.expose()}`}
          </textarea>
        </div>
        <CopyButton target="token" label={say('tokens.copy')} />
        <CopyStatus copied={say('tokens.copied')} failed={say('tokens.notCopied')} />
      </div>
      <h2>{say('tokens.tryTitle')}</h2>
      <p>{say('tokens.tryLead')}</p>
      {/* Without the token, which a shell would keep in its history. */}
      <pre class="command" dir="ltr">
        <code>{`curl --user ${shellWord(username)} ${baseUrl}${path}`}</code>
      </pre>
      <p>
        <a href={frame.href('tokens')}>{say('tokens.back')}</a>
      </p>
    </Page>
  );
};

/** Quoted for a POSIX shell, which would interpret some characters of an address. */
function shellWord(text: string): string {
  return /^[a-z0-9@._+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
