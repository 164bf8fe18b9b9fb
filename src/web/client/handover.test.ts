/** What the share form hands to the receipt comes out as it went in, and nothing else is taken for it. */
import { describe, expect, it } from 'bun:test';
import { readHandover, toHandover } from './handover.ts';

const fragment = 'AAECAwQFBgcICQoLDA0ODw';

describe('what the share form hands to the receipt', () => {
  for (const [what, handover, pattern] of [
    ['a link’s half alone', { fragment, passphrase: null }, /^[\w-]{22}$/],
    ['a link’s half and a passphrase', { fragment, passphrase: 'tulip-anchor' }, /^[\w-]{22}\.[\w-]+$/],
    ['a passphrase alone', { fragment: null, passphrase: 'tulip-anchor' }, /^\.[\w-]+$/],
    [
      'a passphrase in any script',
      { fragment, passphrase: '\ufeff 合言葉 ü😀.#%\n"' },
      /^[\w-]{22}\.[\w-]+$/,
    ],
    ['a passphrase of 1,024 bytes', { fragment: null, passphrase: 'ü'.repeat(512) }, /^\.[\w-]+$/],
    ['nothing', { fragment: null, passphrase: null }, /^$/],
  ] as const) {
    it(`comes out as it went in: ${what}`, () => {
      const text = toHandover(handover);
      expect(text).toMatch(pattern);
      expect([readHandover(text), readHandover(`#${text}`)]).toEqual([handover, handover]);
    });
  }

  for (const hash of [
    '',
    '#',
    '#.',
    '#lifetime',
    '#watch',
    `#${fragment}.YQ.YQ`,
    `#${fragment}x`,
    '#AAECAwQFBgcICQoLDA0ODx',
    '#.YR',
    '#.Y',
    '#.a+/=',
    '#._w',
    '#short.YQ',
  ]) {
    it(`is not found in an address that ends in ${hash || 'nothing'}`, () => {
      expect(readHandover(hash)).toEqual({ fragment: null, passphrase: null });
    });
  }

  for (const damaged of ['.', '.YR', '._w', '.a+/=']) {
    it(`keeps the link’s half beside a damaged passphrase: ${damaged}`, () => {
      expect(readHandover(`#${fragment}${damaged}`)).toEqual({ fragment, passphrase: null });
    });
  }
});
