/**
 * What each API token may do over v2: the scope of every operation.
 *
 * Every answer in this file is also held against the OpenAPI document (see `documented-app.ts`).
 */
import { describe, expect, it } from 'bun:test';
import { generateOpenApi } from '../../scripts/generate-openapi.ts';
import { type TokenScope, tokenScopes } from '../../src/core/account.ts';
import { narrowed } from '../support/narrow-token.ts';
import { type Call, createDocumentedApp } from './documented-app.ts';
import { asSent } from './openapi-types.ts';

interface Door {
  readonly operation: string;
  readonly needs: TokenScope | null;
  readonly call: Call;
}

const post: Call = { method: 'POST' };
const patch: Call = { method: 'PATCH', json: { memo: 'x' } };
/**
 * Paths below `/api/v2`, prefixed with `PATCH` where that is the method; `SECRET` and `METADATA` stand for the keys of
 * a waiting secret.
 */
const doors: Readonly<Record<string, Door>> = {
  '/secret/conceal': { operation: 'v2.conceal', needs: 'create', call: { json: { secret: 'x' } } },
  '/secret/generate': { operation: 'v2.generate', needs: 'create', call: post },
  '/secret/batch': {
    operation: 'v2.batch',
    needs: 'create',
    call: { json: { secrets: [{ secret: 'x' }] } },
  },
  '/private/METADATA': { operation: 'v2.receipt', needs: 'manage', call: {} },
  '/receipt/METADATA': { operation: 'v2.receipt', needs: 'manage', call: {} },
  'PATCH /private/METADATA': { operation: 'v2.change', needs: 'manage', call: patch },
  'PATCH /receipt/METADATA': { operation: 'v2.change', needs: 'manage', call: patch },
  '/private/METADATA/burn': { operation: 'v2.burn', needs: 'manage', call: post },
  '/receipt/METADATA/burn': { operation: 'v2.burn', needs: 'manage', call: post },
  '/private/METADATA/deliver': {
    operation: 'v2.deliver',
    needs: 'manage',
    call: { json: { recipient: 'joe@example.org' } },
  },
  '/receipt/METADATA/deliver': {
    operation: 'v2.deliver',
    needs: 'manage',
    call: { json: { recipient: 'joe@example.org' } },
  },
  '/private/recent': { operation: 'v2.recent', needs: 'read-recent', call: {} },
  '/receipt/recent': { operation: 'v2.recent', needs: 'read-recent', call: {} },
  '/secret/SECRET': { operation: 'v2.inspect', needs: null, call: {} },
  '/secret/SECRET/status': { operation: 'v2.secretStatus', needs: null, call: {} },
  '/secret/SECRET/reveal': { operation: 'v2.reveal', needs: null, call: post },
  '/authcheck': { operation: 'v2.authcheck', needs: null, call: {} },
};

async function scene() {
  const app = createDocumentedApp();
  const alice = await app.account();
  const as = (call: Call, { authorization }: { authorization: string }): Call => ({
    ...call,
    headers: { authorization },
  });
  const made = await app.call('/secret/conceal', as({ json: { secret: 'value' } }, alice));
  const { secret, metadata } = made.body.record;
  const ask = async (path: string, call: Call, scopes: readonly TokenScope[]) =>
    app.call(
      path.replace('PATCH ', '').replace('SECRET', secret.key).replace('METADATA', metadata.key),
      as(call, await narrowed(app, alice, scopes)),
    );
  return { app, alice, as, ask, metadataKey: metadata.key };
}

describe('an API token', () => {
  for (const [path, { needs, call }] of Object.entries(doors)) {
    it(`is let through at ${path} with ${needs ?? 'any scope'}${needs === null ? '' : ', and with no other'}`, async () => {
      const { ask } = await scene();
      for (const scope of needs === null ? [] : tokenScopes.filter((other) => other !== needs)) {
        const { status, body, headers } = await ask(path, call, [scope]);
        expect([scope, status]).toEqual([scope, 403]);
        expect(body).toEqual({
          success: false,
          error: 'insufficient_scope',
          message: `This API token may not do that: it lacks the scope "${needs}"`,
        });
        expect(headers.get('www-authenticate')).toBeNull();
      }
      expect((await ask(path, call, needs === null ? tokenScopes.slice(0, 1) : [needs])).status).toBe(200);
    });
  }

  it('without the scope create stores nothing, though anybody without an account may', async () => {
    const { app, ask } = await scene();
    const before = app.events.length;
    const refused = await ask('/secret/conceal', { json: { secret: 'x' } }, ['manage', 'read-recent']);
    expect(refused.status).toBe(403);
    expect(app.events).toHaveLength(before);
    expect((await app.call('/secret/conceal', { json: { secret: 'x' } })).body.custid).toBe('anon');
  });

  it('is refused before the body is looked at, and no key is told from an unknown one (P16)', async () => {
    const { ask } = await scene();
    const wrong: Call = { json: { secret: { ttl: -1 } } };
    expect((await ask('/secret/conceal', wrong, ['manage'])).status).toBe(403);
    const known = await ask('/private/METADATA', {}, ['create']);
    const unknown = await ask(`/private/${'0'.repeat(31)}`, {}, ['create']);
    expect(unknown.body).toEqual(known.body);
  });

  it('that is wrong is told nothing of scopes', async () => {
    const { app } = await scene();
    const authorization = `Basic ${btoa(`alice@example.com:${'0'.repeat(64)}`)}`;
    const { status, body } = await app.call('/private/recent', { headers: { authorization } });
    expect([status, body.error]).toEqual([401, 'not_authorized']);
  });
});

describe('the OpenAPI document', () => {
  it('tells each operation’s scope: in its security, in words, and the refusal', async () => {
    const { paths } = asSent(await generateOpenApi());
    for (const [path, { operation, needs, call }] of Object.entries(doors)) {
      const template = `/api/v2${path.replace('PATCH ', '').replace(/SECRET|METADATA/, '{key}')}`;
      const usual = call.json === undefined ? 'get' : 'post';
      const method = call.method === 'PATCH' ? 'patch' : call.method === 'POST' ? 'post' : usual;
      const told = paths[template]?.[method];
      expect(told?.operationId.split('.').slice(0, 2).join('.')).toBe(operation);
      expect(told?.security.at(-1)).toEqual({ basic: needs === null ? [] : [needs] });
      expect([path, told?.description?.includes(`needs the scope \`${needs}\``) ?? false]).toEqual([
        path,
        needs !== null,
      ]);
      if (needs !== null) expect(told?.responses).toHaveProperty('403');
    }
  });
});
