/**
 * A request with another one in the same packet, at the router: it reaches no region, because its answer could not
 * leave.
 */
import { expect, it } from 'bun:test';
import { connect } from 'node:net';
import { generateSecretKey } from '../../src/core/keys.ts';
import { requestBytes, sendOnce } from '../support/raw-client.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { startFakeRegion, whole } from './fake-region.ts';
import { labelOf, startTestRouter } from './started-router.ts';

const usKey = generateSecretKey(seededRandom('pipelining'), labelOf('us'));
const posts = [
  requestBytes({ method: 'POST', path: `/api/v1/secret/${usKey}`, body: 'passphrase=x' }),
  requestBytes({ method: 'POST', path: `/api/v1/secret/${usKey}` }),
  requestBytes({ method: 'POST', path: `/api/v2/secret/${usKey}/reveal`, body: '{}' }),
  requestBytes({ method: 'POST', path: '/api/v1/share', body: 'secret=x' }),
];
const next = requestBytes({ method: 'GET', path: '/api/v1/status' });

/** Everything received until the connection is closed. */
function everythingSentTo(port: number, bytes: Buffer): Promise<string> {
  return new Promise((resolve) => {
    let answered = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.on('data', (part) => {
      answered += part.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(answered));
  });
}

it('a POST with another request in its packet reaches no region, and alone it does (P3)', async () => {
  using us = await startFakeRegion();
  us.answerWith(({ socket }) => socket.write(whole('ok')));
  await using router = await startTestRouter({ regions: { us: [us.port] } });
  // From here on there is a free connection to the region: nothing else holds a request back.
  expect((await sendOnce(router.port, posts[0] ?? next)).status).toBe(200);
  for (const post of posts) {
    expect([await everythingSentTo(router.port, Buffer.concat([post, next])), us.arrived.length]).toEqual([
      '',
      1,
    ]);
  }
  expect((await sendOnce(router.port, posts[0] ?? next)).status).toBe(200);
  expect([us.arrived.length, us.partial()]).toEqual([2, '']);
});
