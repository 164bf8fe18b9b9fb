/**
 * Drawings: an SVG that only draws.
 *
 * Owns: which elements and attributes that is. Invariants: an SVG that could run, load or restyle anything, or draw itself
 * over and over, is refused and not cleaned, because only what is understood completely is served from our own origin;
 * reading takes a time that grows with the length alone, whatever the text is.
 */
import { createShapeCounter, maxDrawnShapes } from './drawn-shapes.ts';

export type DrawingFlaw = {
  readonly problem: 'unsafe_svg' | 'damaged';
  /** What it has, as the end of a sentence. */
  readonly has: string;
};

const prologue = /\s*(?:<\?xml [^>]*\?>|<!--[\s\S]*?-->)/y;
const root = /\s*<svg[\s/>]/y;

/** The text of an SVG; `null` for everything else. */
export function svgText(bytes: Uint8Array): string | null {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
  // One piece after the other: as one pattern, a row of comments could be divided in more ways than there is time for.
  prologue.lastIndex = 0;
  let at = 0;
  while (prologue.test(text)) at = prologue.lastIndex;
  root.lastIndex = at;
  return root.test(text) ? text : null;
}

/** What draws and does nothing else (SVG 2, without links, animation, filters, embedded pictures and documents). */
const drawingElements: ReadonlySet<string> = new Set(
  (
    'svg g defs symbol use title desc path rect circle ellipse line polyline polygon text tspan ' +
    'linearGradient radialGradient stop clipPath mask pattern'
  ).split(' '),
);

/** One comment, declaration or tag, attributes with quotation marks; anything else that begins with `<` is a flaw. */
const piece =
  /<!--[\s\S]*?-->|<\?xml [^>?]*\?>|<(\/?)([A-Za-z][\w:.-]*)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y;

/** What is wrong with the text of an SVG; `null`: nothing, it draws. */
export function flawOfSvg(text: string): DrawingFlaw | null {
  const open: string[] = [];
  const shapes = createShapeCounter();
  let isTorn = false;
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', piece.lastIndex)) {
    piece.lastIndex = at;
    const found = piece.exec(text);
    if (found === null) return unsafe(`something unusual: "${text.slice(at, at + 12).replace(/\s+/g, ' ')}"`);
    const [, closing, name, attributes = '', isEmpty] = found;
    if (name === undefined) continue;
    if (!drawingElements.has(name)) return unsafe(`the element <${name}>`);
    const read = readAttributes(attributes);
    if ('flaw' in read) return unsafe(read.flaw);
    if (closing !== '/') shapes.begin(read.ids, read.references);
    if (closing === '/' || isEmpty === '/') shapes.end();
    if (closing === '/') isTorn ||= open.pop() !== name;
    else if (isEmpty !== '/') open.push(name);
  }
  if (isTorn || open.length > 0)
    return { problem: 'damaged', has: 'elements that do not begin and end in pairs' };
  return shapes.isTooMuch() ? unsafe(tooMuch) : null;
}

const tooMuch = `more than ${maxDrawnShapes.toLocaleString('en')} shapes once its references are drawn`;

function unsafe(has: string): DrawingFlaw {
  return { problem: 'unsafe_svg', has };
}

type Attributes =
  | { readonly flaw: string }
  | { readonly ids: readonly string[]; readonly references: readonly string[] };

function readAttributes(attributes: string): Attributes {
  const ids: string[] = [];
  const references: string[] = [];
  for (const [, name = '', quoted = ''] of attributes.matchAll(/([\w:.-]+)\s*=\s*("[^"]*"|'[^']*')/g)) {
    const value = quoted.slice(1, -1);
    const lower = name.toLowerCase();
    const flaw = flawOfAttribute(name, lower, value);
    if (flaw !== null) return { flaw };
    if (lower === 'id' || lower === 'xml:id') ids.push(value);
    const found = isReference.test(lower) ? [value.slice(1)] : value.matchAll(paintReference);
    for (const reference of found)
      references.push(typeof reference === 'string' ? reference : (reference[1] ?? ''));
  }
  return { ids, references };
}

const isReference = /^(?:.*:)?href$/;
/** An id as it is: no reference of a character and no percent-encoding, under which it could hide. */
const idText = '[^\\s"\'()&%#]+';
const ownElement = new RegExp(`^#${idText}$`);
const paintReference = new RegExp(`url\\(\\s*["']?#(${idText})["']?\\s*\\)`, 'gi');
const outside = 'a reference to something outside of it';

function flawOfAttribute(name: string, lower: string, value: string): string | null {
  if (lower.startsWith('on')) return `the event handler ${name}`;
  if (lower === 'style') return 'a style attribute: write fill="…" and the like instead';
  if (isReference.test(lower)) return ownElement.test(value) ? null : outside;
  if (lower === 'xml:base') return outside;
  // References of characters and escapes could hide the word that is looked for.
  if (/[\\]|&#/.test(value)) return `an escape in the attribute ${name}`;
  // A name space is a name, and nothing is loaded from it.
  if (lower === 'xmlns' || lower.startsWith('xmlns:')) return null;
  if (/url\s*\(/i.test(value.replaceAll(paintReference, ''))) return outside;
  return /:\/\/|@import|javascript:|(?:image|src|cross-fade|element)\s*\(|image-set/i.test(value)
    ? outside
    : null;
}
