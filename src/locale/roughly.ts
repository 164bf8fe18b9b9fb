/** Durations in a single unit, for both the pages and their script. */

export const unitSeconds = { day: 86_400, hour: 3_600, minute: 60, second: 1 } as const;

export type Unit = keyof typeof unitSeconds;

export interface Rough {
  readonly count: number;
  readonly unit: Unit;
  /** Whether the time is slightly less than `count` units; otherwise it is at least `count` units. */
  readonly isAbout: boolean;
}

const units = Object.keys(unitSeconds) as Unit[];

/** A time may be this fraction short of a whole unit, up to a quarter of the unit: 59 minutes and 50 seconds are about an hour. */
const slack = 0.02;

/** Rounds down unless the next whole number is within `slack`. Uses a smaller unit for times below two units: `44 hours`. */
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

/** Puts "about" around a time: the text before `{time}` goes before the number, the rest at the end. @param about such as `about {time}` */
export function approximate(about: string, parts: readonly Intl.RelativeTimeFormatPart[]): string {
  const [before = '', after = ''] = about.split('{time}');
  const at = Math.max(
    0,
    parts.findIndex(({ type }) => type === 'integer'),
  );
  const texts = parts.map(({ value }) => value);
  return [...texts.slice(0, at), before, ...texts.slice(at), after].join('');
}
