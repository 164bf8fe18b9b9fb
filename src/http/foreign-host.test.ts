import { describe, expect, it } from 'bun:test';
import { refuseForeignHosts } from './foreign-host.ts';

const fetch = refuseForeignHosts(() => new Response('served'), {
  baseUrl: 'http://localhost:3000',
  isShareDomain: async (name) => name === 'secrets.example.com',
});
const noPeer = {};

async function statusFor(host: string, origin: string | null, method = 'POST'): Promise<number> {
  const headers = new Headers({ host });
  if (origin !== null) headers.set('origin', origin);
  return (await fetch(new Request('http://localhost/', { method, headers }), noPeer)).status;
}

describe('an installation that is being tried out', () => {
  it('refuses a browser that another site has led here by a name of its own', async () => {
    for (const host of ['evil.example:3000', 'evil.example', 'EVIL.EXAMPLE.', '127.0.0.1.evil.example']) {
      for (const origin of ['http://evil.example:3000', 'null'])
        expect([host, origin, await statusFor(host, origin)]).toEqual([host, origin, 421]);
    }
    const headers = { host: 'evil.example', origin: 'null' };
    const refused = await fetch(new Request('http://localhost/', { method: 'POST', headers }), noPeer);
    const text = await refused.text();
    expect(text).toContain('set MAYFLY_BASE_URL');
    expect(text).not.toContain('evil');
    expect(refused.headers.get('cache-control')).toBe('no-store');
  });

  it('serves a browser at its own names, its addresses and its share domains', async () => {
    for (const host of [
      'localhost:3000',
      'LOCALHOST',
      'localhost.',
      'mayfly.localhost:3000',
      '127.0.0.1:3000',
      '[::1]:3000',
      '[::1]',
      '192.168.0.7:3000',
      'mayfly:3000',
      'secrets.example.com:3000',
    ]) {
      expect([host, await statusFor(host, 'null')]).toEqual([host, 200]);
    }
  });

  it('serves a client that is no browser by whatever name: its Host gives it no power (P20)', async () => {
    for (const method of ['GET', 'POST']) {
      expect(await statusFor('evil.example', null, method)).toBe(200);
      expect(await statusFor('secrets.example.com', null, method)).toBe(200);
    }
  });
});
