/** What a page of another site can do with the credentials a browser holds for this one: nothing. */
import { describe, expect, it } from 'bun:test';
import { createTestApp, type TestAppOptions } from '../support/app.ts';

const friend = 'https://friend.example';
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const json = { 'content-type': 'application/json' };

const calls = [
  ['v1', '/api/v1/share', (key: string) => `/api/v1/private/${key}/burn`, form, 'secret=x', ''],
  [
    'v2',
    '/api/v2/secret/conceal',
    (key: string) => `/api/v2/private/${key}/burn`,
    json,
    '{"secret":{"secret":"x"}}',
    '{}',
  ],
] as const;

describe.each(calls)(
  '%s, with the credentials of an account',
  (_version, share, burn, type, shared, burned) => {
    async function scene(options: TestAppOptions = {}) {
      const app = createTestApp(options);
      const { authorization } = await app.account();
      const headers = { ...type, authorization };
      const send = (path: string, body: string, more: object = {}) =>
        app.fetch(path, { method: 'POST', headers: { ...headers, ...more }, body });
      const made = await (await send(share, shared)).json();
      const metadataKey: string = made.metadata_key ?? made.record.metadata.key;
      const state = async () => {
        const found = await app.service.findReceipt(
          { metadataKey, authority: 'holder' },
          { kind: 'anonymous' },
        );
        return found.outcome === 'found' ? found.receipt.state : found.outcome;
      };
      return { burn: (more: object) => send(burn(metadataKey), burned, more), state };
    }

    it.each([
      ['marked cross-site', { 'sec-fetch-site': 'cross-site' }],
      ['marked same-site', { 'sec-fetch-site': 'same-site' }],
      [
        'marked same-site, of our own origin',
        { 'sec-fetch-site': 'same-site', origin: 'https://mayfly.example' },
      ],
      ['unmarked, of another origin', { origin: 'https://evil.example' }],
      ['unmarked, of an origin that is kept back', { origin: 'null' }],
      ['unmarked, of a neighbour', { origin: 'https://sub.mayfly.example' }],
      ['unmarked, of the host it is sent to', { origin: 'http://localhost' }],
    ])('refuses a POST that is %s, and nothing is burned', async (_what, more) => {
      const { burn, state } = await scene({ allowedOrigins: [friend] });
      expect([(await burn(more)).status, await state()]).toEqual([403, 'new']);
    });

    it.each([
      ['a program', {}],
      ['our own pages', { 'sec-fetch-site': 'same-origin', origin: 'https://mayfly.example' }],
      ['our own pages in a browser without Fetch Metadata', { origin: 'https://mayfly.example' }],
      ['an allowed origin', { 'sec-fetch-site': 'cross-site', origin: friend }],
      ['an allowed origin in a browser without Fetch Metadata', { origin: friend }],
    ])('admits a POST from %s', async (_who, more) => {
      const { burn, state } = await scene({ allowedOrigins: [friend] });
      expect([(await burn(more)).status, await state()]).toEqual([200, 'burned']);
    });

    it('refuses the page of a share domain, which is its owner’s', async () => {
      const { burn, state } = await scene();
      const more = { host: 'secrets.example.com', origin: 'https://secrets.example.com' };
      expect([(await burn(more)).status, await state()]).toEqual([403, 'new']);
    });
  },
);
