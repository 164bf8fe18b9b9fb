/**
 * A browser that comes by a name which is not this installation's.
 *
 * An installation being tried out listens on the loopback, where other sites cannot reach it, unless they point a name of
 * their own at it (DNS rebinding): to the browser their page and this installation are then one site. Such a request has
 * an `Origin`, which a page can neither leave out of a POST nor forge. A client that is no browser chooses its Host as
 * it likes and has no more power by it, so it is answered as ever; where the base URL is public, everybody is, too.
 */
import { isIP } from 'node:net';
import { isLoopbackHost } from '../core/links.ts';
import { hostNameOf } from '../core/share-domains/share-domains.ts';
import { jsonResponse, newRequestId } from './headers.ts';
import type { ServerOptions } from './server.ts';

export interface OwnNames {
  readonly baseUrl: string;
  /** Whether links are made on the name: a share domain, or a host of the brand file. */
  readonly isShareDomain: (name: string) => Promise<boolean>;
}

type Fetch = ServerOptions['fetch'];

/** Answers 421 to a browser by a foreign name (RFC 9110 §15.5.20), and hands everything else on. */
export function refuseForeignHosts(fetch: Fetch, { baseUrl, isShareDomain }: OwnNames): Fetch {
  const siteHost = new URL(baseUrl).hostname;
  const message = `This name is not one of this installation. Open ${baseUrl}, or set MAYFLY_BASE_URL to the address that people use.`;

  async function answerUnlessForeign(...[request, peer]: Parameters<Fetch>): Promise<Response> {
    const name = hostNameOf(request.headers.get('host') ?? '');
    if (await isShareDomain(name)) return fetch(request, peer);
    return jsonResponse(421, JSON.stringify({ message }), newRequestId());
  }

  return (request, peer) => {
    const name = hostNameOf(request.headers.get('host') ?? '');
    const isPlain = !request.headers.has('origin') || name === siteHost || isPrivateName(name);
    return isPlain ? fetch(request, peer) : answerUnlessForeign(request, peer);
  };
}

/** What nobody can point elsewhere from outside: an address, `localhost`, and a name of one label. */
function isPrivateName(name: string): boolean {
  const address = name.replace(/^\[(.*)\]$/, '$1');
  return isLoopbackHost(name) || name.endsWith('.localhost') || isIP(address) !== 0 || !name.includes('.');
}
