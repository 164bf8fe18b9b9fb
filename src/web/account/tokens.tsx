/**
 * API tokens of an account.
 *
 * Owns: the list, the form for a new one, and revoking. Invariants: making one takes the password, counted like a log-in;
 * a token stands once in the answer to the POST that made it, and in no address, cookie or redirect; a token is revoked by
 * a POST alone, after a page that asks.
 */

import { type SignedIn, type StoredToken, tokenScopes } from '../../core/accounts/accounts.ts';
import type { AccountService } from '../../core/accounts/service.ts';
import type { NewTokenOutcome } from '../../core/accounts/tokens.ts';
import { Sensitive } from '../../core/sensitive.ts';
import type { Clock } from '../../core/time.ts';
import type { Form } from '../kit/form.ts';
import { renderPage } from '../kit/layout.tsx';
import type { Words } from '../kit/words.ts';
import { type PageReply, type PageRequest, type PageRoute, pageReply, seeOther } from '../page.ts';
import { forAccount } from './for-account.ts';
import { type FormRefusal, refuseField, refuseForm } from './form-refusal.ts';
import { countGuess, type GuessLimiter } from './guesses.ts';
import { parseTokenExpiry, type TypedToken, untouchedToken } from './token-expiry.ts';
import { RevokeTokenPage, TokensPage, tokensNews } from './tokens-page.tsx';
import { TokenReadyPage } from './tokens-ready.tsx';

export interface TokenDeps {
  readonly accounts: Pick<AccountService, 'listTokens' | 'createToken' | 'revokeToken'>;
  readonly limiter: GuessLimiter;
  readonly links: { readonly baseUrl: string };
  readonly clock: Clock;
}

export function createTokenPages(deps: TokenDeps): PageRoute[] {
  return [
    {
      name: 'tokens',
      get: forAccount((request, signedIn) => showTokens(request, signedIn, deps, untouchedToken, null)),
      post: forAccount(
        (request, signedIn) => create(request, signedIn, deps),
        async (request, signedIn, refusal) =>
          showTokens(request, signedIn, deps, typedIn(await request.form()), refusal),
      ),
    },
    {
      name: 'revokeToken',
      get: forAccount((request, signedIn) => askToRevoke(request, signedIn, deps)),
      post: forAccount((request, signedIn) => revoke(request, signedIn, deps)),
    },
  ];
}

async function showTokens(
  { frame, query }: PageRequest,
  signedIn: SignedIn,
  { accounts, clock }: TokenDeps,
  typed: TypedToken,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const tokens = await accounts.listTokens(signedIn);
  const news = tokensNews.find((each) => each === query.get('done')) ?? null;
  const { username } = signedIn.caller.account;
  const page = <TokensPage {...{ frame, tokens, username, typed, refusal, news }} now={clock()} />;
  return pageReply(refusal?.status ?? 200, renderPage(page));
}

function typedIn(form: Form): TypedToken {
  return {
    name: form.text('name'),
    scopes: tokenScopes.filter((scope) => form.text(`scope-${scope}`) === 'yes'),
    expiry: form.text('expiry'),
    date: form.text('date'),
  };
}

async function create(request: PageRequest, signedIn: SignedIn, deps: TokenDeps): Promise<PageReply> {
  const { frame, clientPrefix } = request;
  const { say, locale } = frame.words;
  const form = await request.form();
  const typed = typedIn(form);
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

/** The token whose number stands in the address; `null` when the account has none such. */
async function findToken({ key }: PageRequest, signedIn: SignedIn, { accounts }: TokenDeps) {
  const tokens = await accounts.listTokens(signedIn);
  return tokens.find(({ tokenId }: StoredToken) => String(tokenId) === key) ?? null;
}

async function askToRevoke(request: PageRequest, signedIn: SignedIn, deps: TokenDeps): Promise<PageReply> {
  const token = await findToken(request, signedIn, deps);
  if (token === null) return seeOther(`${request.frame.href('tokens')}?done=gone`);
  return pageReply(200, renderPage(<RevokeTokenPage frame={request.frame} token={token} />));
}

async function revoke(request: PageRequest, signedIn: SignedIn, deps: TokenDeps): Promise<PageReply> {
  const token = await findToken(request, signedIn, deps);
  const isDone = token !== null && (await deps.accounts.revokeToken(signedIn, token.tokenId));
  return seeOther(`${request.frame.href('tokens')}?done=${isDone ? 'revoked' : 'gone'}`);
}
