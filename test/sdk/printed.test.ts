/** A log, a template or an error report gets no value and no key by accident. */
import { describe, expect, it } from 'bun:test';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { inspect } from 'node:util';
import { createClient, MayflyError } from '../../sdk/mayfly.ts';

const key = 'abcdefghijklmnopqrstuvwxyz01234';

function answering(record: unknown) {
  const fetch = async () => Response.json({ success: true, record });
  return createClient({ server: 'https://x.example', fetch });
}

describe('what is printed', () => {
  const metadata = { key, state: 'new', metadata_ttl: 120, created: 1_790_000_000 };
  const secret = { key, lifespan: 60, secret_value: 'open sesame' };

  it('never shows a value, which only its property gives (P18)', async () => {
    for (const result of [
      await answering({ key, secret_value: 'open sesame' }).reveal(key),
      await answering({ metadata, secret }).generate({ plain: true }),
    ]) {
      expect([result.secretKey, result.value]).toEqual([key, 'open sesame']);
      for (const text of [
        inspect(result),
        inspect({ deep: [result] }, { showHidden: true }),
        Bun.inspect(result),
        JSON.stringify({ result }),
      ]) {
        expect(text).not.toContain('open sesame');
        expect(text).toContain('[sensitive]');
        expect(text).toContain(key);
      }
      for (const text of [`${result}`, JSON.stringify({ ...result }), Object.values(result).join()])
        expect(text).not.toContain('open sesame');
      expect(() => Object.assign(result, { value: 'another' })).toThrow(TypeError);
    }
  });

  const broken: Readonly<Record<string, string>> = {
    'a connection that is closed': '',
    'a redirect': 'HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n',
  };
  for (const [what, answer] of Object.entries(broken)) {
    it(`never shows the address of a request, because it holds the key: ${what}`, async () => {
      const server = createServer((socket) => {
        socket.on('error', () => {});
        socket.once('data', () => socket.end(answer));
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const { port } = server.address() as AddressInfo;
      const client = createClient({ server: `http://127.0.0.1:${port}` });
      const error = await client.reveal(key).catch((thrown: unknown) => thrown);
      server.close();
      if (!(error instanceof MayflyError)) throw new Error('it did not fail');
      expect([error.code, error.cause instanceof Error]).toEqual(['unreachable', true]);
      for (const text of [inspect(error), Bun.inspect(error), JSON.stringify(error.cause)])
        expect(text).not.toContain(key);
    });
  }
});
