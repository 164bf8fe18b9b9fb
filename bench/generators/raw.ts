/**
 * Load from raw sockets: the least that a client can do, so that the server is what is measured.
 */
import type { Socket } from 'bun';
import type { JobAnswer, JobRequest } from '../jobs.ts';
import { type Client, drive, type OpenClients } from './drive.ts';

interface Connection {
  /** What has arrived of the answer that is awaited. */
  pending: string;
  onAnswer: (answer: JobAnswer) => void;
}

/** The first request of every trip is the same. */
const encoded = new WeakMap<JobRequest, Buffer>();

function encode(request: JobRequest): Buffer {
  const known = encoded.get(request);
  if (known !== undefined) return known;
  const { method, path, headers, body } = request;
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: localhost'];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (method === 'POST') lines.push(`Content-Length: ${Buffer.byteLength(body)}`);
  const bytes = Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
  encoded.set(request, bytes);
  return bytes;
}

/** `null` while some of it is missing. Every server here sends Content-Length. */
function wholeAnswer(text: string): JobAnswer | null {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd === -1) return null;
  const length = /content-length: (\d+)/i.exec(text.slice(0, headEnd))?.[1];
  if (length === undefined) throw new Error(`an answer without Content-Length: ${text.slice(0, headEnd)}`);
  if (text.length < headEnd + 4 + Number(length)) return null;
  return { status: Number(text.slice(9, 12)), body: text.slice(headEnd + 4) };
}

function clientOf(socket: Socket<Connection>): Client {
  return {
    send(request, onAnswer) {
      socket.data.pending = '';
      socket.data.onAnswer = onAnswer;
      const bytes = encode(request);
      if (socket.write(bytes) !== bytes.length) throw new Error('a request did not fit into the socket');
    },
  };
}

const open: OpenClients = async ({ port, connections }, onFault) => {
  let isClosing = false;
  const data = ({ data: connection }: Socket<Connection>, bytes: Buffer) => {
    try {
      connection.pending += bytes.toString('latin1');
      const answer = wholeAnswer(connection.pending);
      if (answer !== null) connection.onAnswer(answer);
    } catch (fault) {
      onFault(fault instanceof Error ? fault : new Error(String(fault)));
    }
  };
  const close = () => {
    if (!isClosing) onFault(new Error('the server closed a connection'));
  };
  const connect = () =>
    Bun.connect<Connection>({
      hostname: '127.0.0.1',
      port,
      data: { pending: '', onAnswer: () => undefined },
      socket: { data, close },
    });
  const sockets = await Promise.all(Array.from({ length: connections }, connect));
  return {
    all: sockets.map(clientOf),
    close() {
      isClosing = true;
      for (const socket of sockets) socket.end();
    },
  };
};

await drive(open);
