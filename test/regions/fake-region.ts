/**
 * A region's server that sends exactly the bytes a test wants.
 *
 * It reads requests only as far as a test needs (the head, and content by its length or up to its last chunk) and by
 * itself answers only health checks.
 */
import { createServer, type Socket } from 'node:net';

export interface Arrived {
  /** Request line and fields, as sent. */
  readonly head: string;
  readonly body: string;
  readonly socket: Socket;
  /** The request's position on its connection, from 0. */
  readonly turn: number;
}

export interface FakeRegion extends Disposable {
  readonly port: number;
  /** Complete requests in order, except health checks. */
  readonly arrived: readonly Arrived[];
  /** Bytes received that are not a complete request. */
  partial(): string;
  /** Forgets those bytes. */
  forget(): void;
  /** How many connections have ended. */
  readonly ended: () => number;
  answerWith(answer: Answer): void;
  /** From now on reads nothing more from connections, except health checks. */
  pause(): void;
  /** Resolves at the next event here. */
  next(): Promise<void>;
}

export type Answer = (request: Arrived) => void;

export const whole = (body: string, fields = '') =>
  `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n${fields}\r\n${body}`;

interface Request {
  readonly head: string;
  readonly body: string;
  readonly rest: Buffer;
}

function takeRequest(bytes: Buffer): Request | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return null;
  const head = bytes.toString('latin1', 0, headEnd);
  const bodyAt = headEnd + 4;
  if (/^transfer-encoding: chunked$/im.test(head)) {
    const end = bytes.indexOf('0\r\n\r\n', bodyAt);
    if (end === -1) return null;
    return { head, body: bytes.toString('latin1', bodyAt, end), rest: bytes.subarray(end + 5) };
  }
  const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
  if (bytes.length < bodyAt + length) return null;
  const end = bodyAt + length;
  return { head, body: bytes.toString('latin1', bodyAt, end), rest: bytes.subarray(end) };
}

export async function startFakeRegion(): Promise<FakeRegion> {
  const arrived: Arrived[] = [];
  const sockets = new Map<Socket, Buffer>();
  let ended = 0;
  let isPaused = false;
  let something = Promise.withResolvers<void>();
  let answer: Answer = ({ socket }) => socket.write(whole('ok'));
  const tell = () => {
    something.resolve();
    something = Promise.withResolvers();
  };
  const receive = (socket: Socket, turn: number, request: Request): number => {
    if (request.head.includes('/readyz')) {
      socket.write(whole('{"status":"ok"}'));
      return turn;
    }
    const entry = { head: request.head, body: request.body, socket, turn };
    arrived.push(entry);
    answer(entry);
    return turn + 1;
  };
  const server = createServer((socket) => {
    let turn = 0;
    sockets.set(socket, Buffer.alloc(0));
    socket.on('error', () => {});
    socket.on('data', (bytes: Buffer) => {
      let held = Buffer.concat([sockets.get(socket) ?? Buffer.alloc(0), bytes]);
      for (let request = takeRequest(held); request !== null; request = takeRequest(held)) {
        held = request.rest as Buffer<ArrayBuffer>;
        turn = receive(socket, turn, request);
      }
      sockets.set(socket, held);
      if (isPaused && held.length > 0) socket.pause();
      tell();
    });
    socket.on('close', () => {
      ended += 1;
      tell();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    arrived,
    partial: () => [...sockets.values()].map((bytes) => bytes.toString('latin1')).join(''),
    forget: () => {
      for (const socket of sockets.keys()) sockets.set(socket, Buffer.alloc(0));
    },
    ended: () => ended,
    answerWith(next) {
      answer = next;
    },
    pause() {
      isPaused = true;
    },
    next: () => something.promise,
    [Symbol.dispose]() {
      for (const socket of sockets.keys()) socket.destroy();
      server.close();
    },
  };
}
