/** A page's language, if offered: from the address (`?lang`), the account, the cookie, the share domain, or the browser. */
import type { Settings } from '../../config/read.ts';
import type { AccountService } from '../../core/accounts/service.ts';
import { type Locale, lookUp, pickLocale } from '../../locale/catalogues.ts';
import { type PageReply, type PageRequest, type PageRoute, seeOther } from './page.ts';
import { cookieIn } from './session.ts';

type Languages = Pick<Settings, 'locales' | 'defaultLocale'>;

export interface LanguageWishes {
  readonly address: string | null;
  readonly account: string | null;
  readonly cookie: string;
  readonly domain: string | null;
  readonly acceptLanguage: string | null;
}

const longestTag = 35;

export function chooseLanguage(languages: Languages, wishes: LanguageWishes): Locale {
  for (const tag of [wishes.address, wishes.account, wishes.cookie, wishes.domain]) {
    const found = offeredLanguage(languages, tag);
    if (found !== null) return found;
  }
  return pickLocale(wishes.acceptLanguage, languages.locales, languages.defaultLocale);
}

/** The offered language for a tag: `de` for `de-CH`. */
export function offeredLanguage({ locales }: Pick<Languages, 'locales'>, tag: string | null): Locale | null {
  return tag === null || tag.length > longestTag ? null : lookUp(tag, locales);
}

interface LanguageDeps extends CookieSite {
  readonly settings: Languages;
  readonly accounts: Pick<AccountService, 'setLocale'>;
}

/** The choice in every page's footer, for account and browser. An empty choice returns to the browser's language. */
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

/** The path if it leads to a page of this site; otherwise `null`. */
function pathWithin(text: string, { origin, basePath }: LanguageDeps): string | null {
  if (!/^\/(?![/\\])[\x21-\x7e]*$/.test(text)) return null;
  const url = URL.parse(text, origin);
  if (url === null || url.origin !== origin || !`${url.pathname}/`.startsWith(`${basePath}/`)) return null;
  // `/x/..//host` names another host once its dots are resolved.
  return url.pathname.startsWith('//') ? null : url.pathname + url.search;
}

const languageName = 'mayfly-language';
const languageSeconds = 365 * 86_400;

export function languageIn(cookies: string): string {
  return cookieIn(cookies, languageName);
}

interface CookieSite {
  /** `''`, or `/path`. */
  readonly basePath: string;
  readonly origin: string;
}

/** @param locale an offered tag; `null` returns to the browser's language */
export function languageCookie(locale: string | null, { basePath, origin }: CookieSite): string {
  const maxAgeSeconds = locale === null ? 0 : languageSeconds;
  const rules = `Path=${basePath}/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax`;
  return `${languageName}=${locale ?? ''}; ${rules}${origin.startsWith('https:') ? '; Secure' : ''}`;
}
