/** Every path of v1 with every method, from the table of the wire contract. */

import { describe, expect, it } from 'bun:test';
import { v1Operations } from '../../src/api/v1/operations.ts';
import { message, type Scene, sceneOf } from './refusal-scene.ts';

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
type Method = (typeof methods)[number];

const names = ['private', 'metadata', 'receipt'] as const;

/** As the wire contract lists them; a path with a key names its kind. */
const served: readonly (readonly [path: string, methods: readonly ('GET' | 'POST')[]])[] = [
  ['/status', ['GET']],
  ['/authcheck', ['GET']],
  ['/share', ['POST']],
  ['/create', ['POST']],
  ['/generate', ['POST']],
  ['/secret/:secret_key', ['POST']],
  ...names.flatMap(
    (name) =>
      [
        [`/${name}/recent`, ['GET', 'POST']],
        [`/${name}/:metadata_key`, ['GET', 'POST']],
        [`/${name}/:metadata_key/burn`, ['POST']],
      ] as const,
  ),
];

function allowOf(own: readonly string[]): string {
  return [
    ...(own.includes('GET') ? ['GET', 'HEAD'] : []),
    ...(own.includes('POST') ? ['POST'] : []),
    'OPTIONS',
  ].join(', ');
}

const withKeys = (path: string, { own }: Scene) =>
  path.replace(':secret_key', own.secret_key).replace(':metadata_key', own.metadata_key);

const notFound = { error: 'Not Found', message: 'Not Found' };
const form = { secret: 'a', passphrase: 'right' };

describe('the paths of v1', () => {
  it('are those of the wire contract and no others', () => {
    const told = served.flatMap(([path, own]) => own.map((method) => `${method} ${path}`));
    const ways = Object.values(v1Operations).flatMap((operation) => [
      { method: operation.method, path: operation.path },
      ...(operation.aliases ?? []),
    ]);
    expect(ways.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(told.sort());
  });
});

for (const dialect of ['documented', 'upstream'] as const) {
  describe(`the paths of v1 in the ${dialect} dialect`, () => {
    for (const [path, own] of served) {
      const answers = (method: Method) =>
        method === 'OPTIONS' || own.some((one) => one === method || (one === 'GET' && method === 'HEAD'));

      it(`${path} answers ${allowOf(own)}, and another method 405 with Allow`, async () => {
        for (const method of methods) {
          const scene = await sceneOf({ dialect });
          const answer = await scene.send(method, withKeys(path, scene), { form, as: scene.alice });
          if (answers(method))
            expect([method, answer.status]).toEqual([method, method === 'OPTIONS' ? 204 : 200]);
          else if (method !== 'HEAD')
            expect(answer.body).toEqual(dialect === 'upstream' ? notFound : message('Method Not Allowed'));
          if (!answers(method)) expect(answer.status).toBe(dialect === 'upstream' ? 404 : 405);
          const allow = method === 'OPTIONS' || answer.status === 405 ? allowOf(own) : null;
          expect(answer.headers.get('allow')).toBe(allow);
          if (method === 'OPTIONS' || method === 'HEAD') expect(answer.text).toBe('');
        }
      });

      it(`${path} answers a slash at its end ${path.includes(':') ? 'as unknown' : 'alike'}`, async () => {
        for (const method of own) {
          const scene = await sceneOf({ dialect });
          const { status, body } = await scene.send(method, `${withKeys(path, scene)}/`, {
            form,
            as: scene.alice,
          });
          expect(status).toBe(path.includes(':') ? 404 : 200);
          if (status === 404) expect(body).toEqual(notFound);
        }
      });

      if (own.includes('GET')) {
        it(`${path} answers HEAD with the status and the length of GET`, async () => {
          const scene = await sceneOf({ dialect });
          for (const as of [scene.alice, undefined]) {
            const get = await scene.send('GET', withKeys(path, scene), { as });
            const head = await scene.send('HEAD', withKeys(path, scene), { as });
            expect([head.status, head.text]).toEqual([get.status, '']);
            expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(get.text)));
            expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
          }
        });
      }
    }

    it('never show the value to the creator, generated or not, at the first look or later', async () => {
      const { app, post, get, alice } = await sceneOf({ dialect });
      for (const path of ['/share', '/generate']) {
        const made = (await post(path, { secret: 'canary', length: '64' }, alice)).body;
        const value = made.value ?? 'canary';
        for (const look of [
          () => post(`/private/${made.metadata_key}`, {}, alice),
          () => get('/private/recent', alice),
        ]) {
          const { text, status } = await look();
          expect(status).toBe(200);
          expect(text).not.toContain(value);
        }
      }
      expect(app.faults).toEqual([]);
    });

    it('answer an unknown key, one of another kind and one in upper case alike, with the key as given', async () => {
      const { post, own, alice } = await sceneOf({ dialect });
      for (const key of [
        '0'.repeat(31),
        own.metadata_key,
        own.secret_key.toUpperCase(),
        `${own.secret_key}%20`,
      ]) {
        const { status, text } = await post(`/secret/${key}`, { passphrase: 'right' }, alice);
        const given = decodeURIComponent(key);
        expect([status, text]).toEqual([
          404,
          JSON.stringify({ message: 'Unknown secret', secret_key: given }),
        ]);
      }
    });

    it('take a passphrase of 1,024 bytes whole', async () => {
      const { share, post } = await sceneOf({ dialect });
      const passphrase = 'ä'.repeat(512);
      const { secret_key: key } = await share({ passphrase });
      expect((await post(`/secret/${key}`, { passphrase: `${passphrase.slice(1)}b` })).status).toBe(404);
      expect((await post(`/secret/${key}`, { passphrase })).status).toBe(200);
    });
  });
}
