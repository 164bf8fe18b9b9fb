/**
 * Clients that start a request and stall.
 *
 * Proves that stalled connections are closed within the stated limits (headers 12 s, body 10 s with an answer that says
 * so) while honest requests are answered (P21). Source of the limits: the headers of src/http/server.ts and body.ts.
 */
import { expect, test } from 'bun:test';
import { createV1, readMade } from '../support/calls.ts';
import { openConnection, type RawConnection, requestBytes } from '../support/raw-client.ts';
import { openPool, startServer } from '../support/started-server.ts';

const stalledCount = 50;
const headerLimitMilliseconds = 12_000;
/** The 10 s limit is kept to within a tenth. */
const bodyLimitMilliseconds = 11_000;
/** For a loaded machine: what matters is that they are closed, not the exact time. */
const marginMilliseconds = 4_000;

const wholeHead = requestBytes({
  method: 'POST',
  path: '/api/v1/share',
  headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': '100' },
});

/** Milliseconds until the other side closes each; `null` if still open after the limit and its margin. */
function timeEnds(connections: readonly RawConnection[], limitMilliseconds: number) {
  const startedAt = performance.now();
  return Promise.all(
    connections.map(async ({ closed }) => {
      const { promise, resolve } = Promise.withResolvers<null>();
      const timer = setTimeout(() => resolve(null), limitMilliseconds + marginMilliseconds);
      const ended = closed.then(() => performance.now() - startedAt);
      const time = await Promise.race([ended, promise]);
      clearTimeout(timer);
      return time;
    }),
  );
}

/** Sends some bytes and nothing more, without waiting for an answer. */
async function stall(connections: readonly RawConnection[], bytes: string): Promise<void> {
  // `hold` keeps back the last byte, so one extra byte is passed.
  await Promise.all(connections.map((connection) => connection.hold(Buffer.from(`${bytes}.`, 'latin1'))));
}

test.concurrent('P21: fifty clients that stall in their headers and fifty in their body are ended in time, and others are served', async () => {
  await using server = await startServer();
  using inHeaders = await openPool(server.port, stalledCount);
  using inBody = await openPool(server.port, stalledCount);
  await stall(inHeaders.connections, 'P');
  await stall(inBody.connections, `${wholeHead.toString('latin1')}s`);
  const ends = Promise.all([
    timeEnds(inHeaders.connections, headerLimitMilliseconds),
    timeEnds(inBody.connections, bodyLimitMilliseconds),
  ]);

  const honest = await openConnection(server.port);
  let isOver = false;
  void ends.finally(() => {
    isOver = true;
  });
  const milliseconds: number[] = [];
  while (!isOver) {
    const sentAt = performance.now();
    expect(readMade(await honest.send(createV1({ value: 'honest' })))).not.toBeNull();
    milliseconds.push(performance.now() - sentAt);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  honest.destroy();
  const sorted = milliseconds.sort((a, b) => a - b);
  const [headerEnds, bodyEnds] = await ends;
  const latest = (times: readonly (number | null)[]) => Math.max(...times.map((time) => time ?? Infinity));
  console.log(
    `slow: headers ended after ${latest(headerEnds).toFixed(0)} ms at the latest, bodies after ${latest(bodyEnds).toFixed(0)} ms; ` +
      `${sorted.length} honest requests, p99 ${(sorted[Math.floor(sorted.length * 0.99)] ?? 0).toFixed(1)} ms`,
  );
  expect(headerEnds).not.toContain(null);
  expect(bodyEnds).not.toContain(null);
}, 60_000);

test.concurrent('a server without a limit is caught', async () => {
  await using server = await startServer({
    command: ['test/support/defective-server.ts'],
    env: { DEFECT: 'no-time-limit' },
  });
  using inBody = await openPool(server.port, 3);
  await stall(inBody.connections, `${wholeHead.toString('latin1')}s`);
  expect(await timeEnds(inBody.connections, bodyLimitMilliseconds)).toContain(null);
}, 60_000);
