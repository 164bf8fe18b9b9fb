/**
 * One call of the API: never retried (a repeated reveal loses the secret), without following redirects, and with credentials
 * only for the configured server.
 */
import { errorOf, MayflyError } from './error.ts';

export type Json = Record<string, unknown>;

export interface Credentials {
  /** The account's e-mail address. */
  readonly username: string;
  /** One of its API tokens. */
  readonly token: string;
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface TransportOptions {
  /** Address of the installation, such as `https://secrets.example.org`; a path in it is kept. */
  readonly server: string;
  readonly credentials?: Credentials;
  /** The runtime's own if absent. */
  readonly fetch?: Fetch;
  /** The time limit of a call; 30,000 if absent. */
  readonly timeoutMs?: number;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** Under `/api/v2`, without secrets in the query. */
  readonly path: string;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Transport = (call: Call) => Promise<Json>;

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** RFC 7617, in UTF-8. */
function basicHeader({ username, token }: Credentials): string {
  const bytes = new TextEncoder().encode(`${username}:${token}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

function initOf(call: Call, options: TransportOptions): RequestInit {
  const headers: Record<string, string> = { Accept: 'application/json', ...call.headers };
  if (options.credentials !== undefined) headers.Authorization = basicHeader(options.credentials);
  if (call.body !== undefined) headers['Content-Type'] = 'application/json';
  return {
    method: call.method,
    headers,
    redirect: 'error',
    cache: 'no-store',
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
    signal: AbortSignal.timeout(options.timeoutMs ?? 30_000),
    ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
  };
}

/** The body as an object; `null` if it is not one. */
async function readBody(response: Response): Promise<Json | null> {
  const text = await response.text();
  try {
    const body: unknown = JSON.parse(text);
    return isJson(body) ? body : null;
  } catch {
    // Most likely a proxy's error page, whose status says more than its text.
    return null;
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

async function exchange(url: string, init: RequestInit, fetch: Fetch): Promise<[Response, Json | null]> {
  try {
    const response = await fetch(url, init);
    return [response, await readBody(response)];
  } catch (error) {
    if (isTimeout(error))
      throw new MayflyError('timed_out', 'The server took too long to answer.', { cause: error });
    throw new MayflyError('unreachable', 'The server could not be reached.', { cause: error });
  }
}

/** @throws TypeError if `server` is not an http(s) address. */
export function createTransport(options: TransportOptions): Transport {
  const server = new URL(options.server);
  if (server.protocol !== 'https:' && server.protocol !== 'http:')
    throw new TypeError('server must be an http(s) address');
  const api = `${server.origin}${server.pathname.replace(/\/+$/, '')}/api/v2`;
  const fetch: Fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
  return async (call) => {
    const [response, body] = await exchange(api + call.path, initOf(call, options), fetch);
    if (response.ok && body !== null) return body;
    throw errorOf(response, body);
  };
}
