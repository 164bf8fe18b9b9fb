/** Sizes as people say them, on every page and in every language. */
import { describe, expect, it } from 'bun:test';
import { catalogueOf, supportedLocales } from './catalogues.ts';
import { sizeText } from './size.ts';

const plain = (text: string) => text.replaceAll(/\s/gu, ' ').replaceAll(/[\u200e\u200f]/g, '');

describe('a size', () => {
  it('is in the unit that people use, and never more than there is', () => {
    const said: readonly (readonly [number, string])[] = [
      [0, '0 bytes'],
      [1, '1 byte'],
      [999, '999 bytes'],
      [1_000, '1 kB'],
      [1_024, '1 kB'],
      [54_390, '54.3 kB'],
      [99_999, '99.9 kB'],
      [100_000, '100 kB'],
      [262_144, '262 kB'],
      [999_999, '999 kB'],
      [1_048_576, '1 MB'],
      [10_000_000, '10 MB'],
    ];
    for (const [bytes, text] of said) expect(plain(sizeText('en', bytes))).toBe(text);
  });

  it('is written as its language does, on one line', () => {
    const said = supportedLocales.map((locale) => sizeText(locale, 54_300));
    expect(said.filter((text) => text.includes(' '))).toEqual([]);
    const [of, french, ukrainian] = [sizeText('de', 54_300), sizeText('fr', 1), sizeText('uk', 1_000)].map(
      plain,
    );
    expect([of, french, ukrainian]).toEqual(['54,3 kB', '1 octet', '1 кБ']);
  });
});

const machineUnits = ['byte', 'kilobyte', 'megabyte', 'millisecond', 'second', 'minute', 'hour'] as const;

/** How the language names a unit beside a number, in every form that it has. */
function namesOf(locale: string): Set<string> {
  const names = machineUnits.flatMap((unit) =>
    (['long', 'short'] as const).flatMap((unitDisplay) =>
      [1, 2, 3, 11, 1_000_000].flatMap((count) =>
        new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay })
          .formatToParts(count)
          .flatMap(({ type, value }) => (type === 'unit' ? [plain(value).trim()] : [])),
      ),
    ),
  );
  return new Set(names.filter((name) => name !== ''));
}

/** The messages that put a bare number before a unit, where the helpers of sizes and durations choose both. */
function machineTexts(locale: string, catalogue: Readonly<Record<string, unknown>>): string[] {
  const names = [...namesOf(locale)].map((name) => RegExp.escape(name)).join('|');
  const pattern = new RegExp(`\\{[a-zA-Z]+\\}\\s*(?:d['’]|de |di )?(?:${names})(?!\\p{L})`, 'u');
  return Object.entries(catalogue)
    .filter(([, text]) =>
      pattern.test(plain(typeof text === 'string' ? text : Object.values(text ?? {}).join('\n'))),
    )
    .map(([key]) => key);
}

describe('the texts of pages and mails', () => {
  it('leave the unit of a size or a time to the helpers, in every language', () => {
    for (const locale of supportedLocales)
      expect([locale, machineTexts(locale, catalogueOf(locale))]).toEqual([locale, []]);
  });

  it('would be found if they did not', () => {
    const found = (locale: string, text: unknown) => machineTexts(locale, { key: text });
    expect(found('en', 'At most {count} bytes fit.')).toEqual(['key']);
    expect(found('en', { one: '{count} second', other: '{count} seconds' })).toEqual(['key']);
    expect(found('fr', 'au plus {count} d’octets')).toEqual(['key']);
    expect(found('ja', '最大{count}バイト')).toEqual(['key']);
    expect(found('he', 'עד {count} kB')).toEqual(['key']);
    expect(found('en', 'At most {size}.')).toEqual([]);
  });
});
