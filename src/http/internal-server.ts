/**
 * Serves the internal port: `/metrics` for Prometheus, and `/ask`, which Caddy calls before getting a certificate for a new name
 * (`on_demand_tls`). `/ask` returns 200 only for verified share domains: pointing a name at this machine is not enough. The service's own
 * port serves neither.
 */
import { ServiceError } from '../core/errors.ts';
import { isPrivateName } from '../core/links.ts';
import { ListenError, startServer } from './server.ts';

export interface InternalServerDeps {
  readonly metrics: { render(): Promise<string> };
  readonly isVerified: (name: string) => Promise<boolean>;
  /** Not called when the store is merely unavailable. */
  readonly onFault: (error: unknown) => void;
}

export interface InternalAddress {
  readonly hostname: string;
  /** 0 means any free port. */
  readonly port: number;
}

export type InternalServer =
  | { readonly outcome: 'listening'; readonly port: number; stop(): Promise<unknown> }
  | { readonly outcome: 'refused'; readonly problem: string };

/**
 * A name of two or more labels, not an address (RFC 1035 §2.3.4, RFC 1123 §2.1), as sent in a TLS handshake (RFC 6066 §3): ASCII, without a
 * trailing dot.
 */
const nameForm =
  /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** The name of a cluster service or of a machine on a private network, which cannot be bought. */
const clusterName = /\.(?:svc|cluster\.local|internal)$/;

function bare(status: number): Response {
  return new Response(null, { status, headers: { 'cache-control': 'no-store' } });
}

async function answerAsk(names: readonly string[], deps: InternalServerDeps): Promise<Response> {
  const [name = '', ...others] = names;
  const wanted = name.toLowerCase();
  if (others.length > 0 || !nameForm.test(wanted)) return bare(404);
  try {
    return bare((await deps.isVerified(wanted)) ? 200 : 404);
  } catch (error) {
    if (!(error instanceof ServiceError)) deps.onFault(error);
    return bare(503);
  }
}

async function answerMetrics({ metrics }: InternalServerDeps): Promise<Response> {
  const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' };
  return new Response(await metrics.render(), { headers });
}

/** @param ownName the host that the server listens on, if it is a name */
export function createInternalFetch(
  deps: InternalServerDeps,
  ownName = 'localhost',
): (request: Request) => Promise<Response> {
  return async ({ method, url }) => {
    const { hostname, pathname, searchParams } = new URL(url);
    // DNS rebinding: a page whose name points at this machine could read the responses in its visitor's browser.
    const isOwn = hostname === ownName.toLowerCase() || isPrivateName(hostname) || clusterName.test(hostname);
    if (!isOwn) return bare(421);
    if (pathname !== '/ask' && pathname !== '/metrics') return bare(404);
    if (method !== 'GET' && method !== 'HEAD') {
      return new Response(null, { status: 405, headers: { allow: 'GET, HEAD' } });
    }
    return pathname === '/ask' ? answerAsk(searchParams.getAll('domain'), deps) : answerMetrics(deps);
  };
}

const listenSentences: Readonly<Record<string, (address: InternalAddress) => string>> = {
  EADDRINUSE: ({ hostname, port }) =>
    `Port ${port} of MAYFLY_INTERNAL_PORT is in use on ${hostname}: stop what listens there, or choose another.`,
  EACCES: ({ port }) =>
    `Port ${port} of MAYFLY_INTERNAL_PORT may not be used by this user: choose one above 1023.`,
};

function problemOf({ code }: ListenError, address: InternalAddress): string {
  const sentence = listenSentences[code];
  return (
    sentence?.(address) ??
    `${address.hostname} of MAYFLY_INTERNAL_HOST cannot be listened on: choose an address of this machine, such as 127.0.0.1.`
  );
}

export async function startInternalServer(
  address: InternalAddress,
  deps: InternalServerDeps,
): Promise<InternalServer> {
  const fetch = createInternalFetch(deps, address.hostname);
  try {
    const server = await startServer({ ...address, fetch, onFault: deps.onFault });
    return { outcome: 'listening', port: server.port, stop: () => server.stop(0) };
  } catch (error) {
    if (error instanceof ListenError) return { outcome: 'refused', problem: problemOf(error, address) };
    throw error;
  }
}
