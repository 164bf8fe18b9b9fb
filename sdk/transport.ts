/** Calls API v2. Follows no redirects, and sends credentials only to the configured server. */
import {
  detailsOf,
  type FieldError,
  MayflyError,
  type MayflyErrorDetails,
  serverCodes,
  unexpectedFrom,
} from './error.ts';
import { type CallOptions, repeat, withinLimit } from './limit.ts';
import { isJson, isText, type Json, numberOrNull, textOrNull, unexpected } from './wire.ts';

export interface Credentials {
  /** The account's email address. */
  readonly username: string;
  /** One of its API tokens. */
  readonly token: string;
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface TransportOptions {
  /** The installation's address, such as `https://secrets.example.org`, including its path, if any. */
  readonly server: string;
  readonly credentials?: Credentials;
  /** Default: the runtime's own. */
  readonly fetch?: Fetch;
  /** The time limit of a call. Default: 30,000. */
  readonly timeoutMs?: number;
  /**
   * How often a read (such as `status`, `receipt` or a page of `recent`) is retried if the server is unreachable, or responds with 429 or
   * 503 and a `Retry-After` within the time limit. 0–5. Default: 0, because a caller's own retries would multiply these. No other call is
   * retried, except a creation with an `idempotencyKey`, and a reveal whose answer was lost (see `look`).
   */
  readonly retries?: number;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** Its query contains no secrets. */
  readonly path: string;
  /** JSON, or a file with its type. */
  readonly body?: Json | Blob;
  readonly headers?: Readonly<Record<string, string>>;
  /** Changes nothing and is not a guess, so it may be repeated. */
  readonly isRead?: true;
  /** Creates only once, however often the call is sent. */
  readonly idempotencyKey?: string;
}

/** @returns an object or a list */
export type Transport = (call: Call, options?: CallOptions) => Promise<object>;

export interface Connection {
  readonly call: Transport;
  /** In the form that `serverOf` returns. */
  readonly server: string;
  readonly timeoutMs: number;
  readonly hasAccount: boolean;
  /** Passed in, so that `sharing.js` need not include the codes. */
  readonly problemOf: (body: Json) => MayflyError;
}

/** Strips the blanks, line breaks and invisible marks that files and environments put around a text. */
const word = (text: string): string => text.replace(/^[\s\p{Cf}]+|[\s\p{Cf}]+$/gu, '');

/** Returns the address as `URL` writes it, without a trailing slash. @throws TypeError if it is not an http(s) address */
export function serverOf(options: Pick<TransportOptions, 'server'>): string {
  const { protocol, origin, pathname } = new URL(word(options.server));
  if (protocol !== 'https:' && protocol !== 'http:') throw new TypeError('server must be an http(s) address');
  return origin + pathname.replace(/\/+$/, '');
}

/** RFC 7617, in UTF-8. */
function basicHeader({ username, token }: Credentials): string {
  const bytes = new TextEncoder().encode(`${word(username)}:${word(token)}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

function initOf(call: Call, options: TransportOptions, signal: AbortSignal): RequestInit {
  const { method, body } = call;
  const headers: Record<string, string> = { Accept: 'application/json', ...call.headers };
  if (call.idempotencyKey !== undefined) headers['Idempotency-Key'] = call.idempotencyKey;
  if (options.credentials !== undefined) headers.Authorization = basicHeader(options.credentials);
  if (body !== undefined) headers['Content-Type'] = body instanceof Blob ? body.type : 'application/json';
  return {
    method,
    headers,
    redirect: 'error',
    cache: 'no-store',
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
    signal,
    ...(body === undefined ? {} : { body: body instanceof Blob ? body : JSON.stringify(body) }),
  };
}

async function readBody(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    // Most likely a proxy's error page: its status says more.
    return undefined;
  }
}

/** Bun's errors show the address, including the key, in their message and in a property that cannot be removed. */
function withoutAddress(error: unknown, url: string): unknown {
  if (!(error instanceof Error && 'path' in error)) return error;
  const { code } = error as { readonly code?: unknown };
  const shown = new Error(error.message.replaceAll(url, 'the server'));
  return typeof code === 'string' ? Object.assign(shown, { code }) : shown;
}

async function exchange(url: string, init: RequestInit, fetch: Fetch): Promise<[Response, unknown]> {
  try {
    const response = await fetch(url, init);
    return [response, await readBody(response)];
  } catch (error) {
    const cause = withoutAddress(error, url);
    throw new MayflyError('unreachable', 'The server could not be reached.', { cause });
  }
}

function isFieldError(value: unknown): value is FieldError {
  return isJson(value) && isText(value.field) && isText(value.message);
}

/** Returns why an item of a batch was not created. */
export function problemOf(body: Json): MayflyError {
  const { status, retry_after: wait } = body;
  const error = errorIn(body, { status: numberOrNull(status), retryAfterSeconds: numberOrNull(wait) });
  if (error === null) throw unexpected();
  return error;
}

/** Returns `null` if the body is not a refusal by this API. */
function errorIn(body: unknown, details: MayflyErrorDetails): MayflyError | null {
  const { error, message, field, errors, attempts_left: left, limit, hint }: Json = isJson(body) ? body : {};
  const code = serverCodes.find((known) => known === error);
  if (code === undefined) return null;
  return new MayflyError(code, textOrNull(message) ?? code, {
    ...details,
    field: textOrNull(field),
    hint: textOrNull(hint),
    fieldErrors: Array.isArray(errors) ? errors.filter(isFieldError) : [],
    attemptsLeft: numberOrNull(left),
    limitBytes: numberOrNull(limit),
  });
}

const retriesOfOnce = 2;

function retriesOf({ isRead, idempotencyKey }: Call, retries: number): number {
  if (idempotencyKey !== undefined) return Math.max(retries, retriesOfOnce);
  return isRead === true ? retries : 0;
}

const maxRetries = 5;
export const defaultTimeoutMs = 30_000;

export function createTransport(options: TransportOptions): Transport {
  const { retries = 0, timeoutMs = defaultTimeoutMs } = options;
  if (!Number.isInteger(retries) || retries < 0 || retries > maxRetries)
    throw new RangeError(`retries must be a whole number from 0 to ${maxRetries}`);
  const api = `${serverOf(options)}/api/v2`;
  const fetch: Fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
  const send = async (call: Call, signal: AbortSignal) => {
    const [response, body] = await exchange(api + call.path, initOf(call, options, signal), fetch);
    if (!response.ok) throw errorIn(body, detailsOf(response)) ?? unexpectedFrom(response);
    if (typeof body !== 'object' || body === null) throw unexpectedFrom(response);
    return body;
  };
  return (call, own = {}) =>
    withinLimit(own.timeoutMs ?? timeoutMs, own.signal, (limit) =>
      repeat(() => send(call, limit.signal), retriesOf(call, retries), limit),
    );
}
