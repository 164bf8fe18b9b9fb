/**
 * Pooled connections to the regions' servers, each carrying one request at a time. A request is written only once. A small response is
 * passed on whole or not at all, a large one as fast as the client reads it. A connection is never reused after anything odd, cut off or
 * left over. Why not `fetch`: `docs/decisions/015-router.md`.
 */
import type { Socket } from 'bun';
import { endOfTurn } from '../http/turn.ts';
import {
  type BodyStream,
  type Hop,
  type HopOutcome,
  type HopRequest,
  isSafe,
  type RegionServer,
} from './fleet.ts';
import { AnswerReader } from './upstream-answer.ts';

/** Larger responses are streamed. The largest value of the built-in plans still fits. */
const collectBytes = 65_536;

interface Exchange {
  readonly reader: AnswerReader;
  readonly settle: (outcome: HopOutcome) => void;
  /** Receives the rest of a response that was passed on before it was complete. */
  stream: ReadableStreamDefaultController<Uint8Array> | null;
  isSent: boolean;
}

export interface ConnectionOwner {
  free(connection: Connection): void;
  closed(connection: Connection): void;
}

const handlers = {
  data: ({ data }: Socket<Connection>, bytes: Buffer) => data.receive(bytes),
  drain: ({ data }: Socket<Connection>) => data.flush(),
  close: ({ data }: Socket<Connection>) => data.end(),
  end: ({ data }: Socket<Connection>) => data.end(),
  error: ({ data }: Socket<Connection>) => data.end(),
  open: (socket: Socket<Connection>) => socket.data.opened(socket),
  // Trusted means that the certificate is valid and names the host (the runtime checks both).
  handshake: ({ data }: Socket<Connection>, isTrusted: boolean) => (isTrusted ? data.ready() : data.end()),
};

/** Resolves to `null` if not connected within the limit. */
export async function openConnection(
  server: RegionServer,
  owner: ConnectionOwner,
  limitMs: number,
): Promise<Connection | null> {
  const connection = new Connection(server, owner);
  const timer = setTimeout(() => connection.end(), limitMs);
  const { hostname, port, isTls } = server;
  const target = { hostname, port, data: connection, socket: handlers };
  Bun.connect(isTls ? { ...target, tls: { serverName: hostname } } : target).catch(() => connection.end());
  const isOpen = await connection.isOpen;
  clearTimeout(timer);
  return isOpen ? connection : null;
}

export class Connection {
  readonly server: RegionServer;
  lastMs = performance.now();
  isUsed = false;
  readonly #owner: ConnectionOwner;
  readonly #opening = Promise.withResolvers<boolean>();
  #socket: Socket<Connection> | null = null;
  #exchange: Exchange | null = null;
  #unwritten: Uint8Array = empty;
  #onWritten: (() => void) | null = null;
  #isEnded = false;

  constructor(server: RegionServer, owner: ConnectionOwner) {
    this.server = server;
    this.#owner = owner;
  }

  get isOpen(): Promise<boolean> {
    return this.#opening.promise;
  }

  get isBusy(): boolean {
    return this.#exchange !== null;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  opened(socket: Socket<Connection>): void {
    this.#socket = socket;
    if (this.#isEnded) socket.terminate();
    else if (!this.server.isTls) this.ready();
  }

  ready(): void {
    this.#opening.resolve(true);
  }

  /** Resolves when the response is complete, has begun to stream, or will never come. */
  send(request: HopRequest): Promise<HopOutcome> {
    return new Promise((resolve) => {
      const leave = () => this.#fail({ outcome: 'left' });
      // Once the response has begun, the stream itself reports when its reader leaves.
      const settle = (outcome: HopOutcome) => {
        request.signal.removeEventListener('abort', leave);
        resolve(outcome);
      };
      const { body } = request;
      const isStream = body !== null && 'stream' in body;
      const reader = new AnswerReader(request.method);
      this.#exchange = { reader, settle, stream: null, isSent: !isStream };
      this.lastMs = performance.now();
      request.signal.addEventListener('abort', leave);
      this.#write(requestBytes(this.server, request, isStream ? empty : (body ?? empty)));
      if (isStream) void this.#pump(body);
    });
  }

  receive(bytes: Buffer): void {
    const exchange = this.#exchange;
    this.lastMs = performance.now();
    if (exchange === null) {
      this.end();
      return;
    }
    exchange.reader.push(bytes);
    switch (exchange.reader.state) {
      case 'odd':
        this.#fail({ outcome: 'unknown' });
        break;
      case 'done':
        this.#finish(exchange);
        break;
      default:
        this.#continue(exchange);
    }
  }

  flush(): void {
    if (this.#unwritten.length > 0) {
      const rest = this.#unwritten;
      this.#unwritten = empty;
      this.#write(rest);
    }
    if (this.#unwritten.length === 0) this.#onWritten?.();
  }

  /** Closes the connection; a request in progress gets no response. */
  end(): void {
    this.#fail({ outcome: 'unknown' });
  }

  #fail(outcome: HopOutcome): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const exchange = this.#exchange;
    this.#exchange = null;
    this.#opening.resolve(false);
    this.#onWritten?.();
    this.#socket?.terminate();
    this.#owner.closed(this);
    // Abort a response that has begun, so that it does not look complete.
    exchange?.stream?.error(new Error('the answer broke off'));
    exchange?.settle(outcome);
  }

  #finish(exchange: Exchange): void {
    const { reader, stream, isSent } = exchange;
    const isReusable = isSent && reader.surplusBytes === 0 && reader.head?.isLast === false;
    this.#exchange = null;
    if (stream === null)
      exchange.settle({ outcome: 'answered', response: responseOf(reader, reader.takeBody()) });
    else {
      if (reader.bodyBytes > 0) stream.enqueue(reader.takeBody());
      stream.close();
    }
    if (isReusable) {
      this.isUsed = true;
      this.#owner.free(this);
    } else this.end();
  }

  #continue(exchange: Exchange): void {
    if (exchange.stream === null && isLarge(exchange.reader)) this.#passOnUnfinished(exchange);
    if (exchange.stream !== null) this.#passOn(exchange.stream, exchange.reader);
  }

  #passOnUnfinished(exchange: Exchange): void {
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          exchange.stream = controller;
        },
        pull: () => void this.#socket?.resume(),
        cancel: () => this.end(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: collectBytes }),
    );
    exchange.settle({ outcome: 'answered', response: responseOf(exchange.reader, body) });
  }

  #passOn(stream: ReadableStreamDefaultController<Uint8Array>, reader: AnswerReader): void {
    if (reader.bodyBytes > 0) stream.enqueue(reader.takeBody());
    if ((stream.desiredSize ?? 0) <= 0) this.#socket?.pause();
  }

  #write(bytes: Uint8Array): void {
    if (this.#unwritten.length > 0) {
      this.#unwritten = Buffer.concat([this.#unwritten, bytes]);
      return;
    }
    const written = Math.max(0, this.#socket?.write(bytes) ?? 0);
    if (written < bytes.length) this.#unwritten = bytes.subarray(written);
  }

  async #pump({ stream, lengthBytes }: BodyStream): Promise<void> {
    const exchange = this.#exchange;
    try {
      for await (const part of stream) {
        if (this.#exchange !== exchange) return;
        await this.#writeWhole(lengthBytes === null ? chunkOf(part) : part);
      }
      if (lengthBytes === null) await this.#writeWhole(lastChunk);
      if (exchange !== null) exchange.isSent = true;
    } catch {
      // The client disconnected, and a request with an incomplete body is not valid.
      if (this.#exchange === exchange) this.#fail({ outcome: 'left' });
    }
  }

  async #writeWhole(bytes: Uint8Array): Promise<void> {
    this.#write(bytes);
    if (this.#unwritten.length === 0) return;
    await new Promise<void>((resolve) => {
      this.#onWritten = resolve;
    });
    this.#onWritten = null;
  }
}

const empty = new Uint8Array(0);
const lastChunk = Buffer.from('0\r\n\r\n');

function chunkOf(part: Uint8Array): Uint8Array {
  if (part.length === 0) return empty;
  return Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]);
}

function isLarge({ head, bodyBytes }: AnswerReader): boolean {
  if (head === null) return false;
  const declared = head.framing.kind === 'length' ? head.framing.bytes : 0;
  return Math.max(declared, bodyBytes) > collectBytes;
}

function responseOf({ head }: AnswerReader, body: Uint8Array | ReadableStream<Uint8Array>): Response {
  const { status = 502, fields = [], framing } = head ?? {};
  // 205 has no content either (RFC 9110 §15.3.6).
  const hasBody = framing?.kind !== 'none' && status !== 205;
  return new Response(hasBody ? (body as BodyInit) : null, { status, headers: fields });
}

/** Returns one buffer, because a write costs more than a copy. */
function requestBytes(server: RegionServer, request: HopRequest, body: Uint8Array): Uint8Array {
  const { method, target, fields } = request;
  let head = `${method} ${server.basePath}${target} HTTP/1.1\r\nhost: ${server.host}\r\n`;
  for (const [name, value] of fields) head += `${name}: ${value}\r\n`;
  head += `${framingField(request)}\r\n`;
  const bytes = Buffer.allocUnsafe(head.length + body.length);
  bytes.write(head, 'latin1');
  bytes.set(body, head.length);
  return bytes;
}

function framingField({ method, body }: HopRequest): string {
  if (body === null) return isSafe(method) ? '' : 'content-length: 0\r\n';
  if (body instanceof Uint8Array) return `content-length: ${body.length}\r\n`;
  return body.lengthBytes === null
    ? 'transfer-encoding: chunked\r\n'
    : `content-length: ${body.lengthBytes}\r\n`;
}

export interface UpstreamLimits {
  readonly connectMs: number;
  /** How long the server may go without sending a byte of the response. */
  readonly answerMs: number;
  /** Time before an unused connection is closed. */
  readonly idleMs: number;
}

/** A response may take as long as a server allows for a request (30 s), less the return trip. */
const usualLimits: UpstreamLimits = { connectMs: 1_500, answerMs: 28_000, idleMs: 10_000 };
const sweepsPerLimit = 8;
/** A region responds within two seconds, even if only with a 503. */
const abandonedMs = 3_000;

export interface UpstreamClient {
  readonly hop: Hop;
  /** Aborts requests that an unreachable server has left unanswered too long. Until then, their outcome is undecided. */
  abandon(server: RegionServer): void;
  close(): void;
}

export function createUpstreamClient(limits: UpstreamLimits = usualLimits): UpstreamClient {
  const idle = new Map<RegionServer, Connection[]>();
  const all = new Set<Connection>();
  const idleOf = (server: RegionServer) => {
    const known = idle.get(server) ?? [];
    idle.set(server, known);
    return known;
  };
  const owner: ConnectionOwner = {
    free: (connection) => void idleOf(connection.server).push(connection),
    closed: (connection) => void all.delete(connection),
  };
  const sweep = () => {
    const now = performance.now();
    for (const connection of all) {
      const limitMs = connection.isBusy ? limits.answerMs : limits.idleMs;
      if (now - connection.lastMs > limitMs) connection.end();
    }
    for (const [server, kept] of idle)
      idle.set(
        server,
        kept.filter(({ isEnded }) => !isEnded),
      );
  };
  const sweepMs = Math.min(limits.answerMs, limits.idleMs) / sweepsPerLimit;
  const timer = setInterval(sweep, sweepMs).unref();

  const takeIdle = (server: RegionServer): Connection | null => {
    const kept = idleOf(server);
    for (let last = kept.pop(); last !== undefined; last = kept.pop()) if (!last.isEnded) return last;
    return null;
  };
  const open = async (server: RegionServer): Promise<Connection | null> => {
    const connection = await openConnection(server, owner, limits.connectMs);
    if (connection !== null) all.add(connection);
    return connection;
  };
  /** The server's idle connections are as stale as the one that just failed. */
  const dropIdle = (server: RegionServer) => {
    for (const connection of idleOf(server).splice(0)) connection.end();
  };
  const hop: Hop = async (server, request) => {
    const connection = takeIdle(server) ?? (await open(server));
    if (connection === null || connection.isEnded) return { outcome: 'not_sent' };
    if (request.signal.aborted) {
      owner.free(connection);
      return { outcome: 'left' };
    }
    const { isUsed } = connection;
    const outcome = await connection.send(request);
    // Responses of one turn that are passed on together run with warm caches and cost a sixth less (measured).
    await endOfTurn();
    if (outcome.outcome === 'unknown' && isUsed) dropIdle(server);
    return outcome;
  };
  return {
    hop,
    abandon(server) {
      dropIdle(server);
      const now = performance.now();
      for (const connection of all)
        if (connection.server === server && now - connection.lastMs > abandonedMs) connection.end();
    },
    close() {
      clearInterval(timer);
      for (const connection of [...all]) connection.end();
    },
  };
}
