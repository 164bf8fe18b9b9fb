/**
 * A brand's colour on our paper.
 *
 * Owns: what follows from it (the text on it, its hover, its soft ground) and whether all of that can be read. Invariant:
 * a colour that is used gives text of 4.5 : 1 wherever the style sheet puts it (WCAG 2.2, 1.4.3).
 */
import { contrast, mix, type Palette, paletteOf, type Scheme } from './colours.ts';

export type Colours = Readonly<Partial<Record<Scheme, string>>>;

export const readable = 4.5;
const white = '#ffffff';
const black = '#000000';

interface Accent {
  readonly leaf: string;
  readonly onLeaf: string;
  readonly leafHover: string;
  readonly leafSoft: string;
}

function accentOf(leaf: string, palette: Palette): Accent {
  const [onLeaf = white] = [white, '#0c1513'].sort((a, b) => contrast(b, leaf) - contrast(a, leaf));
  const away = onLeaf === white ? black : white;
  return {
    leaf,
    onLeaf,
    leafHover: mix(leaf, away, 0.25),
    leafSoft: mix(tokenOf(palette, 'sheet'), leaf, 0.1),
  };
}

function tokenOf(palette: Palette, name: string): string {
  const colour = palette[name];
  if (colour === undefined) throw new Error(`the style sheet has no colour ${name}`);
  return colour;
}

function isReadable(colour: string, palette: Palette): boolean {
  const { leaf, onLeaf, leafHover, leafSoft } = accentOf(colour, palette);
  const grounds = [tokenOf(palette, 'paper'), tokenOf(palette, 'sheet'), leafSoft];
  const pairs = [
    ...grounds.map((ground) => [leaf, ground] as const),
    [onLeaf, leaf] as const,
    [onLeaf, leafHover] as const,
    [tokenOf(palette, 'ink'), leafSoft] as const,
    [tokenOf(palette, 'soft'), leafSoft] as const,
  ];
  return pairs.every(([text, ground]) => contrast(text, ground) >= readable);
}

const steps = 200;

/** The colour itself when it can be read; else the nearest towards black, in the dark scheme towards white. */
export function nearestReadable(colour: string, scheme: Scheme): string {
  const palette = paletteOf(scheme);
  const end = scheme === 'light' ? black : white;
  for (let step = 0; step < steps; step += 1) {
    const candidate = mix(colour, end, step / steps);
    if (isReadable(candidate, palette)) return candidate;
  }
  return end;
}

/** Rules that put the colours over those of the style sheet, except where a reader asks for more contrast. */
export function styleOf(colours: Colours): string {
  const { light, dark } = colours;
  const rules = [
    light === undefined ? '' : `@media (prefers-color-scheme:light){${rootOf(light, 'light')}}`,
    dark === undefined ? '' : `@media (prefers-color-scheme:dark){${rootOf(dark, 'dark')}}`,
  ].join('');
  return rules === '' ? '' : `@media not (prefers-contrast:more){${rules}}`;
}

function rootOf(colour: string, scheme: Scheme): string {
  const { leaf, onLeaf, leafHover, leafSoft } = accentOf(colour, paletteOf(scheme));
  return `:root{--leaf:${leaf};--on-leaf:${onLeaf};--leaf-hover:${leafHover};--leaf-soft:${leafSoft}}`;
}
