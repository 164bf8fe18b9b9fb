/** The API page looks like the pages for people. */
import { describe, expect, it } from 'bun:test';
import { style } from '../../src/api/openapi/page.tsx';
import { contrast, type Palette, paletteOf, type Scheme } from '../../src/web/brand/colours.ts';

/** The API page's names for our colours. */
const sameAs = {
  bg: 'paper',
  panel: 'sheet',
  ink: 'ink',
  soft: 'soft',
  line: 'hair',
  accent: 'leaf',
} as const;

function docsPalette(css: string, scheme: Scheme): Palette {
  const [light = '', dark = ''] = [...css.matchAll(/:root\{([^}]*)\}/g)].map(([, block = '']) => block);
  const tokens = [...(scheme === 'light' ? light : dark).matchAll(/--([a-z]+):(#[0-9a-f]{6})/g)];
  return Object.fromEntries(tokens.map(([, name = '', colour = '']) => [name, colour]));
}

function flawsOf(css: string): string[] {
  return (['light', 'dark'] as const).flatMap((scheme) => {
    const [docs, own] = [docsPalette(css, scheme), paletteOf(scheme)];
    const others = Object.entries(sameAs).filter(([name, token]) => docs[name] !== own[token]);
    const pale = ['ink', 'soft', 'accent', 'get', 'post'].flatMap((name) =>
      ['bg', 'panel', 'code']
        .filter((ground) => contrast(docs[name] ?? '', docs[ground] ?? '') < 4.5)
        .map((ground) => `${name} on ${ground}`),
    );
    return [
      ...others.map(([name]) => `${scheme}: ${name} is another colour`),
      ...pale.map((pair) => `${scheme}: ${pair}`),
    ];
  });
}

describe('the API page', () => {
  it('has the colours of the pages, in both schemes, and they can be read on every ground', () => {
    expect(flawsOf(style)).toEqual([]);
  });

  it('self-test: a colour of its own and a pale one are found', () => {
    const seeded = style.replace('--bg:#f6f3ec', '--bg:#ffffff').replace('--get:#1a5793', '--get:#8ab0d8');
    expect(flawsOf(seeded)).toEqual([
      'light: bg is another colour',
      'light: get on bg',
      'light: get on panel',
      'light: get on code',
    ]);
  });
});
