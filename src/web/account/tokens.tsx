/**
 * An account's API tokens. Creating one takes the password, counted like a log-in. A token appears only once, in the
 * answer to the POST that created it, and never in an address, cookie or redirect. Only a POST revokes a token, after a
 * page that asks.
 */
import type { FC } from 'hono/jsx';
import type { SignedIn, StoredToken, TokenScope } from '../../core/accounts/accounts.ts';
import type { NewTokenOutcome } from '../../core/accounts/tokens.ts';
import { Sensitive } from '../../core/sensitive.ts';
import type { UnixSeconds } from '../../core/time.ts';
import {
  BackToAccount,
  type DoneTexts,
  doneIn,
  type FormRefusal,
  forAccount,
  formReply,
  PageHead,
  refuseField,
  refuseForm,
} from '../kit/form-page.tsx';
import { type Frame, Page, renderPage } from '../kit/layout.tsx';
import { ConfirmPage } from '../kit/message-page.tsx';
import { Badge, Dated, ShortTime, Table } from '../kit/parts.tsx';
import type { Words } from '../kit/words.ts';
import { type PageReply, type PageRequest, type PageRoute, pageReply, seeOther } from '../page.ts';
import { type AccountPageDeps, countGuess } from './form.tsx';
import {
  NewTokenForm,
  parseTokenExpiry,
  scopeTexts,
  TokenReadyPage,
  type TypedToken,
  typedToken,
  untouchedToken,
} from './new-token.tsx';

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

const doneTexts: DoneTexts = { revoked: ['tokens.revoked'], gone: ['tokens.gone'] };

interface TokensProps {
  readonly frame: Frame;
  readonly tokens: readonly StoredToken[];
  readonly username: string;
  readonly now: UnixSeconds;
  readonly typed: TypedToken;
  readonly refusal: FormRefusal | null;
  readonly done: readonly string[];
}

const TokensPage: FC<TokensProps> = ({ frame, tokens, username, now, typed, refusal, done }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('tokens.title')} scripts={['time']}>
      <PageHead {...{ frame, done, refusal }} title={say('tokens.title')} lead={say('tokens.lead')} />
      <div class="wide">
        <h2 class="large">{say('tokens.listTitle')}</h2>
        {tokens.length === 0 ? (
          <p>{say('tokens.none')}</p>
        ) : (
          <Table
            caption={say('tokens.listTitle')}
            captionIsHidden
            columns={[
              say('tokens.name'),
              say('tokens.may'),
              say('tokens.created'),
              say('tokens.expires'),
              say('tokens.used'),
              '',
            ]}
            rows={tokens.map((token) => rowOf(frame, token, now))}
          />
        )}
      </div>
      <NewTokenForm frame={frame} username={username} typed={typed} refusal={refusal} />
      <BackToAccount frame={frame} />
    </Page>
  );
};

function rowOf({ words, href }: Frame, token: StoredToken, now: UnixSeconds) {
  const { tokenId, name, createdAt, expiresAt, lastUsedAt } = token;
  return [
    <bdi id={`name-${tokenId}`}>{name}</bdi>,
    <Scopes words={words} scopes={token.scopes} />,
    <ShortTime words={words} at={createdAt} />,
    <Expiry words={words} at={expiresAt} now={now} />,
    lastUsedAt === null ? words.say('tokens.unused') : <ShortTime words={words} at={lastUsedAt} />,
    <a
      class="button quiet small"
      id={`revoke-${tokenId}`}
      aria-labelledby={`revoke-${tokenId} name-${tokenId}`}
      href={href('revokeToken', String(tokenId))}
    >
      {words.say('tokens.revoke')}
    </a>,
  ];
}

const Scopes: FC<{ words: Words; scopes: readonly TokenScope[] }> = ({ words, scopes }) => (
  <ul class="plain">
    {scopes.map((scope) => (
      <li>{words.say(scopeTexts[scope].label)}</li>
    ))}
  </ul>
);

const Expiry: FC<{ words: Words; at: UnixSeconds | null; now: UnixSeconds }> = ({ words, at, now }) => {
  if (at === null) return <>{words.say('tokens.expiresNever')}</>;
  if (at > now) return <ShortTime words={words} at={at} />;
  return (
    <Badge kind="bad">
      <Dated words={words} say="tokens.expired" at={at} isShort />
    </Badge>
  );
};

const RevokeTokenPage: FC<{ frame: Frame; token: StoredToken }> = ({ frame, token }) => {
  const { say } = frame.words;
  return (
    <ConfirmPage
      frame={frame}
      title={say('tokens.revokeTitle')}
      lead={say('tokens.revokeLead', { name: token.name })}
      action={frame.href('revokeToken', String(token.tokenId))}
      submit={say('tokens.revokeSubmit')}
      keep={[frame.href('tokens'), say('tokens.revokeKeep')]}
    />
  );
};

async function showTokens(
  request: PageRequest,
  signedIn: SignedIn,
  { accounts, clock }: AccountPageDeps,
  typed: TypedToken,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const tokens = await accounts.listTokens(signedIn);
  const { frame } = request;
  const done = doneIn(request, doneTexts);
  const { username } = signedIn.caller.account;
  const now = clock();
  return formReply(<TokensPage {...{ frame, tokens, username, now, typed, refusal, done }} />, refusal);
}

async function create(request: PageRequest, signedIn: SignedIn, deps: AccountPageDeps): Promise<PageReply> {
  const { frame, clientPrefix } = request;
  const { say, locale } = frame.words;
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
  if (made.outcome !== 'created') return again(refusalOf(made, frame.words));
  const { baseUrl } = deps.links;
  const page = <TokenReadyPage frame={frame} made={made} username={username} baseUrl={baseUrl} />;
  return pageReply(200, renderPage(page));
}

function refusalOf(refused: Exclude<NewTokenOutcome, { outcome: 'created' }>, { say }: Words): FormRefusal {
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

/** The account's token with the number in the address. */
async function findToken({ key }: PageRequest, signedIn: SignedIn, { accounts }: AccountPageDeps) {
  const tokens = await accounts.listTokens(signedIn);
  return tokens.find(({ tokenId }: StoredToken) => String(tokenId) === key) ?? null;
}

async function askToRevoke(
  request: PageRequest,
  signedIn: SignedIn,
  deps: AccountPageDeps,
): Promise<PageReply> {
  const token = await findToken(request, signedIn, deps);
  if (token === null) return seeOther(`${request.frame.href('tokens')}?done=gone`);
  return pageReply(200, renderPage(<RevokeTokenPage frame={request.frame} token={token} />));
}

async function revoke(request: PageRequest, signedIn: SignedIn, deps: AccountPageDeps): Promise<PageReply> {
  const token = await findToken(request, signedIn, deps);
  const isDone = token !== null && (await deps.accounts.revokeToken(signedIn, token.tokenId));
  return seeOther(`${request.frame.href('tokens')}?done=${isDone ? 'revoked' : 'gone'}`);
}
