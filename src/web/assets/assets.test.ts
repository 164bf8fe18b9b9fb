/** What a test can check of the look: contrast in every scheme, and nothing loaded from elsewhere. */
import { describe, expect, it } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contrast, mix, type Palette, paletteOf, type Scheme } from '../brand/colours.ts';
import base from '../style/base.css' with { type: 'text' };
import print from '../style/print.css' with { type: 'text' };
import { styleText } from './assets.ts';

interface Pair {
  readonly front: string;
  readonly ground: string;
  readonly least: number;
}

const text = (front: string, ...grounds: string[]): Pair[] =>
  grounds.map((ground) => ({ front, ground, least: 4.5 }));
const mark = (front: string, ...grounds: string[]): Pair[] =>
  grounds.map((ground) => ({ front, ground, least: 3 }));

/** Every colour on each of its backgrounds: text (WCAG 1.4.3), and borders of controls and marks (1.4.11). */
const pairs: readonly Pair[] = [
  ...text('ink', 'paper', 'sheet', 'field', 'leaf-soft', 'alarm-soft', 'sun-soft', 'night-soft'),
  ...text('soft', 'paper', 'sheet', 'field', 'leaf-soft', 'alarm-soft', 'sun-soft', 'night-soft'),
  ...text('leaf', 'paper', 'sheet', 'field', 'leaf-soft'),
  ...text('leaf-hover', 'paper', 'sheet'),
  ...text('alarm', 'paper', 'sheet', 'alarm-soft'),
  ...text('sun', 'paper', 'sheet', 'sun-soft'),
  ...text('night', 'paper', 'sheet', 'night-soft'),
  ...text('digit', 'sheet'),
  ...text('sign', 'sheet'),
  ...text('on-leaf', 'leaf', 'leaf-hover'),
  ...text('on-alarm', 'alarm'),
  ...text('paper', 'ink'),
  ...mark('line', 'paper', 'sheet', 'field'),
  ...mark('alarm', 'field'),
  ...mark('amber', 'paper', 'sheet', 'sun-soft'),
];

function flawsOf(palette: Palette): string[] {
  return pairs.flatMap(({ front, ground, least }) => {
    const [one, other] = [palette[front], palette[ground]];
    if (one === undefined || other === undefined) return [`${front} on ${ground}: no such colour`];
    const found = contrast(one, other);
    return found >= least ? [] : [`${front} on ${ground}: ${found.toFixed(2)} < ${least}`];
  });
}

/** Every colour custom property that the rules use. */
function coloursUsed(css: string): Set<string> {
  const used = [...css.matchAll(/var\(--([a-z-]+)\)/g)].map(([, name = '']) => name);
  return new Set(used.filter((name) => name in paletteOf('light')));
}

describe('the colours', () => {
  for (const scheme of ['light', 'dark'] satisfies Scheme[]) {
    for (const wantsMore of [false, true]) {
      it(`can be read in the ${scheme} scheme${wantsMore ? ' with more contrast' : ''}: 4.5 : 1 for words, 3 : 1 for borders`, () => {
        expect(flawsOf(paletteOf(scheme, wantsMore))).toEqual([]);
      });
    }
  }

  it('are at least 7 : 1 for whoever wants more contrast', () => {
    for (const scheme of ['light', 'dark'] satisfies Scheme[]) {
      const palette = paletteOf(scheme, true);
      const least = ['ink', 'soft', 'leaf', 'alarm', 'sun', 'night', 'digit', 'sign'].map((name) =>
        contrast(palette[name] ?? '', palette.paper ?? ''),
      );
      expect(Math.min(...least)).toBeGreaterThanOrEqual(7);
    }
  });

  it('are all compared, but for the hair line that only decorates', () => {
    const compared = new Set(pairs.flatMap(({ front, ground }) => [front, ground]));
    expect([...coloursUsed(styleText)].filter((name) => !compared.has(name))).toEqual(['hair']);
  });

  it('are black and white on paper, whatever the scheme of the screen', () => {
    const printed = paletteOf('light', false, print);
    expect(Object.keys(printed).sort()).toEqual(Object.keys(paletteOf('light')).sort());
    expect(flawsOf(printed)).toEqual([]);
  });

  it('self-test: paler words, a paler border and a lost colour are each found', () => {
    const seeded = base
      .replace('--soft: #5a5b52', '--soft: #8b938f')
      .replace('--line: #7a8580', '--line: #b4bab7')
      .replace('--sun-soft: #f8edd0;', '');
    expect(seeded).not.toBe(base);
    const flaws = flawsOf(paletteOf('light', false, seeded)).map((flaw) => flaw.replace(/:.*/, ''));
    expect(flaws).toEqual([
      'ink on sun-soft',
      'soft on paper',
      'soft on sheet',
      'soft on field',
      'soft on leaf-soft',
      'soft on alarm-soft',
      'soft on sun-soft',
      'soft on night-soft',
      'sun on sun-soft',
      'line on paper',
      'line on sheet',
      'line on field',
      'amber on sun-soft',
    ]);
  });
});

describe('the arithmetic of colours', () => {
  it('gives the ratios of the standard', () => {
    expect(contrast('#000000', '#ffffff')).toBe(21);
    expect(contrast('#ffffff', '#000000')).toBe(21);
    expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
  });

  it('mixes channel by channel', () => {
    expect(mix('#000000', '#ffffff', 0.5)).toBe('#808080');
    expect(mix('#102030', '#405060', 0)).toBe('#102030');
  });
});

describe('the style sheet', () => {
  it('loads nothing but one face, from beside it (P19)', () => {
    expect(styleText).not.toMatch(/@import|https?:/);
    expect(styleText.match(/@font-face|url\([^)]*\)/g)).toEqual(['@font-face', 'url(display.woff2)']);
  });

  it('breaks no line where a blank counts, because its lines are joined', () => {
    const broken = (css: string) =>
      css.replace(/\/\*[\s\S]*?\*\//g, '').match(/^.*[\w)\]"'](?=\n(?!\s*\)))/gm) ?? [];
    const folder = join(import.meta.dir, '../style');
    for (const name of readdirSync(folder).filter((each) => each.endsWith('.css')))
      expect([name, broken(readFileSync(join(folder, name), 'utf8'))]).toEqual([name, []]);
    expect(broken('body\n  :is(nav) {\n}')).toEqual(['body']);
  });

  it('knows no left and no right, so that it fits both directions of writing', () => {
    const physical =
      /(?:margin|padding|border)-(?:left|right)|[{;](?:left|right|float):|text-align:(?:left|right)/;
    expect(styleText.replaceAll(': ', ':')).not.toMatch(physical);
    expect('{margin-left:1rem}').toMatch(physical);
  });
});
