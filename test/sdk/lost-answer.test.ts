/** A reveal whose answer is lost: through a connection that is cut after the server has done its part. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { createClient, type Fetch, type MayflyClient, newLook } from '../../sdk/mayfly.ts';
import { type CuttingProxy, openCuttingProxy } from '../support/cutting-proxy.ts';
import { createAccount, type StartedServer, startServer } from '../support/started-server.ts';
import { failure, recordRequests } from './observed.ts';

let server: StartedServer;
let proxy: CuttingProxy;
let origin: string;
let account: MayflyClient;
const { sent, recording } = recordRequests();
const sentTo = (path: string) => sent.filter((each) => each.split('\n')[0]?.endsWith(path));

beforeAll(async () => {
  server = await startServer();
  proxy = await openCuttingProxy(server.port);
  const { username, token } = await createAccount(server.dataDir, 'jo@example.org');
  origin = `http://127.0.0.1:${server.port}`;
  account = createClient({ server: origin, credentials: { username, token }, fetch: recording });
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

describe('an answer that is lost', () => {
  const through = () => createClient({ server: proxy.origin, fetch: recording });
  const reveals = /^POST \S+\/reveal HTTP/;

  for (const plain of [false, true])
    it(`is asked for again with the same look, which then ends: ${plain ? 'plain' : 'sealed'} (P1)`, async () => {
      for (const lost of [0, 1, 2]) {
        const { link, metadataKey } = await account.conceal({ value: 'kept', passphrase: 'thyme', plain });
        sent.length = 0;
        proxy.cut(reveals, lost);
        const again = link.replace(origin, proxy.origin);
        expect((await through().reveal(again, { passphrase: 'thyme' })).value).toBe('kept');
        const asked = sentTo('/reveal').map(
          (each) => JSON.parse(each.split('\n')[2] ?? '') as { look: string },
        );
        expect([asked.length, new Set(asked.map((body) => JSON.stringify(body))).size]).toEqual([
          lost + 1,
          1,
        ]);
        expect(sentTo('/reveal/done')).toHaveLength(1);
        const [{ look } = { look: '' }] = asked;
        const options = { passphrase: 'thyme', look };
        expect((await failure(account.reveal(link, options))).code).toBe('unknown_secret');
        expect((await account.receipt(metadataKey)).state).toBe('received');
      }
    });

  it('is lost after the third, and nobody else reads it', async () => {
    const { link } = await account.conceal({ value: 'x' });
    proxy.cut(reveals, 3);
    sent.length = 0;
    expect((await failure(through().reveal(link.replace(origin, proxy.origin)))).code).toBe('unreachable');
    expect([sentTo('/reveal').length, sentTo('/reveal/done').length]).toEqual([3, 0]);
    expect((await failure(account.reveal(link))).code).toBe('unknown_secret');
  });

  it('is not asked for again when the caller wants it strictly once, or asks by himself', async () => {
    for (const options of [{ strictlyOnce: true }, { look: newLook() }]) {
      const { link } = await account.conceal({ value: 'x' });
      proxy.cut(reveals, 1);
      sent.length = 0;
      expect((await failure(through().reveal(link.replace(origin, proxy.origin), options))).code).toBe(
        'unreachable',
      );
      expect([sentTo('/reveal').length, sentTo('/reveal/done').length]).toEqual([1, 0]);
      expect(sent.join().includes('"look"')).toBe('look' in options);
    }
  });

  it('a caller with a look of his own asks again as often as the server allows, until he is done', async () => {
    for (const plain of [true, false]) {
      const look = newLook();
      const { link } = await account.conceal({ value: 'kept', passphrase: 'thyme', plain });
      const options = { passphrase: 'thyme', look };
      expect((await account.reveal(link, options)).value).toBe('kept');
      expect((await account.reveal(link, options)).value).toBe('kept');
      expect((await failure(account.reveal(link, { ...options, look: newLook() }))).code).toBe(
        'unknown_secret',
      );
      await account.done(link, look);
      await account.done(link, look);
      expect((await failure(account.reveal(link, options))).code).toBe('unknown_secret');
    }
    sent.length = 0;
    for (const wrong of [{ look: 'x' }, { look: newLook(), strictlyOnce: true }])
      expect((await failure(account.reveal('0'.repeat(31), wrong))).field).toBe('look');
    expect(sent).toEqual([]);
  });

  it('does not cost what arrived: an end that fails is no failure', async () => {
    const { link } = await account.conceal({ value: 'kept' });
    proxy.cut(/\/reveal\/done HTTP/, 1);
    expect((await through().reveal(link.replace(origin, proxy.origin))).value).toBe('kept');
  });

  it('is not taken for lost after a refusal', async () => {
    for (const status of [404, 409, 422, 429, 503]) {
      let calls = 0;
      const refuse: Fetch = async () => {
        calls += 1;
        return Response.json({ error: 'unavailable', message: 'no' }, { status });
      };
      await failure(createClient({ server: 'https://x.example', fetch: refuse }).reveal('0'.repeat(31)));
      expect([status, calls]).toEqual([status, 1]);
    }
    for (const [status, tries] of [
      [502, 3],
      [403, 1],
    ] as const) {
      let calls = 0;
      const gateway: Fetch = async () => {
        calls += 1;
        return new Response('<html>', { status });
      };
      await failure(createClient({ server: 'https://x.example', fetch: gateway }).reveal('0'.repeat(31)));
      expect([status, calls]).toEqual([status, tries]);
    }
  });
});
