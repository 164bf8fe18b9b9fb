/** What `locale/` promises: complete catalogues, plain look-ups, a language for every request. */
import { describe, expect, it } from 'bun:test';
import { join } from 'node:path';
import { Glob } from 'bun';
import { deadKeysOf, flawsOf, repeatedKeysOf, type Words } from '../../test/support/catalogue-flaws.ts';
import {
  type Catalogue,
  catalogueOf,
  directionOf,
  findLocale,
  negotiateLocale,
  pickLocale,
  supportedLocales,
  toLocale,
} from './catalogues.ts';
import { renderMessage, translate } from './translate.ts';

const order = ['en', 'de', 'fr', 'es', 'it', 'pt-BR', 'nl', 'pl', 'sv', 'uk', 'ja', 'zh-CN', 'ar', 'he'];
const english = catalogueOf('en');

async function filesUnder(folder: string, pattern: string): Promise<{ path: string; text: string }[]> {
  const paths = await Array.fromAsync(new Glob(pattern).scan(folder));
  return Promise.all(paths.map(async (path) => ({ path, text: await Bun.file(join(folder, path)).text() })));
}

describe('the catalogues', () => {
  for (const locale of supportedLocales) {
    it(`${locale} says everything, in its own words and signs, with every plural form`, () => {
      expect(flawsOf(locale, catalogueOf(locale), english)).toEqual([]);
    });
  }

  it('say a million in figures as any other number: 1 000 000 octets', () => {
    const millions = ['fr', 'es', 'it', 'pt-BR'] as const;
    const forms = millions.flatMap((locale) => Object.values(catalogueOf(locale)));
    const wrong = forms.filter((text) => typeof text !== 'string' && text.many !== text.other);
    expect(wrong).toEqual([]);
  });

  it('spell each letter from A to Z by a word, and name each sign', () => {
    for (const locale of supportedLocales) {
      const { 'spelled.words': words, 'spelled.signs': signs } = catalogueOf(locale);
      const letters = String(words)
        .split(' ')
        .map((word) => word.normalize('NFD').slice(0, 1));
      const names = new Set(String(signs).split(' · '));
      expect([locale, letters.join(''), names.size]).toEqual([locale, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 33]);
    }
  });

  it('are offered in the order of the list, one for each file', async () => {
    const offered: readonly string[] = supportedLocales;
    expect(offered).toEqual(order.filter((locale) => offered.includes(locale)));
    const files = await filesUnder(import.meta.dir, '*.json');
    expect(
      files.map(({ path }) => path.replace('.json', '')).filter((tag) => !offered.includes(tag)),
    ).toEqual([]);
  });

  it('say no key twice', async () => {
    const files = await filesUnder(import.meta.dir, '**/*.json');
    expect(files.length).toBeGreaterThan(0);
    expect(files.flatMap(({ text }) => repeatedKeysOf(text))).toEqual([]);
  });

  it('hold no words that nothing says', async () => {
    const files = await filesUnder(join(import.meta.dir, '..'), '**/*.{ts,tsx}');
    const sources = files.filter(({ path }) => !path.includes('.test.')).map(({ text }) => text);
    expect(deadKeysOf(english, sources)).toEqual([]);
  });
});

describe('the check of catalogues', () => {
  const original = {
    'a.plain': 'Open the secret',
    'a.name': '{sender} sent you a secret',
    'a.count': { one: '{count} byte of {limit}', other: '{count} bytes of {limit}' },
  };
  const german = {
    'a.plain': 'Das Geheimnis öffnen',
    'a.name': '{sender} hat dir ein Geheimnis geschickt',
    'a.count': { one: '{count} Byte von {limit}', other: '{count} Bytes von {limit}' },
  };
  const flawsWith = (changes: Words, locale = 'de') => flawsOf(locale, { ...german, ...changes }, original);

  it('finds nothing wrong with a good catalogue', () => {
    expect(flawsWith({})).toEqual([]);
  });

  const seeded: readonly [string, Words, string[], string?][] = [
    ['a missing text', { 'a.plain': undefined }, ['a.plain is missing or empty']],
    ['an empty text', { 'a.plain': ' ' }, ['a.plain is missing or empty']],
    ['an empty form', { 'a.count': { one: '', other: 'x' } }, ['a.count is missing or empty']],
    ['an unknown key', { 'a.other': 'x' }, ['a.other is unknown']],
    ['a lost placeholder', { 'a.name': 'Ein Geheimnis' }, ['a.name has other placeholders']],
    ['a translated placeholder', { 'a.name': '{absender} schreibt' }, ['a.name has other placeholders']],
    ['a broken placeholder', { 'a.name': '{sender} schreibt {sender' }, ['a.name has other placeholders']],
    [
      'a placeholder lost in one form only',
      { 'a.count': { one: 'ein Byte', other: '{count} Bytes von {limit}' } },
      ['a.count has other placeholders'],
    ],
    [
      'a missing plural form',
      { 'a.count': { other: '{count} Bytes von {limit}' } },
      ['a.count lacks the form one'],
    ],
    [
      'a superfluous plural form',
      { 'a.count': { ...german['a.count'], few: '{count} Bytes von {limit}' } },
      ['a.count has the form few, which the language does not know'],
    ],
    [
      'plural forms where English has none',
      { 'a.plain': { one: 'Öffnen', other: 'Öffnen' } },
      ['a.plain must have plural forms where English has them, and only there'],
    ],
    ['an untranslated text', { 'a.plain': 'Open the secret' }, ['a.plain is the English text']],
    [
      'an untranslated form',
      { 'a.count': { one: '{count} Byte von {limit}', other: '{count} bytes of {limit}' } },
      ['a.count is the English text'],
    ],
    [
      'a text that is much longer',
      { 'a.plain': 'Öffnen '.repeat(9).trim() },
      ['a.plain is much longer than in English'],
    ],
    [
      'straight quotation marks',
      { 'a.plain': 'Das "Geheimnis"' },
      ['a.plain has quotation marks or apostrophes foreign to the language: " "'],
    ],
    [
      'quotation marks of another language',
      { 'a.plain': '«Öffnen» geht’s' },
      ['a.plain has quotation marks or apostrophes foreign to the language: « »'],
    ],
    ['three dots', { 'a.plain': 'Öffnen...' }, ['a.plain has three dots instead of …']],
    ['markup', { 'a.plain': 'Das <b>Geheimnis</b>' }, ['a.plain holds markup']],
    ['an entity', { 'a.plain': 'Dies &amp; das' }, ['a.plain holds markup']],
    [
      'a blank at the end',
      { 'a.plain': 'Öffnen ' },
      ['a.plain has blanks at its ends, two in a row, or a line break'],
    ],
    ['a bidirectional mark', { 'a.plain': 'Öff\u202enen' }, ['a.plain holds an invisible mark']],
    ['a soft hyphen', { 'a.plain': 'Öff\u00adnen' }, ['a.plain holds an invisible mark']],
    [
      'ASCII punctuation in Chinese',
      { 'a.plain': '打开.', 'a.count': { other: '{count} {limit} 字节' } },
      ['a.plain has ASCII punctuation after a character of its own script'],
      'zh-CN',
    ],
    [
      'a French question mark without its space',
      { 'a.plain': 'Vraiment?', 'a.count': { ...german['a.count'], many: '{count} {limit}' } },
      ['a.plain lacks the no-break space before ; : ! ? » or after «'],
      'fr',
    ],
  ];
  for (const [what, changes, flaws, locale] of seeded) {
    it(`self-test: ${what} is a flaw`, () => {
      expect(flawsWith(changes, locale)).toEqual(flaws);
    });
  }

  it('lets a form that stands for one number leave the number out', () => {
    const forms = ['zero', 'one', 'two', 'few', 'many', 'other'].map((category, index) => [
      category,
      index < 3 ? 'بايت من {limit}' : '{count} بايت من {limit}',
    ]);
    const arabic = {
      'a.plain': 'فتح السر',
      'a.name': 'أرسل {sender} سرًا',
      'a.count': Object.fromEntries(forms),
    };
    expect(flawsOf('ar', arabic, original)).toEqual([]);
  });

  it('self-test: a form that stands for several numbers must say which, such as one in French (0 and 1)', () => {
    const bytes = {
      one: 'un octet sur {limit}',
      other: '{count} octets sur {limit}',
      many: '{count} d’octets, {limit}',
    };
    const french = { ...german, 'a.count': bytes };
    expect(flawsOf('fr', french, original)).toEqual(['a.count has other placeholders']);
    expect(
      flawsOf('fr', { ...french, 'a.count': { ...bytes, one: '{count} octet sur {limit}' } }, original),
    ).toEqual([]);
  });

  it('self-test: a key that stands twice, and one that nothing says, are found', () => {
    expect(repeatedKeysOf('{\n  "a.b": "x",\n  "a.c": {\n    "one": "y"\n  },\n  "a.b": "z"\n}')).toEqual([
      'a.b',
    ]);
    const sources = ["say('a.plain')", '<Field label="a.name" />', "say('a.' + 'count')"];
    expect(deadKeysOf(original, sources)).toEqual(['a.count']);
  });
});

describe('a look-up', () => {
  const someKey = 'mail.subject';
  const saying = (message: Catalogue[typeof someKey]): Catalogue => ({ ...english, [someKey]: message });

  it('inserts parameters as they are, and never reads placeholders out of them', () => {
    expect(translate('en', someKey, { sender: '{date} <b>$& {sender}' })).toBe(
      '{date} <b>$& {sender} sent you a secret',
    );
  });

  it('leaves a placeholder without a value visible, names of the prototype included', () => {
    const catalogue = saying('{constructor} {toString}');
    expect(renderMessage(catalogue, 'en', someKey, {})).toBe('{constructor} {toString}');
  });

  it('chooses the plural form by the count and the language', () => {
    const minutes = saying({
      one: '{count} minuta',
      few: '{count} minuty',
      many: '{count} minut',
      other: 'x',
    });
    const said = [1, 3, 5].map((count) => renderMessage(minutes, 'pl', someKey, { count }));
    expect(said).toEqual(['1 minuta', '3 minuty', '5 minut']);
  });

  it('writes numbers as the language does', () => {
    const number = saying('{count}');
    const said = ['en', 'de'].map((locale) => renderMessage(number, locale, someKey, { count: 12_345 }));
    expect(said).toEqual(['12,345', '12.345']);
  });
});

describe('the negotiation', () => {
  const pick = (header: string | null) => pickLocale(header, order, 'en');

  it('takes the heaviest range that is spoken, then its language, then the default', () => {
    expect(pick('fi;q=0.9, de-CH;q=0.8, en;q=0.1')).toBe('de');
    expect(pick('en;q=0.2,pt-br')).toBe('pt-BR');
    expect(pick('fi, *;q=0.1')).toBe('en');
    expect(pick('de;q=0, en;q=0.1')).toBe('en');
  });

  const found: Readonly<Record<string, string | null>> = {
    pt: 'pt-BR',
    'pt-PT': 'pt-BR',
    'PT-br': 'pt-BR',
    zh: 'zh-CN',
    'zh-TW': 'zh-CN',
    'zh-Hans': 'zh-CN',
    'zh-Hans-SG': 'zh-CN',
    'zh-hant-tw': 'zh-CN',
    'ZH-cn': 'zh-CN',
    iw: 'he',
    'iw-IL': 'he',
    HE: 'he',
    'EN-gb': 'en',
    'de-CH-1996-x-y': 'de',
    no: null,
    nb: null,
    'nb-NO': null,
    p: null,
    'ptx-BR': null,
    '': null,
    '-': null,
    constructor: null,
    '__proto__-x': null,
  };
  for (const [tag, locale] of Object.entries(found)) {
    it(`finds ${locale ?? 'nothing'} for the tag "${tag}", asked for by name or by the browser`, () => {
      expect(findLocale(tag, order)).toBe(locale);
      expect(pick(`fi, ${tag}`)).toBe(locale ?? 'en');
    });
  }

  it('prefers the exact region over another of the same language', () => {
    expect(findLocale('pt-PT', ['pt-BR', 'pt-PT'])).toBe('pt-PT');
    expect(findLocale('pt-AO', ['pt-BR', 'pt'])).toBe('pt');
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
      '-'.repeat(1e5),
    ]) {
      expect(order).toContain(pick(header));
      expect(supportedLocales).toContain(negotiateLocale(header));
    }
  });

  it('falls back to the default for a stored tag that is not spoken', () => {
    expect(toLocale('xx')).toBe('en');
  });

  it('knows which languages are written from right to left', () => {
    expect(order.filter((locale) => directionOf(locale) === 'rtl')).toEqual(['ar', 'he']);
  });
});
