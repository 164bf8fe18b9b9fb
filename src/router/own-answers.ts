/**
 * The router's own responses: refusals under `/api` in each version's format, redirects, and the page shown when no region is up. No
 * response claims that a secret is unknown, because the router cannot know. "Nothing was done" appears only if nothing was sent. Only the
 * language is taken from the request. Pages, forms, sessions and links belong to one host, so the router redirects to configured addresses
 * instead of serving a region's pages.
 */
import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import { basicChallenge } from '../http/admission.ts';
import {
  declareLength,
  jsonResponse,
  newRequestId,
  pageResponse,
  withCommonHeaders,
} from '../http/headers.ts';
import { directionOf, negotiateLocale } from '../locale/catalogues.ts';
import { translate } from '../locale/translate.ts';
import type { RouterRegion } from './fleet.ts';

export type ApiVersion = 'v1' | 'v2';

export interface Refusal {
  readonly status: number;
  readonly code: 'malformed' | 'not_authorized' | 'unavailable' | 'internal';
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

/** Slightly longer than it takes to notice that a region is back. */
export const retryAfterSeconds = 5;

export function regionLost(label: string): Refusal {
  const message = `The region ${label} is not available right now. Nothing was done there: try again`;
  return { status: 503, code: 'unavailable', message, retryAfterSeconds };
}

export const noRegion: Refusal = {
  status: 503,
  code: 'unavailable',
  message: 'No region is available right now. Nothing was done: try again',
  retryAfterSeconds,
};

export function outcomeUnknown(label: string): Refusal {
  const message = `The region ${label} did not answer. The request may or may not have been carried out: check before you send it again`;
  return { status: 503, code: 'unavailable', message, retryAfterSeconds };
}

/** The credentials are right, but the key's region requires an account there. */
export function accountElsewhere(home: string, keeper: string): Refusal {
  const message = `Not authorized: these credentials belong to the region ${home}, but the key belongs to the region ${keeper}, where this needs an account`;
  return { status: 401, code: 'not_authorized', message };
}

export const circle: Refusal = {
  status: 508,
  code: 'internal',
  message: 'The router reached itself again: a region in its settings points to the router',
};

export function malformed(message: string): Refusal {
  return { status: 400, code: 'malformed', message };
}

export function refuseApi(version: ApiVersion, method: string, refusal: Refusal): Response {
  const { status, code, message, retryAfterSeconds: wait } = refusal;
  const requestId = newRequestId();
  const body =
    version === 'v1'
      ? { message }
      : { success: false, error: code, message, ...(code === 'internal' && { request_id: requestId }) };
  const text = JSON.stringify(body);
  const response = jsonResponse(status, text, requestId);
  if (wait !== undefined) response.headers.set('retry-after', String(wait));
  if (status === 401) response.headers.set('www-authenticate', basicChallenge);
  if (method === 'HEAD') declareLength(response, text);
  return response;
}

/** Redirects to the same path and query at the region's address, keeping the method (RFC 9110 §15.4.8). */
export function redirectTo({ baseUrl }: RouterRegion, target: string): Response {
  const headers = { location: baseUrl + target };
  return withCommonHeaders(new Response(null, { status: 307, headers }), newRequestId());
}

const style =
  ':root{color-scheme:light dark;font:1rem/1.6 system-ui,sans-serif}body{max-width:34rem;margin:15vh auto;padding:0 1rem}a{display:inline-block;padding:.4rem 0}';
const styleHash = createHash('sha256').update(style).digest('base64');
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; frame-ancestors 'none'`;

/**
 * @param lost the key's region, which is down; `null` if any region would do
 * @param others regions that can take new secrets instead
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
