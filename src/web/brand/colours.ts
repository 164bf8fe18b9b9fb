/**
 * WCAG 2.2 contrast (1.4.3), our style sheet's palette, and the brand colours that override it, as lower-case `#rrggbb`. All text in or on
 * a brand colour has a contrast of at least 4.5 : 1.
 */
import base from '../style/base.css' with { type: 'text' };

export type Scheme = 'light' | 'dark';

/** Keyed by token name without its dashes. */
export type Palette = Readonly<Record<string, string>>;

/** Returns a ratio from 1 to 21. @param one `#rrggbb` */
export function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function channels(colour: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
}

/** @param share the proportion of `other`, from 0 to 1 */
export function mix(colour: string, other: string, share: number): string {
  const others = channels(other);
  const mixed = channels(colour).map((channel, at) => channel + ((others[at] ?? 0) - channel) * share);
  return `#${mixed.map((channel) => Math.round(channel).toString(16).padStart(2, '0')).join('')}`;
}

/** Reads the palette from the style sheet, so that checks see what browsers get. */
export function paletteOf(scheme: Scheme, wantsMore = false, css: string = base): Palette {
  const dark = '@media (prefers-color-scheme: dark)';
  const blocks = [
    blockAfter(css, ''),
    ...(scheme === 'dark' ? [blockAfter(css, dark)] : []),
    ...(wantsMore ? [blockAfter(css, '@media (prefers-contrast: more)')] : []),
    ...(wantsMore && scheme === 'dark'
      ? [blockAfter(css, '@media (prefers-contrast: more) and (prefers-color-scheme: dark)')]
      : []),
  ];
  return Object.assign({}, ...blocks.map(tokensIn));
}

/** Returns the first `:root` block after the media rule, or the very first if `rule` is `''`. */
function blockAfter(css: string, rule: string): string {
  const start = rule === '' ? 0 : css.indexOf(`${rule} {`);
  const block = start === -1 ? undefined : /:root \{([^}]*)\}/.exec(css.slice(start))?.[1];
  if (block === undefined) throw new Error(`the style sheet has no colours for "${rule}"`);
  return block;
}

function tokensIn(block: string): Palette {
  const found = [...block.matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g)];
  return Object.fromEntries(found.map(([, name = '', colour = '']) => [name, colour]));
}

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

/** Returns the colour if readable, otherwise the nearest readable one towards black, or towards white in the dark scheme. */
export function nearestReadable(colour: string, scheme: Scheme): string {
  const palette = paletteOf(scheme);
  const end = scheme === 'light' ? black : white;
  for (let step = 0; step < steps; step += 1) {
    const candidate = mix(colour, end, step / steps);
    if (isReadable(candidate, palette)) return candidate;
  }
  return end;
}

/** Returns CSS that overrides the style sheet's colours, except for readers who prefer more contrast. */
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
