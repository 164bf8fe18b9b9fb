/**
 * Regions behind TLS.
 *
 * Proves that nothing is sent to a server whose certificate is not valid for its name. The certificate is its own
 * authority and names only 127.0.0.1; the router learns of it as any program of this runtime does.
 */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { join } from 'node:path';
import { certificate } from '../mail/certificate.ts';
import { requestBytes, sendOnce } from '../support/raw-client.ts';
import { repositoryRoot, startServer } from '../support/started-server.ts';

const certificatePath = join(repositoryRoot, 'test/mail/certificate.pem');
const asked: string[] = [];
let region: Bun.Server<undefined>;

beforeAll(() => {
  region = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: certificate,
    fetch(request) {
      asked.push(`${request.headers.get('host')} ${new URL(request.url).pathname}`);
      return Response.json({ status: 'nominal' });
    },
  });
});
afterAll(() => region.stop(true));

async function ask(address: string, env: Readonly<Record<string, string>>) {
  asked.length = 0;
  await using router = await startServer({
    command: ['src/main.ts', 'router'],
    env: {
      MAYFLY_REGIONS: 'us=https://us.example.com',
      MAYFLY_ROUTER_UPSTREAMS: `us=https://${address}:${region.port}`,
      ...env,
    },
  });
  const { status } = await sendOnce(router.port, requestBytes({ method: 'POST', path: '/api/v1/status' }));
  return { status, asked: [...asked] };
}

describe('a region behind TLS', () => {
  it('is asked under its own Host where its certificate is valid for its address', async () => {
    const { status, asked: seen } = await ask('127.0.0.1', { NODE_EXTRA_CA_CERTS: certificatePath });
    expect(status).toBe(200);
    expect(seen).toEqual(['us.example.com /readyz', 'us.example.com /api/v1/status']);
  });

  it.each([
    ['names another host', 'localhost', { NODE_EXTRA_CA_CERTS: certificatePath }],
    ['is of an unknown authority', '127.0.0.1', {}],
  ])('gets not one request when its certificate %s', async (_what, address, env) => {
    expect(await ask(address, env)).toEqual({ status: 503, asked: [] });
  });
});
