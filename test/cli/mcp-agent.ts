/**
 * An agent's side of `mayfly mcp`: writes lines of JSON-RPC and keeps every byte that comes back, which is all that a model could read. Each
 * message must be one of the protocol.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { isSpecType, parseJSONRPCMessage } from '@modelcontextprotocol/server';
import { serveAgent } from '../../src/cli/mcp-server.ts';
import type { Tools } from '../../src/cli/mcp-tools.ts';
import { repositoryRoot } from '../support/started-server.ts';

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

/** `text` is that of the result or of the error. */
export interface ToolAnswer {
  readonly isError: boolean;
  readonly text: string;
}

export interface TestAgent {
  readonly initialized: Readonly<Record<string, unknown>>;
  request(method: string, params?: unknown): Promise<Message>;
  /** @param more other parameters of the request */
  call(name: string, given: unknown, more?: object): Promise<ToolAnswer>;
  /** Sends any bytes. */
  write(text: string): void;
  /** Everything that the server wrote, to standard error too. */
  transcript(): string;
  /** Closes this side and waits until the server has ended. */
  close(): Promise<void>;
}

export interface AgentOptions {
  /** Speaks the revision of 2026-07-28, which has no opening and puts what it asks of a client into results. */
  readonly isModern?: true;
  readonly capabilities?: Readonly<Record<string, unknown>>;
  /** Answers requests of the server, such as to open a link. */
  readonly onRequest?: (method: string, params: Readonly<Record<string, unknown>>) => Promise<unknown>;
}

interface Line {
  readonly input: Writable;
  readonly outputs: readonly Readable[];
  readonly ended: Promise<unknown>;
}

export const revision = '2025-11-25';

const prefix = 'io.modelcontextprotocol';
const clientInfo = { name: 'test', version: '1' };

type Requests = Readonly<Record<string, { readonly method: string; readonly params: Message['params'] }>>;

async function openAgent({ input, outputs, ended }: Line, options: AgentOptions): Promise<TestAgent> {
  const chunks: Buffer[] = [];
  const waiting = new Map<unknown, (message: Message) => void>();
  let rest = '';
  let last = 0;
  const send = (message: unknown) => void input.write(`${JSON.stringify(message)}\n`);

  async function answer(id: unknown, method: string, params: Readonly<Record<string, unknown>>) {
    send({ jsonrpc: '2.0', id, result: await options.onRequest?.(method, params) });
  }

  function take(line: string): void {
    const message = parseJSONRPCMessage(JSON.parse(line)) as Message;
    if (message.method === undefined) waiting.get(message.id)?.(message);
    else if (message.id !== undefined) void answer(message.id, message.method, message.params ?? {});
  }
  for (const output of outputs) output.on('data', (chunk: Buffer) => chunks.push(chunk));
  outputs[0]?.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString('utf8')).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
  });

  function request(method: string, params?: unknown): Promise<Message> {
    last += 1;
    const id = last;
    const answer = new Promise<Message>((resolve) => waiting.set(id, resolve));
    send({ jsonrpc: '2.0', id, method, ...(params !== undefined && { params }) });
    return Promise.race([answer, ended.then(() => ({ error: { message: 'the server ended' } }))]);
  }

  const capabilities = options.capabilities ?? {};
  const envelope = {
    [`${prefix}/protocolVersion`]: '2026-07-28',
    [`${prefix}/clientInfo`]: clientInfo,
    [`${prefix}/clientCapabilities`]: capabilities,
  };
  const meta = options.isModern === true ? { _meta: envelope } : {};
  const open = () => request('initialize', { protocolVersion: revision, capabilities, clientInfo });
  const { result = {} } = options.isModern === true ? {} : await open();
  if (options.isModern !== true) send({ jsonrpc: '2.0', method: 'notifications/initialized' });

  async function call(name: string, given: unknown, more: object = {}): Promise<ToolAnswer> {
    const { result, error } = await request('tools/call', { name, arguments: given, ...meta, ...more });
    if (error !== undefined) return { isError: true, text: error.message };
    if (result?.inputRequests !== undefined) {
      const asked = Object.entries(result.inputRequests as Requests);
      const responses = asked.map(async ([key, { method, params = {} }]) => [
        key,
        await options.onRequest?.(method, params),
      ]);
      const inputResponses = Object.fromEntries(await Promise.all(responses));
      return call(name, given, { inputResponses, requestState: result.requestState });
    }
    if (!isSpecType.CallToolResult(result)) throw new Error('not the result of a tool');
    const content = (result?.content ?? []) as readonly { readonly text: string }[];
    return { isError: result?.isError === true, text: content.map(({ text }) => text).join('\n') };
  }
  return {
    initialized: result,
    request,
    call,
    write: (text) => void input.write(text),
    transcript: () => Buffer.concat(chunks).toString('utf8'),
    async close() {
      input.end();
      await ended;
    },
  };
}

/** In this process, over streams. */
export function agentOf(tools: Tools, options: AgentOptions = {}): Promise<TestAgent> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  return openAgent(
    { input, outputs: [output], ended: serveAgent(tools, '1.2.3', { input, output }) },
    options,
  );
}

/** As the product's own process, or that of an executable. */
export function agentOfProcess(
  args: readonly string[],
  options: AgentOptions = {},
  command: readonly [string, ...string[]] = [process.execPath, 'src/main.ts'],
): Promise<TestAgent> & { readonly child: ChildProcess } {
  const [program, ...before] = command;
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(program, [...before, 'mcp', ...args], { cwd: repositoryRoot, env: { PATH, HOME } });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const agent = openAgent({ input: child.stdin, outputs: [child.stdout, child.stderr], ended }, options);
  return Object.assign(agent, { child });
}
