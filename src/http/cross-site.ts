/**
 * Decides what pages of other sites may do: cross-site POSTs and PATCHes, GETs with a passphrase (Fetch Metadata, W3C), and CORS (Fetch
 * standard). By default, they may do nothing. An allowed origin must match exactly and is named in the response, which never uses `*`
 * or allows credentials. `Authorization` is not an allowed header, so such a page can only act anonymously.
 *
 * A browser that has Basic credentials adds them to every request, even one from another site's form. So a POST with `Authorization` must
 * come from this origin, from an allowed one, or from a program, which sends neither `Sec-Fetch-Site` nor `Origin`. A share domain does not
 * count as this origin, because its owner decides what it serves.
 *
 * A passphrase in a GET counts as a guess (P14), so an image on another page could use up the reader's guesses.
 */
import { isPrivateName } from '../core/links.ts';
import { hostNameOf } from '../core/share-domain.ts';
import { jsonResponse, newRequestId } from './headers.ts';
import { mayChange } from './operation.ts';
import type { ServerOptions } from './server.ts';

export interface CrossSitePolicy {
  /** @param takesGuess whether a GET of this address tries a passphrase */
  admits(request: Request, takesGuess: boolean): boolean;
  share(request: Request, headers: Headers): void;
  answerPreflight(request: Request, headers: Headers, allow: string): void;
}

const allowedHeaders = 'content-type, idempotency-key, secret-passphrase';
const exposedHeaders = 'retry-after, ratelimit, ratelimit-policy, x-request-id, mayfly-ignored';
const preflightSeconds = '600';

export interface Origins {
  /** Serialised, such as `https://app.example`. */
  readonly ownOrigin: string;
  readonly allowedOrigins: ReadonlySet<string>;
}

export function createCrossSitePolicy({ ownOrigin, allowedOrigins }: Origins): CrossSitePolicy {
  const allows = (origin: string | null): origin is string => origin !== null && allowedOrigins.has(origin);
  const admits = (request: Request, takesGuess: boolean) => {
    const { headers, method } = request;
    const site = headers.get('sec-fetch-site');
    const origin = headers.get('origin');
    if (!mayChange(method))
      return !takesGuess || !isElsewhere(site) || !hasPassphrase(request) || allows(origin);
    if (site === 'cross-site') return allows(origin);
    if (!headers.has('authorization')) return true;
    if (site === null) return origin === null || origin === ownOrigin || allows(origin);
    return site === 'same-origin' || site === 'none' || allows(origin);
  };
  if (allowedOrigins.size === 0) return { admits, share: () => {}, answerPreflight: () => {} };
  const share = (request: Request, headers: Headers) => {
    headers.append('vary', 'Origin');
    const origin = request.headers.get('origin');
    if (!allows(origin)) return;
    headers.set('access-control-allow-origin', origin);
    headers.set('access-control-expose-headers', exposedHeaders);
  };
  const answerPreflight = (request: Request, headers: Headers, allow: string) => {
    if (!allows(request.headers.get('origin')) || !request.headers.has('access-control-request-method'))
      return;
    headers.set('access-control-allow-methods', allow);
    headers.set('access-control-allow-headers', allowedHeaders);
    headers.set('access-control-max-age', preflightSeconds);
  };
  return { admits, share, answerPreflight };
}

function isElsewhere(site: string | null): boolean {
  return site === 'cross-site' || site === 'same-site';
}

function hasPassphrase({ headers, url }: Request): boolean {
  return headers.has('secret-passphrase') || new URL(url).searchParams.has('passphrase');
}

interface OwnNames {
  readonly baseUrl: string;
  /** A share domain, or a host of the brand file. */
  readonly isShareDomain: (name: string) => Promise<boolean>;
}

type Fetch = ServerOptions['fetch'];

/**
 * Returns 421 to a browser that uses a foreign host name (RFC 9110 §15.5.20).
 *
 * A trial installation listens on loopback, out of other sites' reach, unless a site points its own name there (DNS rebinding): the browser
 * then treats both as one site. Such a request has an `Origin`, which a page can neither omit from a POST nor forge. Other clients choose
 * their Host freely and gain nothing by it, so they are served as usual, as is everyone if the base URL is public. GETs of pages are
 * refused too, so that people see the reason before they type anything.
 */
export function refuseForeignHosts(fetch: Fetch, { baseUrl, isShareDomain }: OwnNames): Fetch {
  const { hostname: siteHost, pathname } = new URL(baseUrl);
  const basePath = pathname.replace(/\/$/, '');
  const message = `This name is not one of this installation. Open ${baseUrl}, or set MAYFLY_BASE_URL to the address that people use.`;

  async function answerUnlessForeign(...[request, peer]: Parameters<Fetch>): Promise<Response> {
    const name = hostNameOf(request.headers.get('host') ?? '');
    if (await isShareDomain(name)) return fetch(request, peer);
    if (!asksForPage(request, basePath))
      return jsonResponse(421, JSON.stringify({ message }), newRequestId());
    const headers = { 'accept-language': request.headers.get('accept-language') ?? '' };
    return fetch(new Request(`${baseUrl.replace(/\/$/, '')}/misdirected`, { headers }), peer);
  }

  return (request, peer) => {
    const name = hostNameOf(request.headers.get('host') ?? '');
    if (name === siteHost || isPrivateName(name)) return fetch(request, peer);
    const isOfBrowser = request.headers.has('origin') || asksForPage(request, basePath);
    return isOfBrowser ? answerUnlessForeign(request, peer) : fetch(request, peer);
  };
}

/** Recognises an address opened or a form sent in a browser, except under `/api`. */
function asksForPage({ headers, url }: Request, basePath: string): boolean {
  if (headers.get('accept')?.includes('text/html') !== true) return false;
  return !/^\/api\/(?!docs$|$)/.test(new URL(url).pathname.slice(basePath.length));
}
