/**
 * Expectations of a request (RFC 9110 §10.1.1), over a bare socket.
 */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { connect } from 'node:net';
import { type RunningServer, startServer } from '../../src/http/server.ts';
import { exchange, post, statusesIn } from './raw-exchange.ts';

let server: RunningServer;
const handled: string[] = [];

beforeAll(async () => {
  const fetch = async (request: Request): Promise<Response> => {
    const text = await request.text();
    if (request.method === 'POST') handled.push(text);
    return new Response(text);
  };
  server = await startServer({ fetch, hostname: '127.0.0.1', port: 0, onFault: () => {} });
});

afterAll(async () => {
  await server.stop(0);
});

async function send(expectation: string): Promise<{ statuses: number[]; text: string }> {
  handled.length = 0;
  const text = await exchange(post(`Expect: ${expectation}\r\nContent-Length: 4\r\n`, 'abcd'), {
    port: server.port,
  });
  return { statuses: statusesIn(text).filter((status) => status !== 100), text };
}

/** Sends the body only once the server asks for it. */
function sendOnDemand(): Promise<string> {
  return new Promise((resolve) => {
    let [received, hasBody] = ['', false];
    const head = post('Expect: 100-continue\r\nContent-Length: 4\r\nConnection: close\r\n', '');
    const socket = connect(server.port, '127.0.0.1', () => socket.write(head));
    socket.on('data', (data) => {
      received += data.toString('latin1');
      if (!hasBody && received.includes('100 Continue')) socket.write('abcd');
      hasBody ||= received.includes('100 Continue');
    });
    socket.on('close', () => resolve(received));
  });
}

describe('a request that expects', () => {
  it('100-continue is answered as any other, and its body asked for', async () => {
    for (const expectation of ['100-continue', '100-Continue', '']) {
      const { statuses } = await send(expectation);
      expect([expectation, statuses, handled]).toEqual([expectation, [200, 200], ['abcd']]);
    }
    expect(statusesIn(await sendOnDemand())).toEqual([100, 200]);
  });

  it('anything else is refused with 417, unhandled, and the connection ends: its body may never come', async () => {
    for (const expectation of ['nonsense', '100-continue, nonsense', '100-continue=1', 'x=100-continue']) {
      const { statuses, text } = await send(expectation);
      expect([expectation, statuses, handled]).toEqual([expectation, [417], []]);
      expect(text.toLowerCase()).toContain('\r\nconnection: close\r\n');
    }
  });
});
