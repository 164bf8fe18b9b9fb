/**
 * Page addresses, as data.
 *
 * Owns: every path a page is served at or links to. Invariant: a link inside the site is a path below the base path of
 * the configured base URL, never made from a request (P20).
 */
export const routes = {
  home: '/',
  share: '/share',
  receipt: '/receipt/:key',
  burn: '/receipt/:key/burn',
  /** The older name of the receipt's address. */
  private: '/private/:key',
  secret: '/secret/:key',
  icon: '/icon.svg',
  favicon: '/favicon.ico',
  robots: '/robots.txt',
} as const;

export type RouteName = keyof typeof routes;

/** Path of a page; `key` fills `:key`. */
export type Href = (name: RouteName, key?: string) => string;

/** @param basePath `''`, or `/path` without a trailing slash. */
export function createHref(basePath: string): Href {
  return (name, key = '') => basePath + routes[name].replace(':key', encodeURIComponent(key));
}

/** `''` for a base URL without a path. */
export function basePathOf(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/+$/, '');
}
