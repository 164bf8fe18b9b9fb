/**
 * Finds what is wrong with a message catalogue, compared with the English one. A flaw is a sentence that begins with the
 * key.
 */
import { sameAsEnglish } from './same-as-english.ts';

export type Words = Readonly<Record<string, unknown>>;

/** Every flaw; pass English as both to check English itself. */
export function flawsOf(locale: string, catalogue: Words, english: Words): string[] {
  const unknown = Object.keys(catalogue).filter((key) => !Object.hasOwn(english, key));
  const wrong = Object.keys(english).flatMap((key) => {
    const flaws = flawsOfMessage(locale, catalogue[key], english[key]);
    return flaws.map((flaw) => `${key} ${flaw}`);
  });
  return [...unknown.map((key) => `${key} is unknown`), ...wrong];
}

function flawsOfMessage(locale: string, message: unknown, english: unknown): string[] {
  const forms = formsOf(message);
  const texts = Object.values(forms);
  if (texts.length === 0 || texts.some((text) => text.trim() === '')) return ['is missing or empty'];
  const original = formsOf(english);
  const isEnglish = locale === 'en';
  return [
    ...(typeof message === typeof english
      ? []
      : ['must have plural forms where English has them, and only there']),
    ...(typeof message === 'string' ? [] : pluralFlaws(locale, forms)),
    ...placeholderFlaws(locale, forms, original),
    ...new Set(texts.flatMap((text) => textFlaws(locale, text))),
    ...(!isEnglish && isUntranslated(locale, texts, Object.values(original)) ? ['is the English text'] : []),
    ...(isTooLong(texts, Object.values(original)) ? ['is much longer than in English'] : []),
  ];
}

/** The texts by plural category; a plain text is a single form. */
function formsOf(message: unknown): Record<string, string> {
  if (typeof message === 'string') return { text: message };
  if (typeof message !== 'object' || message === null) return {};
  return Object.fromEntries(Object.entries(message).map(([category, text]) => [category, String(text)]));
}

function pluralFlaws(locale: string, forms: Readonly<Record<string, string>>): string[] {
  const categories: readonly string[] = new Intl.PluralRules(locale).resolvedOptions().pluralCategories;
  const missing = categories.filter((category) => !Object.hasOwn(forms, category));
  const superfluous = Object.keys(forms).filter((category) => !categories.includes(category));
  return [
    ...missing.map((category) => `lacks the form ${category}`),
    ...superfluous.map((category) => `has the form ${category}, which the language does not know`),
  ];
}

/** Whether the form covers only one number, which may then be spelled out: Arabic "two bytes", not French 0 and 1. */
function isForOneNumber(locale: string, category: string): boolean {
  const rules = new Intl.PluralRules(locale);
  const numbers = Array.from({ length: 200 }, (_, number) => number);
  return numbers.filter((number) => rules.select(number) === category).length === 1;
}

function placeholderFlaws(
  locale: string,
  forms: Readonly<Record<string, string>>,
  english: Readonly<Record<string, string>>,
): string[] {
  const all = placeholdersOf(Object.values(english).join(' '));
  const isRight = ([category, text]: [string, string]) => {
    const found = placeholdersOf(text);
    const mayDrop = isForOneNumber(locale, category) ? '{count}' : '';
    const hasAll = all.every((name) => name === mayDrop || found.includes(name));
    return hasAll && found.every((name) => all.includes(name)) && !/[{}]/.test(withoutPlaceholders(text));
  };
  return Object.entries(forms).every(isRight) ? [] : ['has other placeholders'];
}

function withoutPlaceholders(text: string): string {
  return text.replaceAll(/\{[a-zA-Z]+\}/g, '');
}

function placeholdersOf(text: string): string[] {
  return [...new Set(text.match(/\{[a-zA-Z]+\}/g))].sort();
}

/** The quotation marks and apostrophes that a language uses; all others in `allQuotes` are foreign to it. */
const ownQuotes: Readonly<Record<string, string>> = {
  en: '“”‘’',
  de: '„“‚‘’',
  fr: '«»“”’',
  es: '«»“”‘’',
  it: '«»“”‘’',
  'pt-BR': '“”‘’',
  nl: '“”‘’',
  pl: '„”«»’',
  sv: '”’',
  uk: '«»„“’',
  ja: '「」『』',
  'zh-CN': '“”‘’',
  ar: '«»“”',
  he: '״׳“”„’',
};

const allQuotes = /["'`´“”„‚‘’‹›«»「」『』״׳]/gu;

const rules: readonly {
  readonly flaw: string;
  readonly pattern: RegExp;
  readonly locales?: readonly string[];
}[] = [
  { flaw: 'has blanks at its ends, two in a row, or a line break', pattern: /^\s|\s$|\s\s|[\n\r\t]/u },
  { flaw: 'holds markup', pattern: /<[a-z/!]|&(?:[a-z]+|#x?[0-9a-f]+);/i },
  {
    flaw: 'holds an invisible mark',
    pattern: /[\p{Cc}\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/u,
  },
  { flaw: 'has three dots instead of …', pattern: /\.\.\./ },
  {
    flaw: 'has ASCII punctuation after a character of its own script',
    pattern: /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}][,.!?;:](?![a-z])/u,
    locales: ['ja', 'zh-CN'],
  },
  {
    flaw: 'has ASCII punctuation after a character of its own script',
    pattern: /\p{Script=Arabic}[,;?]/u,
    locales: ['ar'],
  },
  {
    flaw: 'lacks the no-break space before ; : ! ? » or after «',
    pattern: /[^\u00a0\u202f][;!?»]|[^\u00a0\u202f]:(?![/0-9])|«[^\u00a0\u202f]/u,
    locales: ['fr'],
  },
];

function textFlaws(locale: string, text: string): string[] {
  const own = ownQuotes[locale] ?? '';
  const foreign = (text.match(allQuotes) ?? []).filter((quote) => !own.includes(quote));
  const broken = rules.filter(
    ({ pattern, locales }) => (locales === undefined || locales.includes(locale)) && pattern.test(text),
  );
  return [
    ...broken.map(({ flaw }) => flaw),
    ...(foreign.length === 0
      ? []
      : [`has quotation marks or apostrophes foreign to the language: ${foreign.join(' ')}`]),
  ];
}

// Names and abbreviations that are the same in every language.
const wordsOfAll = /\b(?:API|CSV|HTTP|HTTPS|JSON|MIT|Mayfly|OpenAPI|QR|SMTP|TLS|URL|UTC)\b/g;

function isUntranslated(locale: string, texts: readonly string[], english: readonly string[]): boolean {
  const allowed = { ...sameAsEnglish['*'], ...sameAsEnglish[locale] };
  return texts.some((text) => {
    const rest = withoutPlaceholders(text).replaceAll(wordsOfAll, '');
    return /\p{L}/u.test(rest) && english.includes(text) && !Object.hasOwn(allowed, text);
  });
}

const mostTimesLonger = 2.2;
const alwaysShortCharacters = 40;

function isTooLong(texts: readonly string[], english: readonly string[]): boolean {
  const longest = Math.max(...texts.map((text) => text.length));
  const longestEnglish = Math.max(...english.map((text) => text.length));
  return longest > alwaysShortCharacters && longest > longestEnglish * mostTimesLonger;
}

/** Keys that occur more than once in the file: all but the last are silently lost. */
export function repeatedKeysOf(json: string): string[] {
  const keys = [...json.matchAll(/^ {2}"([^"]+)":/gm)].map((match) => match[1] ?? '');
  return keys.filter((key, index) => keys.indexOf(key) !== index);
}

/** Keys that no source contains as a whole literal; a key assembled from parts could not be searched for. */
export function deadKeysOf(english: Words, sources: readonly string[]): string[] {
  const said = new Set(
    sources.flatMap((text) => [...text.matchAll(/(['"])([a-zA-Z0-9.]+)\1/g)].map((match) => match[2])),
  );
  return Object.keys(english).filter((key) => !said.has(key));
}
