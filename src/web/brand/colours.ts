/**
 * Colours: their contrast, their mixtures, and those of the style sheet.
 *
 * Owns: the arithmetic (WCAG 2.2, relative luminance and contrast ratio) and the reading of the tokens out of base.css, so
 * that what is checked is what is served. Invariant: every colour is `#rrggbb` in small letters.
 */
import base from '../style/base.css' with { type: 'text' };

export type Scheme = 'light' | 'dark';

/** Token names without their dashes. */
export type Palette = Readonly<Record<string, string>>;

/** 1 to 21. @param one `#rrggbb` */
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

/** @param share of `other`, 0 to 1 */
export function mix(colour: string, other: string, share: number): string {
  const others = channels(other);
  const mixed = channels(colour).map((channel, at) => channel + ((others[at] ?? 0) - channel) * share);
  return `#${mixed.map((channel) => Math.round(channel).toString(16).padStart(2, '0')).join('')}`;
}

/** The colours of a scheme as the style sheet gives them, those for whoever wants more contrast when asked for. */
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

/** The content of the `:root` that follows the media rule; `''`: of the first. */
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
