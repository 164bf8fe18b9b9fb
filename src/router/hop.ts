/**
 * One hop: a request handed to one server of a region, and what became of it.
 *
 * Owns: the shapes between the router's decisions and the sockets. Invariant: an outcome says whether the request can have
 * been carried out, because that alone decides whether it may be sent again (RFC 9110 §9.2.2).
 */

/** One server of a region, as the router reaches it. */
export interface RegionServer {
  readonly isTls: boolean;
  readonly hostname: string;
  readonly port: number;
  /** In front of every path, `''` or `/path`. */
  readonly basePath: string;
  /** The Host that it is asked under: the region's own, whatever the server's address is. */
  readonly host: string;
}

/** A body that is passed on as it comes. */
export interface BodyStream {
  readonly stream: ReadableStream<Uint8Array>;
  /** As declared; `null` when it comes in chunks. */
  readonly lengthBytes: number | null;
}

export interface HopRequest {
  readonly method: string;
  /** Path and query below the server's base path, as received: no blank, no control character. */
  readonly target: string;
  /** End-to-end fields, names in lower case, without Host and Content-Length. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** `null` for a request without content. */
  readonly body: Uint8Array | BodyStream | null;
  /** Ends the hop when nobody waits for its answer any more. */
  readonly signal: AbortSignal;
}

export type HopOutcome =
  /** The answer, without the fields of that connection. Its body may still be coming. */
  | { readonly outcome: 'answered'; readonly response: Response }
  /** No connection came about: nothing was sent. */
  | { readonly outcome: 'not_sent' }
  /** It was sent, and no answer came, or none that can be understood: it may have been carried out. */
  | { readonly outcome: 'unknown' }
  /** `signal` ended it. */
  | { readonly outcome: 'left' };

export type Hop = (server: RegionServer, request: HopRequest) => Promise<HopOutcome>;

/** Methods that change nothing, so that sending them twice is no harm (RFC 9110 §9.2.1). */
export function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}
