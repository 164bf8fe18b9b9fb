/**
 * Pages that are the same for every visitor without a session, rendered and compressed once.
 *
 * Owns: their keeping. Invariants: such a page holds nothing of a request but its language and its brand; a page with a
 * key, a query or a session is never kept; how many are kept is bounded, because share domains bring brands without end.
 * Kept at all because rendering and compressing the start page costs more than everything else that is done for it.
 */

import type { Locale } from '../locale/catalogues.ts';
import type { Brand } from './brand/brand.ts';
import { gzip } from './gzip.ts';
import type { PageReply } from './page.ts';
import type { RouteName } from './routes.ts';

export interface StaticPages {
  /** The kept reply; otherwise that of `make`, kept when it is a page with status 200. */
  get(
    at: { readonly brand: Brand; readonly route: RouteName; readonly locale: Locale },
    make: () => PageReply | Promise<PageReply>,
  ): Promise<PageReply>;
}

/** About 8 MB of pages: three of them in each language for a dozen brands. */
const maxKept = 512;

export function createStaticPages(): StaticPages {
  const kept = new Map<string, PageReply>();
  const numberOf = createNumbering();
  return {
    async get({ brand, route, locale }, make) {
      const key = `${numberOf(brand)} ${route} ${locale}`;
      const known = kept.get(key);
      if (known !== undefined) return known;
      const reply = await make();
      const { status, content, headers, cookies } = reply;
      const isPlain = Object.keys(headers ?? {}).length === 0 && cookies === undefined;
      if (status !== 200 || content.kind !== 'page' || !isPlain) return reply;
      const gzipped = gzip(content.markup, 12);
      const still: PageReply = { status, content: { ...content, gzipped } };
      kept.set(key, still);
      if (kept.size > maxKept) kept.delete(kept.keys().next().value ?? '');
      return still;
    },
  };
}

/** A number for each brand, given again to none: its pages name it without keeping it. */
function createNumbering(): (brand: Brand) => number {
  const numbers = new WeakMap<Brand, number>();
  let last = 0;
  return (brand) => {
    const known = numbers.get(brand);
    if (known !== undefined) return known;
    last += 1;
    numbers.set(brand, last);
    return last;
  };
}
