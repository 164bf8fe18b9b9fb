/** The messages and formats of one language, so that pages are functions of their props. */
import { unseenIn } from '../../core/mail/recipients.ts';
import { catalogueOf, directionOf, type Locale, type MessageKey } from '../../locale/catalogues.ts';
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

export interface Messages {
  readonly locale: Locale;
  /** `rtl` for Arabic and Hebrew. */
  readonly direction: 'ltr' | 'rtl';
  say(key: MessageKey, params?: MessageParams): string;
  /** In UTC. */
  moment(unixSeconds: number): string;
  /** Short, for lists. */
  shortMoment(unixSeconds: number): string;
  /** `6 days, 23 hours`, rounded down. */
  duration(seconds: number): string;
  /** `about 7 days`, `6 days`, rounded down. */
  roughly(seconds: number): string;
  /** `10 minutes`, rounded up. */
  wait(seconds: number): string;
  number(value: number): string;
  /** `100 kB`, rounded down. */
  size(bytes: number): string;
  list(items: readonly string[]): string;
  /** A code such as `#a1b2c3`, which reads from left to right in any sentence (Unicode TR 9). */
  code(text: string): string;
  languageName(locale: Locale): string;
}

/** @param key says that the text is not a valid address */
export function wrongAddress({ say, code }: Messages, key: MessageKey, text: string): string {
  const character = unseenIn(text);
  return character === null
    ? say(key)
    : `${say(key)} ${say('share.addressUnseen', { character: code(character) })}`;
}

/** All plural forms, as JSON, for a script that counts. */
export function formsOf({ locale }: Messages, key: MessageKey): string {
  return JSON.stringify(catalogueOf(locale)[key]);
}

export function messagesIn(locale: Locale): Messages {
  const direction = directionOf(locale);
  return {
    locale,
    direction,
    say: (key, params) => translate(locale, key, params),
    moment: (unixSeconds) => formatMoment(locale, unixSeconds),
    shortMoment: (unixSeconds) => formatShortMoment(locale, unixSeconds),
    duration: (seconds) => formatDuration(locale, seconds),
    roughly: (seconds) => formatRoughly(locale, seconds),
    wait: (seconds) => formatWait(locale, seconds),
    number: (value) => formatNumber(locale, value),
    size: (bytes) => sizeText(locale, bytes),
    list: (items) => formatList(locale, items),
    // Left-to-right pages need none, and people would copy the invisible characters.
    code: (text) => (direction === 'rtl' ? `\u2066${text}\u2069` : text),
    languageName,
  };
}
