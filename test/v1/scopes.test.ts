/** What each API token may do over v1: the scope of every operation, in both dialects. */

import { describe, expect, it } from 'bun:test';
import { type TokenScope, tokenScopes } from '../../src/core/account.ts';
import type { TestAccount } from '../support/app.ts';
import { narrowed } from '../support/narrow-token.ts';
import type { Answer } from './caller.ts';
import { message, type Scene, sceneOf } from './refusal-scene.ts';

interface Door {
  readonly what: string;
  readonly needs: TokenScope | null;
  readonly call: (scene: Scene, as: TestAccount) => Promise<Answer>;
}

const doors: readonly Door[] = [
  { what: 'POST /share', needs: 'create', call: (s, as) => s.post('/share', { secret: 'a' }, as) },
  { what: 'POST /create', needs: 'create', call: (s, as) => s.post('/create', { secret: 'a' }, as) },
  { what: 'POST /generate', needs: 'create', call: (s, as) => s.post('/generate', {}, as) },
  {
    what: 'GET /private/:key',
    needs: 'manage',
    call: (s, as) => s.get(`/private/${s.own.metadata_key}`, as),
  },
  {
    what: 'POST /metadata/:key',
    needs: 'manage',
    call: (s, as) => s.post(`/metadata/${s.own.metadata_key}`, {}, as),
  },
  {
    what: 'POST /receipt/:key/burn',
    needs: 'manage',
    call: (s, as) => s.post(`/receipt/${s.own.metadata_key}/burn`, { passphrase: 'right' }, as),
  },
  { what: 'GET /private/recent', needs: 'read-recent', call: (s, as) => s.get('/private/recent', as) },
  {
    what: 'POST /receipt/recent',
    needs: 'read-recent',
    call: (s, as) => s.post('/receipt/recent', {}, as),
  },
  {
    what: 'POST /secret/:key',
    needs: null,
    call: (s, as) => s.post(`/secret/${s.own.secret_key}`, { passphrase: 'right' }, as),
  },
  { what: 'GET /status', needs: null, call: (s, as) => s.get('/status', as) },
  { what: 'GET /authcheck', needs: null, call: (s, as) => s.get('/authcheck', as) },
];

const refusedAs = { documented: 403, upstream: 404 } as const;

for (const dialect of ['documented', 'upstream'] as const) {
  describe(`an API token in the ${dialect} dialect`, () => {
    for (const { what, needs, call } of doors) {
      it(`is let through at ${what} with ${needs ?? 'any scope'}${needs === null ? '' : ', and with no other'}`, async () => {
        const scene = await sceneOf({ dialect });
        for (const scope of needs === null ? [] : tokenScopes.filter((other) => other !== needs)) {
          const answer = await call(scene, await narrowed(scene.app, scene.alice, [scope]));
          expect([scope, answer.status]).toEqual([scope, refusedAs[dialect]]);
          expect(answer.body).toEqual(
            message(`This API token may not do that: it lacks the scope "${needs}".`),
          );
          expect(answer.headers.get('www-authenticate')).toBeNull();
        }
        const others = await narrowed(
          scene.app,
          scene.alice,
          needs === null ? tokenScopes.slice(0, 1) : [needs],
        );
        expect((await call(scene, others)).status).toBe(200);
      });
    }

    it('without the scope create stores nothing, though anybody without an account may', async () => {
      const scene = await sceneOf({ dialect });
      const before = scene.app.events.length;
      const narrow = await narrowed(scene.app, scene.alice, ['manage', 'read-recent']);
      expect((await scene.post('/share', { secret: 'a' }, narrow)).status).toBe(refusedAs[dialect]);
      expect(scene.app.events).toHaveLength(before);
      expect((await scene.post('/share', { secret: 'a' })).status).toBe(200);
    });

    it('without the scope manage burns nothing and leaves no trace of a look (P4)', async () => {
      const scene = await sceneOf({ dialect });
      const narrow = await narrowed(scene.app, scene.alice, ['create', 'read-recent']);
      const path = `/private/${scene.own.metadata_key}`;
      for (const refused of [
        await scene.post(path, {}, narrow),
        await scene.post(`${path}/burn`, { passphrase: 'right' }, narrow),
      ]) {
        expect(refused.status).toBe(refusedAs[dialect]);
      }
      expect((await scene.get(path, scene.alice)).body.state).toBe('new');
    });
  });
}
