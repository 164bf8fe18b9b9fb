/** The language choice in every page's footer. */
import type { AccountService } from '../../core/accounts/service.ts';
import { type CookieSite, type Languages, languageCookie } from './language.ts';
import { type PageReply, type PageRequest, type PageRoute, seeOther } from './page.ts';

interface LanguageDeps extends CookieSite {
  readonly settings: Languages;
  readonly accounts: Pick<AccountService, 'setLocale'>;
}

/** Both the account and the browser keep the choice. An empty choice reverts to the browser's language. */
export function createLanguagePages(deps: LanguageDeps): PageRoute[] {
  return [
    {
      name: 'language',
      get: { limit: 'none', handle: ({ frame }) => seeOther(frame.href('home')) },
      post: { limit: 'none', handle: (request) => setLanguage(request, deps) },
    },
  ];
}

async function setLanguage(request: PageRequest, deps: LanguageDeps): Promise<PageReply> {
  const form = await request.form();
  const back = pathWithin(form.text('back'), deps) ?? request.frame.href('home');
  const asked = form.text('lang');
  const locale = deps.settings.locales.find((tag) => tag === asked) ?? null;
  if (locale === null && asked !== '') return seeOther(back);
  if (request.signedIn !== null) await deps.accounts.setLocale(request.signedIn, locale);
  return seeOther(back, [languageCookie(locale, deps)]);
}

/** Returns the path if it leads to a page of this site; otherwise `null`. */
function pathWithin(text: string, { origin, basePath }: LanguageDeps): string | null {
  if (!/^\/(?![/\\])[\x21-\x7e]*$/.test(text)) return null;
  const url = URL.parse(text, origin);
  if (url === null || url.origin !== origin || !`${url.pathname}/`.startsWith(`${basePath}/`)) return null;
  // `/x/..//host` names another host once its dots are resolved.
  return url.pathname.startsWith('//') ? null : url.pathname + url.search;
}
