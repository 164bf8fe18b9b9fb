/**
 * Helps people read a text exactly: its length as they count it, kinds of characters, invisible characters, and `NAME=value` lines. The
 * server uses this module for plain secrets, the script for end-to-end ones.
 */

/** Counts characters as people do: an emoji with its skin tone counts as one (UAX 29). Older browsers count code points. */
export function countGraphemes(text: string): number {
  const isKnown = typeof Intl.Segmenter === 'function';
  const counted = isKnown ? new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text) : text;
  let count = 0;
  for (const _ of counted) count += 1;
  return count;
}

export function countLines(text: string): number {
  return text.split(/\r\n|\r|\n/).length;
}

/** Estimates the rows, because some browsers do not size a field to its content. */
export function rowsFor(text: string): number {
  if (!text.includes('\n') && glyphsOf(text).length > 0) return 1;
  const lines = text.split('\n').reduce((rows, line) => rows + 1 + Math.floor(line.length / 60), 0);
  return Math.min(Math.max(lines, 3), 18);
}

/** Returns whether HTML or a text field would alter the text, as with NUL or a lone carriage return. */
export const isInexact = (text: string) => /[^\P{Cc}\n\t]/u.test(text);

export type GlyphKind = 'letter' | 'digit' | 'symbol';

export interface Glyphs {
  readonly kind: GlyphKind;
  readonly text: string;
}

const longestGlyphs = 80;

function kindOf(character: string): GlyphKind {
  if (/\p{Nd}/u.test(character)) return 'digit';
  return /[\p{L}\p{M}\p{Zs}]/u.test(character) ? 'letter' : 'symbol';
}

/**
 * Returns runs of characters of one kind, so that 1, l and I can look different. Empty unless the text is a short line in a left-to-right
 * script without joining characters.
 */
export function glyphsOf(text: string): readonly Glyphs[] {
  if (!/^[\x20-\x7e\u00a1-\u024f\u0370-\u03ff\u0400-\u052f]+$/.test(text) || text.length > longestGlyphs)
    return [];
  const runs: { kind: GlyphKind; text: string }[] = [];
  for (const character of text) {
    const kind = kindOf(character);
    const last = runs.at(-1);
    if (last?.kind === kind) last.text += character;
    else runs.push({ kind, text: character });
  }
  return runs;
}

/** Returns the classes that draw a line of glyphs as large as it fits. */
export function drawingOf(text: string): string {
  if (glyphsOf(text).length === 0) return '';
  const size = [12, 20, 32].find((most) => text.length <= most);
  return size === undefined ? 'drawn' : `drawn fits fits-${size}`;
}

/** Words from A to Z with blanks between them; names of a blank and ASCII's 32 signs with ` · ` between them; how to say a capital `{word}`. */
export type Spelling = Readonly<Record<'words' | 'signs' | 'capital', string>>;

const signs = ' !"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';

/** Returns the characters of a line that is drawn, each with its word or name, or with `''`. */
export function spell(text: string, spelling: Spelling) {
  const [words, names] = [spelling.words.split(' '), spelling.signs.split(' · ')];
  const saidFor = (character: string): string => {
    const lower = character.toLowerCase();
    const word = words[lower.charCodeAt(0) - 97];
    if (word === undefined) return names[signs.indexOf(character)] ?? '';
    return character === lower ? word.toLowerCase() : spelling.capital.replace('{word}', word);
  };
  return glyphsOf(text).flatMap(({ kind, text: run }) =>
    Array.from(run, (character) => ({ kind, character, said: saidFor(character) })),
  );
}

export interface Marked {
  /** Name of an invisible character, such as `NBSP` or `U+2062`; `null` for visible text. */
  readonly name: string | null;
  readonly text: string;
}

/** Abbreviations from the Unicode Standard. */
const names: Readonly<Record<string, string>> = {
  '\t': 'TAB',
  ' ': 'SPACE',
  '\u00a0': 'NBSP',
  '\u00ad': 'SHY',
  '\u034f': 'CGJ',
  '\u061c': 'ALM',
  '\u200b': 'ZWSP',
  '\u200c': 'ZWNJ',
  '\u200d': 'ZWJ',
  '\u200e': 'LRM',
  '\u200f': 'RLM',
  '\u202a': 'LRE',
  '\u202b': 'RLE',
  '\u202c': 'PDF',
  '\u202d': 'LRO',
  '\u202e': 'RLO',
  '\u202f': 'NNBSP',
  '\u2060': 'WJ',
  '\u2066': 'LRI',
  '\u2067': 'RLI',
  '\u2068': 'FSI',
  '\u2069': 'PDI',
  '\ufeff': 'BOM',
};

/** Characters that look like something else or like nothing. */
const hidden = [
  // Control and format characters, blanks, and letters that look empty.
  /[^\P{Cc}\t\n\r]|(?!\u200c|\u200d|[\u{e0020}-\u{e007f}])\p{Cf}|[^\P{Zs} \u3000]|[\u2028\u2029]|\u034f/u,
  /[\u115f\u1160\u17b4\u17b5\u3164\uffa0]/u,
  // Joiners, except where they have a visible effect: in emoji, and in scripts that need them.
  /(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\p{M}]|[^\P{L}\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])[\u200c\u200d]/u,
].map(({ source }) => source);
const hiddenInText = new RegExp(hidden.join('|'), 'gu');
const hiddenInLine = new RegExp([...hidden, '^[ \\t]+', '(?<![ \\t])[ \\t]+$'].join('|'), 'gu');

function nameOf(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return names[character] ?? `U+${code.padStart(4, '0')}`;
}

const shownBeside = 24;

function shorten(text: string, isFirst: boolean, isLast: boolean): string {
  const characters = [...text];
  if (characters.length <= 2 * shownBeside + 1) return text;
  const [start, end] = [
    isFirst ? '' : characters.slice(0, shownBeside).join(''),
    isLast ? '' : characters.slice(-shownBeside).join(''),
  ];
  return `${start} … ${end}`;
}

export function markHidden(text: string): { readonly count: number; readonly parts: readonly Marked[] } {
  const found = text.matchAll(/[\n\r]/.test(text) ? hiddenInText : hiddenInLine);
  const parts: Marked[] = [];
  let count = 0;
  let at = 0;
  for (const match of found) {
    const before = text.slice(at, match.index);
    if (count < mostMarked) parts.push({ name: null, text: shorten(before, at === 0, false) });
    for (const character of match[0]) {
      if (count < mostMarked) parts.push({ name: nameOf(character), text: character });
      count += 1;
    }
    at = match.index + match[0].length;
  }
  parts.push({ name: null, text: shorten(text.slice(at), at === 0, true) });
  return { count, parts: count === 0 ? [] : parts.filter((part) => part.text !== '') };
}

const mostMarked = 100;

export interface Pair {
  readonly name: string;
  readonly value: string;
}

const pairLine = /^(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*=[ \t]*(.*)$/;

function unquote(text: string): string {
  const quoted = /^(["'])(.*)\1$/.exec(text);
  return quoted?.[2] ?? text;
}

/** Returns the pairs of an environment file (`NAME=value`), except those without a value; empty for fewer than two, or if a line is neither a pair nor a comment. */
export function pairsIn(text: string): readonly Pair[] {
  const lines = text.split(/\r\n|\r|\n/).filter((line) => !/^\s*(?:#.*)?$/.test(line));
  const pairs: Pair[] = [];
  for (const line of lines) {
    const [, name, value] = pairLine.exec(line.trim()) ?? [];
    if (name === undefined || value === undefined) return [];
    pairs.push({ name, value: unquote(value) });
  }
  return pairs.length < 2 ? [] : pairs.filter(({ value }) => value !== '');
}
