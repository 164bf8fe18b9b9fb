/**
 * Drawings: an SVG that only draws.
 *
 * Owns: which elements and attributes that is. Invariants: an SVG that could run, load or restyle anything is refused and
 * not cleaned, because only what is understood completely is served from our own origin; reading takes a time that grows
 * with the length alone, whatever the text is.
 */
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
  let isTorn = false;
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', piece.lastIndex)) {
    piece.lastIndex = at;
    const found = piece.exec(text);
    if (found === null) return unsafe(`something unusual: "${text.slice(at, at + 12).replace(/\s+/g, ' ')}"`);
    const [, closing, name, attributes = '', isEmpty] = found;
    if (name === undefined) continue;
    if (!drawingElements.has(name)) return unsafe(`the element <${name}>`);
    const flaw = flawOfAttributes(attributes);
    if (flaw !== null) return unsafe(flaw);
    if (closing === '/') isTorn ||= open.pop() !== name;
    else if (isEmpty !== '/') open.push(name);
  }
  return isTorn || open.length > 0
    ? { problem: 'damaged', has: 'elements that do not begin and end in pairs' }
    : null;
}

function unsafe(has: string): DrawingFlaw {
  return { problem: 'unsafe_svg', has };
}

function flawOfAttributes(attributes: string): string | null {
  for (const [, name = '', quoted = ''] of attributes.matchAll(/([\w:.-]+)\s*=\s*("[^"]*"|'[^']*')/g)) {
    const value = quoted.slice(1, -1);
    const lower = name.toLowerCase();
    if (lower.startsWith('on')) return `the event handler ${name}`;
    if (lower === 'style') return 'a style attribute: write fill="…" and the like instead';
    if (/^(?:.*:)?href$/.test(lower) && !value.startsWith('#'))
      return 'a reference to something outside of it';
    if (lower === 'xml:base') return 'a reference to something outside of it';
    // References of characters and escapes could hide the word that is looked for.
    if (/[\\]|&#/.test(value)) return `an escape in the attribute ${name}`;
    if (/url\s*\((?!\s*["']?#)|@import|javascript:/i.test(value))
      return 'a reference to something outside of it';
  }
  return null;
}
