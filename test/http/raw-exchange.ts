/**
 * Requests as bytes over a bare socket, and the answers as they came.
 *
 * The end of the answers is detected, not waited for.
 */
import { connect } from 'node:net';

const lastRequest = 'GET /api/last HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';

export interface ExchangeOptions {
  /** False when the bytes leave the server waiting for more. */
  readonly thenClose?: boolean;
  /**
   * Sent once an answer has begun to arrive, before the request that ends the connection: nothing may follow a POST
   * earlier.
   */
  readonly onceAnswered?: string;
  /** Sent, when it is known, as a packet of its own; the request that ends the connection follows its answer. */
  readonly afterwards?: Promise<string>;
}

/**
 * Returns everything the server sends for these bytes. A request that ends the connection follows, so that the end of
 * the answers is known without waiting.
 */
export function exchange(
  bytes: string | Uint8Array,
  { thenClose = true, onceAnswered, afterwards, port }: ExchangeOptions & { readonly port: number },
): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    const end = () => thenClose && socket.write(lastRequest);
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
      void afterwards?.then((packet) => socket.write(packet));
      if (onceAnswered === undefined && afterwards === undefined) end();
    });
    if (onceAnswered !== undefined || afterwards !== undefined) {
      socket.once('data', () => {
        if (onceAnswered !== undefined) socket.write(onceAnswered);
        end();
      });
    }
    socket.on('data', (data) => {
      received += data.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(received));
  });
}

/** The runtime's own server, to tell its behaviour from ours. */
export function startBareServer() {
  const fetch = (request: Request) => new Response(request.url);
  return Bun.serve({ hostname: '127.0.0.1', port: 0, development: false, reusePort: false, fetch });
}

const statusLine = /HTTP\/1\.1 (\d{3}) /g;
export function statusesIn(answers: string): number[] {
  return [...answers.matchAll(statusLine)].map((match) => Number(match[1]));
}

export const get = (target: string, headers = 'Host: localhost\r\n') =>
  `GET ${target} HTTP/1.1\r\n${headers}\r\n`;
export const post = (headers: string, body: string) =>
  `POST /api/create HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n${body}`;

/** Sends a complete request and drops the connection before any answer. */
export function sendAndLeave(bytes: string, port: number): void {
  const socket = connect(port, '127.0.0.1', () => socket.write(bytes, () => socket.destroy()));
}

/** The status of the last request of `exchange`, whose path does not exist. */
export const last = 404;
