/**
 * An account's API tokens. Creating one requires the password, with guesses counted like log-ins. A token appears only in the response to
 * its POST, never in an address, cookie or redirect. Only a POST revokes one, after a confirmation page.
 */
import type { FC } from 'hono/jsx';
import { type StoredToken, type TokenScope, tokenScopes } from '../../core/account.ts';
import type { NewTokenOutcome } from '../../core/accounts/tokens.ts';
import { Sensitive } from '../../core/sensitive.ts';
import type { UnixSeconds } from '../../core/time.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { Wrong } from '../kit/field.tsx';
import type { Form } from '../kit/form.ts';
import {
  type AccountRequest,
  type DoneTexts,
  type FormRefusal,
  forAccount,
  formReply,
  refuseField,
  refuseForm,
  TextField,
  TickBox,
} from '../kit/form-page.tsx';
import { Item, Items } from '../kit/items.tsx';
import type { Messages } from '../kit/language.ts';
import { type Frame, PostForm } from '../kit/layout.tsx';
import { ConfirmPage } from '../kit/message-page.tsx';
import { type PageReply, type PageRoute, pageReply, seeOther } from '../kit/page.ts';
import { Ago, Badge, CopyButton, CopyStatus, Dated, Icon, In } from '../kit/parts.tsx';
import { type AccountPageDeps, countOwnGuess, OwnPassword } from './form.tsx';
import { type AccountHead, AccountPage, headFor } from './sections.tsx';

export function createTokenPages(deps: AccountPageDeps): PageRoute[] {
  return [
    {
      name: 'tokens',
      get: forAccount(deps, showTokens),
      post: forAccount(deps, create, showTokens),
    },
    { name: 'revokeToken', get: forAccount(deps, askToRevoke), post: forAccount(deps, revoke) },
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

const expiryTexts = { expiry: 'tokens.expiryWrong', date: 'tokens.dateWrong' } as const;

type TokenExpiry = { readonly expiresAt: UnixSeconds | null } | { readonly wrong: keyof typeof expiryTexts };

/** Refuses an expiry that the form does not offer, so that no token works longer than intended. */
function parseTokenExpiry(
  { expiry, date }: Pick<TypedToken, 'expiry' | 'date'>,
  now: UnixSeconds,
): TokenExpiry {
  if (expiry === customDate) return untilEndOf(date.trim(), now);
  if (expiry === '') return { expiresAt: null };
  const days = tokenLifetimesDays.find((choice) => String(choice) === expiry);
  return days === undefined ? { wrong: 'expiry' } : { expiresAt: now + days * daySeconds };
}

/** Returns the first second after the given day (UTC) as the expiry. */
function untilEndOf(date: string, now: UnixSeconds): TokenExpiry {
  const beginMs = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN;
  // Some engines accept 30 February as a day in March.
  if (Number.isNaN(beginMs) || !new Date(beginMs).toISOString().startsWith(date)) return { wrong: 'date' };
  const expiresAt = beginMs / 1_000 + daySeconds;
  return expiresAt > now ? { expiresAt } : { wrong: 'date' };
}

const doneTexts: DoneTexts = { revoked: ['tokens.revoked'], gone: ['tokens.gone'] };

interface TokensProps extends AccountHead {
  readonly tokens: readonly StoredToken[];
  readonly now: UnixSeconds;
  readonly typed: TypedToken;
}

const TokensPage: FC<TokensProps> = ({ tokens, now, typed, ...head }) => {
  const { frame, refusal } = head;
  return (
    <AccountPage
      {...head}
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
      <NewTokenForm {...{ frame, typed, refusal }} />
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

type NewTokenProps = Pick<TokensProps, 'frame' | 'typed' | 'refusal'>;

const NewTokenForm: FC<NewTokenProps> = ({ frame, typed, refusal }) => (
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
      {...{ frame, refusal }}
      name="password"
      label={frame.say('account.ownPassword')}
      hint={frame.say('tokens.passwordHint')}
    />
    <button type="submit">{frame.say('tokens.submit')}</button>
  </PostForm>
);

/** The date field is visible only while its option is chosen, and always keeps its text. */
const ExpiryField: FC<NewTokenProps> = ({ frame, typed, refusal }) => {
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

interface TokenReadyProps extends AccountHead {
  readonly made: Extract<NewTokenOutcome, { outcome: 'created' }>;
  readonly baseUrl: string;
}

const TokenReadyPage: FC<TokenReadyProps> = ({ made, baseUrl, ...head }) => {
  const { frame } = head;
  const path = made.stored.scopes.includes('read-recent') ? '/api/v2/private/recent' : '/api/v2/authcheck';
  return (
    <AccountPage
      {...head}
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
          <CopyButton frame={frame} target="token" />
        </div>
        <CopyStatus frame={frame} failed="tokens.notCopied" />
      </div>
      <h2>{frame.say('tokens.tryTitle')}</h2>
      <p>{frame.say('tokens.tryLead')}</p>
      {/* The command omits the token, because a shell would keep it in its history. */}
      <pre class="command" dir="ltr">
        <code>{`curl --user ${shellWord(frame.visitor?.username ?? '')} ${baseUrl}${path}`}</code>
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
  request: AccountRequest,
  deps: AccountPageDeps,
  refusal: FormRefusal | null = null,
): Promise<PageReply> {
  const typed = refusal === null ? untouchedToken : typedToken(await request.form());
  const tokens = await deps.accounts.listTokens(request.signedIn);
  const head = await headFor(request, deps, refusal, doneTexts);
  return formReply(<TokensPage {...{ ...head, tokens, typed }} now={deps.clock()} />, refusal);
}

async function create(request: AccountRequest, deps: AccountPageDeps): Promise<PageReply> {
  const { frame, signedIn } = request;
  const { say, locale } = frame.messages;
  const form = await request.form();
  const { name, scopes, ...typed } = typedToken(form);
  const expiry = parseTokenExpiry(typed, deps.clock());
  const again = (refusal: FormRefusal) => showTokens(request, deps, refusal);
  if ('wrong' in expiry) return again(refuseField(expiry.wrong, say(expiryTexts[expiry.wrong])));
  const password = new Sensitive(form.text('password'));
  const wanted = { name, scopes, expiresAt: expiry.expiresAt, password, locale };
  const made = await countOwnGuess(request, deps, () => deps.accounts.createToken(signedIn, wanted));
  if (made.outcome !== 'created') return again(refusalOf(made, frame.messages));
  const { baseUrl } = deps.links;
  return pageReply(200, <TokenReadyPage {...{ ...(await headFor(request, deps)), made, baseUrl }} />);
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

async function findToken({ key, signedIn }: AccountRequest, { accounts }: AccountPageDeps) {
  const tokens = await accounts.listTokens(signedIn);
  return tokens.find(({ tokenId }: StoredToken) => String(tokenId) === key) ?? null;
}

async function askToRevoke(request: AccountRequest, deps: AccountPageDeps): Promise<PageReply> {
  const token = await findToken(request, deps);
  if (token === null) return seeOther(`${request.frame.href('tokens')}?done=gone`);
  return pageReply(200, <RevokeTokenPage frame={request.frame} token={token} />);
}

async function revoke(request: AccountRequest, deps: AccountPageDeps): Promise<PageReply> {
  const token = await findToken(request, deps);
  const isDone = token !== null && (await deps.accounts.revokeToken(request.signedIn, token.tokenId));
  return seeOther(`${request.frame.href('tokens')}?done=${isDone ? 'revoked' : 'gone'}`);
}
