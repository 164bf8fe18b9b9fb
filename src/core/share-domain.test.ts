import { describe, expect, it } from 'bun:test';
import { type BrandChanges, changeBrand, plainBrand } from './share-domain.ts';

/** Only grey is unreadable. */
const rules = {
  nearestReadable: (colour: string, scheme: 'light' | 'dark') =>
    colour === '#888888' ? { light: '#666666', dark: '#aaaaaa' }[scheme] : colour,
  parseLogo: () => ({ problem: 'unknown_type' }) as const,
  maxLogoBytes: 1,
};
const change = (changes: BrandChanges, brand = plainBrand) =>
  changeBrand({ rules, locales: ['en', 'pt-BR'] }, brand, changes);

describe('a brand', () => {
  it('changes where a change is given, stays elsewhere, and goes back to the site’s with null', () => {
    const named = { ...plainBrand, name: 'Example', locale: 'en' };
    expect(change({}, named)).toEqual({ brand: named });
    expect(change({ name: null, isPublic: false }, named)).toEqual({
      brand: { ...named, name: null, isPublic: false },
    });
    expect(change({ locale: 'PT-br' }, named)).toEqual({ brand: { ...named, locale: 'pt-BR' } });
  });

  it('has colours of #rgb or #rrggbb, kept as #rrggbb', () => {
    expect(change({ colour: '#0Af', colourDark: '#FFEEDD' })).toEqual({
      brand: { ...plainBrand, colour: '#00aaff', colourDark: '#ffeedd' },
    });
    for (const colour of [
      '',
      'red',
      '#12',
      '#1234',
      '#12345',
      '#1234567',
      '#ggg',
      '#fff;',
      'rgb(0,0,0)',
      '#fff\n',
    ])
      expect(change({ colour })).toEqual({ problems: [{ field: 'colour', problem: 'malformed' }] });
  });

  it('has no colour that cannot be read, and names the nearest that can', () => {
    expect(change({ colour: '#888', colourDark: '#888888' })).toEqual({
      problems: [
        { field: 'colour', problem: 'unreadable_colour', nearest: '#666666' },
        { field: 'colourDark', problem: 'unreadable_colour', nearest: '#aaaaaa' },
      ],
    });
  });

  it('has texts of a bounded length, in characters as people count them', () => {
    const flags = '🦋'.repeat(60);
    expect(change({ name: flags })).toEqual({ brand: { ...plainBrand, name: flags } });
    expect(change({ name: 'x'.repeat(61), instructionsBefore: 'x'.repeat(501) })).toEqual({
      problems: [
        { field: 'name', problem: 'too_long', maxLength: 60 },
        { field: 'instructionsBefore', problem: 'too_long', maxLength: 500 },
      ],
    });
    expect(change({ instructionsAfter: 'x'.repeat(500) })).toHaveProperty('brand');
  });

  it('has plain texts: lines in the instructions, and nothing that rewrites what stands around it', () => {
    expect(change({ instructionsBefore: ' one\r\ntwo\rthree\n' })).toEqual({
      brand: { ...plainBrand, instructionsBefore: 'one\ntwo\nthree' },
    });
    expect(change({ name: '  ' })).toEqual({ brand: plainBrand });
    for (const text of [
      'a\0b',
      'a\u001b[2Jb',
      'a\tb',
      'a\u202eb',
      'a\u2067b',
      'a\u2028b',
      'a\u0085b',
      '\ud800',
    ]) {
      expect(change({ name: text })).toEqual({ problems: [{ field: 'name', problem: 'malformed' }] });
      expect(change({ instructionsAfter: text })).toEqual({
        problems: [{ field: 'instructionsAfter', problem: 'malformed' }],
      });
    }
    expect(change({ name: 'two\nlines' })).toEqual({ problems: [{ field: 'name', problem: 'malformed' }] });
    expect(change({ name: 'Ünïcödé עברית 日本 👩‍👩‍👧' })).toHaveProperty('brand');
  });

  it('speaks a language that is offered', () => {
    expect(change({ locale: 'xx' })).toEqual({ problems: [{ field: 'locale', problem: 'unknown_locale' }] });
  });
});
