/**
 * An account's API tokens. Creating one requires the password, with guesses counted like log-ins. A token appears only in the response to
 * its POST, never in an address, cookie or redirect. Only a POST revokes one, after a confirmation page.
 */
import type { FC } from 'hono/jsx';
import { type SignedIn, type StoredToken, type TokenScope, tokenScopes } from '../../core/account.ts';
import type { NewTokenOutcome } from '../../core/accounts/tokens.ts';
import { Sensitive } from '../../core/sensitive.ts';
import type { UnixSeconds } from '../../core/time.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { Wrong } from '../kit/field.tsx';
import type { Form } from '../kit/form.ts';
import {
  type DoneTexts,
  doneIn,
  type FormRefusal,
  forAccount,
  formReply,
  type HandlerFor,
  refuseField,
  refuseForm,
  TextField,
  TickBox,
} from '../kit/form-page.tsx';
import { Item, Items } from '../kit/items.tsx';
import type { Messages } from '../kit/language.ts';
import { type Frame, PostForm } from '../kit/layout.tsx';
import { ConfirmPage } from '../kit/message-page.tsx';
import { type PageReply, type PageRequest, type PageRoute, pageReply, seeOther } from '../kit/page.ts';
import { Ago, Badge, CopyButton, CopyStatus, Dated, Icon, In } from '../kit/parts.tsx';
import { type AccountPageDeps, countGuess, OwnPassword } from './form.tsx';
import { AccountPage, mayHaveDomains } from './sections.tsx';

export function createTokenPages(deps: AccountPageDeps): PageRoute[] {
  return [
    {
      name: 'tokens',
      get: forAccount((request, signedIn) => showTokens(request, signedIn, deps, untouchedToken, null)),
      post: forAccount(
        (request, signedIn) => create(request, signedIn, deps),
        async (request, signedIn, refusal) =>
          showTokens(request, signedIn, deps, typedToken(await request.form()), refusal),
      ),
    },
    {
      name: 'revokeToken',
      get: forAccount((request, signedIn) => askToRevoke(request, signedIn, deps)),
      post: forAccount((request, signedIn) => revoke(request, signedIn, deps)),
    },
  ];
}

interface TypedToken {
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  /** In days; `''` for no expiry, `date` for the date below. */
  readonly expiry: string;
  /** `2030-12-31` or `''`; used only if `expiry` is `date`. */
  readonly date: string;
}

const tokenLifetimesDays = [30, 90, 365] as const;
const customDate = 'date';

const daySeconds = 86_400;

function typedToken(form: Form): TypedToken {
  return {
    name: form.text('name'),
    scopes: tokenScopes.filter((scope) => form.text(`scope-${scope}`) === 'yes'),
    expiry: form.text('expiry'),
    date: form.text('date'),
  };
}

const untouchedToken: TypedToken = { name: '', scopes: tokenScopes, expiry: '', date: '' };

type TokenExpiry =
  | { readonly outcome: 'valid'; readonly expiresAt: UnixSeconds | null }
  | { readonly outcome: 'invalid_choice' }
  | { readonly outcome: 'invalid_date' };

/** Refuses an expiry that the form does not offer, so that no token works longer than intended. */
function parseTokenExpiry(
  { expiry, date }: Pick<TypedToken, 'expiry' | 'date'>,
  now: UnixSeconds,
): TokenExpiry {
  if (expiry === customDate) return untilEndOf(date.trim(), now);
  if (expiry === '') return { outcome: 'valid', expiresAt: null };
  const days = tokenLifetimesDays.find((choice) => String(choice) === expiry);
  if (days === undefined) return { outcome: 'invalid_choice' };
  return { outcome: 'valid', expiresAt: now + days * daySeconds };
}

/** Returns the first second after the given day (UTC) as the expiry. */
function untilEndOf(date: string, now: UnixSeconds): TokenExpiry {
  const beginMs = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN;
  // Some engines accept 30 February as a day in March.
  if (Number.isNaN(beginMs) || !new Date(beginMs).toISOString().startsWith(date)) {
    return { outcome: 'invalid_date' };
  }
  const expiresAt = beginMs / 1_000 + daySeconds;
  return expiresAt > now ? { outcome: 'valid', expiresAt } : { outcome: 'invalid_date' };
}

const doneTexts: DoneTexts = { revoked: ['tokens.revoked'], gone: ['tokens.gone'] };

interface TokensProps {
  readonly frame: Frame;
  readonly tokens: readonly StoredToken[];
  readonly username: string;
  readonly hasDomains: boolean;
  readonly now: UnixSeconds;
  readonly typed: TypedToken;
  readonly refusal: FormRefusal | null;
  readonly done: readonly string[];
}

const TokensPage: FC<TokensProps> = (props) => {
  const { frame, tokens, hasDomains, now, done, refusal } = props;
  return (
    <AccountPage
      {...{ frame, hasDomains, done, refusal }}
      section="tokens"
      title={frame.say('tokens.title')}
      lead={frame.say('tokens.lead')}
      scripts={['time', 'account']}
    >
      {tokens.length === 0 ? (
        <p>{frame.say('tokens.none')}</p>
      ) : (
        <Items label={frame.say('tokens.listTitle')}>
          {tokens.map((token) => (
            <Row frame={frame} token={token} now={now} />
          ))}
        </Items>
      )}
      <NewTokenForm {...props} />
    </AccountPage>
  );
};

const Row: FC<{ frame: Frame; token: StoredToken; now: UnixSeconds }> = ({ frame, token, now }) => {
  const { messages, href } = frame;
  const { tokenId, name, createdAt, expiresAt, lastUsedAt } = token;
  const used =
    lastUsedAt === null ? (
      messages.say('tokens.unused')
    ) : (
      <Dated messages={messages} say="tokens.usedAt" at={lastUsedAt} as={Ago} />
    );
  return (
    <Item
      picture={<Icon name="key" />}
      name={<bdi id={`name-${tokenId}`}>{name}</bdi>}
      notes={[
        token.scopes.map((scope) => messages.say(scopeTexts[scope].label)),
        [<Expiry messages={messages} at={expiresAt} now={now} />, used],
        [<Dated messages={messages} say="tokens.createdAt" at={createdAt} as={Ago} />],
      ]}
      actions={
        <a
          class="button quiet small"
          id={`revoke-${tokenId}`}
          aria-labelledby={`revoke-${tokenId} name-${tokenId}`}
          href={href('revokeToken', String(tokenId))}
        >
          {messages.say('tokens.revoke')}
        </a>
      }
    />
  );
};

const Expiry: FC<{ messages: Messages; at: UnixSeconds | null; now: UnixSeconds }> = ({
  messages,
  at,
  now,
}) => {
  if (at === null) return <>{messages.say('tokens.expiresNever')}</>;
  if (at > now) return <Dated messages={messages} say="tokens.expiresAt" at={at} as={In} />;
  return (
    <Badge kind="expired">
      <Dated messages={messages} say="tokens.expired" at={at} as={Ago} />
    </Badge>
  );
};

const scopeTexts: Readonly<Record<TokenScope, { label: MessageKey; hint: MessageKey }>> = {
  create: { label: 'tokens.scopeCreate', hint: 'tokens.scopeCreateHint' },
  manage: { label: 'tokens.scopeManage', hint: 'tokens.scopeManageHint' },
  'read-recent': { label: 'tokens.scopeRecent', hint: 'tokens.scopeRecentHint' },
};

type NewTokenProps = Pick<TokensProps, 'frame' | 'username' | 'typed' | 'refusal'>;

const NewTokenForm: FC<NewTokenProps> = ({ frame, username, typed, refusal }) => (
  <PostForm frame={frame} action={frame.href('tokens')} class="sheet">
    <h2 class="large">{frame.say('tokens.newTitle')}</h2>
    <TextField
      name="name"
      label={frame.say('tokens.name')}
      hint={frame.say('tokens.nameHint')}
      value={typed.name}
      refusal={refusal}
    />
    <fieldset>
      <legend>{frame.say('tokens.scopes')}</legend>
      {tokenScopes.map((scope) => (
        <TickBox
          name={`scope-${scope}`}
          label={frame.say(scopeTexts[scope].label)}
          hint={frame.say(scopeTexts[scope].hint)}
          isTicked={typed.scopes.includes(scope)}
          wrong={refusal?.wrong[`scope-${scope}`] ?? null}
        />
      ))}
    </fieldset>
    <ExpiryField frame={frame} typed={typed} refusal={refusal} />
    <OwnPassword
      {...{ frame, username, refusal }}
      name="password"
      label={frame.say('account.ownPassword')}
      hint={frame.say('tokens.passwordHint')}
    />
    <button type="submit">{frame.say('tokens.submit')}</button>
  </PostForm>
);

/** The date field is visible only while its option is chosen, and always keeps its text. */
const ExpiryField: FC<Omit<NewTokenProps, 'username'>> = ({ frame, typed, refusal }) => {
  const { say } = frame.messages;
  const wrong = refusal?.wrong.expiry ?? null;
  const described = wrong === null ? {} : { 'aria-describedby': 'expiry-wrong' };
  return (
    <fieldset class="choices" {...described}>
      <legend>{say('tokens.expiry')}</legend>
      {expiryChoices(say).map(([value, label]) => (
        <>
          <input
            type="radio"
            id={value === '' ? 'expiry' : `expiry-${value}`}
            name="expiry"
            value={value}
            checked={typed.expiry === value}
            autocomplete="off"
          />
          <label for={value === '' ? 'expiry' : `expiry-${value}`}>{label}</label>
        </>
      ))}
      <Wrong name="expiry" text={wrong} />
      <div class="choice-date">
        <TextField
          name="date"
          label={say('tokens.date')}
          hint={say('tokens.dateHint')}
          type="date"
          value={typed.date}
          refusal={refusal}
          isOptional
        />
      </div>
    </fieldset>
  );
};

function expiryChoices(say: Messages['say']): (readonly [value: string, label: string])[] {
  return [
    ['', say('tokens.expiryForEver')],
    ...tokenLifetimesDays.map((days) => {
      const label = days === 365 ? say('tokens.expiryYear') : say('tokens.expiryDays', { count: days });
      return [String(days), label] as const;
    }),
    [customDate, say('tokens.expiryDate')],
  ];
}

interface TokenReadyProps {
  readonly frame: Frame;
  readonly made: Extract<NewTokenOutcome, { outcome: 'created' }>;
  readonly username: string;
  readonly baseUrl: string;
  readonly hasDomains: boolean;
}

const TokenReadyPage: FC<TokenReadyProps> = ({ frame, made, username, baseUrl, hasDomains }) => {
  const path = made.stored.scopes.includes('read-recent') ? '/api/v2/private/recent' : '/api/v2/authcheck';
  return (
    <AccountPage
      {...{ frame, hasDomains }}
      section="tokens"
      isBelow
      title={frame.say('tokens.readyTitle')}
      lead={frame.say('tokens.readyLead')}
      scripts={['copy']}
    >
      <div class="sheet">
        <label for="token">{frame.say('tokens.readyLabel')}</label>
        <div class="welded">
          <textarea id="token" class="link code" readonly rows={1} spellcheck={false} autocomplete="off">
            {`\n${made.token.expose()}`}
          </textarea>
          <CopyButton target="token" label={frame.say('tokens.copy')} copied={frame.say('tokens.copied')} />
        </div>
        <CopyStatus copied={frame.say('tokens.copied')} failed={frame.say('tokens.notCopied')} />
      </div>
      <h2>{frame.say('tokens.tryTitle')}</h2>
      <p>{frame.say('tokens.tryLead')}</p>
      {/* The command omits the token, because a shell would keep it in its history. */}
      <pre class="command" dir="ltr">
        <code>{`curl --user ${shellWord(username)} ${baseUrl}${path}`}</code>
      </pre>
      <p>
        <a href={frame.href('tokens')}>{frame.say('tokens.back')}</a>
      </p>
    </AccountPage>
  );
};

/** Quotes text for a POSIX shell, which interprets some characters that an address may contain. */
function shellWord(text: string): string {
  return /^[a-z0-9@._+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

const RevokeTokenPage: FC<{ frame: Frame; token: StoredToken }> = ({ frame, token }) => (
  <ConfirmPage
    frame={frame}
    title={frame.say('tokens.revokeTitle')}
    lead={frame.say('tokens.revokeLead', { name: token.name })}
    action={frame.href('revokeToken', String(token.tokenId))}
    submit={frame.say('tokens.revokeSubmit')}
    keep={[frame.href('tokens'), frame.say('tokens.revokeKeep')]}
  />
);

async function showTokens(
  request: PageRequest,
  signedIn: SignedIn,
  { accounts, domains, clock }: AccountPageDeps,
  typed: TypedToken,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const tokens = await accounts.listTokens(signedIn);
  const { frame } = request;
  const done = doneIn(request, doneTexts);
  const { username } = signedIn.caller.account;
  const hasDomains = await mayHaveDomains(domains, signedIn.caller);
  const shown = { frame, tokens, username, hasDomains, typed, refusal, done };
  return formReply(<TokensPage {...shown} now={clock()} />, refusal);
}

async function create(request: PageRequest, signedIn: SignedIn, deps: AccountPageDeps): Promise<PageReply> {
  const { frame, clientPrefix } = request;
  const { say, locale } = frame.messages;
  const form = await request.form();
  const typed = typedToken(form);
  const again = (refusal: FormRefusal) => showTokens(request, signedIn, deps, typed, refusal);
  const expiry = parseTokenExpiry(typed, deps.clock());
  if (expiry.outcome === 'invalid_choice') return again(refuseField('expiry', say('tokens.expiryWrong')));
  if (expiry.outcome === 'invalid_date') return again(refuseField('date', say('tokens.dateWrong')));
  const { username } = signedIn.caller.account;
  const password = new Sensitive(form.text('password'));
  const wanted = { name: typed.name, scopes: typed.scopes, expiresAt: expiry.expiresAt, password, locale };
  const made = await countGuess(deps.limiter, {
    clientPrefix,
    username,
    compute: () => deps.accounts.createToken(signedIn, wanted),
    isWrong: ({ outcome }) => outcome === 'wrong_password',
  });
  if (made.outcome !== 'created') return again(refusalOf(made, frame.messages));
  const { baseUrl } = deps.links;
  const hasDomains = await mayHaveDomains(deps.domains, signedIn.caller);
  const page = <TokenReadyPage {...{ frame, made, username, baseUrl, hasDomains }} />;
  return pageReply(200, page);
}

function refusalOf(
  refused: Exclude<NewTokenOutcome, { outcome: 'created' }>,
  { say }: Messages,
): FormRefusal {
  switch (refused.outcome) {
    case 'invalid_name':
      return refuseField('name', say('tokens.nameWrong'));
    case 'no_scope':
      return refuseField('scope-create', say('tokens.scopesWrong'));
    case 'wrong_password':
      return refuseField('password', say('account.ownPasswordWrong'));
    case 'too_many':
      return refuseForm(say('tokens.tooMany', { count: refused.max }), 409);
  }
}

async function findToken({ key }: PageRequest, signedIn: SignedIn, { accounts }: AccountPageDeps) {
  const tokens = await accounts.listTokens(signedIn);
  return tokens.find(({ tokenId }: StoredToken) => String(tokenId) === key) ?? null;
}

const askToRevoke: HandlerFor<AccountPageDeps> = async (request, signedIn, deps) => {
  const token = await findToken(request, signedIn, deps);
  if (token === null) return seeOther(`${request.frame.href('tokens')}?done=gone`);
  return pageReply(200, <RevokeTokenPage frame={request.frame} token={token} />);
};

async function revoke(request: PageRequest, signedIn: SignedIn, deps: AccountPageDeps): Promise<PageReply> {
  const token = await findToken(request, signedIn, deps);
  const isDone = token !== null && (await deps.accounts.revokeToken(signedIn, token.tokenId));
  return seeOther(`${request.frame.href('tokens')}?done=${isDone ? 'revoked' : 'gone'}`);
}
