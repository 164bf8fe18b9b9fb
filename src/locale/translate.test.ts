/** Times, durations, numbers, lists and names of languages, in every language. */
import { describe, expect, it } from 'bun:test';
import { sizeText } from './size.ts';
import { formatDuration, formatList, formatMoment, formatNumber, languageName } from './translate.ts';

const moment = 1_795_000_000;

/** A time, a duration and the language's own name. */
const said: Readonly<Record<string, readonly [string, string, string]>> = {
  en: ['Wednesday, 18 November 2026 at 11:06 UTC', '13 days, 1 hour', 'English'],
  de: ['Mittwoch, 18. November 2026 um 11:06 UTC', '13 Tage, 1 Stunde', 'Deutsch'],
  fr: ['mercredi 18 novembre 2026 à 11:06 UTC', '13 jours et 1 heure', 'Français'],
  es: ['miércoles, 18 de noviembre de 2026, 11:06 UTC', '13 días y 1 hora', 'Español'],
  it: ['mercoledì 18 novembre 2026 alle ore 11:06 UTC', '13 giorni e 1 ora', 'Italiano'],
  'pt-BR': ['quarta-feira, 18 de novembro de 2026 às 11:06 UTC', '13 dias e 1 hora', 'Português (Brasil)'],
  nl: ['woensdag 18 november 2026 om 11:06 UTC', '13 dagen en 1 uur', 'Nederlands'],
  pl: ['18 listopada 2026 11:06 UTC', '13 dni i 1 godzina', 'Polski'],
  sv: ['onsdag 18 november 2026 kl. 11:06 UTC', '13 dygn, 1 timme', 'Svenska'],
  uk: ['18 листопада 2026 р. о 11:06 UTC', '13 днів і 1 година', 'Українська'],
  ja: ['2026年11月18日水曜日 11:06 UTC', '13 日 1 時間', '日本語'],
  'zh-CN': ['2026年11月18日星期三 UTC 11:06', '13天1小时', '简体中文'],
  ar: ['الأربعاء، 18 نوفمبر 2026 في 11:06 UTC', '13 يومًا وساعة', 'العربية'],
  he: ['יום רביעי, 18 בנובמבר 2026 בשעה 11:06 UTC', '13 ימים, 1 שעה', 'עברית'],
};

/** Turns no-break and narrow spaces into plain ones, because versions of CLDR differ in which they use. */
function plain(text: string): string {
  return text.replaceAll(/\s/gu, ' ').replaceAll(/[\u200e\u200f]/g, '');
}

describe('what Intl says', () => {
  for (const [locale, [when, howLong, name]] of Object.entries(said)) {
    it(`${locale}: a moment in UTC, a duration and the language’s own name`, () => {
      expect(plain(formatMoment(locale, moment))).toBe(when);
      expect(plain(formatDuration(locale, 13 * 86_400 + 3_600 + 59))).toBe(howLong);
      expect(languageName(locale)).toBe(name);
    });

    it(`${locale}: moments, durations, sizes and numbers all use the same digits`, () => {
      const texts = [
        formatMoment(locale, moment),
        formatDuration(locale, 4_000),
        sizeText(locale, 5_000),
        formatNumber(locale, 5_000),
      ];
      const systems = new Set(
        texts
          .join('')
          .match(/\p{Nd}/gu)
          ?.map((digit) => digit.codePointAt(0) ?? 0)
          .map((point) => point & ~0xf),
      );
      expect(systems.size).toBe(1);
    });
  }

  it('says the hour after midnight as 00', () => {
    expect(formatMoment('en', 1_794_960_060)).toContain('at 00:01 UTC');
  });

  it('says a duration in at most two units, rounded down', () => {
    const seconds = [-5, 0, 1, 59, 60, 3_599, 3_600, 90_061, 604_800, 1_209_599];
    expect(seconds.map((length) => formatDuration('en', length))).toEqual([
      '0 seconds',
      '0 seconds',
      '1 second',
      '59 seconds',
      '1 minute',
      '59 minutes, 59 seconds',
      '1 hour',
      '1 day, 1 hour',
      '7 days',
      '13 days, 23 hours',
    ]);
  });

  it('says lists as sentences do', () => {
    expect(formatList('en', [])).toBe('');
    expect(formatList('en', ['a'])).toBe('a');
    expect(formatList('de', ['a', 'b', 'c'])).toBe('a, b und c');
    expect(formatNumber('en', 5_000)).toBe('5,000');
  });
});
