/**
 * Checks that an SVG only draws. Refuses, rather than cleans, anything that could run, load, restyle, or draw itself over and over: our
 * origin serves only what this check fully understands. Runs in linear time.
 */
import { readAs } from '../../config/text.ts';

/** References nest: nine levels of ten references draw 10^9 shapes from two kilobytes, in every visitor's browser. */
const maxDrawnShapes = 100_000;

/** A run of elements in document order and of their references, as index ranges. */
interface Span {
  readonly element: number;
  readonly reference: number;
  endElement: number;
  endReference: number;
}

interface ShapeCounter {
  begin(ids: readonly string[], references: readonly string[]): void;
  end(): void;
  /** Each step counts a shape, so there are at most `maxDrawnShapes` steps, even with circular references. */
  isTooMuch(): boolean;
}

function createShapeCounter(): ShapeCounter {
  const references: string[] = [];
  const named = new Map<string, Span>();
  const open: Span[] = [];
  let elements = 0;

  return {
    begin(ids, refersTo) {
      const span: Span = {
        element: elements,
        reference: references.length,
        endElement: elements,
        endReference: references.length,
      };
      elements += 1;
      references.push(...refersTo);
      open.push(span);
      // If two elements have the same id, the first one counts.
      for (const id of ids) if (!named.has(id)) named.set(id, span);
    },
    end() {
      const span = open.pop();
      if (span === undefined) return;
      span.endElement = elements;
      span.endReference = references.length;
    },
    isTooMuch() {
      const drawn: Span[] = [
        { element: 0, reference: 0, endElement: elements, endReference: references.length },
      ];
      let shapes = 0;
      for (let next = drawn.pop(); next !== undefined && shapes <= maxDrawnShapes; next = drawn.pop()) {
        shapes += next.endElement - next.element;
        for (
          let at = next.reference;
          at < next.endReference && shapes + drawn.length <= maxDrawnShapes;
          at++
        ) {
          const target = named.get(references[at] ?? '');
          if (target !== undefined) drawn.push(target);
        }
      }
      return shapes + drawn.length > maxDrawnShapes;
    },
  };
}

type SvgFlaw = {
  readonly problem: 'unsafe_svg' | 'damaged';
  /** Completes the sentence "this SVG has …". */
  readonly has: string;
};

const prologue = /\s*(?:<\?xml [^>]*\?>|<!--[\s\S]*?-->)/y;
const root = /\s*<svg[\s/>]/y;

export function svgText(bytes: Uint8Array): string | null {
  let text: string;
  try {
    text = readAs('document', bytes);
  } catch {
    return null;
  }
  // A single pattern for the whole prologue would backtrack exponentially over a run of comments.
  prologue.lastIndex = 0;
  let at = 0;
  while (prologue.test(text)) at = prologue.lastIndex;
  root.lastIndex = at;
  return root.test(text) ? text : null;
}

/** SVG 2 without links, animation, filters, or embedded pictures and documents. */
const drawingElements: ReadonlySet<string> = new Set(
  (
    'svg g defs symbol use title desc path rect circle ellipse line polyline polygon text tspan ' +
    'linearGradient radialGradient stop clipPath mask pattern'
  ).split(' '),
);

/** A comment, declaration or tag with quoted attributes; anything else after `<` is a flaw. */
const piece =
  /<!--[\s\S]*?-->|<\?xml [^>?]*\?>|<(\/?)([A-Za-z][\w:.-]*)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y;

export function flawOfSvg(text: string): SvgFlaw | null {
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

function unsafe(has: string): SvgFlaw {
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
/** Character references or percent-encoding could disguise an id. */
const idText = '[^\\s"\'()&%#]+';
const ownElement = new RegExp(`^#${idText}$`);
const paintReference = new RegExp(`url\\(\\s*["']?#(${idText})["']?\\s*\\)`, 'gi');
const outside = 'a reference to something outside of it';

function flawOfAttribute(name: string, lower: string, value: string): string | null {
  if (lower.startsWith('on')) return `the event handler ${name}`;
  if (lower === 'style') return 'a style attribute: write fill="…" and the like instead';
  if (isReference.test(lower)) return ownElement.test(value) ? null : outside;
  if (lower === 'xml:base') return outside;
  // Character references and escapes could disguise the words below.
  if (/[\\]|&#/.test(value)) return `an escape in the attribute ${name}`;
  // A namespace is an address that is never loaded.
  if (lower === 'xmlns' || lower.startsWith('xmlns:')) return null;
  if (/url\s*\(/i.test(value.replaceAll(paintReference, ''))) return outside;
  return /:\/\/|@import|javascript:|(?:image|src|cross-fade|element)\s*\(|image-set/i.test(value)
    ? outside
    : null;
}
