/** Parameters that a v1 operation does not know: they have no effect, and the answer names them. */

import { describe, expect, it } from 'bun:test';
import { createV1Caller } from './caller.ts';
import { type Scene, sceneOf } from './refusal-scene.ts';

const json = { 'content-type': 'application/json' };
const header = 'mayfly-ignored';

function multipart(values: Record<string, string>): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(values)) data.append(name, value);
  return data;
}

const carriages = {
  'a form': { body: 'secret=a&passphase=canary&tll=5&tll=6', headers: {} },
  'bytes without a Content-Type': { body: Buffer.from('secret=a&passphase=canary&tll=5'), headers: {} },
  'an unknown Content-Type': {
    body: 'secret=a&passphase=canary&tll=5',
    headers: { 'content-type': 'application/x-nothing' },
  },
  JSON: { body: '{"secret":"a","passphase":"canary","tll":{"x":[5]}}', headers: json },
  multipart: { body: multipart({ secret: 'a', passphase: 'canary', tll: '5' }), headers: {} },
} as const;

interface Call {
  readonly what: string;
  readonly send: (scene: Scene) => ReturnType<Scene['send']>;
  readonly documented: [status: number, header: string | null];
  readonly upstream: [status: number, header: string | null];
}

/** Parameters known to another operation, or in the other dialect, are unknown here. */
const calls: Call[] = [
  {
    what: 'secret, on generate',
    send: (s) => s.post('/generate', { secret: 'x', length: '16' }),
    documented: [200, 'secret'],
    upstream: [200, 'secret'],
  },
  {
    what: 'length and charset, on share',
    send: (s) => s.post('/share', { secret: 'x', length: '1', charset: 'no' }),
    documented: [200, 'length, charset'],
    upstream: [200, 'length, charset'],
  },
  {
    what: 'a list that is not known',
    send: (s) => s.send('POST', '/generate', { body: 'secret[]=a&secret[x]=b&secret[]=c' }),
    documented: [200, 'secret[], secret[x]'],
    upstream: [200, 'secret[], secret[x]'],
  },
  {
    what: 'names in the query and in the body',
    send: (s) => s.send('POST', '/create?one=1&two=2', { form: { secret: 'x', three: '3', one: '4' } }),
    documented: [200, 'one, two, three'],
    upstream: [200, 'one, two, three'],
  },
  {
    what: 'everything but the passphrase, on reveal',
    send: (s) =>
      s.send('POST', `/secret/${s.own.secret_key}?continue=true`, {
        form: { passphrase: 'right', ttl: '60' },
      }),
    documented: [200, 'continue, ttl'],
    upstream: [200, 'continue, ttl'],
  },
  {
    what: 'the passphrase, on a record',
    send: (s) => s.post(`/private/${s.own.metadata_key}`, { passphrase: 'right' }, s.alice),
    documented: [200, 'passphrase'],
    upstream: [200, 'passphrase'],
  },
  {
    what: 'the passphrase on burn, unless it is needed',
    send: (s) =>
      s.post(`/receipt/${s.own.metadata_key}/burn`, { passphrase: 'right', continue: 'true' }, s.alice),
    documented: [200, 'passphrase, continue'],
    upstream: [200, 'continue'],
  },
  {
    what: 'anything at all in a list, by POST',
    send: (s) => s.send('POST', '/private/recent?limit=1', { form: { ttl: '1' }, as: s.alice }),
    documented: [200, 'limit, ttl'],
    upstream: [200, 'limit, ttl'],
  },
  ...['/status', '/authcheck', '/private/recent'].map(
    (path): Call => ({
      what: `anything at all, by GET ${path}`,
      send: (s) => s.send('GET', `${path}?locale=de`, { as: s.alice }),
      documented: [200, 'locale'],
      upstream: [200, 'locale'],
    }),
  ),
  {
    what: 'anything at all, by HEAD of a record',
    send: (s) => s.send('HEAD', `/metadata/${s.own.metadata_key}?x=1`, { as: s.alice }),
    documented: [200, 'x'],
    upstream: [200, 'x'],
  },
  {
    what: 'nothing of a query that a GET cannot read',
    send: (s) => s.send('GET', '/status?x=%', { as: s.alice }),
    documented: [200, null],
    upstream: [200, null],
  },
  {
    what: 'nothing where everything is known',
    send: (s) => s.post('/share', { secret: 'x', ttl: '', recipient: '', share_domain: '', notify: '' }),
    documented: [200, null],
    upstream: [200, null],
  },
  {
    what: 'a name on a refusal for want of a secret',
    send: (s) => s.post('/share', { secrt: 'x' }),
    documented: [400, 'secrt'],
    upstream: [404, 'secrt'],
  },
  {
    what: 'a name after what is refused',
    send: (s) => s.send('POST', '/share', { body: 'secret=a&secret=b&passphase=c' }),
    documented: [400, 'passphase'],
    upstream: [404, 'passphase'],
  },
  {
    what: 'a name in the query of a body that is refused',
    send: (s) => s.send('POST', '/share?passphase=c', { body: '{', headers: json }),
    documented: [400, 'passphase'],
    upstream: [404, 'passphase'],
  },
  {
    what: 'a name on a refusal of the size',
    send: (s) => s.post('/share', { secret: 'x'.repeat(20_000), passphase: 'c' }),
    documented: [413, 'passphase'],
    upstream: [404, 'passphase'],
  },
  {
    what: 'a name where an account is needed',
    send: (s) => s.post('/share', { secret: 'x', recipient: 'joe@example.org', subject: 'c' }),
    documented: [401, 'subject'],
    upstream: [404, 'subject'],
  },
  {
    what: 'a misspelt passphrase, beside the unknown secret that came of it',
    send: (s) => s.post(`/secret/${s.own.secret_key}`, { passprase: 'right' }),
    documented: [404, 'passprase'],
    upstream: [404, 'passprase'],
  },
];

for (const dialect of ['documented', 'upstream'] as const) {
  describe(`Mayfly-Ignored in the ${dialect} dialect`, () => {
    for (const [carriage, call] of Object.entries(carriages)) {
      it(`names what creation does not know, carried by ${carriage}`, async () => {
        const { send } = createV1Caller({ dialect });
        const { status, headers, body } = await send('POST', '/share', call);
        expect([status, headers.get(header)]).toEqual([200, 'passphase, tll']);
        expect([body.passphrase_required, body.ttl]).toEqual([false, 604_800]);
        expect(JSON.stringify([...headers])).not.toContain('canary');
      });
    }
    it('names what the query of a POST without a body holds', async () => {
      const { send } = createV1Caller({ dialect });
      const { headers } = await send('POST', '/share?secret=a&passphase=canary', { body: '' });
      expect(headers.get(header)).toBe('passphase');
    });

    for (const { what, send, ...expected } of calls) {
      it(`names ${what}`, async () => {
        const { status, headers } = await send(await sceneOf({ dialect }));
        expect([status, headers.get(header)]).toEqual(expected[dialect]);
      });
    }

    it('cannot be made another header, or longer than a line', async () => {
      const { send } = createV1Caller({ dialect });
      const name = encodeURIComponent('x\r\nSet-Cookie: session=1\r\n\r\n<p>');
      for (const body of [`secret=a&${name}=1`, `secret=a${`&${name}${'y'.repeat(100)}=1`.repeat(99)}`]) {
        const { status, headers } = await send('POST', '/share', { body });
        expect([status, headers.get(header), headers.get('set-cookie')]).toEqual([200, 'x*', null]);
      }
      const many = Array.from({ length: 99 }, (_, at) => `${'z'.repeat(30)}${at}=1`).join('&');
      const { headers } = await send('POST', '/share', { body: `secret=a&${many}` });
      expect(headers.get(header)?.length).toBeLessThan(900);
    });

    it('names no piece without a value, which may be a piece of the secret (P18): a query loses it, a body is refused', async () => {
      const { send } = createV1Caller({ dialect });
      const plain = { 'content-type': 'text/plain' };
      for (const piece of ['canary', 'secret=a&canary', '{"secret":"canary"}', 'secret=a%20&canary&ttl=60']) {
        const inQuery = await send('POST', `/generate?${encodeURI(piece)}`, { body: '' });
        expect([inQuery.status, inQuery.text.includes('canary')]).toEqual([200, false]);
        expect(JSON.stringify([...inQuery.headers])).not.toContain('canary');
        const inBody = await send('POST', '/share', { body: piece, headers: plain });
        expect([inBody.status, inBody.headers.get(header)]).toEqual([
          dialect === 'upstream' ? 404 : 400,
          null,
        ]);
        expect(inBody.text).toContain('--data-urlencode');
      }
    });

    it('is for pages of an allowed origin to read', async () => {
      const origin = 'https://friend.example';
      const { send } = createV1Caller({ dialect, allowedOrigins: [origin] });
      const { headers } = await send('POST', '/share', {
        form: { secret: 'a', x: '1' },
        headers: { origin },
      });
      expect(headers.get(header)).toBe('x');
      expect(headers.get('access-control-expose-headers')).toContain(header);
    });
  });
}
