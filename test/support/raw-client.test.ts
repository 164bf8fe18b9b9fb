/** The raw client reads whole answers, and shows what arrived of cut ones. */
import { expect, it } from 'bun:test';
import { createServer } from 'node:net';
import { ConnectionCut, openConnection, parseAnswer, requestBytes } from './raw-client.ts';
import { freePort } from './started-server.ts';

const bytes = (text: string) => Buffer.from(text.replaceAll('\n', '\r\n'));

it('an answer with a length ends at its length, and what follows is left', () => {
  const parsed = parseAnswer(bytes('HTTP/1.1 200 OK\nContent-Length: 3\nX-A:  b\n\nabcHTTP'));
  expect(parsed?.answer).toMatchObject({ status: 200, body: 'abc' });
  expect(parsed?.answer.headers.get('x-a')).toBe('b');
  expect(parsed?.rest.toString()).toBe('HTTP');
});

it('an answer in chunks is put together', () => {
  const text = 'HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3\nabc\n2\nde\n0\n\n';
  expect(parseAnswer(bytes(text))?.answer.body).toBe('abcde');
  for (let end = 1; end < bytes(text).length; end += 1) {
    expect(parseAnswer(bytes(text).subarray(0, end))).toBeNull();
  }
});

it('an answer to HEAD and a 204 have no body, whatever they say', () => {
  expect(parseAnswer(bytes('HTTP/1.1 200 OK\nContent-Length: 3\n\n'), true)?.answer.body).toBe('');
  expect(parseAnswer(bytes('HTTP/1.1 204 No Content\n\n'))?.answer.status).toBe(204);
});

it('a request is held back by one byte until it is released, and a cut answer shows what had come', async () => {
  const first = Promise.withResolvers<string>();
  const port = await freePort();
  const server = createServer((socket) => {
    let text = '';
    socket.on('data', (part) => {
      text += part;
      if (text.includes('abc')) first.resolve(text);
      if (text.endsWith('!')) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\na secret');
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const connection = await openConnection(port);
  const request = requestBytes({ method: 'POST', path: '/', body: 'abc!' });
  await connection.hold(request);
  expect(await first.promise).toEndWith('abc');
  const cut = await connection.release().catch((fault: unknown) => fault);
  expect(cut).toBeInstanceOf(ConnectionCut);
  expect((cut as ConnectionCut).partial).toEndWith('a secret');
  await new Promise((resolve) => server.close(resolve));
});
