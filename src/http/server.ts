/**
 * The only use of `Bun.serve`. On shutdown, requests in flight may finish within a time limit. No error reaches the runtime's own error
 * page, which names source files.
 *
 * Runtime behaviour (measured with Bun 1.4.5; test/http/raw.test.ts checks most of it):
 * - Headers: at most 16,384 bytes including the request line, and 198 lines; otherwise 431.
 * - Slow headers: a new connection must send all headers of its first request within 10 s (closed after 12 s, however steadily bytes drip;
 *   not adjustable), and those of later requests within `idleTimeout` of the previous response.
 * - `idleTimeout` counts from a request's last header byte or from its response, in steps of 4 s. Body bytes do not extend it, so it also
 *   ends uploads that no handler reads. It ends requests whose handler is still working, so it must exceed the slowest handler. A request
 *   that announces a large body gets more time, and `body.ts` ends it if it stalls.
 * - Framing: Content-Length together with Transfer-Encoding, several or odd lengths, unknown codings, bad chunks, folded lines, a space
 *   before a colon, NUL in a header: 400 and closed. NUL, CR or TAB in the target, bare LF: 505 and closed. Unknown methods: closed without
 *   a response. These responses carry none of our headers, and no handler has run.
 * - Targets: dot segments are resolved (also `%2e`; backslashes count as slashes), non-ASCII is percent-encoded, `%2f` is kept. The
 *   authority of an absolute target is dropped. The target as originally sent is lost.
 * - Pipelining: requests in one packet are answered in order as long as every response is ready before the event loop turns. A request that
 *   arrives while a response is pending closes the connection without a byte and aborts the pending request's signal. A POST first waits
 *   for the end of its turn (`turn.ts`), so it does nothing if its packet contains another request. If its decision has already reached the
 *   store, it still takes effect, but the response is lost: we cannot keep the runtime from closing the connection (RFC 9112 §9.3.2:
 *   clients should not pipeline after a POST).
 * - An unread body is discarded.
 * - `Connection: close`: the runtime closes after the response without announcing it.
 * - Descriptors: the runtime raises the soft limit to the hard one at startup. With none left, it silently accepts no connections until
 *   others close, so we close idle ones within a second.
 *
 * Done here: announcing `Connection: close`; requiring one Host, in a form that a URL can contain (400); refusing CONNECT (400), an unknown
 * expectation (417) and a port in use. In `body.ts`: the cap in bytes, and a time limit that ends with a response. Left to a proxy in
 * front: how many connections a client keeps open, and how slowly it reads a response within `idleTimeout`.
 */
import { closeSync, openSync } from 'node:fs';
import { longestBodySeconds } from './body.ts';
import type { PeerSource } from './client-address.ts';
import { jsonResponse, newRequestId } from './headers.ts';

export interface ServerOptions {
  readonly fetch: (request: Request, peer: PeerSource) => Response | Promise<Response>;
  readonly hostname: string;
  /** 0 means any free port. */
  readonly port: number;
  readonly onFault: (error: unknown, requestId: string) => void;
  /** Called at most once a minute when descriptors run out: idle connections are closed, and clients cannot connect for up to a second. */
  readonly onCrowd?: () => void;
  /** Seconds without progress before a connection is closed. Default 30, at most 255. */
  readonly idleTimeoutSeconds?: number;
}

export interface RunningServer {
  readonly url: string;
  readonly port: number;
  /**
   * Accepts no new connections, closes idle ones, gives requests in flight `graceMs`, and cuts off the rest. Resolves when every connection
   * is closed. A second call joins the first.
   */
  stop(graceMs: number): Promise<'finished' | 'cut'>;
}

/** Thrown if the server cannot listen on the address. `code` is the system's: `EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL`. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
  readonly code: string;

  constructor(code: string, message: string, cause: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

const defaultIdleTimeoutSeconds = 30;
/** The runtime's limit. */
const mostSeconds = 255;

const hostForm =
  /^(?:[\w.-]{1,255}|\[[\da-f:.]{2,45}\])(?::(?:\d{1,4}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5]))?$/i;

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const server = listen(options);
  const watching = watchDescriptors(server, options.onCrowd);
  let stopping: Promise<'finished' | 'cut'> | null = null;
  return {
    url: server.url.href,
    port: server.port ?? options.port,
    stop(graceMs) {
      stopping ??= stopWithin(server, graceMs).finally(() => clearInterval(watching));
      return stopping;
    },
  };
}

const descriptorPollMs = 1_000;
const crowdSaidEveryMs = 60_000;

/** Idle connections are closed when descriptors run out, but an incomplete request still holds its own for twelve seconds. */
function watchDescriptors(server: BunServer, onCrowd?: () => void): ReturnType<typeof setInterval> {
  let saidAtMs = Number.NEGATIVE_INFINITY;
  return setInterval(() => {
    if (hasDescriptor()) return;
    server.closeIdleConnections();
    if (performance.now() - saidAtMs < crowdSaidEveryMs) return;
    saidAtMs = performance.now();
    onCrowd?.();
  }, descriptorPollMs);
}

function hasDescriptor(): boolean {
  try {
    closeSync(openSync('/dev/null', 'r'));
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && /^E[MN]FILE$/.test(String(error.code)));
  }
}

type BunServer = Bun.Server<undefined>;

function listen(options: ServerOptions): BunServer {
  const { hostname, port, fetch, onFault } = options;
  const idleTimeout = options.idleTimeoutSeconds ?? defaultIdleTimeoutSeconds;
  try {
    return Bun.serve({
      hostname,
      port,
      development: false,
      // Explicit, because outside development mode the runtime would share a port in use instead of refusing it.
      reusePort: false,
      idleTimeout,
      // `body.ts` enforces the cap, so that the API can word the refusal; it never buffers more than the cap.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      fetch: (request, peer) => {
        const longest = longestBodySeconds(Number(request.headers.get('content-length')));
        if (longest !== null) peer.timeout(request, Math.min(idleTimeout + longest, mostSeconds));
        const answer = () => refusalOf(request) ?? fetch(request, peer);
        return asksToClose(request) ? closing(answer, onFault) : answer();
      },
      error: (error) => answerFault(error, onFault),
    });
  } catch (error) {
    throw listenError(error, hostname, port);
  }
}

/**
 * The runtime closes such connections (RFC 9112 §9.6). Unless warned, a client's pool would send its next request to a dead socket.
 */
function asksToClose({ headers }: Request): boolean {
  const asked = headers.get('connection');
  return asked !== null && /(?:^|,)\s*close\s*(?:,|$)/i.test(asked);
}

async function closing(
  answer: () => Response | Promise<Response>,
  onFault: ServerOptions['onFault'],
): Promise<Response> {
  const response = await Promise.try(answer).catch((error: unknown) => answerFault(error, onFault));
  response.headers.set('connection', 'close');
  return response;
}

/** Returns `null` if there is exactly one well-formed Host (RFC 9112 §3.2) and the target is a path. */
function refusalOf({ method, headers }: Request): Response | null {
  const host = headers.get('host');
  if (host === null || !hostForm.test(host) || method === 'CONNECT') return refuse(400, 'Bad Request');
  // The runtime handles `100-continue`. A client that expects anything else may be withholding its body (RFC 9110 §10.1.1).
  const expected = headers.get('expect');
  const isMet = expected === null || expected === '' || expected.toLowerCase() === '100-continue';
  return isMet ? null : refuse(417, 'Expectation Failed');
}

function refuse(status: 400 | 417, message: string): Response {
  const response = jsonResponse(status, JSON.stringify({ message }), newRequestId());
  response.headers.set('connection', 'close');
  return response;
}

function answerFault(error: unknown, onFault: ServerOptions['onFault']): Response {
  const requestId = newRequestId();
  onFault(error, requestId);
  return jsonResponse(500, '{"message":"An unexpected error occurred"}', requestId);
}

async function stopWithin(server: BunServer, graceMs: number): Promise<'finished' | 'cut'> {
  const grace = Promise.withResolvers<'cut'>();
  const timer = setTimeout(() => grace.resolve('cut'), graceMs);
  const finished = server.stop().then(() => 'finished' as const);
  const end = await Promise.race([finished, grace.promise]);
  clearTimeout(timer);
  if (end === 'cut') await server.stop(true);
  return end;
}

function listenError(error: unknown, hostname: string, port: number): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const sentence = listenSentences[code];
  return sentence === undefined ? error : new ListenError(code, sentence(hostname, port), error);
}

const notOurs = (hostname: string) =>
  `${hostname} is not an address of this machine: choose another with HOST.`;

const listenSentences: Readonly<Record<string, (hostname: string, port: number) => string>> = {
  EADDRINUSE: (hostname, port) =>
    `Port ${port} on ${hostname} is in use: stop what listens there, or choose another port with PORT.`,
  EACCES: (_hostname, port) => `Port ${port} may not be used by this user: choose one above 1023 with PORT.`,
  EADDRNOTAVAIL: notOurs,
  EAFNOSUPPORT: notOurs,
  // Names that do not exist, or resolve to another machine.
  ENOTFOUND: notOurs,
  EINVAL: notOurs,
};
