/**
 * What the tests of nginx and HAProxy share: a real proxy with the shipped file on loopback, clients that send any bytes,
 * and a server behind it that misbehaves on demand.
 *
 * A proxy is one process in the foreground, in a folder of its own; both end with the test, the process by its id.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect as connectTcp, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { freePort, repositoryRoot, watch } from '../support/started-server.ts';
import { type Visit, type Visited, visit } from './curl.ts';

/** The host that the test certificate is for. It is its own authority, valid until 2126. */
export const site = 'mayfly.example.com';
export const certificatePath = join(import.meta.dir, 'certificate.pem');
export const certificateKeyPath = join(import.meta.dir, 'certificate-key.pem');

/** A text of a file and what it becomes, at each place where it occurs. */
export type Change = readonly [text: string, becomes: string];

/** Throws if a text is not there: a change that changes nothing would prove nothing. */
export function changed(file: string, changes: readonly Change[]): string {
  return changes.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`the file does not say ${JSON.stringify(from)}`);
    return text.replaceAll(from, () => to);
  }, file);
}

export function readShipped(name: string): Promise<string> {
  return readFile(join(repositoryRoot, 'deploy', name), 'utf8');
}

export interface ProxyOptions {
  /** `HOST:PORT` or what else the proxy takes for a server. */
  readonly servers: readonly string[];
  /** Made to the shipped file before anything else. */
  readonly changes?: readonly Change[];
}

/** Where a started proxy serves TLS. */
export interface Front extends AsyncDisposable {
  readonly httpsPort: number;
  /** The path of the certificate of the authority that signed its own. */
  readonly authority: string;
  /** All that it has written anywhere. */
  log(): string | Promise<string>;
}

export interface StartedProxy extends Front {
  readonly httpPort: number;
  readonly folder: string;
  log(): Promise<string>;
  /** Resolves once all of these texts are in the log. */
  logged(...words: readonly string[]): Promise<void>;
}

export type StartProxy = (options: ProxyOptions) => Promise<StartedProxy>;

interface Program {
  /** The shipped file, below `deploy`. */
  readonly file: string;
  readonly command: string;
  /** Files below its folder that it logs to, in addition to its output. */
  readonly logFiles: readonly string[];
  /** Serves below /vault alone, as the file explains. */
  readonly belowVault: readonly Change[];
  /** Writes the proxy's files into its folder and returns the command's arguments. */
  prepare(
    shipped: string,
    servers: readonly string[],
    place: { folder: string; httpPort: number; httpsPort: number },
  ): Promise<readonly string[]>;
}

export interface ShippedProxy {
  readonly file: string;
  readonly belowVault: readonly Change[];
  readonly start: StartProxy;
}

export function proxyOf(program: Program): ShippedProxy {
  const { file, belowVault } = program;
  return {
    file,
    belowVault,
    start: async ({ servers, changes = [] }) =>
      startProxy(program, changed(await readShipped(file), changes), servers),
  };
}

const pollMilliseconds = 10;
/** 30 s. */
const maxPolls = 3_000;

/** Polls until it is so; rejects with what `otherwise` says when it takes too long. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  otherwise: () => string | Promise<string>,
): Promise<void> {
  for (let polls = 0; polls < maxPolls; polls += 1) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, pollMilliseconds));
  }
  throw new Error(await otherwise());
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectTcp({ port, host: '127.0.0.1' });
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

async function startProxy(
  { command, prepare, logFiles }: Program,
  shipped: string,
  servers: readonly string[],
): Promise<StartedProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'mayfly-proxy-'));
  const [httpPort, httpsPort] = [await freePort(), await freePort()];
  const args = await prepare(shipped, servers, { folder, httpPort, httpsPort });
  // Debian puts servers where only root looks for them.
  const env = { PATH: `${process.env.PATH ?? ''}:/usr/sbin` };
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const { stdout, stderr, exited } = watch(child);
  let hasEnded = false;
  void exited.then(() => {
    hasEnded = true;
  });
  const log = async () => {
    const files = logFiles.map((name) => readFile(join(folder, name), 'utf8').catch(() => ''));
    return [stdout(), stderr(), ...(await Promise.all(files))].join('\n');
  };
  const dispose = async () => {
    child.kill('SIGKILL');
    await exited;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await until(
      async () => hasEnded || ((await isListening(httpPort)) && (await isListening(httpsPort))),
      async () => `${command} does not listen:\n${await log()}`,
    );
    if (hasEnded) throw new Error(`${command} ended:\n${await log()}`);
  } catch (error) {
    await dispose();
    throw error;
  }
  const logged = (...words: readonly string[]) =>
    until(
      async () => {
        const text = await log();
        return words.every((word) => text.includes(word));
      },
      async () => `${command} does not say ${words}:\n${await log()}`,
    );
  const authority = certificatePath;
  return { httpPort, httpsPort, authority, folder, log, logged, [Symbol.asyncDispose]: dispose };
}

export type Request = Omit<Visit, 'port' | 'authority' | 'host'> & { readonly host?: string };

/** Over TLS, as a browser would. */
export function visitBy({ httpsPort, authority }: Front, request: Request): Promise<Visited> {
  return visit({ host: site, ...request, port: httpsPort, authority });
}

export async function answerBy(front: Front, request: Request) {
  const visited = await visitBy(front, request);
  if (visited.outcome === 'failed') throw new Error(`no answer (${visited.code}):\n${await front.log()}`);
  return visited;
}

export interface RawClient {
  /** What has come back. */
  received(): string;
  /** Resolves when the other side has ended the connection. */
  readonly ended: Promise<void>;
  hasEnded(): boolean;
  /** Resolves when the kernel has them. */
  write(bytes: string): Promise<void>;
  /** Stops reading, so that what comes stays with the proxy. */
  pause(): void;
  resume(): void;
  leave(): void;
}

/** A client that sends what it likes, over HTTP/1.1 and, unless told otherwise, TLS. */
export function openClient(
  port: number,
  { from = '127.0.0.1', isPlain = false }: { from?: string; isPlain?: boolean } = {},
): Promise<RawClient> {
  const address = { port, host: '127.0.0.1', localAddress: from };
  const trust = { servername: site, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] };
  return new Promise((resolve, reject) => {
    const socket: Socket = isPlain ? connectTcp(address) : connectTls({ ...address, ...trust });
    const parts: Buffer[] = [];
    const ended = Promise.withResolvers<void>();
    socket.on('data', (part: Buffer) => parts.push(part));
    socket.on('error', reject);
    socket.on('close', () => ended.resolve());
    socket.once(isPlain ? 'connect' : 'secureConnect', () =>
      resolve({
        received: () => Buffer.concat(parts).toString('latin1'),
        ended: ended.promise,
        hasEnded: () => socket.destroyed,
        write: (bytes) => new Promise((done) => socket.write(bytes, 'latin1', () => done())),
        pause: () => void socket.pause(),
        resume: () => void socket.resume(),
        leave: () => void socket.destroy(),
      }),
    );
  });
}

export interface BadServer extends AsyncDisposable {
  /** `127.0.0.1:PORT`. */
  readonly address: string;
  /** Every request's head, as it came, also while its body is still to come. */
  readonly heads: string[];
  /** How many connections the other side has opened, and how many of all are closed. */
  readonly connections: { opened: number; closed: number };
  /** Whether a request that is never answered is still on its connection. */
  isWaiting(): boolean;
  /** Whether the long answer waits for somebody to read it. */
  isStuck(): boolean;
}

const page = `<!doctype html><p>${'text '.repeat(2_000)}</p>`;
const pageAnswer = `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${page.length}\r\n\r\n${page}`;
export const endlessBytes = 64 * 2 ** 20;

/** Polls in a row without progress. */
const stuckPolls = 30;

/**
 * By the first part of a path: `dies` over the request, answers `garbage`, lets the client wait (`waits`), has more to say
 * than fits into the buffers between (`flood`), or answers a page.
 */
export async function openBadServer(): Promise<BadServer> {
  const heads: string[] = [];
  const connections = { opened: 0, closed: 0 };
  const sockets = new Set<Socket>();
  const waiting = new Set<Socket>();
  let written = 0;
  let [seen, idlePolls] = [0, 0];
  const flood = async (socket: Socket) => {
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(`HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${endlessBytes}\r\n\r\n`);
    const chunk = Buffer.alloc(2 ** 16, 'x');
    for (; written < endlessBytes && !socket.destroyed; written += chunk.length)
      if (!socket.write(chunk))
        await Promise.race([closed, new Promise((resolve) => socket.once('drain', resolve))]);
  };
  const behaviours: Readonly<Record<string, (socket: Socket) => void>> = {
    dies: (socket) => socket.destroy(),
    garbage: (socket) => socket.end('\0\x01 canary-answer\r\n\r\n', 'latin1'),
    waits: (socket) => waiting.add(socket),
    flood: (socket) => void flood(socket),
  };
  const answerPage = (socket: Socket) => void socket.write(pageAnswer);
  const server = createServer((socket) => {
    connections.opened += 1;
    sockets.add(socket);
    let received = '';
    /** Of the request whose body is still to come. */
    let head: string | null = null;
    socket.on('data', (part) => {
      received += part.toString('latin1');
      for (;;) {
        const end = received.indexOf('\r\n\r\n');
        if (head === null && end !== -1) {
          head = received.slice(0, end);
          received = received.slice(end + 4);
          heads.push(head);
        }
        const length = Number(/^content-length: (\d+)/im.exec(head ?? '')?.[1] ?? 0);
        if (head === null || received.length < length) return;
        received = received.slice(length);
        const name = /^[A-Z]+ \/(\w*)/.exec(head)?.[1] ?? '';
        head = null;
        (behaviours[name] ?? answerPage)(socket);
      }
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      connections.closed += 1;
      for (const set of [sockets, waiting]) set.delete(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  return {
    address: `127.0.0.1:${typeof bound === 'object' && bound !== null ? bound.port : 0}`,
    heads,
    connections,
    isWaiting: () => waiting.size > 0,
    isStuck() {
      idlePolls = written === seen ? idlePolls + 1 : 0;
      seen = written;
      return written > 0 && idlePolls >= stuckPolls;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
