/**
 * Which browser a log-in came from, in two words that its owner recognises.
 *
 * Owns: the reading of `User-Agent` (RFC 9110 §10.1.5) and the label that is kept. Invariants: a label is made only of
 * the names below, never of the header's own text, so it is short, harmless to show and says no more than a person needs;
 * work is bounded, whatever the header holds.
 */
const longestHeaderLength = 400;

type Sign = readonly [name: string, mark: RegExp];

/** The first that fits: most browsers also name those that they descend from. */
const browsers: readonly Sign[] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\b(?:OPR|OPiOS|Opera)\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Vivaldi', /\bVivaldi\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|Chromium|CriOS|HeadlessChrome)\//],
  ['Safari', /\bVersion\/[0-9.]+.* Safari\//],
];

const systems: readonly Sign[] = [
  ['Android', /\bAndroid\b/],
  ['iPad', /\biPad\b/],
  ['iPhone', /\biPhone\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['Linux', /\bLinux\b/],
];

const nameIn = (header: string, signs: readonly Sign[]) => signs.find(([, mark]) => mark.test(header))?.[0];

/** `Firefox on Linux`; less, down to `''`, when the header does not say. */
export function browserLabel(userAgent: string): string {
  const header = userAgent.slice(0, longestHeaderLength);
  const browser = nameIn(header, browsers) ?? '';
  const system = nameIn(header, systems);
  return system === undefined ? browser : `${browser} on ${system}`.trimStart();
}

export interface BrowserName {
  /** `''` when unknown. */
  readonly browser: string;
  /** `''` when unknown. */
  readonly system: string;
}

/** The parts of a label, so that each language puts them together in its own way. */
export function parseBrowserLabel(label: string): BrowserName {
  const [, browser = '', system = ''] = /^(.*?) ?\bon (.+)$/.exec(label) ?? [];
  return system === '' ? { browser: label, system: '' } : { browser, system };
}
