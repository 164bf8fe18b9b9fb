/**
 * The words of one page in one language.
 *
 * Owns: the binding of a locale to look-ups, so that pages are functions of their props and say nothing themselves.
 */
import type { Locale, MessageKey } from '../locale/catalogues.ts';
import { formatDuration, formatMoment } from '../locale/times.ts';
import { type MessageParams, translate } from '../locale/translate.ts';

export interface Words {
  readonly locale: Locale;
  say(key: MessageKey, params?: MessageParams): string;
  /** A moment, in UTC. */
  moment(unixSeconds: number): string;
  duration(seconds: number): string;
}

export function wordsIn(locale: Locale): Words {
  return {
    locale,
    say: (key, params) => translate(locale, key, params),
    moment: (unixSeconds) => formatMoment(locale, unixSeconds),
    duration: (seconds) => formatDuration(locale, seconds),
  };
}
