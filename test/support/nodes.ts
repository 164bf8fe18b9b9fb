/** Equal nodes on one shared store: processes of the product with one key file. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Credentials,
  makeDataDir,
  runProduct,
  type StartedServer,
  startServer,
} from './started-server.ts';

export type Env = Readonly<Record<string, string>>;

export interface Nodes extends AsyncDisposable {
  readonly servers: readonly StartedServer[];
  readonly keysFile: string;
  /** Settings of every node, for commands beside them. */
  readonly env: Env;
  /** An account that shares and burns. */
  readonly owner: Credentials;
}

export interface NodesOptions {
  readonly url: string;
  readonly durability: 'single' | 'synchronous';
  readonly nodeCount: number;
  /** More settings, of every node. */
  readonly env?: Env;
}

/** Runs a command of the product that prints JSON. */
export async function runJson(args: readonly string[], env: Env, limitMs?: number): Promise<unknown> {
  const run = await runProduct(['src/main.ts', ...args, '--json'], env, limitMs);
  if (run.code !== 0) throw new Error(`${args.join(' ')} ended with ${run.code}: ${run.stderr}${run.stdout}`);
  return JSON.parse(run.stdout);
}

async function makeOwner(env: Env): Promise<Credentials> {
  const made = await runJson(['account', 'create', 'storm@example.org'], env);
  const { username, token } = made as { username: string; token: string };
  return { username, token, basic: `Basic ${Buffer.from(`${username}:${token}`).toString('base64')}` };
}

export async function startNodes(options: NodesOptions): Promise<Nodes> {
  const folder = await makeDataDir();
  const keysFile = join(folder, 'keys.json');
  const settings = {
    MAYFLY_STORE: options.url,
    MAYFLY_STORE_DURABILITY: options.durability,
    MAYFLY_ROOT_KEYS_FILE: keysFile,
    ...options.env,
  };
  // Commands write nothing here.
  const env = { ...settings, MAYFLY_DATA_DIR: folder };
  const servers: StartedServer[] = [];
  const end = async () => {
    for (const server of servers) await server[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    servers.push(await startServer({ env: settings }));
    const owner = await makeOwner(env);
    const others = Array.from({ length: options.nodeCount - 1 }, () => startServer({ env: settings }));
    servers.push(...(await Promise.all(others)));
    return { servers, keysFile, env, owner, [Symbol.asyncDispose]: end };
  } catch (error) {
    await end();
    throw error;
  }
}
