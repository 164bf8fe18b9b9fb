/** The words and formats of one language, bound to it, so that pages are functions of their props. */
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

export interface Words {
  readonly locale: Locale;
  /** Of the page: `rtl` for Arabic and Hebrew. */
  readonly direction: 'ltr' | 'rtl';
  say(key: MessageKey, params?: MessageParams): string;
  /** A moment, in UTC. */
  moment(unixSeconds: number): string;
  /** The same, short, for lists. */
  shortMoment(unixSeconds: number): string;
  /** Rounded down, in at most two units: `6 days, 23 hours`. */
  duration(seconds: number): string;
  /** What is left, in one unit and never more than there is: `about 7 days`, `6 days`. */
  roughly(seconds: number): string;
  /** How long to wait, in one unit and rounded up: `10 minutes`. */
  wait(seconds: number): string;
  /** `5,000`. */
  number(value: number): string;
  /** `100 kB`, rounded down. */
  size(bytes: number): string;
  /** `one, two and three`. */
  list(items: readonly string[]): string;
  /** A code such as `#a1b2c3` for a sentence: it reads from left to right whatever stands around it (Unicode TR 9). */
  code(text: string): string;
  /** A language's name in that language, as a menu shows it: `Français`. */
  languageName(locale: Locale): string;
}

/** @param key says that the text is not the address that is asked for */
export function wrongAddress({ say, code }: Words, key: MessageKey, text: string): string {
  const character = unseenIn(text);
  return character === null
    ? say(key)
    : `${say(key)} ${say('share.addressUnseen', { character: code(character) })}`;
}

/** All plural forms of a text, as JSON, for a script that counts and chooses among them. */
export function formsOf({ locale }: Words, key: MessageKey): string {
  return JSON.stringify(catalogueOf(locale)[key]);
}

export function wordsIn(locale: Locale): Words {
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
    // Needless from left to right, where the invisible characters would only be copied along.
    code: (text) => (direction === 'rtl' ? `\u2066${text}\u2069` : text),
    languageName,
  };
}
