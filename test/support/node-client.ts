/**
 * A client under Node, for tests of what a client sees: this process is Bun, whose HTTP client forgives what Node's does
 * not. It ends with the test that started it.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface NodeRequest {
  readonly url: string;
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export interface NodeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export interface NodeRun {
  /** Number of answers by status, and of failures by error code. */
  readonly ends: Readonly<Record<string, number>>;
  readonly sockets: number;
}

/** What the client threw: its class name and message. */
export class NodeClientError extends Error {
  readonly thrown: string;

  constructor(thrown: string, message: string) {
    super(message);
    this.thrown = thrown;
  }
}

export interface NodeClient extends AsyncDisposable {
  send(request: NodeRequest): Promise<NodeAnswer>;
  /** Sends `count` requests in sequence through one pool. */
  sendMany(request: NodeRequest, count: number): Promise<NodeRun>;
  /** Calls a method of the package `onetimesecret-api`. */
  npm(call: {
    readonly url: string;
    readonly username: string;
    readonly token: string;
    readonly method: string;
    readonly args: readonly unknown[];
  }): Promise<unknown>;
}

interface Line {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
  readonly message?: string;
}

const script = join(import.meta.dir, 'node-client.mjs');

/** Every call rejects without Node, or when Node exits early. */
export function startNodeClient(): NodeClient {
  const child = spawn('node', [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const ended = Promise.withResolvers<void>();
  const failAll = (reason: string) => {
    for (const { reject } of waiting.values()) reject(new Error(reason));
    waiting.clear();
    ended.resolve();
  };
  child.on('error', (error) => failAll(`node cannot be started: ${error.message}`));
  child.on('close', () => failAll('the client under Node has ended'));
  createInterface({ input: child.stdout }).on('line', (text) => {
    const { id, value, error, message }: Line = JSON.parse(text);
    const call = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) call?.resolve(value);
    else call?.reject(new NodeClientError(error, message ?? ''));
  });
  let calls = 0;
  function tell(command: string, rest: object): Promise<unknown> {
    const call = Promise.withResolvers<unknown>();
    calls += 1;
    waiting.set(calls, call);
    child.stdin.write(`${JSON.stringify({ id: calls, command, ...rest })}\n`);
    return call.promise;
  }
  const written = ({ body, headers = {}, ...rest }: NodeRequest) => ({
    ...rest,
    headers: { 'content-length': String(body?.length ?? 0), ...headers },
    body: Buffer.from(body ?? []).toString('base64'),
  });
  return {
    send: (request) => tell('send', written(request)) as Promise<NodeAnswer>,
    sendMany: (request, count) => tell('sendMany', { ...written(request), count }) as Promise<NodeRun>,
    npm: (call) => tell('npm', call),
    async [Symbol.asyncDispose]() {
      child.kill();
      await ended.promise;
    },
  };
}
