/** How long, in one unit: shared by the pages and by their script, so that both say the same. */

export const unitSeconds = { day: 86_400, hour: 3_600, minute: 60, second: 1 } as const;

export type Unit = keyof typeof unitSeconds;

export interface Rough {
  readonly count: number;
  readonly unit: Unit;
  /** Slightly less than that is left; otherwise at least that. */
  readonly isAbout: boolean;
}

const units = Object.keys(unitSeconds) as Unit[];

/** Of the time, but at most a quarter of a unit: 59 minutes and 50 seconds are about an hour. */
const slack = 0.02;

/** Rounded down, unless a round number is missed by a hair. Below two of a unit the next smaller one counts: `44 hours`. */
export function roughly(seconds: number): Rough {
  const left = Math.max(0, Math.floor(seconds));
  for (const unit of units) {
    const size = unitSeconds[unit];
    const next = Math.ceil(left / size);
    const missing = next * size - left;
    if (next > 0 && missing <= Math.min(slack * left, size / 4)) {
      return { count: next, unit, isAbout: missing > 0 };
    }
    if (left >= 2 * size) return { count: Math.floor(left / size), unit, isAbout: false };
  }
  return { count: left, unit: 'second', isAbout: false };
}

/**
 * Puts the words for "about" around a time: the first before its number, the rest after it.
 * @param about such as `about {time}`
 */
export function approximate(about: string, parts: readonly Intl.RelativeTimeFormatPart[]): string {
  const [before = '', after = ''] = about.split('{time}');
  const at = Math.max(
    0,
    parts.findIndex(({ type }) => type === 'integer'),
  );
  const texts = parts.map(({ value }) => value);
  return [...texts.slice(0, at), before, ...texts.slice(at), after].join('');
}
