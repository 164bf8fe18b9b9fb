/**
 * Share domains over API v2.
 *
 * Every answer in this file is also checked against the OpenAPI document (see `documented-app.ts`).
 */
import { describe, expect, it } from 'bun:test';
import { tokenScopes } from '../../src/core/account.ts';
import type { TestAppOptions } from '../support/app.ts';
import { narrowed } from '../support/narrow-token.ts';
import { type Call, createDocumentedApp } from '../v2/documented-app.ts';
import { createZone } from './zone.ts';

const day = 86_400;
const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1v1z"/></svg>';

async function scene(options: TestAppOptions = {}) {
  const zone = createZone();
  const app = createDocumentedApp({ resolver: zone.resolver, ...options });
  const alice = await app.account('alice@example.com', 'identity');
  const as =
    ({ authorization }: { readonly authorization: string }) =>
    (path: string, call: Call = {}) =>
      app.call(path, { ...call, headers: { authorization, ...call.headers } });
  const post = (json?: unknown): Call => ({ method: 'POST', ...(json !== undefined && { json }) });
  return { zone, app, alice, as, call: as(alice), post };
}

describe('a domain’s life over the API', () => {
  it('goes from its registration to links, and back when the way here is lost', async () => {
    const { zone, app, call, post } = await scene();
    zone.set('addresses', 'mayfly.example', '192.0.2.1');
    const made = await call('/domains', post({ domain: 'Geheim.Bücher.de' }));
    expect(made.status).toBe(200);
    const { record, details } = made.body;
    expect(record).toMatchObject({
      ...{
        identifier: 'geheim.xn--bcher-kva.de',
        name: 'geheim.xn--bcher-kva.de',
        custid: 'alice@example.com',
      },
      ...{
        display_domain: 'geheim.bücher.de',
        base_domain: 'xn--bcher-kva.de',
        sld: 'xn--bcher-kva',
        tld: 'de',
      },
      ...{ trd: 'geheim', subdomain: 'geheim.xn--bcher-kva.de', is_apex: false },
      ...{ state: 'unverified', status: 'unverified', verified: false, finding: null, checked: null },
    });
    expect(details.cluster).toEqual({
      ...{ type: 'dns', cluster_host: 'mayfly.example', cluster_name: null, vhost_target: 'mayfly.example' },
      ...{ cluster_ip: '192.0.2.1', cluster_ips: ['192.0.2.1'] },
    });
    const path = `/domains/${encodeURIComponent('geheim.bücher.de')}`;
    const verify = async () => {
      const { body } = await call(`${path}/verify`, post());
      return [body.record.state, body.record.finding];
    };
    const share = async () =>
      (await call('/secret/conceal', post({ secret: 'x', share_domain: record.name }))).status;
    expect([await verify(), await share()]).toEqual([['unverified', 'txt_missing'], 422]);
    zone.set('txt', record.txt_validation_host, record.txt_validation_value);
    expect([await verify(), await share()]).toEqual([['pending', 'not_pointing'], 422]);
    zone.set('cname', record.name, 'mayfly.example');
    expect([await verify(), await share()]).toEqual([['verified', null], 200]);
    const shared = await call(
      '/secret/conceal',
      post({ secret: 'value', share_domain: 'geheim.xn--bcher-kva.de' }),
    );
    expect(shared.body.record.metadata.share_url).toStartWith(`https://${record.name}/secret/`);
    zone.set('txt', record.txt_validation_host, 'something else');
    app.clock.advance(day);
    expect(await app.domains.checkDue()).toBe(1);
    const { body: lost } = await call(path);
    expect([lost.record.state, lost.record.finding, await share()]).toEqual(['lost', 'txt_differs', 422]);
    zone.set('txt', record.txt_validation_host, record.txt_validation_value);
    expect([await verify(), await share()]).toEqual([['verified', null], 200]);
    const { body: removed } = await call(`${path}/remove`, post());
    expect(removed.record).toEqual({ identifier: 'geheim.bücher.de', removed: true });
    expect((await call(path)).status).toBe(404);
    expect(await share()).toBe(422);
  });

  it('holds up nobody else while the DNS says nothing', async () => {
    const { zone, call, post } = await scene();
    await call('/domains', post({ domain: 'example.com' }));
    const gate = Promise.withResolvers<void>();
    zone.hold(gate.promise);
    let hasEnded = false;
    const checking = call('/domains/example.com/verify', post()).finally(() => {
      hasEnded = true;
    });
    for (let times = 0; times < 20; times += 1)
      expect((await call('/secret/generate', post())).status).toBe(200);
    expect(hasEnded).toBe(false);
    gate.resolve();
    expect((await checking).body.record.finding).toBe('txt_missing');
  });

  it('is listed by name, with what the plan allows', async () => {
    const { call, post } = await scene();
    const { body: empty } = await call('/domains');
    expect([empty.count, empty.records, empty.details]).toEqual([0, [], { max: 20, cluster: null }]);
    await call('/domains/add', post({ domain: 'b.example.com' }));
    await call('/domains', post({ domain: 'example.com' }));
    const { body } = await call('/domains');
    expect(body.records.map(({ name, is_apex }: Record<string, unknown>) => [name, is_apex])).toEqual([
      ['b.example.com', false],
      ['example.com', true],
    ]);
  });
});

describe('a domain is refused', () => {
  const sentences: readonly (readonly [unknown, string])[] = [
    [{}, 'Please enter a domain'],
    [{ domain: '' }, 'Please enter a domain'],
    [{ domain: null }, 'Please enter a domain'],
    [{ domain: 7 }, 'Must be a text'],
    [
      { domain: 'https://example.com' },
      'Not a valid public domain: write the name alone, such as secrets.example.com',
    ],
    [
      { domain: 'user:password@example.com' },
      'Not a valid public domain: write the name alone, such as secrets.example.com',
    ],
    [{ domain: '169.254.169.254' }, 'Not a valid public domain: it is an address'],
    [{ domain: 'localhost' }, 'Not a valid public domain: it has no public suffix such as com or co.uk'],
    [{ domain: 'co.uk' }, 'Not a valid public domain: anybody can register below it'],
    [{ domain: 'mayfly.example' }, "Not a valid public domain: it is this site's own host"],
    [{ domain: 'known.example.com' }, 'Duplicate domain'],
  ];
  it('with a sentence for each reason', async () => {
    const { call, post } = await scene();
    await call('/domains', post({ domain: 'known.example.com' }));
    for (const [body, message] of sentences) {
      const refused = await call('/domains', post(body));
      expect([body, refused.status, refused.body]).toEqual([
        ...[body, 422],
        { success: false, error: 'invalid_field', message, field: 'domain' },
      ]);
    }
  });

  it('without the plan, over its number, and when it is another’s', async () => {
    const plan = {
      maxValueBytes: 100,
      maxSealedBytes: 100,
      ttlMinSeconds: 1,
      ttlDefaultSeconds: 1,
      ttlMaxSeconds: 1,
      maxDomains: 1,
      maxPlaces: 40,
    };
    const { app, as, call, post, zone } = await scene({ plans: { identity: plan } });
    const basic = as(await app.account('basic@example.com'));
    const none = await basic('/domains', post({ domain: 'example.com' }));
    expect([none.status, none.body.error]).toEqual([403, 'plan_required']);
    const { body } = await call('/domains', post({ domain: 'example.com' }));
    const full = await call('/domains', post({ domain: 'example.org' }));
    expect([full.status, full.body.error, full.body.max]).toEqual([409, 'too_many_domains', 1]);
    const bob = as(await app.account('bob@example.com', 'identity'));
    const { body: second } = await bob('/domains', post({ domain: 'example.com' }));
    for (const { record } of [body, second])
      zone.set('txt', record.txt_validation_host, record.txt_validation_value);
    zone.set('cname', 'example.com', 'mayfly.example');
    expect((await call('/domains/example.com/verify', post())).body.record.verified).toBe(true);
    const late = await bob('/domains/example.com/verify', post());
    expect([late.status, late.body.error]).toEqual([409, 'domain_taken']);
    const carol = as(await app.account('carol@example.com', 'identity'));
    expect((await carol('/domains', post({ domain: 'EXAMPLE.com' }))).body.error).toBe('domain_taken');
  });

  it('to everybody but its account, as a name that nobody has', async () => {
    const { app, as, call, post } = await scene();
    await call('/domains', post({ domain: 'x.example.com' }));
    const bob = as(await app.account('bob@example.com', 'identity'));
    const doors: readonly (readonly [string, Call])[] = [
      ['', {}],
      ['/verify', post()],
      ['/remove', post()],
      ['/brand', {}],
      ['/brand', post({ name: 'Bob' })],
      ['/logo', { raw: svg, contentType: 'image/svg+xml' }],
      ['/logo/remove', post()],
    ];
    for (const [door, request] of doors) {
      for (const domain of ['x.example.com', 'y.example.com', 'not a domain']) {
        const { status, body } = await bob(`/domains/${encodeURIComponent(domain)}${door}`, request);
        const expected = { success: false, error: 'unknown_domain', message: 'Domain not found', domain };
        expect([door, status, body]).toEqual([door, 404, expected]);
      }
    }
    expect((await call('/domains/x.example.com')).body.record.brand.name).toBeNull();
  });

  it('to nobody without credentials and to no token without the scope manage', async () => {
    const { app, as, alice, post } = await scene();
    const doors: readonly (readonly [string, Call])[] = [
      ['', {}],
      ['', post({ domain: 'x.example.com' })],
      ['/add', post({ domain: 'x.example.com' })],
      ['/x.example.com', {}],
      ['/x.example.com/verify', post()],
      ['/x.example.com/remove', post()],
      ['/x.example.com/brand', {}],
      ['/x.example.com/brand', post({})],
      ['/x.example.com/logo', { raw: svg, contentType: 'image/svg+xml' }],
      ['/x.example.com/logo/remove', post()],
    ];
    const narrow = as(
      await narrowed(
        app,
        alice,
        tokenScopes.filter((scope) => scope !== 'manage'),
      ),
    );
    for (const [door, request] of doors) {
      expect([door, (await app.call(`/domains${door}`, request)).status]).toEqual([door, 401]);
      expect([door, (await narrow(`/domains${door}`, request)).status]).toEqual([door, 403]);
      const crossSite = { ...request, headers: { 'sec-fetch-site': 'cross-site' } };
      if (request.method === 'POST') expect((await as(alice)(`/domains${door}`, crossSite)).status).toBe(403);
    }
    expect(await app.store.listDomains(alice.id)).toEqual([]);
  });
});

describe('a brand over the API', () => {
  async function branded() {
    const known = await scene();
    await known.call('/domains', known.post({ domain: 'x.example.com' }));
    return known;
  }
  const plain = {
    ...{ name: null, primary_color: null, primary_color_dark: null, locale: null, logo: null },
    ...{ instructions_pre_reveal: null, instructions_post_reveal: null },
    ...{ allow_public_homepage: true, allow_public_api: true },
  };

  it('changes the fields that are sent, nested or flat, and leaves the others', async () => {
    const { call, post } = await branded();
    const path = '/domains/x.example.com/brand';
    expect((await call(path)).body.record).toEqual(plain);
    const first = { name: 'Example', primary_color: '#024', locale: 'en', allow_public_api: false };
    const nested = await call(path, post({ brand: first }));
    const expected = { ...plain, ...first, primary_color: '#002244', allow_public_homepage: false };
    expect([nested.status, nested.body.record]).toEqual([200, expected]);
    const flat = await call(
      path,
      post({ name: '', instructions_pre_reveal: 'a\nb', allow_public_homepage: true }),
    );
    expect(flat.body.record).toEqual({
      ...expected,
      ...{ name: null, instructions_pre_reveal: 'a\nb', allow_public_homepage: true, allow_public_api: true },
    });
    expect((await call(path)).body.record).toEqual(flat.body.record);
  });

  it('is refused field by field, with the nearest colour that can be read, and then not changed at all', async () => {
    const { call, post } = await branded();
    const path = '/domains/x.example.com/brand';
    const { status, body } = await call(
      path,
      post({
        brand: {
          name: 'x'.repeat(61),
          primary_color: '#ffff00',
          primary_color_dark: 'blue',
          locale: 'xx',
          instructions_pre_reveal: 'ok',
        },
      }),
    );
    expect([status, body.error]).toEqual([422, 'invalid_field']);
    expect(body.errors).toEqual([
      { field: 'brand.name', message: 'Must be at most 60 characters' },
      {
        field: 'brand.primary_color',
        message: expect.stringMatching(/^Cannot be read on the page; the nearest that can is #[0-9a-f]{6}$/),
      },
      { field: 'brand.primary_color_dark', message: 'Must be a colour, #rgb or #rrggbb' },
      { field: 'brand.locale', message: 'Must be a language that is offered' },
    ]);
    const nearest = body.errors[1].message.slice(-7);
    expect((await call(path)).body.record).toEqual(plain);
    expect((await call(path, post({ primary_color: nearest }))).body.record.primary_color).toBe(nearest);
    const split = await call(path, post({ allow_public_api: true, allow_public_homepage: false }));
    expect([split.status, split.body.field]).toEqual([422, 'allow_public_api']);
    expect((await call(path, post({ brand: [] }))).body.field).toBe('brand');
  });

  it('has a logo that was sent as it is, and only one that draws', async () => {
    const { app, call, post } = await branded();
    const path = '/domains/x.example.com/logo';
    const send = (raw: string | Uint8Array<ArrayBuffer>, contentType = 'image/svg+xml') =>
      call(path, { raw, contentType });
    const { status, body } = await send(svg);
    expect([status, body.record.logo]).toEqual([200, expect.stringMatching(/^logo\/[\w-]+\.svg$/)]);
    expect(await app.domains.findLogo(body.record.logo.slice(5))).toMatchObject({ type: 'image/svg+xml' });
    const scripted = await send(svg.replace('<path', '<script>1</script><path'));
    expect([scripted.status, scripted.body.field]).toEqual([422, 'logo']);
    expect((await send('GIF8')).status).toBe(422);
    expect((await send(svg, 'application/json')).status).toBe(415);
    const large = await send(new Uint8Array(262_145), 'image/png');
    expect([large.status, large.body.limit]).toEqual([413, 262_144]);
    // Over the body limit itself, it is not even read.
    const huge = await send(new Uint8Array(1_048_577), 'image/png');
    expect([huge.status, huge.body.limit]).toEqual([413, 1_048_576]);
    expect(
      (await call('/domains', { ...post(), raw: new Uint8Array(300_000), contentType: 'application/json' }))
        .status,
    ).toBe(413);
    expect((await call('/domains/x.example.com/brand')).body.record.logo).toBe(body.record.logo);
    expect((await call(`${path}/remove`, post())).body.record.logo).toBeNull();
  });
});
