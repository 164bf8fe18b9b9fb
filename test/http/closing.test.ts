/**
 * `Connection: close` in requests and answers (RFC 9112 §9.6), as a Node client sees it.
 *
 * A client that pools its sockets reuses one unless the answer says that the server closes it. A server that closes it
 * silently costs the next request its answer, and then it is unknown whether a POST was carried out.
 */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { type RunningServer, startServer } from '../../src/http/server.ts';
import { labelOf, ownAddress, startTestRouter } from '../regions/started-router.ts';
import { createTestApp } from '../support/app.ts';
import { startNodeClient } from '../support/node-client.ts';

const us = labelOf('us');
const app = createTestApp({ regions: { own: us, all: [{ label: us, baseUrl: ownAddress('us') }] } });
const client = startNodeClient();
const faults: unknown[] = [];
let server: RunningServer;
let router: Awaited<ReturnType<typeof startTestRouter>>;

beforeAll(async () => {
  const onFault = (error: unknown) => faults.push(error);
  const fetch = (request: Request) =>
    request.url.endsWith('/readyz') ? new Response('{}') : app.handler(request);
  server = await startServer({ fetch, hostname: '127.0.0.1', port: 0, onFault });
  router = await startTestRouter({ regions: { us: [server.port] } });
});

afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await router[Symbol.asyncDispose]();
  await server.stop(1_000);
});

const doors: readonly (readonly [name: string, port: () => number])[] = [
  ['the server', () => server.port],
  ['the router', () => router.port],
];

for (const [name, port] of doors) {
  describe(name, () => {
    const at = (path: string) => `http://127.0.0.1:${port()}${path}`;

    for (const asked of ['close', 'Close', 'keep-alive, close', 'close,TE']) {
      it(`answers close to "Connection: ${asked}", whatever the answer is`, async () => {
        const headers = { connection: asked };
        for (const path of ['/api/v1/status', '/api/v2/status', '/nowhere', '/', '/api/v1/secret/no-key']) {
          const { headers: told } = await client.send({ url: at(path), method: 'GET', headers });
          expect([path, told.connection]).toEqual([path, 'close']);
        }
      });
    }

    it('answers 300 of 300 requests of a pool that asks for close', async () => {
      const headers = { connection: 'close' };
      const { ends, sockets } = await client.sendMany(
        { url: at('/api/v1/status'), method: 'GET', headers },
        300,
      );
      expect([ends, sockets]).toEqual([{ '200': 300 }, 300]);
    });

    it('keeps the connection of a client that asks for nothing, or for something like it', async () => {
      for (const headers of [{}, { connection: 'keep-alive' }, { connection: 'closed' }]) {
        const run = await client.sendMany({ url: at('/api/v1/status'), method: 'GET', headers }, 100);
        expect(run.ends).toEqual({ '200': 100 });
        expect(run.sockets).toBeLessThanOrEqual(1);
      }
    });
  });
}

it('ends no request in a fault', () => expect([...faults, ...app.faults]).toEqual([]));
