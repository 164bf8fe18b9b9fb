import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import { flawOfNote, maxNoteCharacters, maxPromptCharacters, tidyNote } from './note.ts';

describe('a note', () => {
  it('is one line, without the direction characters around a copied telephone number', () => {
    expect(tidyNote('  Call me:\r\n\t\u202a+49 30 1234\u202c \u2028 or\u00a0write\u200f ')).toBe(
      'Call me: +49 30 1234 or write',
    );
    expect(tidyNote(' \n\u200e\t')).toBe('');
  });

  it('keeps what scripts and emoji need, and what looks like markup or a link', () => {
    for (const text of [
      'می‌خواهم',
      'क्ष',
      '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}',
      '<b>https://example.org</b>',
    ]) {
      expect(tidyNote(text)).toBe(text);
      expect(flawOfNote(text)).toBeNull();
    }
  });

  it('has at most 140 code points, whatever their size', () => {
    for (const character of ['a', 'ü', '水', '\u{1f99f}']) {
      expect(flawOfNote(character.repeat(maxNoteCharacters))).toBeNull();
      expect(flawOfNote(character.repeat(maxNoteCharacters + 1))).toBe('too_long');
    }
    expect(flawOfNote('a'.repeat(1_000_000))).toBe('too_long');
  });

  it('may be the longer prompt of a request', () => {
    for (const [length, flaw] of [
      [maxPromptCharacters, null],
      [maxPromptCharacters + 1, 'too_long'],
    ] as const)
      expect(flawOfNote('\u{1f99f}'.repeat(length), maxPromptCharacters)).toBe(flaw);
  });

  it('has no control or direction character, no line break and no half of a pair', () => {
    const unwanted =
      '\u0000\u0007\u001b\u007f\u0085\u061c\u200e\u200f\u2028\u2029\u202e\u2066\u2069\ud83d\n\t';
    for (const character of unwanted)
      expect([character, flawOfNote(`a${character}b`)]).toEqual([character, 'not_text']);
  });

  it('is tidied once and for all', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(tidyNote(tidyNote(text))).toBe(tidyNote(text));
      }),
    );
    expect(tidyNote(`a \u200f b${' '.repeat(100_000)}\u202a`)).toBe('a b');
  });
});
