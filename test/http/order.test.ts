/**
 * The order of checks, on both sides of the pipeline: a request that is wrong in every way is refused for the first,
 * and with each repair for the next (`src/http/pipeline.ts`).
 */
import { describe, expect, it } from 'bun:test';
import { builtInRateLimits } from '../../src/config/json-files.ts';
import { plainBrand } from '../../src/core/share-domain.ts';
import { giveDomain } from '../support/own-domain.ts';
import { signInWithLosableStore } from '../web/signed-in.ts';
import { basic, operations, owner, post, rightHeader, setUp, strictLimits, username } from './api-fixture.ts';

/** One call only. */
const once = { limit: 1, windowSeconds: 3_600, burst: 1 };

describe('the API', () => {
  /** Every operation needs a scope that the owner's token lacks, except `t.manage`, whose scope it has. */
  function openApi() {
    let handled = 0;
    const handle = () => {
      handled += 1;
      return { status: 200, body: null };
    };
    const kit = setUp({
      limits: { ...strictLimits(1), create: { anonymous: once, account: once } },
      authenticate: async (_name, secret) => (secret === 'right' ? { ...owner, scopes: ['manage'] } : null),
      surface: {
        operations: operations(handle).flatMap((operation) => [
          {
            ...operation,
            path: `/scoped${operation.path}`,
            name: `${operation.name}-scoped`,
            scope: 'create',
          },
          operation,
        ]),
      },
    });
    return { ...kit, handled: () => handled };
  }

  const right = basic(username, 'right');
  const tooLarge = 'x'.repeat(1_001);

  it('path, method, cross-site, failed log-ins, credentials, limit, scope, body, handler', async () => {
    const { ask, handled, lookUps } = openApi();
    const crossSite = { 'sec-fetch-site': 'cross-site', authorization: rightHeader };
    const wrong = { authorization: rightHeader };
    const mine = { authorization: right };
    const status = async (path: string, init: RequestInit) => (await ask(`/api/t${path}`, init)).status;

    expect(await status('/nothing', post(tooLarge, crossSite))).toBe(404);
    expect(await status('/scoped/create', { ...post(tooLarge, crossSite), method: 'PUT' })).toBe(405);
    expect(await status('/scoped/create', post(tooLarge, crossSite))).toBe(403);
    expect(lookUps).toEqual([]);
    expect(await status('/scoped/create', post(tooLarge, wrong))).toBe(401);
    // That was the only failure allowed in ten minutes: now even correct credentials are not checked.
    expect(await status('/scoped/create', post(tooLarge, mine))).toBe(429);
    expect(handled()).toBe(0);
  });

  it('then, with right credentials, limit before scope, scope before the body', async () => {
    const { ask, handled } = openApi();
    const answer = async (path: string, init: RequestInit) => {
      const { status, headers } = await ask(`/api/t${path}`, init);
      return [status, headers.get('ratelimit')?.split(';')[0] ?? null];
    };
    const mine = post(tooLarge, { authorization: right });
    expect(await answer('/scoped/create', mine)).toEqual([403, null]);
    // The scope refusal has counted, so the limit is reached before the scope is checked.
    expect(await answer('/scoped/create', mine)).toEqual([429, '"create"']);
    expect(await answer('/scoped/note/%', { ...mine, method: 'PATCH' })).toEqual([403, null]);
    expect(await answer('/note/%', { ...mine, method: 'PATCH' })).toEqual([400, null]);
    expect(await answer('/note/x', { ...mine, method: 'PATCH' })).toEqual([413, null]);
    expect(handled()).toBe(0);
    expect(await answer('/note/x', { ...post('x', { authorization: right }), method: 'PATCH' })).toEqual([
      200,
      null,
    ]);
    expect(handled()).toBe(1);
  });
});

describe('the pages', () => {
  const host = 'secrets.example.com';

  async function openPages() {
    const rateLimits = { ...builtInRateLimits, create: { anonymous: once, account: once } };
    const kit = await signInWithLosableStore({ rateLimits });
    const send = async (
      path: string,
      fields: Record<string, string>,
      headers: Record<string, string> = {},
    ) => {
      const type = { 'content-type': 'application/x-www-form-urlencoded' };
      const body = new URLSearchParams(fields).toString();
      const init = { method: 'POST', body, headers: { ...type, cookie: kit.cookie, ...headers } };
      return (await kit.app.fetch(path, init)).status;
    };
    return { ...kit, send };
  }

  it('path, method, form of this site, session, limit, form of this session, handler', async () => {
    const { app, cookie, formToken, send, lose, regain } = await openPages();
    const stale = { secret: 'x', 'form-token': '0'.repeat(32) };
    const crossSite = { 'sec-fetch-site': 'cross-site' };
    const concealed = () => app.events.filter(({ event }) => event === 'concealed').length;
    lose();
    expect(await send('/nothing', stale, crossSite)).toBe(404);
    const put = { method: 'PUT', headers: { ...crossSite, cookie } };
    expect((await app.fetch('/share', put)).status).toBe(405);
    expect(await send('/share', stale, crossSite)).toBe(403);
    // Twice: a limit that had counted would refuse the second.
    expect([await send('/share', stale), await send('/share', stale)]).toEqual([503, 503]);
    regain();
    // None of these has counted. This one does, and is refused for its form token.
    expect(await send('/share', stale)).toBe(403);
    expect(await send('/share', stale)).toBe(429);
    expect(await send('/share', { ...stale, 'form-token': formToken })).toBe(429);
    expect(concealed()).toBe(0);
    const fresh = await openPages();
    expect(await fresh.send('/share', { secret: 'x', 'form-token': fresh.formToken })).toBe(303);
  });

  it('count by the account that is logged in, so the session is known before the limit', async () => {
    const { app, formToken, send } = await openPages();
    const nobody = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } };
    const shareAsNobody = async () => (await app.fetch('/share', { ...nobody, body: 'secret=x' })).status;
    expect([await shareAsNobody(), await shareAsNobody()]).toEqual([303, 429]);
    expect(await send('/share', { secret: 'x', 'form-token': formToken })).toBe(303);
  });

  it('leave to the site what is not for a share domain before they look where a form comes from', async () => {
    const { app, send } = await openPages();
    const { id } = await app.account('owner@example.com', 'identity');
    await giveDomain(app.store, id, host);
    await app.store.setDomainBrand(id, host, plainBrand);
    const crossSite = { host, 'sec-fetch-site': 'cross-site' };
    expect(await send('/log-in', {}, crossSite)).toBe(404);
    // For a page that is served here, the origin is what is wrong.
    expect(await send('/secret/x', {}, crossSite)).toBe(403);
  });

  it('answer every refusal in the brand of the host and the language of the reader', async () => {
    const { app } = await openPages();
    for (const [path, method, status] of [
      ['/nothing', 'GET', 404],
      ['/about', 'PUT', 405],
    ] as const) {
      const answer = await app.fetch(path, { method, headers: { 'accept-language': 'de' } });
      expect([path, answer.status]).toEqual([path, status]);
      expect(await answer.text()).toContain('<html lang="de"');
    }
  });
});
