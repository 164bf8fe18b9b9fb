/** How much more fits is never said wrongly, in any script. */
import { describe, expect, it } from 'bun:test';
import { roomIn } from './share-parts.ts';

describe('the room that is left', () => {
  it('is not spoken of below four fifths of the limit', () => {
    expect(roomIn('', 0)).toEqual({ kind: 'plenty' });
    expect(roomIn('x'.repeat(79), 100)).toEqual({ kind: 'plenty' });
    expect(roomIn('あ'.repeat(26), 100)).toEqual({ kind: 'plenty' });
  });

  for (const [script, character, bytes] of [
    ['Latin', 'x', 1],
    ['Arabic', 'س', 2],
    ['Japanese', 'あ', 3],
    ['emoji', '😀', 4],
  ] as const) {
    it(`is exact in ${script}: so many more fit, and one more does not`, () => {
      const limit = 1_003;
      const room = roomIn(character.repeat(Math.ceil(900 / bytes)), limit);
      if (room.kind !== 'left') throw new Error(room.kind);
      const filled = character.repeat(Math.ceil(900 / bytes) + room.characters);
      expect(roomIn(filled, limit).kind).toBe('left');
      expect(roomIn(filled + character, limit)).toEqual({ kind: 'over', characters: 1 });
    });
  }

  it('says "about" for a text whose characters differ in size', () => {
    expect(roomIn(`${'x'.repeat(88)}ü`, 100)).toEqual({ kind: 'about', characters: 9 });
  });

  it('names the characters at the end that have to go, and without them all fits', () => {
    for (const text of [
      'x'.repeat(130),
      `${'x'.repeat(95)}あ😀ü`,
      '😀'.repeat(40),
      `${'x'.repeat(99)}\ud83d`,
    ]) {
      const room = roomIn(text, 100);
      if (room.kind !== 'over') throw new Error(room.kind);
      const kept = [...text].slice(0, -room.characters).join('');
      expect(roomIn(kept, 100).kind).not.toBe('over');
      const oneMore = [...text].slice(0, [...text].length - room.characters + 1).join('');
      expect(roomIn(oneMore, 100)).toEqual({ kind: 'over', characters: 1 });
    }
  });
});
