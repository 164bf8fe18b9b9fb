/**
 * The API tokens of an account.
 *
 * Owns: their list and the page that asks before one is revoked. Invariant: a token itself is not known any more and
 * never shown here.
 */

import type { FC } from 'hono/jsx';
import type { StoredToken, TokenScope } from '../../core/accounts/accounts.ts';
import type { UnixSeconds } from '../../core/time.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { type Frame, Page, PostForm } from '../kit/layout.tsx';
import { Badge, Dated, ShortTime, Table } from '../kit/parts.tsx';
import type { Words } from '../kit/words.ts';
import { BackToAccount, DoneNote, RefusalSummary } from './account-form.tsx';
import type { FormRefusal } from './form-refusal.ts';
import type { TypedToken } from './token-expiry.ts';
import { NewTokenForm, scopeTexts } from './tokens-new.tsx';

/** What the page may say has just happened, as its address names it. */
export const tokensNews = ['revoked', 'gone'] as const;

type TokensNews = (typeof tokensNews)[number];

const newsTexts: Readonly<Record<TokensNews, MessageKey>> = {
  revoked: 'tokens.revoked',
  gone: 'tokens.gone',
};

export interface TokensProps {
  readonly frame: Frame;
  readonly tokens: readonly StoredToken[];
  /** Of the account. */
  readonly username: string;
  readonly now: UnixSeconds;
  readonly typed: TypedToken;
  readonly refusal: FormRefusal | null;
  readonly news: TokensNews | null;
}

export const TokensPage: FC<TokensProps> = ({ frame, tokens, username, now, typed, refusal, news }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('tokens.title')} scripts={['time']}>
      <h1>{say('tokens.title')}</h1>
      <p class="lead">{say('tokens.lead')}</p>
      {news === null ? null : <DoneNote>{say(newsTexts[news])}</DoneNote>}
      <RefusalSummary frame={frame} refusal={refusal} />
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

export const RevokeTokenPage: FC<{ frame: Frame; token: StoredToken }> = ({ frame, token }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('tokens.revokeTitle')}>
      <h1>{say('tokens.revokeTitle')}</h1>
      <p class="lead">{say('tokens.revokeLead', { name: token.name })}</p>
      <PostForm frame={frame} action={frame.href('revokeToken', String(token.tokenId))}>
        <div class="row">
          <button class="alarm" type="submit">
            {say('tokens.revokeSubmit')}
          </button>
          <a class="button quiet" href={frame.href('tokens')}>
            {say('tokens.revokeKeep')}
          </a>
        </div>
      </PostForm>
    </Page>
  );
};
