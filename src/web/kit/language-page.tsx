/** The choice of language, which every page shows in its place for an empty `lang`. */
import type { AccountService } from '../../core/accounts/service.ts';
import { type CookieSite, type Languages, languageCookie } from './language.ts';
import { type Frame, Page, PostForm } from './layout.tsx';
import { type PageReply, type PageRequest, type PageRoute, pageReply, seeOther } from './page.ts';

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

/** Buttons, not a select that submits itself: they work without scripts, and no key press changes the language by accident (WCAG 3.2.2). */
export function languageReply(frame: Frame): PageReply {
  const { messages, here, settings, visitor, href } = frame;
  const title = messages.say('frame.language');
  const choices = settings.locales.map((tag): [string, string] => [tag, messages.languageName(tag)]);
  if (visitor !== null) choices.push(['', messages.say('frame.languageOfBrowser')]);
  const page = (
    <Page frame={frame} title={title} scripts={['language']} styles={['about']}>
      <h1>{title}</h1>
      <PostForm frame={frame} action={href('language')} class="sheet languages">
        <input type="hidden" name="back" value={here ?? ''} />
        {choices.map(([tag, name]) => (
          <button
            type="submit"
            class="quiet"
            name="lang"
            value={tag}
            lang={tag || undefined}
            aria-current={tag === messages.locale ? 'true' : undefined}
          >
            {name}
          </button>
        ))}
      </PostForm>
    </Page>
  );
  return pageReply(200, page);
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
export function pathWithin(text: string, { origin, basePath }: CookieSite): string | null {
  if (!/^\/(?![/\\])[\x21-\x7e]*$/.test(text)) return null;
  const url = URL.parse(text, origin);
  if (url === null || url.origin !== origin || !`${url.pathname}/`.startsWith(`${basePath}/`)) return null;
  // `/x/..//host` names another host once its dots are resolved.
  return url.pathname.startsWith('//') ? null : url.pathname + url.search;
}
