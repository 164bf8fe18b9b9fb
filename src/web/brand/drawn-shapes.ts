/**
 * How many shapes an SVG draws once its references are followed.
 *
 * A reference draws again what it names, and that may refer on: nine levels of ten references are 10^9 shapes in two
 * kilobytes, for everybody who sees the logo. Invariant: counting takes no more steps than the most that is allowed,
 * circles included, because each step is a shape.
 */
export const maxDrawnShapes = 100_000;

/** A stretch of elements in document order, and of the references in them. */
interface Stretch {
  readonly element: number;
  readonly reference: number;
  endElement: number;
  endReference: number;
}

export interface ShapeCounter {
  /** @param ids of the element that begins: `id`, and the older `xml:id` */
  begin(ids: readonly string[], references: readonly string[]): void;
  end(): void;
  /** Whether it draws more than `maxDrawnShapes`. */
  isTooMuch(): boolean;
}

export function createShapeCounter(): ShapeCounter {
  const references: string[] = [];
  const named = new Map<string, Stretch>();
  const open: Stretch[] = [];
  let elements = 0;

  return {
    begin(ids, refersTo) {
      const stretch: Stretch = {
        element: elements,
        reference: references.length,
        endElement: elements,
        endReference: references.length,
      };
      elements += 1;
      references.push(...refersTo);
      open.push(stretch);
      // Of two with one id, the first is meant.
      for (const id of ids) if (!named.has(id)) named.set(id, stretch);
    },
    end() {
      const stretch = open.pop();
      if (stretch === undefined) return;
      stretch.endElement = elements;
      stretch.endReference = references.length;
    },
    isTooMuch() {
      const drawn: Stretch[] = [
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
