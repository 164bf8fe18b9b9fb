/**
 * A request as the rest of the program sees it.
 *
 * Owns: taking the URL apart, and the object behind `Exchange`. Invariant: path and query are as received (the runtime
 * has resolved dot segments and encoded what is not ASCII); nothing here reads Host or any forwarded name (P20).
 */
import { anonymous, type Caller } from '../core/accounts/accounts.ts';
import type { IsAbandoned } from '../core/ports.ts';
import type { ReadBody } from './body.ts';
import { type ClientAddressOf, clientPrefixOf, type PeerSource } from './client-address.ts';
import { newRequestId } from './headers.ts';
import type { Exchange } from './operation.ts';
import type { Endpoint } from './route-table.ts';

/** What a request needs from its surroundings. */
export interface CallDeps {
  readonly readBody: ReadBody;
  readonly clientAddressOf: ClientAddressOf;
}

/**
 * One request under way, and how far it has come: filled by the pipeline, so that a failure knows where it happened.
 * A class because one is made for every request: methods and lazy fields without a closure for each.
 */
export class Call implements Exchange {
  readonly requestId = newRequestId();
  readonly request: Request;
  readonly path: string;
  readonly rawQuery: string;
  params: Readonly<Record<string, string>> = {};
  endpoint: Endpoint | null = null;
  caller: Caller = anonymous;
  /** What the operation adds to the headers of its answer; `null` for nothing. */
  answerHeaders: Record<string, string> | null = null;
  readonly #startedMs = performance.now();
  readonly #peer: PeerSource | undefined;
  readonly #deps: CallDeps;
  #clientPrefix = '';
  #body: Promise<Uint8Array> | null = null;

  constructor(request: Request, peer: PeerSource | undefined, deps: CallDeps) {
    this.request = request;
    this.#peer = peer;
    this.#deps = deps;
    const { url } = request;
    // Past `http://` the first slash begins the path. A fragment cannot arrive over HTTP, but a Request can hold one.
    const start = url.indexOf('/', 8);
    const hash = url.indexOf('#', start);
    const end = hash === -1 ? url.length : hash;
    const query = url.indexOf('?', start);
    const isQuery = query !== -1 && query < end;
    this.path = url.slice(start, isQuery ? query : end);
    this.rawQuery = isQuery ? url.slice(query + 1, end) : '';
  }

  /** Found when first asked for: the socket's address costs more than the rest of an admission. */
  get clientPrefix(): string {
    if (this.#clientPrefix === '') {
      this.#clientPrefix = clientPrefixOf(this.#deps.clientAddressOf(this.request, this.#peer));
    }
    return this.#clientPrefix;
  }

  get isAbandoned(): IsAbandoned {
    const { signal } = this.request;
    return () => signal.aborted;
  }

  body(): Promise<Uint8Array> {
    this.#body ??= this.#deps.readBody(this.request, this.endpoint?.operation.bodyCapBytes);
    return this.#body;
  }

  setAnswerHeader(name: string, value: string): void {
    this.answerHeaders ??= {};
    this.answerHeaders[name] = value;
  }

  /** Milliseconds since the request was taken up. */
  durationMs(): number {
    return performance.now() - this.#startedMs;
  }
}
