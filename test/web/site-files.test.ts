/** What browsers, phones, password managers and researchers ask for by themselves. */
import { describe, expect, it } from 'bun:test';
import { plainBrand } from '../../src/core/share-domain.ts';
import { paletteOf } from '../../src/web/brand/colours.ts';
import { createTestApp } from '../support/app.ts';
import { giveDomain } from '../support/own-domain.ts';
import { png } from './pictures.ts';
import { visit } from './visit.ts';

const contact = 'mailto:security@example.org';

/** Width and height, as a PNG's first chunk has them. */
async function sizeOf(answer: Response): Promise<number[]> {
  const view = new DataView(await answer.arrayBuffer());
  return [view.getUint32(16), view.getUint32(20)];
}

describe('/.well-known/security.txt', () => {
  it('is not there until the operator sets a contact', async () => {
    expect((await visit(createTestApp(), '/.well-known/security.txt')).status).toBe(404);
  });

  it('names the contact, the policy and its own address, and expires within a year (RFC 9116)', async () => {
    const app = createTestApp({ securityContact: contact });
    const { status, headers, html } = await visit(app, '/.well-known/security.txt');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    const fields = new Map(
      html
        .trimEnd()
        .split('\n')
        .map((line) => line.split(': ', 2) as [string, string]),
    );
    expect(Object.fromEntries(fields)).toMatchObject({
      Contact: contact,
      Canonical: 'https://mayfly.example/.well-known/security.txt',
      Policy: 'https://mayfly.example/security',
    });
    const expires = Date.parse(fields.get('Expires') ?? '') / 1000;
    const day = 86_400;
    expect(expires).toBeGreaterThan(app.clock.now() + 90 * day);
    expect(expires).toBeLessThan(app.clock.now() + 365 * day);
  });

  it('never goes stale while the service runs', async () => {
    const app = createTestApp({ securityContact: contact });
    app.clock.advance(3 * 365 * 86_400);
    const { html } = await visit(app, '/.well-known/security.txt');
    const expires = Date.parse(/Expires: (.*)/.exec(html)?.[1] ?? '') / 1000;
    expect(expires).toBeGreaterThan(app.clock.now());
  });
});

describe('addresses that people and programs guess', () => {
  it('lead to the page for a new password, and to the reference of the API', async () => {
    const app = createTestApp();
    const change = await visit(app, '/.well-known/change-password');
    expect([change.status, change.headers.get('location')]).toEqual([303, '/account/password']);
    const api = await visit(app, '/api');
    expect([api.status, api.headers.get('location')]).toEqual([308, '/api/docs']);
  });

  it('are below the path that the site is served under', async () => {
    const app = createTestApp({ baseUrl: 'https://mayfly.example/below', securityContact: contact });
    const change = await visit(app, '/below/.well-known/change-password');
    expect(change.headers.get('location')).toBe('/below/account/password');
    expect((await visit(app, '/below/api')).headers.get('location')).toBe('/below/api/docs');
    expect((await visit(app, '/below/.well-known/security.txt')).html).toContain('/below/security');
  });
});

describe('the manifest', () => {
  it('is named by the start page, and names only pictures that are served', async () => {
    const app = createTestApp();
    const address = /<link rel="manifest" href="([^"]*)"/.exec((await visit(app, '/')).html)?.[1] ?? '';
    const { status, headers, html } = await visit(app, address);
    expect([status, headers.get('content-type')]).toEqual([200, 'application/manifest+json; charset=utf-8']);
    const { name, start_url, scope, icons } = JSON.parse(html);
    expect([name, start_url, scope]).toEqual(['Mayfly', '/', '/']);
    for (const { src, type, sizes } of icons) {
      const answer = await app.fetch(src);
      expect([answer.status, answer.headers.get('content-type')?.split(';')[0]]).toEqual([200, type]);
      if (type === 'image/png') expect((await sizeOf(answer)).join('x')).toBe(sizes);
    }
  });

  it('is not asked for by the page of a secret', async () => {
    expect((await visit(createTestApp(), '/secret/x')).html).not.toContain('rel="manifest"');
  });
});

describe('the touch icon', () => {
  it('is a picture of 180 by 180 pixels, at the address that phones ask for', async () => {
    const answer = await createTestApp().fetch('/apple-touch-icon.png');
    expect([answer.status, await sizeOf(answer)]).toEqual([200, [180, 180]]);
  });
});

describe('a share domain with a logo of its own', () => {
  it('shows neither our touch icon nor our manifest, and no mark of ours on its pages', async () => {
    const app = createTestApp();
    const { id } = await app.account('owner@example.com', 'identity');
    const host = 'secrets.example.com';
    await giveDomain(app.store, id, host);
    await app.store.setDomainBrand(id, host, plainBrand);
    await app.store.setDomainLogo(id, host, { name: 'logo-x.png', type: 'image/png', bytes: png });
    const at = (path: string) => visit(app, path, { headers: { host } });
    expect([(await at('/apple-touch-icon.png')).status, (await at('/manifest.webmanifest')).status]).toEqual([
      404, 404,
    ]);
    const { html } = await at('/');
    expect(html).toContain('rel="icon" href="/logo/');
    expect(html).not.toContain('rel="manifest"');
    expect(/<header>[\s\S]*<\/header>/.exec(html)?.[0]).not.toContain('class="mark"');
  });
});

describe('the colour of the browser around a page', () => {
  it('is that of the paper, by day and by night', async () => {
    const { html } = await visit(createTestApp(), '/about');
    for (const scheme of ['light', 'dark'] as const)
      expect(html).toContain(
        `<meta name="theme-color" media="(prefers-color-scheme: ${scheme})" content="${paletteOf(scheme).paper}"/>`,
      );
  });
});
