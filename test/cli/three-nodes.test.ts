/** Operators' commands beside three nodes on one PostgreSQL server: what one command does holds for all of them (P12). */
import { afterAll, beforeAll, describe, expect, it, setDefaultTimeout } from 'bun:test';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootKeysPollMs } from '../../src/ops/root-key-watch.ts';
import { clientAnswer, clientRequest } from '../support/asking.ts';
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
import { type Post, postOver } from '../support/mailboxes.ts';
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

/** Posts to a node as its owner. */
const postTo = ({ port }: StartedServer): Post =>
  postOver({ send: (request) => sendOnce(port, request) }, nodes.owner.basic);

/** A request made on one node and answered on the next. */
async function askAndAnswer(seed: string) {
  const [request, answer] = [clientRequest(seed), clientAnswer(seed)];
  const asked = await postTo(nodeAt(0))('/request', { ...request.wire, answers: 2 });
  const path = `/request/${asked.body.record.key}`;
  const send = (node: StartedServer) => postTo(node)(`${path}/answer`, { ...request.ask, ...answer.wire });
  const { secret_key } = (await send(nodeAt(1))).body.record;
  /** What the asker is told on each node. */
  const seen = async () => {
    const told = await Promise.all(
      nodes.servers.map((node) => postTo(node)(`${path}/answers`, request.owner)),
    );
    return told.map(({ body }) => [body.record.state, body.records[0].state, body.records[0].discarded]);
  };
  /** What opening the answer leads to on each node, at once. */
  const open = async () => {
    const path = `/secret/${secret_key}/reveal`;
    const told = await Promise.all(nodes.servers.map((node) => postTo(node)(path, answer.secret.body)));
    return told.map(({ status }) => status).toSorted();
  };
  return { request, path, send, secretKey: secret_key as string, seen, open };
}

const onEachNode = <T>(told: T): T[] => nodes.servers.map(() => told);

const pairs = <T>(all: readonly T[]) =>
  nodes.servers.flatMap((node) => all.map((each) => [node, each] as const));

describe('beside three nodes', () => {
  it('P12: keys add, rotate and retire leave every secret and answer to be read once, on any node', async () => {
    const before = await putAll();
    const asked = await askAndAnswer('under another root');
    expect(await runJson(['keys', 'add'], nodes.env)).toEqual({ added: 2, roots: [1, 2] });
    expect(await runJson(['keys', 'rotate'], nodes.env)).toMatchObject({ root: 2, rewrapped: 4, damaged: 0 });
    const after = await putAll();
    expect(await runJson(['keys', 'retire', '--yes'], nodes.env)).toEqual({ retired: [1], roots: [2] });
    const all = [...before, ...after];
    // Each from another node than it was made on.
    const answers = await Promise.all(all.map((made, n) => reveal(nodeAt(n + 1), made)));
    expect(answers).toEqual(all.map(() => 'released'));
    const again = await Promise.all(pairs(all).map(([node, made]) => reveal(node, made)));
    expect(new Set(again)).toEqual(new Set(['lost']));
    expect(await asked.seen()).toEqual(onEachNode(['open', 'new', false]));
    expect(await asked.open()).toEqual([200, 404, 404]);
  });

  it('P12: burn-all ends what waits and what is asked on every node, and the receipts say so', async () => {
    const all = await putAll();
    const asked = await askAndAnswer('to be burned');
    expect(await runJson(['burn-all', '--yes'], nodes.env)).toEqual({ burned: 4 });
    expect(await asked.seen()).toEqual(onEachNode(['ended', 'burned', false]));
    expect(await asked.open()).toEqual([404, 404, 404]);
    for (const [node, made] of pairs(all)) {
      expect(await reveal(node, made)).toBe('lost');
      const receipt = await sendOnce(node.port, receiptRequest(made, nodes.owner.basic));
      expect(readReceiptState(receipt)).toBe('burned');
    }
  });

  it('P1: a request is answered, opened, discarded and closed on any node, and all say the same of it', async () => {
    const { request, path, send, secretKey, seen, open } = await askAndAnswer('on any node');
    const again = await Promise.all(nodes.servers.map(send));
    expect(new Set(again.map(({ body }) => body.record.secret_key))).toEqual(new Set([secretKey]));
    expect(await seen()).toEqual(onEachNode(['open', 'new', false]));
    expect(await open()).toEqual([200, 404, 404]);
    expect(await seen()).toEqual(onEachNode(['open', 'received', false]));
    await postTo(nodeAt(2))(`${path}/discard`, { ...request.owner, secret_key: secretKey });
    expect(await seen()).toEqual(onEachNode(['open', 'received', true]));
    await postTo(nodeAt(1))(`${path}/change`, { ...request.owner, close: true });
    expect(await seen()).toEqual(onEachNode(['ended', 'received', true]));
    const late = { ...request.ask, ...clientAnswer('too late').wire };
    for (const node of nodes.servers)
      expect((await postTo(node)(`${path}/answer`, late)).body.error).toBe('request_ended');
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
