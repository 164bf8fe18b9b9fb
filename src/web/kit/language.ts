/** A page's language, and its messages and formats, so that pages are functions of their props. */
import type { Settings } from '../../config/read.ts';
import { unseenIn } from '../../core/mail/recipients.ts';
import {
  catalogueOf,
  directionOf,
  findLocale,
  type Locale,
  type MessageKey,
  pickLocale,
} from '../../locale/catalogues.ts';
import { sizeText } from '../../locale/size.ts';
import {
  formatDuration,
  formatList,
  formatMoment,
  formatNumber,
  formatRoughly,
  formatShortMoment,
  formatWait,
  languageName,
  type MessageParams,
  translate,
} from '../../locale/translate.ts';
import { cookieIn } from './session.ts';

export type Languages = Pick<Settings, 'locales' | 'defaultLocale'>;

/** In order of precedence: the first language that is offered wins. */
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

/** Returns the offered language for a tag, such as `de` for `de-CH`. */
export function offeredLanguage({ locales }: Pick<Languages, 'locales'>, tag: string | null): Locale | null {
  return tag === null || tag.length > longestTag ? null : findLocale(tag, locales);
}

const cookieName = 'mayfly-language';
const languageSeconds = 365 * 86_400;

export function languageIn(cookies: string): string {
  return cookieIn(cookies, cookieName);
}

export interface CookieSite {
  /** `''`, or `/path`. */
  readonly basePath: string;
  readonly origin: string;
}

/** @param locale an offered tag; `null` reverts to the browser's language */
export function languageCookie(locale: string | null, { basePath, origin }: CookieSite): string {
  const maxAgeSeconds = locale === null ? 0 : languageSeconds;
  const rules = `Path=${basePath}/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax`;
  return `${cookieName}=${locale ?? ''}; ${rules}${origin.startsWith('https:') ? '; Secure' : ''}`;
}

/** @param key the message saying that the text is not a valid address */
export function wrongAddress({ say, code }: Messages, key: MessageKey, text: string): string {
  const character = unseenIn(text);
  return character === null
    ? say(key)
    : `${say(key)} ${say('share.addressUnseen', { character: code(character) })}`;
}

/** Returns all plural forms for a script that counts: `one|{count} byte|other|{count} bytes`. */
export function formsOf({ locale }: Messages, key: MessageKey): string {
  return Object.entries(catalogueOf(locale)[key]).flat().join('|');
}

function messagesIn(locale: Locale) {
  const direction = directionOf(locale);
  return {
    locale,
    /** `rtl` for Arabic and Hebrew. */
    direction,
    say: (key: MessageKey, params?: MessageParams) => translate(locale, key, params),
    /** In UTC. */
    moment: (unixSeconds: number) => formatMoment(locale, unixSeconds),
    /** Short, for lists. */
    shortMoment: (unixSeconds: number) => formatShortMoment(locale, unixSeconds),
    /** `6 days, 23 hours`, rounded down. */
    duration: (seconds: number) => formatDuration(locale, seconds),
    /** `about 7 days`, `6 days`, rounded down. */
    roughly: (seconds: number) => formatRoughly(locale, seconds),
    /** `10 minutes`, rounded up. */
    wait: (seconds: number) => formatWait(locale, seconds),
    number: (value: number) => formatNumber(locale, value),
    /** `100 kB`, rounded down. */
    size: (bytes: number) => sizeText(locale, bytes),
    list: (items: readonly string[]) => formatList(locale, items),
    /**
     * A code such as `#a1b2c3`, which reads from left to right in any sentence (Unicode TR 9). Left-to-right pages need no isolates, and
     * people would copy the invisible characters.
     */
    code: (text: string) => (direction === 'rtl' ? `\u2066${text}\u2069` : text),
    languageName,
  };
}

export type Messages = Readonly<ReturnType<typeof messagesIn>>;

/** What a frame has of a language. */
export function wordsIn(locale: Locale) {
  const messages: Messages = messagesIn(locale);
  return { messages, say: messages.say };
}
