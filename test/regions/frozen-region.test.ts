/** P3, P23: a region that keeps its connections and answers nothing any more, as a stopped process does, or a machine without power. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { generateSecretKey } from '../../src/core/keys.ts';
import { systemRandom } from '../../src/crypto/random.ts';
import { labelOf, startTestRouter } from './started-router.ts';

setDefaultTimeout(60_000);

const ready = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}';
const sockets = new Set<Socket>();
let isFrozen = false;
const arrived = Promise.withResolvers<void>();
const region = createServer((socket) => {
  sockets.add(socket);
  socket.on('error', () => {});
  socket.on('data', (bytes) => {
    const isReveal = bytes.toString('latin1').startsWith('POST ');
    if (isReveal) isFrozen = true;
    if (isReveal) arrived.resolve();
    if (!isFrozen) socket.write(ready);
  });
});

afterAll(() => {
  for (const socket of sockets) socket.destroy();
  region.close();
});

test('what is under way there ends when the region is lost, and the answer says what is not known', async () => {
  await once(region.listen(0, '127.0.0.1'), 'listening');
  const { port } = region.address() as AddressInfo;
  // As in production: without the end, an answer would come after 28 s.
  await using router = await startTestRouter({ regions: { us: [port] }, limits: { answerMs: 28_000 } });
  const key = generateSecretKey(systemRandom, labelOf('us'));
  const api = `http://127.0.0.1:${router.port}/api/v2/secret/${key}`;
  const startedMs = performance.now();
  const revealing = fetch(`${api}/reveal`, { method: 'POST' });
  await arrived.promise;
  const [reveal, look] = await Promise.all([revealing, fetch(`${api}/status`)]);
  expect(performance.now() - startedMs).toBeLessThan(15_000);
  expect([reveal.status, await reveal.json()]).toMatchObject([
    503,
    {
      error: 'unavailable',
      message: expect.stringMatching(
        /^The region us did not answer\. The request may or may not have been carried out/,
      ),
    },
  ]);
  expect([look.status, await look.json()]).toMatchObject([
    503,
    { message: expect.stringMatching(/^The region us is not available right now\. Nothing was done there/) },
  ]);
  expect(router.changes).toContain('us lost');
});
