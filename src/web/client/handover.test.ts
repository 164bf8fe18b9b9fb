/** What the share form hands to the receipt comes out as it went in, and nothing else is taken for it. */
import { describe, expect, it } from 'bun:test';
import { readHandover } from './handover.ts';

const links = ['https://mayfly.example/secret/abc#AAECAwQFBgcICQoLDA0ODw'];
const passphrase = 'tulip-anchor';
const nothing = { links: [], passphrase: null, isCopied: false };

describe('what the share form hands to the receipt', () => {
  for (const [what, parts] of [
    ['a link alone', { links }],
    ['links and a passphrase', { links: [...links, ...links], passphrase }],
    ['a passphrase in any script', { passphrase: '\ufeff 合言葉 ü😀.#%\n"' }],
    ['a link that is copied', { links, isCopied: true }],
    ['nothing', {}],
  ] as const) {
    it(`comes out as it went in: ${what}`, () => {
      const handover = { ...nothing, ...parts };
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
    { links },
  ]) {
    it(`is not found in ${JSON.stringify(state)}`, () => {
      expect(readHandover(state)).toEqual(nothing);
    });
  }

  it('keeps one part beside a damaged other', () => {
    expect(readHandover({ handover: { links: 'x', passphrase } })).toEqual({ ...nothing, passphrase });
    expect(readHandover({ handover: { links, passphrase: 7, isCopied: 'x' } })).toEqual({
      ...nothing,
      links,
    });
  });
});
