/**
 * Pages that are the same for every visitor without a session, rendered and compressed once.
 *
 * Owns: their keeping. Invariants: such a page holds nothing of a request but its language and its brand, so the store
 * is bounded by routes, languages and brands; a page with a key, a query or a session is never kept. Because rendering
 * and compressing the start page costs more than everything else that is done for it.
 */

import type { Locale } from '../locale/catalogues.ts';
import type { Brand } from './brand/brand.ts';
import { gzip } from './gzip.ts';
import type { PageReply } from './page-route.ts';
import type { RouteName } from './routes.ts';

export interface StillPages {
  /** The kept reply; otherwise that of `make`, kept when it is a page with status 200. */
  get(
    at: { readonly brand: Brand; readonly route: RouteName; readonly locale: Locale },
    make: () => PageReply | Promise<PageReply>,
  ): Promise<PageReply>;
}

export function createStillPages(): StillPages {
  const byBrand = new Map<Brand, Map<string, PageReply>>();
  return {
    async get({ brand, route, locale }, make) {
      const kept = byBrand.get(brand) ?? new Map<string, PageReply>();
      byBrand.set(brand, kept);
      const known = kept.get(`${route} ${locale}`);
      if (known !== undefined) return known;
      const reply = await make();
      const { status, content, headers, cookies } = reply;
      const isPlain = Object.keys(headers ?? {}).length === 0 && cookies === undefined;
      if (status !== 200 || content.kind !== 'page' || !isPlain) return reply;
      const gzipped = gzip(content.markup, 12);
      const still: PageReply = { status, content: { ...content, gzipped } };
      kept.set(`${route} ${locale}`, still);
      return still;
    },
  };
}
