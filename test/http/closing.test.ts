/**
 * `Connection: close` in requests and answers (RFC 9112 §9.6), as a Node client sees it.
 *
 * A client that pools its sockets reuses one unless the answer says that the server closes it. A server that closes it
 * silently costs the next request its answer, and then it is unknown whether a POST was carried out.
 */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { answerEarly } from '../../src/http/health.ts';
import { type InternalServer, startInternalServer } from '../../src/http/internal-server.ts';
import { type RunningServer, startServer } from '../../src/http/server.ts';
import { labelOf, ownAddress, startTestRouter } from '../regions/started-router.ts';
import { createTestApp } from '../support/app.ts';
import { startNodeClient } from '../support/node-client.ts';
import { requestBytes, sendOnce } from '../support/raw-client.ts';

const us = labelOf('us');
const app = createTestApp({ regions: { own: us, all: [{ label: us, baseUrl: ownAddress('us') }] } });
const client = startNodeClient();
const faults: unknown[] = [];
let server: RunningServer;
let router: Awaited<ReturnType<typeof startTestRouter>>;
let early: RunningServer;
let internal: Extract<InternalServer, { outcome: 'listening' }>;

/** The application, and what answers where there is none. */
function answer(request: Request): Response | Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname === '/readyz') return new Response('{}');
  if (pathname === '/throws') throw new Error('expected');
  if (pathname === '/rejects') return Promise.reject(new Error('expected'));
  return app.handler(request);
}

async function startInternal() {
  const deps = {
    metrics: { render: async () => 'a 1' },
    isVerified: async (name: string) => name === 'secrets.example.com',
    onFault: (error: unknown) => faults.push(error),
  };
  const started = await startInternalServer({ hostname: '127.0.0.1', port: 0 }, deps);
  if (started.outcome === 'refused') throw new Error(started.problem);
  return started;
}

beforeAll(async () => {
  const onFault = (error: unknown) => faults.push(error);
  const at = { hostname: '127.0.0.1', port: 0, onFault };
  server = await startServer({ fetch: answer, ...at });
  early = await startServer({ fetch: answerEarly(''), ...at });
  internal = await startInternal();
  router = await startTestRouter({ regions: { us: [server.port] } });
});

afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await router[Symbol.asyncDispose]();
  await Promise.all([server.stop(1_000), early.stop(0), internal.stop()]);
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

type Headers = Readonly<Record<string, string>>;
type Case = readonly [line: string, status: number, headers?: Headers, body?: string];

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const own = { ...form, origin: 'https://mayfly.example' };
const json = { 'content-type': 'application/json' };
const tooLarge = { ...form, 'content-length': '9000000' };

const answers: Readonly<Record<string, { readonly port: () => number; readonly cases: readonly Case[] }>> = {
  'the server': {
    port: () => server.port,
    cases: [
      ['GET /', 200],
      ['HEAD /', 200],
      ['OPTIONS /share', 204],
      ['PUT /share', 405],
      ['GET /favicon.ico', 204],
      ['GET /icon.svg', 200],
      ['GET /sdk/mayfly.js', 200],
      ['GET /recent', 303],
      ['GET /receipt', 404],
      ['POST /share', 303, own, 'secret=x&ttl=604800'],
      ['POST /share', 400, own, 'secret=%'],
      ['POST /share', 413, { ...own, ...tooLarge }],
      ['GET /api', 308],
      ['GET /api/v1/status', 200],
      ['HEAD /api/v1/status', 200],
      ['OPTIONS /api/v1/status', 204],
      ['PUT /api/v1/status', 405],
      ['POST /api/v1/share', 200, form, 'secret=x'],
      ['POST /api/v1/share', 400, form, 'secret=%'],
      ['POST /api/v1/share', 403, { ...form, 'sec-fetch-site': 'cross-site' }, 'secret=x'],
      ['POST /api/v1/share', 413, tooLarge],
      ['GET /api/v1/authcheck', 401],
      ['POST /api/v2/secret/conceal', 415, form, 'secret=x'],
      ['POST /api/v2/secret/conceal', 422, json, '{}'],
      ['GET /api/v3', 404],
      ['GET /api/v2/status', 400, { host: 'a b' }],
      ['GET /api/v2/status', 417, { expect: 'much' }],
      ['GET /throws', 500],
      ['GET /rejects', 500],
    ],
  },
  'the router': {
    port: () => router.port,
    cases: [
      ['GET /healthz', 200],
      ['PUT /readyz', 405],
      ['GET /', 307],
      ['GET /api/v2/status', 200],
      ['HEAD /api/v2/status', 200],
      ['PUT /api/v2/status', 405],
      ['GET /api/v2/authcheck', 401],
      ['POST /api/v1/share', 200, form, 'secret=x'],
      ['POST /api/v1/share', 413, tooLarge],
      ['GET /api/v2/status', 400, { connection: 'close, content-type' }],
    ],
  },
  'a server that waits for its store': {
    port: () => early.port,
    cases: [
      ['GET /healthz', 200],
      ['GET /readyz', 503],
      ['POST /api/v1/share', 503, form, 'secret=x'],
    ],
  },
  'the internal port': {
    port: () => internal.port,
    cases: [
      ['GET /metrics', 200],
      ['HEAD /metrics', 200],
      ['POST /metrics', 405],
      ['GET /ask?domain=secrets.example.com', 200],
      ['GET /ask?domain=other.example.com', 404],
      ['GET /nothing', 404],
      ['GET /metrics', 421, { host: 'evil.example' }],
    ],
  },
};

for (const [name, { port, cases }] of Object.entries(answers)) {
  describe(`whatever ${name} answers, it says that it closes when asked to:`, () => {
    for (const [line, status, headers = {}, body] of cases) {
      it(`${line} with ${JSON.stringify(headers)} (${status})`, async () => {
        const [method = '', path = ''] = line.split(' ');
        const sent = { method, path, ...(body !== undefined && { body }) };
        const bytes = requestBytes({ ...sent, headers: { connection: 'close', ...headers } });
        const told = await sendOnce(port(), bytes);
        expect([told.status, told.headers.get('connection')]).toEqual([status, 'close']);
      });
    }
  });
}

it('ends no request in a fault that was not thrown for it', () => {
  const unexpected = faults.filter((fault) => !(fault instanceof Error && fault.message === 'expected'));
  expect([unexpected, app.faults, faults.length]).toEqual([[], [], 2]);
});
