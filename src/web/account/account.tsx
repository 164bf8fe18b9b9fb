/**
 * The account of whoever is logged in.
 *
 * Owns: the account's own page with its language and its mails, beside its password, its end, its tokens and its
 * sessions. Invariant: nothing of it is shown or changed without a session of the account.
 */
import type { NoticeKind, SignedIn } from '../../core/accounts/accounts.ts';
import type { AccountService } from '../../core/accounts/service.ts';
import type { Plans } from '../../core/plans.ts';
import type { DomainService } from '../../core/share-domains/service.ts';
import type { Locale } from '../../locale/catalogues.ts';
import { type CookieSite, clearLanguageCookie, languageCookie } from '../cookies.ts';
import { mayHaveDomains } from '../domains/domains.tsx';
import { renderPage } from '../kit/layout.tsx';
import { readNoticeKinds } from '../kit/notices.tsx';
import { type PageReply, type PageRequest, type PageRoute, pageReply, seeOther } from '../page.ts';
import { createDeletePages, type DeleteDeps } from './account-delete.tsx';
import { AccountPage, accountNews } from './account-page.tsx';
import { createPasswordPages, type PasswordDeps } from './account-password.tsx';
import { forAccount } from './for-account.ts';
import type { FormRefusal } from './form-refusal.ts';
import { createNoticePages, type NoticeDeps } from './notices.ts';
import { createSessionPages, type SessionDeps } from './sessions.tsx';
import { createTokenPages, type TokenDeps } from './tokens.tsx';

interface OwnDeps extends CookieSite {
  readonly accounts: Pick<AccountService, 'setLocale'>;
  readonly domains: Pick<DomainService, 'list' | 'maxDomains'>;
  readonly plans: Plans;
  readonly locales: readonly Locale[];
}

export type AccountDeps = OwnDeps & NoticeDeps & PasswordDeps & DeleteDeps & TokenDeps & SessionDeps;

export function createAccountPages(deps: AccountDeps): PageRoute[] {
  return [
    {
      name: 'account',
      get: forAccount((request, signedIn) => showAccount(request, signedIn, deps, null)),
      post: forAccount(
        (request, signedIn) => setLanguage(request, signedIn, deps),
        async (request, signedIn, refusal) => showAccount(request, signedIn, deps, refusal),
      ),
    },
    ...createNoticePages(deps, async (request, signedIn, refusal) => {
      const kinds = readNoticeKinds(await request.form());
      return showAccount(request, signedIn, deps, refusal, kinds ?? signedIn.caller.account.notify);
    }),
    ...createPasswordPages(deps),
    ...createDeletePages(deps),
    ...createTokenPages(deps),
    ...createSessionPages(deps),
  ];
}

async function showAccount(
  { frame, query }: PageRequest,
  { caller }: SignedIn,
  { plans, domains }: OwnDeps,
  refusal: FormRefusal | null,
  notify: readonly NoticeKind[] = caller.account.notify,
): Promise<PageReply> {
  const { account } = caller;
  const news = accountNews.find((each) => each === query.get('done')) ?? null;
  const plan = plans[account.plan];
  const hasDomains = await mayHaveDomains(domains, caller);
  const page = <AccountPage {...{ frame, account, plan, notify, hasDomains, news, refusal }} />;
  return pageReply(refusal?.status ?? 200, renderPage(page));
}

/** No offered language: as the browser asks, on this browser too. */
async function setLanguage(request: PageRequest, signedIn: SignedIn, deps: OwnDeps): Promise<PageReply> {
  const asked = (await request.form()).text('lang');
  const locale = deps.locales.find((tag) => tag === asked) ?? null;
  await deps.accounts.setLocale(signedIn, locale);
  const cookie = locale === null ? clearLanguageCookie(deps) : languageCookie(locale, deps);
  return seeOther(`${request.frame.href('account')}?done=language`, [cookie]);
}
