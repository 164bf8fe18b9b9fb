/**
 * What a browser gets from the address without a region: the way to a region.
 *
 * Owns: the redirects, and the page for when there is no way. Invariant: pages, forms, sessions and links are of one host,
 * so the router never serves a page of a region itself; a redirect leads to a configured address and nowhere else; the
 * page has no script, loads nothing, and holds nothing of the request but its language.
 */
import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import { newRequestId, pageResponse, withCommonHeaders } from '../http/headers.ts';
import { directionOf } from '../locale/direction.ts';
import { negotiateLocale } from '../locale/negotiate.ts';
import { translate } from '../locale/translate.ts';
import type { RouterRegion } from './fleet.ts';
import { retryAfterSeconds } from './refusals.ts';

/** To the same path and query on the region's own address; the method stays (RFC 9110 §15.4.8). */
export function redirectTo({ baseUrl }: RouterRegion, target: string): Response {
  const headers = { location: baseUrl + target };
  return withCommonHeaders(new Response(null, { status: 307, headers }), newRequestId());
}

const style =
  ':root{color-scheme:light dark;font:1rem/1.6 system-ui,sans-serif}body{max-width:34rem;margin:15vh auto;padding:0 1rem}a{display:inline-block;padding:.4rem 0}';
const styleHash = createHash('sha256').update(style).digest('base64');
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; frame-ancestors 'none'`;

/**
 * 503.
 * @param lost the region that keeps what was asked for; `null` when any would do
 * @param others where new secrets can be made
 */
export async function lostPage(
  lost: RouterRegion | null,
  others: readonly RouterRegion[],
  acceptLanguage: string | null,
): Promise<Response> {
  const locale = negotiateLocale(acceptLanguage);
  const region = lost?.label ?? '';
  const title = translate(locale, 'router.lost.title');
  const lead =
    lost === null ? translate(locale, 'router.none') : translate(locale, 'router.lost', { region });
  const links = others.map(
    ({ baseUrl }) => html`<li><a href="${baseUrl}/">${new URL(baseUrl).host}</a></li>`,
  );
  const elsewhere =
    links.length === 0 ? '' : html`<p>${translate(locale, 'router.elsewhere')}</p><ul>${links}</ul>`;
  const markup = await html`<!doctype html>
<html lang="${locale}" dir="${directionOf(locale)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${raw(style)}</style>
</head>
<body><main>
<h1>${title}</h1>
<p>${lead}</p>
${elsewhere}
</main></body>
</html>
`;
  const response = pageResponse(503, String(markup), newRequestId());
  response.headers.set('retry-after', String(retryAfterSeconds));
  response.headers.set('content-security-policy', policy);
  return response;
}
