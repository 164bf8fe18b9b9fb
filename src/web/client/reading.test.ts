import { describe, expect, it } from 'bun:test';
import { countGraphemes, countLines, drawingOf, glyphsOf, markHidden, pairsIn, spell } from './reading.ts';

const namesIn = (text: string) =>
  markHidden(text)
    .parts.map(({ name }) => name)
    .filter((name) => name !== null);

describe('the length of a text', () => {
  it('is what a reader counts, in every script', () => {
    const lengths = ['', 'abc', 'é', 'e\u0301', '👨‍👩‍👧‍👦', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', 'नि', 'a\r\nb'].map(countGraphemes);
    expect(lengths).toEqual([0, 3, 1, 1, 1, 1, 1, 3]);
  });

  it('counts lines with every kind of break', () => {
    expect(['', 'a', 'a\n', 'a\r\nb\rc'].map(countLines)).toEqual([1, 1, 2, 3]);
  });
});

describe('the kinds of characters in a line', () => {
  it('come in runs that together are the line', () => {
    const runs = glyphsOf('l1I0-O ß');
    expect(runs.map(({ text }) => text).join('')).toBe('l1I0-O ß');
    expect(runs.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
      'letter l',
      'digit 1',
      'letter I',
      'digit 0',
      'symbol -',
      'letter O ß',
    ]);
  });

  it('come for a line of 80 characters at most', () => {
    expect([80, 81].map((length) => glyphsOf('x'.repeat(length)).length)).toEqual([1, 0]);
  });

  it('are left out where they would change how the line is laid out', () => {
    for (const text of ['', 'a\nb', 'שלום', 'a\u202eb', 'e\u0301', '日本', 'a\tb']) {
      expect(glyphsOf(text)).toEqual([]);
    }
  });
});

describe('a line that is drawn', () => {
  it('is in one of three sizes that fit it into a line, up to 32 characters', () => {
    const sizes = [0, 1, 12, 13, 20, 21, 32, 33, 80].map((length) => drawingOf('x'.repeat(length)));
    const fits = (size: number) => `drawn fits fits-${size}`;
    expect(sizes).toEqual(['', fits(12), fits(12), fits(20), fits(20), fits(32), fits(32), 'drawn', 'drawn']);
  });
});

describe('a line that is spelled out', () => {
  const spelling = {
    words:
      'Alfa Bravo Charlie Delta Echo Foxtrot Golf Hotel India Juliett Kilo Lima Mike November Oscar Papa Quebec Romeo Sierra Tango Uniform Victor Whiskey X-ray Yankee Zulu',
    signs: Array.from({ length: 33 }, (_, at) => `sign ${at}`).join(' · '),
    capital: 'capital {word}',
  };
  const saidOf = (text: string) => spell(text, spelling).map(({ said }) => said);

  it('says every letter by its word, and whether it is a capital', () => {
    const letters = 'abcdefghijklmnopqrstuvwxyz';
    expect(saidOf(letters).join(' ')).toBe(spelling.words.toLowerCase());
    expect(saidOf(letters.toUpperCase())).toEqual(spelling.words.split(' ').map((word) => `capital ${word}`));
  });

  it('names the blank and all 32 signs of ASCII, and leaves digits and other letters as they are', () => {
    const ascii = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)).join('');
    const names = saidOf(ascii.slice(0, 80)).concat(saidOf(ascii.slice(80)));
    expect(names.filter((said) => said.startsWith('sign '))).toEqual(spelling.signs.split(' · '));
    expect(saidOf('0é9ßЖ')).toEqual(['', '', '', '', '']);
  });

  it('is the line itself, and nothing where no line is drawn', () => {
    expect(spell('a1-É', spelling).map(({ kind, character }) => `${kind} ${character}`)).toEqual([
      'letter a',
      'digit 1',
      'symbol -',
      'letter É',
    ]);
    expect(spell('a\nb', spelling)).toEqual([]);
  });
});

describe('characters that do not show', () => {
  it('are counted and named', () => {
    expect(markHidden('a\u00a0b\u200bc\u202e').count).toBe(3);
    expect(namesIn('a\u00a0b\u200bc\u202ed\u2062\u0007')).toEqual([
      'NBSP',
      'ZWSP',
      'RLO',
      'U+2062',
      'U+0007',
    ]);
    expect(namesIn('pay\u200dpal')).toEqual(['ZWJ']);
  });

  it('are blanks only at the ends of a single line', () => {
    expect([namesIn(' a b '), namesIn('a b'), namesIn(' a\n b \n')]).toEqual([['SPACE', 'SPACE'], [], []]);
  });

  it('are none where they are part of what shows', () => {
    for (const text of ['👨‍👩‍👧‍👦', '❤️', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', 'می‌خواهم', 'क्‍ष', '　', 'a\tb\r\nc', 'é', 'e\u0301'])
      expect([text, markHidden(text)]).toEqual([text, { count: 0, parts: [] }]);
  });

  const run = (length: number) => 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'.slice(0, length);
  const cut = run(50).slice(-24);

  it.each([
    ['a\u200bb', ['a', 'ZWSP', 'b']],
    [`\u200b${run(50)}`, ['ZWSP', `${run(24)} … `]],
    [`${run(49)}\u200b${run(49)}\u00ad${run(49)}`, [run(49), 'ZWSP', run(49), 'SHY', run(49)]],
    [
      `${run(50)}\u200b${run(50)}\u00ad${run(50)}`,
      [` … ${cut}`, 'ZWSP', `${run(24)} … ${cut}`, 'SHY', `${run(24)} … `],
    ],
  ])('are shown with what is beside them: %j', (text, wanted) => {
    expect(markHidden(text).parts.map((part) => part.name ?? part.text)).toEqual(wanted);
  });

  it('are shown up to the hundredth, and all are counted', () => {
    const { count, parts } = markHidden('a\u200b'.repeat(101));
    expect([count, parts.length]).toEqual([101, 200]);
  });
});

describe('values by name', () => {
  it('are found in lines of an environment file, without quotes', () => {
    const file = '# of the shop\nexport A_1=one two\n\nB = "a=\\"b"\r\nC=\'c\'\nD=\n';
    expect(pairsIn(file).map(({ name, value }) => [name, value])).toEqual([
      ['A_1', 'one two'],
      ['B', 'a=\\"b'],
      ['C', 'c'],
    ]);
  });

  it('are two or more', () => {
    expect(pairsIn('A=1\nB=2')).toHaveLength(2);
  });

  it('are none in a single line, in prose and in a sum', () => {
    for (const text of ['A=1', 'A=1\nand then', 'a b=1\nc=2', '1=1\n2=2', ''])
      expect(pairsIn(text)).toEqual([]);
  });
});
