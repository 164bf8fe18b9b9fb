/** Operators' commands beside three nodes on one PostgreSQL server: what one command does holds for all of them (P12). */
import { afterAll, beforeAll, describe, expect, it, setDefaultTimeout } from 'bun:test';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootKeysPollMs } from '../../src/ops/root-key-watch.ts';
import {
  attemptRequest,
  createV1,
  type Made,
  type Reading,
  readAttempt,
  readMade,
  readReceiptState,
  receiptRequest,
} from '../support/calls.ts';
import { type Nodes, runJson, startNodes } from '../support/nodes.ts';
import { type PostgresServer, startPostgres, until } from '../support/postgres.ts';
import { sendOnce } from '../support/raw-client.ts';
import { type StartedServer, startServer } from '../support/started-server.ts';

setDefaultTimeout(60_000);

let database: PostgresServer;
let nodes: Nodes;
beforeAll(async () => {
  database = await startPostgres();
  nodes = await startNodes({ url: database.url, durability: 'single', nodeCount: 3 });
});
afterAll(async () => {
  await nodes[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function put({ port }: StartedServer, value: string): Promise<Made> {
  const made = readMade(await sendOnce(port, createV1({ value, basic: nodes.owner.basic })));
  if (made === null) throw new Error('a create failed');
  return made;
}

/** One secret of each node. */
const putAll = () => Promise.all(nodes.servers.map((node, n) => put(node, `of node ${n}`)));

async function reveal({ port }: StartedServer, made: Made): Promise<Reading['is']> {
  const attempt = { door: 'v1.reveal', made } as const;
  return readAttempt(attempt, await sendOnce(port, attemptRequest(attempt))).is;
}

function nodeAt(n: number): StartedServer {
  const node = nodes.servers[n % nodes.servers.length];
  if (node === undefined) throw new Error('there are no nodes');
  return node;
}

const pairs = <T>(all: readonly T[]) =>
  nodes.servers.flatMap((node) => all.map((each) => [node, each] as const));

describe('beside three nodes', () => {
  it('P12: keys add, rotate and retire leave every secret to be read once, on any node', async () => {
    const before = await putAll();
    expect(await runJson(['keys', 'add'], nodes.env)).toEqual({ added: 2, roots: [1, 2] });
    expect(await runJson(['keys', 'rotate'], nodes.env)).toMatchObject({ root: 2, rewrapped: 3, damaged: 0 });
    const after = await putAll();
    expect(await runJson(['keys', 'retire', '--yes'], nodes.env)).toEqual({ retired: [1], roots: [2] });
    const all = [...before, ...after];
    // Each from another node than it was made on.
    const answers = await Promise.all(all.map((made, n) => reveal(nodeAt(n + 1), made)));
    expect(answers).toEqual(all.map(() => 'released'));
    const again = await Promise.all(pairs(all).map(([node, made]) => reveal(node, made)));
    expect(new Set(again)).toEqual(new Set(['lost']));
  });

  it('P12: burn-all ends what waits on every node, and the receipts say so', async () => {
    const all = await putAll();
    expect(await runJson(['burn-all', '--yes'], nodes.env)).toEqual({ burned: 3 });
    for (const [node, made] of pairs(all)) {
      expect(await reveal(node, made)).toBe('lost');
      const receipt = await sendOnce(node.port, receiptRequest(made, nodes.owner.basic));
      expect(readReceiptState(receipt)).toBe('burned');
    }
  });

  it('P3, P12: a node whose own key file lacks the new root consumes nothing, and goes on once it has a copy', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mayfly-node-'));
    const ownFile = join(folder, 'keys.json');
    copyFileSync(nodes.keysFile, ownFile);
    try {
      const env = { ...nodes.env, MAYFLY_DATA_DIR: folder, MAYFLY_ROOT_KEYS_FILE: ownFile };
      await using late = await startServer({ dataDir: folder, env });
      const [made] = await putAll();
      if (made === undefined) throw new Error('nothing was made');
      await runJson(['keys', 'add'], nodes.env);
      await runJson(['keys', 'rotate'], nodes.env);
      expect(await reveal(late, made)).toBe('unavailable');
      const isReady = async () => (await fetch(`http://127.0.0.1:${late.port}/readyz`)).status === 200;
      await until('it is not ready', async () => !(await isReady()));
      copyFileSync(nodes.keysFile, ownFile);
      await until(`the file is read, every ${rootKeysPollMs} ms`, isReady);
      expect(await reveal(late, made)).toBe('released');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
