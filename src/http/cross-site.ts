/**
 * What pages of other sites may do here: cross-site POSTs and PATCHes, GETs with a passphrase (Fetch Metadata, W3C) and CORS (Fetch
 * standard).
 * Nothing is allowed by default. An allowed origin is matched whole and answered by name, never with `*` and never with
 * credentials: `Authorization` is not among the allowed headers, so a page of another site can only act anonymously.
 *
 * A browser that was once given Basic credentials adds them by itself, also to the form of another site. A POST with
 * `Authorization` must therefore come from the very origin, from an allowed one, or from a program, which sends neither
 * `Sec-Fetch-Site` nor `Origin`. A share domain is not our origin: its owner decides what is served there.
 *
 * A passphrase in a GET is a guess and counts (P14), so a picture on another page could use up its reader's guesses.
 */
import { isPrivateName } from '../core/links.ts';
import { hostNameOf } from '../core/share-domain.ts';
import { jsonResponse, newRequestId } from './headers.ts';
import { mayChange } from './operation.ts';
import type { ServerOptions } from './server.ts';

export interface CrossSitePolicy {
  /**
   * Whether a request may go on, given the page that sends it.
   * @param takesGuess whether a GET of this address tries a passphrase
   */
  admits(request: Request, takesGuess: boolean): boolean;
  /** Adds what the origin needs to read the answer. */
  share(request: Request, headers: Headers): void;
  /** Adds what a preflight asks for. `allow` is the route's `Allow`. */
  answerPreflight(request: Request, headers: Headers, allow: string): void;
}

const allowedHeaders = 'content-type, idempotency-key, secret-passphrase';
const exposedHeaders = 'retry-after, ratelimit, ratelimit-policy, x-request-id, mayfly-ignored';
const preflightSeconds = '600';

export interface Origins {
  /** The site's own, serialised: `https://app.example`. */
  readonly ownOrigin: string;
  /** Others that may call from a browser; empty: none. */
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
  /** Whether links are made on the name: a share domain, or a host of the brand file. */
  readonly isShareDomain: (name: string) => Promise<boolean>;
}

type Fetch = ServerOptions['fetch'];

/**
 * Answers 421 to a browser by a foreign name (RFC 9110 §15.5.20), and hands everything else on.
 *
 * An installation being tried out listens on the loopback, where other sites cannot reach it, unless they point a name of
 * their own at it (DNS rebinding): to the browser their page and this installation are then one site. Such a request has
 * an `Origin`, which a page can neither leave out of a POST nor forge. A client that is no browser chooses its Host freely
 * and gains nothing by it, so it is answered as usual; so is everybody where the base URL is public. A person is told by a page,
 * before anything is typed: a GET of any page is refused too.
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

/** As browsers do when somebody opens an address or sends a form, but not for what the API answers. */
function asksForPage({ headers, url }: Request, basePath: string): boolean {
  if (headers.get('accept')?.includes('text/html') !== true) return false;
  return !/^\/api\/(?!docs$|$)/.test(new URL(url).pathname.slice(basePath.length));
}
