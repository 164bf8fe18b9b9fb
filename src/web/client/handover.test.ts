/** What the share form hands to the receipt comes out as it went in, and nothing else is taken for it. */
import { describe, expect, it } from 'bun:test';
import { readHandover } from './handover.ts';

const fragment = 'AAECAwQFBgcICQoLDA0ODw';
const nothing = { fragment: null, passphrase: null };

describe('what the share form hands to the receipt', () => {
  for (const [what, handover] of [
    ['a link’s half alone', { fragment, passphrase: null }],
    ['a link’s half and a passphrase', { fragment, passphrase: 'tulip-anchor' }],
    ['a passphrase in any script', { fragment: null, passphrase: '\ufeff 合言葉 ü😀.#%\n"' }],
    ['a link that is copied', { fragment, passphrase: null, isCopied: true }],
    ['nothing', nothing],
  ] as const) {
    it(`comes out as it went in: ${what}`, () => {
      expect(readHandover({ handover })).toEqual(handover);
    });
  }

  for (const state of [
    undefined,
    null,
    7,
    'text',
    {},
    [],
    { handover: null },
    { handover: 'x' },
    { fragment },
  ]) {
    it(`is not found in ${JSON.stringify(state)}`, () => {
      expect(readHandover(state)).toEqual(nothing);
    });
  }

  it('keeps one half beside a damaged other', () => {
    const passphrase = 'tulip-anchor';
    expect(readHandover({ handover: { fragment: `${fragment}x`, passphrase } })).toEqual({
      fragment: null,
      passphrase,
    });
    expect(readHandover({ handover: { fragment, passphrase: 7 } })).toEqual({ fragment, passphrase: null });
  });
});
