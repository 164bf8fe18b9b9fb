/** What nodes decide together: processes of the product on one PostgreSQL. */
import { afterAll, beforeAll, expect, it } from 'bun:test';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Nodes, runJson, startNodes } from '../support/nodes.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { makeDataDir, type StartedServer } from '../support/started-server.ts';

const nodeCount = 3;
/** As many wrong credentials as one client may send, of which none comes back while the test runs. */
const burst = 7;

let server: PostgresServer;
let folder: string;
let nodes: Nodes;

beforeAll(async () => {
  [server, folder] = await Promise.all([startPostgres(), makeDataDir()]);
  const limits = join(folder, 'limits.json');
  const rule = { limit: burst, windowSeconds: 86_400, burst };
  await writeFile(limits, JSON.stringify({ logIn: { anonymous: rule } }));
  nodes = await startNodes({
    ...{ url: server.url, durability: 'single', nodeCount },
    env: { MAYFLY_RATE_LIMITS: limits },
  });
}, 60_000);

afterAll(async () => {
  await nodes[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function statusOf({ port }: StartedServer, token: string): Promise<number> {
  const basic = `Basic ${Buffer.from(`${nodes.owner.username}:${token}`).toString('base64')}`;
  const headers = { authorization: basic };
  const answer = await fetch(`http://127.0.0.1:${port}/api/v2/receipt/recent`, { headers });
  await answer.body?.cancel();
  return answer.status;
}

const onEachNode = (token: string) => Promise.all(nodes.servers.map((node) => statusOf(node, token)));

it('P16: a token that was revoked ends on every node at once', async () => {
  const { username } = nodes.owner;
  const made = await runJson(['account', 'token', 'create', username], nodes.env);
  const { token, token_id } = made as { token: string; token_id: number };
  for (let times = 0; times < 3; times += 1) expect(await onEachNode(token)).toEqual([200, 200, 200]);
  await runJson(['account', 'token', 'revoke', username, String(token_id)], nodes.env);
  expect(await onEachNode(token)).toEqual([401, 401, 401]);
  expect(await onEachNode(nodes.owner.token)).toEqual([200, 200, 200]);
}, 60_000);

it('P21: wrong credentials count on all nodes together', async () => {
  const statuses: number[] = [];
  for (let n = 0; n < 12; n += 1)
    statuses.push(await statusOf(nodes.servers[n % nodeCount] as StartedServer, `wrong${n}`));
  // The three of the revoked token count, too.
  const left = burst - nodeCount;
  expect(statuses).toEqual([
    ...Array<number>(left).fill(401),
    ...Array<number>(statuses.length - left).fill(429),
  ]);
}, 60_000);
