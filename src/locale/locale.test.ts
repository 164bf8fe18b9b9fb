/** What `locale/` promises: complete catalogues, plain look-ups, a language for every request. */
import { describe, expect, it } from 'bun:test';
import { join } from 'node:path';
import { Glob } from 'bun';
import { type Catalogue, catalogues, type MessageKey, supportedLocales } from './catalogues.ts';
import { lookUp, negotiateLocale, pickLocale, toLocale } from './negotiate.ts';
import { formatDuration, formatMoment } from './times.ts';
import { renderMessage, translate } from './translate.ts';

/** What is wrong with a catalogue, measured against English. */
function flawsOf(locale: string, catalogue: Readonly<Record<string, unknown>>): string[] {
  const keys = Object.keys(catalogues.en) as MessageKey[];
  const extra = Object.keys(catalogue).filter((key) => !keys.includes(key as MessageKey));
  const wrong = keys.flatMap((key) => {
    const texts = textsOf(catalogue[key]);
    if (texts.length === 0 || texts.some((text) => text.trim() === '')) return [`${key} is missing or empty`];
    const english = placeholdersOf(textsOf(catalogues.en[key]).join(' '));
    if (placeholdersOf(texts.join(' ')).join() !== english.join()) return [`${key} has other placeholders`];
    return missingPluralsOf(locale, catalogue[key]).map((category) => `${key} lacks the form ${category}`);
  });
  return [...extra.map((key) => `${key} is unknown`), ...wrong];
}

function textsOf(message: unknown): string[] {
  if (typeof message === 'string') return [message];
  return typeof message === 'object' && message !== null ? Object.values(message).map(String) : [];
}

function placeholdersOf(text: string): string[] {
  return [...new Set(text.match(/\{[a-zA-Z]+\}/g))].sort();
}

function missingPluralsOf(locale: string, message: unknown): string[] {
  if (typeof message !== 'object' || message === null) return [];
  return new Intl.PluralRules(locale)
    .resolvedOptions()
    .pluralCategories.filter((category) => !(category in message));
}

describe('the catalogues', () => {
  for (const locale of supportedLocales) {
    it(`${locale} says everything, with the same placeholders and every plural form`, () => {
      expect(flawsOf(locale, catalogues[locale])).toEqual([]);
    });
  }

  it('hold no words that nothing says', async () => {
    const sources = await Array.fromAsync(new Glob('**/*.{ts,tsx}').scan(join(import.meta.dir, '..')));
    const texts = await Promise.all(
      sources.map((path) => Bun.file(join(import.meta.dir, '..', path)).text()),
    );
    const source = texts.join('\n');
    expect(Object.keys(catalogues.en).filter((key) => !source.includes(`'${key}'`))).toEqual([]);
  });

  it('tooth check: a missing key, an empty text, a lost placeholder, an unknown key and a lost plural are flaws', () => {
    const { 'mail.open': _gone, ...rest } = catalogues.en;
    const seeded = {
      ...rest,
      'mail.once': ' ',
      'mail.subject': 'A secret',
      'no.such.key': 'x',
      'time.minutes': { other: '{count} minutes' },
    };
    expect(flawsOf('en', seeded)).toEqual([
      'no.such.key is unknown',
      'mail.subject has other placeholders',
      'mail.open is missing or empty',
      'mail.once is missing or empty',
      'time.minutes lacks the form one',
    ]);
  });
});

describe('a look-up', () => {
  it('inserts parameters as they are, and never reads placeholders out of them', () => {
    expect(translate('en', 'mail.subject', { sender: '{date} <b>$& {sender}' })).toBe(
      '{date} <b>$& {sender} sent you a secret',
    );
  });

  it('leaves a placeholder without a value visible, names of the prototype included', () => {
    const catalogue: Catalogue = { ...catalogues.en, 'mail.open': '{constructor} {toString}' };
    expect(renderMessage(catalogue, 'en', 'mail.open', {})).toBe('{constructor} {toString}');
  });

  it('chooses the plural form by the count and the language', () => {
    expect(translate('en', 'time.minutes', { count: 1 })).toBe('1 minute');
    expect(translate('en', 'time.minutes', { count: 5 })).toBe('5 minutes');
    const slavic: Catalogue = {
      ...catalogues.en,
      'time.minutes': {
        one: '{count} minuta',
        few: '{count} minuty',
        many: '{count} minut',
        other: '{count} minuty',
      },
    };
    const said = [1, 3, 5].map((count) => renderMessage(slavic, 'pl', 'time.minutes', { count }));
    expect(said).toEqual(['1 minuta', '3 minuty', '5 minut']);
  });
});

describe('the negotiation', () => {
  const offered = ['en', 'de', 'pt-BR', 'zh'] as const;
  const pick = (header: string | null) => pickLocale(header, offered, 'en');

  it('takes the heaviest range that is spoken, then its language, then the default', () => {
    expect(pick('fr;q=0.9, de-CH;q=0.8, en;q=0.1')).toBe('de');
    expect(pick('en;q=0.2,pt-br')).toBe('pt-BR');
    expect(pick('zh-Hant-TW')).toBe('zh');
    expect(pick('fr, *;q=0.1')).toBe('en');
    expect(pick('de;q=0, en;q=0.1')).toBe('en');
  });

  it('answers any header at all with a locale that is spoken', () => {
    for (const header of [
      null,
      '',
      ',',
      ';;q',
      'q=1',
      '*',
      'de;q=x',
      '-',
      '\u0000',
      'a'.repeat(1e5),
      'x,'.repeat(1e4),
    ]) {
      expect(offered).toContain(pick(header));
      expect(supportedLocales).toContain(negotiateLocale(header));
    }
  });

  it('knows a stored tag or falls back to the default', () => {
    expect(lookUp('EN-gb', offered)).toBe('en');
    expect(lookUp('fr', offered)).toBeNull();
    expect(toLocale('xx')).toBe('en');
  });
});

describe('times in words', () => {
  it('says a moment in UTC and says so', () => {
    expect(formatMoment('en', 1_795_000_000)).toMatch(/^Wednesday,? 18 November 2026 at 11:06 UTC$/);
  });

  it('says a duration in at most two units, rounded down', () => {
    const said = [-5, 0, 1, 59, 60, 3_599, 3_600, 90_061, 604_800, 1_209_599].map((seconds) =>
      formatDuration('en', seconds),
    );
    expect(said).toEqual([
      '0 seconds',
      '0 seconds',
      '1 second',
      '59 seconds',
      '1 minute',
      '59 minutes 59 seconds',
      '1 hour',
      '1 day 1 hour',
      '7 days',
      '13 days 23 hours',
    ]);
  });
});
