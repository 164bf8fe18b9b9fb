/**
 * A short label for the browser that logged in (`User-Agent`, RFC 9110 §10.1.5), shown to the account's owner. It uses only the names
 * below, never the header's text, so it is safe to show. The work is bounded for any header.
 */
const longestHeaderLength = 400;

type Product = readonly [name: string, token: RegExp];

/** The first match wins: most browsers also name the browsers they descend from. */
const browsers: readonly Product[] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\b(?:OPR|OPiOS|Opera)\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Vivaldi', /\bVivaldi\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|Chromium|CriOS|HeadlessChrome)\//],
  ['Safari', /\bVersion\/[0-9.]+.* Safari\//],
];

const systems: readonly Product[] = [
  ['Android', /\bAndroid\b/],
  ['iPad', /\biPad\b/],
  ['iPhone', /\biPhone\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['Linux', /\bLinux\b/],
];

const nameIn = (header: string, products: readonly Product[]) =>
  products.find(([, token]) => token.test(header))?.[0];

/** Returns `Firefox on Linux`, or only the part that is known. */
export function browserLabel(userAgent: string): string {
  const header = userAgent.slice(0, longestHeaderLength);
  const browser = nameIn(header, browsers) ?? '';
  const system = nameIn(header, systems);
  return system === undefined ? browser : `${browser} on ${system}`.trimStart();
}

/** Each part is `''` if unknown. */
export interface BrowserName {
  readonly browser: string;
  readonly system: string;
}

/** Splits a label, so that each language can join the parts in its own way. */
export function parseBrowserLabel(label: string): BrowserName {
  const [, browser = '', system = ''] = /^(.*?) ?\bon (.+)$/.exec(label) ?? [];
  return system === '' ? { browser: label, system: '' } : { browser, system };
}
