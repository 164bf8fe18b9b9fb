/**
 * HTTP/1.1 over bare sockets, for tests that must decide when each byte is sent.
 *
 * An answer is either whole or a `ConnectionCut`, which still shows every byte that arrived, because a value in half an
 * answer has been released too. Source: RFC 9112 §6 and §7.1.
 */
import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** The connection ended before the answer did. */
export class ConnectionCut extends Error {
  override readonly name = 'ConnectionCut';
  /** What had arrived, head and body. */
  readonly partial: string;

  constructor(partial: string) {
    super(`the connection ended after ${partial.length} characters of an answer`);
    this.partial = partial;
  }
}

export interface RawRequest {
  readonly method: string;
  /** As written in the request line. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** The bytes of a request, with Host and Content-Length added unless given. */
export function requestBytes({ method, path, headers = {}, body }: RawRequest): Buffer {
  const content = body === undefined ? Buffer.alloc(0) : Buffer.from(body as string);
  const lines = [`${method} ${path} HTTP/1.1`];
  const given = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  if (!given.has('host')) lines.push('Host: localhost');
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (!given.has('content-length') && (body !== undefined || method === 'POST'))
    lines.push(`Content-Length: ${content.length}`);
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), content]);
}

interface Head {
  readonly status: number;
  /** By lower-case name; of a repeated one, a line each. */
  readonly headers: ReadonlyMap<string, string>;
  /** Where the body starts. */
  readonly bodyAt: number;
}

function parseHead(bytes: Buffer): Head | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const earlier = headers.get(name);
    const value = line.slice(colon + 1).trim();
    headers.set(name, earlier === undefined ? value : `${earlier}\n${value}`);
  }
  return { status: Number(first.slice(9, 12)), headers, bodyAt: end + 4 };
}

/** The body and where the answer ends; `null` while incomplete. */
function readChunks(bytes: Buffer, from: number): { body: Buffer; end: number } | null {
  const parts: Buffer[] = [];
  for (let at = from; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd === -1) return null;
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    const dataEnd = lineEnd + 2 + size;
    if (bytes.length < dataEnd + 2) return null;
    if (size === 0) return { body: Buffer.concat(parts), end: dataEnd + 2 };
    parts.push(bytes.subarray(lineEnd + 2, dataEnd));
    at = dataEnd + 2;
  }
}

/** The first whole answer in `bytes` and what follows it; `null` while incomplete. */
export function parseAnswer(bytes: Buffer, toHead = false): { answer: RawAnswer; rest: Buffer } | null {
  const head = parseHead(bytes);
  if (head === null) return null;
  const finish = (body: Buffer, end: number) => ({
    answer: { status: head.status, headers: head.headers, body: body.toString('utf8') },
    rest: bytes.subarray(end),
  });
  if (toHead || head.status === 204 || head.status === 304) return finish(Buffer.alloc(0), head.bodyAt);
  if (head.headers.get('transfer-encoding') === 'chunked') {
    const chunks = readChunks(bytes, head.bodyAt);
    return chunks === null ? null : finish(chunks.body, chunks.end);
  }
  const end = head.bodyAt + Number(head.headers.get('content-length') ?? 0);
  return bytes.length < end ? null : finish(bytes.subarray(head.bodyAt, end), end);
}

export interface RawConnection {
  /** Sends a whole request. One at a time. Rejects with `ConnectionCut`. */
  send(request: Buffer): Promise<RawAnswer>;
  /** Sends all but the last byte; resolves when the kernel has them. */
  hold(request: Buffer): Promise<void>;
  /** Sends the byte that `hold` kept back. */
  release(): Promise<RawAnswer>;
  isOpen(): boolean;
  /** Resolves once either side has closed the connection. */
  readonly closed: Promise<void>;
  destroy(): void;
}

/** The request that waits for an answer on a connection. */
interface Waiting {
  readonly isHead: boolean;
  readonly resolve: (answer: RawAnswer) => void;
  readonly reject: (cut: ConnectionCut) => void;
}

const isHead = (request: Buffer) => request.toString('latin1', 0, 5) === 'HEAD ';

function wrap(socket: Socket): RawConnection {
  let received: Buffer = Buffer.alloc(0);
  let waiting: Waiting | null = null;
  let held: Buffer = Buffer.alloc(0);
  let isHeldHead = false;
  const closed = Promise.withResolvers<void>();
  socket.on('data', (bytes: Buffer) => {
    received = received.length === 0 ? bytes : Buffer.concat([received, bytes]);
    const parsed = waiting === null ? null : parseAnswer(received, waiting.isHead);
    if (parsed === null || waiting === null) return;
    received = parsed.rest;
    const { resolve } = waiting;
    waiting = null;
    resolve(parsed.answer);
  });
  // Every error is followed by 'close', which means the same to the caller.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    waiting?.reject(new ConnectionCut(received.toString('utf8')));
    waiting = null;
    closed.resolve();
  });
  const answer = (forHead: boolean, bytes: Buffer) =>
    new Promise<RawAnswer>((resolve, reject) => {
      if (socket.destroyed) return reject(new ConnectionCut(''));
      waiting = { isHead: forHead, resolve, reject };
      socket.write(bytes);
    });
  return {
    send: (request) => answer(isHead(request), request),
    hold: (request) =>
      new Promise((resolve, reject) => {
        held = request.subarray(request.length - 1);
        isHeldHead = isHead(request);
        socket.write(request.subarray(0, request.length - 1), (fault) =>
          fault ? reject(new ConnectionCut('')) : resolve(),
        );
      }),
    release: () => answer(isHeldHead, held),
    isOpen: () => !socket.destroyed,
    closed: closed.promise,
    destroy: () => socket.destroy(),
  };
}

export function openConnection(port: number, host = '127.0.0.1'): Promise<RawConnection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host });
    socket.setNoDelay(true);
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(wrap(socket));
    });
  });
}

/** Sends one request on its own connection. */
export async function sendOnce(port: number, request: Buffer): Promise<RawAnswer> {
  const connection = await openConnection(port);
  try {
    return await connection.send(request);
  } finally {
    connection.destroy();
  }
}

export interface Held {
  readonly connection: RawConnection;
  readonly request: Buffer;
}

/**
 * Last-byte synchronisation: sends every request except its last byte, then all last bytes in one turn of the loop, so
 * that they become complete at the server together.
 */
export async function sendTogether(entries: readonly Held[]): Promise<RawAnswer[]> {
  await Promise.all(entries.map(({ connection, request }) => connection.hold(request)));
  return Promise.all(entries.map(({ connection }) => connection.release()));
}
