/** A started server on loopback that another site's page reaches through its own name (DNS rebinding). */
import { expect, it } from 'bun:test';
import { startServer } from '../support/started-server.ts';
import { exchange, statusesIn } from './raw-exchange.ts';

function share(host: string, more = ''): string {
  const body = 'secret=x';
  const head = `Host: ${host}\r\n${more}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n`;
  return `POST /api/v1/share HTTP/1.1\r\n${head}Connection: close\r\n\r\n${body}`;
}

it('answers 421 to that page, and serves its own, and clients by any name', async () => {
  await using server = await startServer();
  const ask = async (bytes: string) =>
    statusesIn(await exchange(bytes, { port: server.port, thenClose: false }));
  const evil = `evil.example:${server.port}`;
  expect(await ask(share(evil, `Origin: http://${evil}\r\n`))).toEqual([421]);
  expect(await ask(share(evil))).toEqual([200]);
  expect(await ask(share(`localhost:${server.port}`, 'Origin: null\r\n'))).toEqual([200]);
  const page = `GET / HTTP/1.1\r\nHost: ${evil}\r\nAccept: text/html\r\nConnection: close\r\n\r\n`;
  expect(await ask(page)).toEqual([421]);
  const health = `GET /healthz HTTP/1.1\r\nHost: ${evil}\r\nConnection: close\r\n\r\n`;
  expect(await ask(health)).toEqual([200]);
}, 60_000);
